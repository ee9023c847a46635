// SPDX-License-Identifier: Apache-2.0
#include "suites/mutation/resizing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::mutation {
namespace {

using oracles::Level;

// How Resize is computed otherwise.
struct Resizing {
  bool forgets_half = false;     // half a cell is never added
  bool rounds_down = false;      // whatever nearest_mode says
  bool ignores_cubic_a = false;  // -0.5
  bool keeps_outside = false;    // weights outside count
  bool never_widens = false;     // antialias is ignored
  bool never_extrapolates = false;
  bool ignores_roi = false;
  bool swaps_policy = false;       // not_larger is not_smaller
  bool stretches_corners = false;  // align_corners divides by the extents
  bool rounds_up = false;          // nearest is the cell above
  bool centres = false;            // half a cell is added where none is
};

// One axis: extents, scale, and what is cropped.
template <class R>
struct Line {
  Int in = 1, out = 1;
  R scale = 1, start = 0, end = 1;
};

std::vector<double> listed(const Call& call, const char* name) {
  const auto found = call.node().inputs.find(name);
  const auto& attributes = call.node().attributes;
  std::vector<double> all;
  if (const auto stated = attributes.find(name); stated != attributes.end())
    for (const float each : std::get<Reals>(stated->second)) all.push_back(static_cast<double>(each));
  if (name == std::string_view("scales") && attributes.contains("height_scale"))
    all = {1, 1, static_cast<double>(std::get<float>(attributes.at("height_scale"))),
           static_cast<double>(std::get<float>(attributes.at("width_scale")))};
  if (!call.has(name)) return all;
  for_number(found->second.type.dtype, [&]<class T>() {
    for (const T value : found->second.data->as<T>()) all.push_back(static_cast<double>(value));
  });
  return all;
}

std::string word_of(const Call& call, const char* name, const char* otherwise) {
  return call.definition().attribute(name) ? call.text(name) : otherwise;
}
bool is_on(const Call& call, const char* name) { return call.definition().attribute(name) && call.integer(name) == 1; }

std::vector<Int> named_axes(const Call& call) {
  std::vector<Int> all;
  if (call.states("axes")) all = call.ints("axes");
  const bool is_all = all.empty();
  for (Int axis = 0; is_all && axis < call.rank("X"); ++axis) all.push_back(axis);
  for (Int& axis : all) axis += axis < 0 ? call.rank("X") : 0;
  return all;
}

template <class R>
std::vector<Line<R>> lines(const Call& call, const Resizing& how) {
  std::vector<Line<R>> all;
  for (const Int extent : call.shape("X")) all.push_back({extent, extent});
  const std::vector<Int> axes = named_axes(call);
  const std::vector<double> scales = listed(call, "scales"), sizes = listed(call, "sizes"), roi = listed(call, "roi");
  std::string policy = word_of(call, "keep_aspect_ratio_policy", "stretch");
  if (how.swaps_policy && policy != "stretch") policy = policy == "not_larger" ? "not_smaller" : "not_larger";
  std::size_t least = 0, most = 0;
  const auto ratio = [&](std::size_t i) {
    return sizes[i] / static_cast<double>(all[static_cast<std::size_t>(axes[i])].in);
  };
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (ratio(i) < ratio(least)) least = i;
    if (ratio(i) > ratio(most)) most = i;
  }
  const std::size_t common = policy == "not_larger" ? least : most;
  const Int common_in = sizes.empty() ? 1 : all[static_cast<std::size_t>(axes[common])].in;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Line<R>& line = all[static_cast<std::size_t>(axes[i])];
    if (!scales.empty()) {
      line.scale = static_cast<R>(scales[i]);
      line.out = static_cast<Int>(static_cast<double>(line.in) * scales[i]);
    } else if (policy == "stretch") {
      line.out = static_cast<Int>(sizes[i]);
      line.scale = static_cast<R>(line.out) / static_cast<R>(std::max<Int>(1, line.in));
    } else {
      const Int wide = 2 * static_cast<Int>(sizes[common]) * line.in + common_in;
      line.out = wide / (2 * common_in);
      line.scale = static_cast<R>(sizes[common]) / static_cast<R>(common_in);
    }
    if (word_of(call, "coordinate_transformation_mode", "") != "tf_crop_and_resize" || how.ignores_roi) continue;
    line.start = static_cast<R>(roi[i]);
    line.end = static_cast<R>(roi[i + axes.size()]);
  }
  return all;
}

template <class R>
R source(const Line<R>& line, Int index, const std::string& mode, const Resizing& how) {
  const R o = static_cast<R>(index), in = static_cast<R>(line.in), out = static_cast<R>(line.out);
  const R half = how.forgets_half ? R(0) : R(0.5);
  if (mode == "asymmetric" && how.centres) return (o + half) / line.scale - half;
  if (mode == "asymmetric") return o / line.scale;
  if (mode == "tf_half_pixel_for_nn") return (o + half) / line.scale;
  if (mode == "align_corners")
    return line.out == 1 ? R(0) : how.stretches_corners ? o * in / out : o * (in - 1) / (out - 1);
  if (mode == "pytorch_half_pixel" && line.out == 1) return 0;
  if (mode == "half_pixel_symmetric") {
    const R adjustment = out / (line.scale * in);
    return in / 2 * (1 - adjustment) + (o + half) / line.scale - half;
  }
  if (mode != "tf_crop_and_resize") return (o + half) / line.scale - half;
  if (line.out == 1) return R(0.5) * (line.start + line.end) * (in - 1);
  return line.start * (in - 1) + o * (line.end - line.start) * (in - 1) / (out - 1);
}

template <class R>
Int closest(R x, const std::string& mode, bool shrinks) {
  if (mode == "round_prefer_ceil") return static_cast<Int>(std::floor(x + R(0.5)));
  if (mode == "round_prefer_floor") return static_cast<Int>(std::ceil(x - R(0.5)));
  return static_cast<Int>(mode == "ceil" || (mode.empty() && shrinks) ? std::ceil(x) : std::floor(x));
}

template <class R>
R kernel(R t, bool is_cubic, R a) {
  t = std::fabs(t);
  if (!is_cubic) return std::max<R>(0, 1 - t);
  if (t >= 2) return 0;
  return t <= 1 ? (a + 2) * t * t * t - (a + 3) * t * t + 1 : a * (t * t * t - 5 * t * t + 8 * t - 4);
}

// The weight of every cell of the axis, looked at one after the other.
template <class R>
std::vector<R> weights(const Call& call, const Line<R>& line, R x, const Resizing& how) {
  const bool is_cubic = call.text("mode") == "cubic", excludes = is_on(call, "exclude_outside") && !how.keeps_outside;
  const R a = is_cubic && !how.ignores_cubic_a ? static_cast<R>(call.real("cubic_coeff_a")) : R(-0.5);
  const bool widens = is_on(call, "antialias") && line.scale < 1 && !how.never_widens;
  std::vector<R> all(static_cast<std::size_t>(line.in));
  R total = 0;
  const Int reach = 4 + static_cast<Int>(std::ceil(2 / std::min<R>(1, line.scale)));
  for (Int i = -reach - line.in; i < 2 * line.in + reach; ++i) {
    const R weight = kernel((x - static_cast<R>(i)) * (widens ? line.scale : R(1)), is_cubic, a);
    if (weight == 0 || (excludes && (i < 0 || i >= line.in))) continue;
    all[static_cast<std::size_t>(std::clamp<Int>(i, 0, line.in - 1))] += weight;
    total += weight;
  }
  for (R& weight : all)
    if (widens || excludes) weight /= total;
  return all;
}

template <class T>
T fitting(double value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::clamp(std::floor(value), static_cast<double>(std::numeric_limits<T>::min()),
                                     std::nextafter(static_cast<double>(std::numeric_limits<T>::max()), 0)));
  else
    return T(value);
}

template <class T, class R>
void resize_into(const Call& call, const Resizing& how, const Tensor& in, Tensor& y) {
  const std::vector<Line<R>> all = lines<R>(call, how);
  const std::string transformation = word_of(call, "coordinate_transformation_mode", "asymmetric");
  const bool rounds_down = how.rounds_down && call.definition().attribute("nearest_mode");  // else it is a reading
  const std::string mode = how.rounds_up ? "ceil" : rounds_down ? "floor" : word_of(call, "nearest_mode", "");
  const std::span<const T> from = in.as<T>();
  for (Int i = 0; T & element : y.as<T>()) {
    Int rest = i++, place = 0, step = 1;
    bool is_outside = false;
    std::vector<R> at(all.size());
    for (std::size_t axis = all.size(); axis-- > 0; rest /= all[axis].out) {
      at[axis] = source(all[axis], rest % all[axis].out, transformation, how);
      is_outside = is_outside || at[axis] < 0 || at[axis] > static_cast<R>(all[axis].in - 1);
      place += step * std::clamp<Int>(closest(at[axis], mode, all[axis].scale < 1), 0, all[axis].in - 1);
      step *= all[axis].in;
    }
    is_outside = is_outside && transformation == "tf_crop_and_resize" && !how.never_extrapolates;
    if constexpr (Number<T>) {
      if (is_outside) {
        element = fitting<T>(static_cast<double>(call.real("extrapolation_value")));
        continue;
      }
      if (call.text("mode") != "nearest") {
        // One axis after the other, the last first.
        std::vector<R> line(from.size());
        std::ranges::transform(from, line.begin(), [](T x) { return static_cast<R>(static_cast<double>(x)); });
        for (std::size_t axis = all.size(); axis-- > 0;) {
          const std::vector<R> by = weights(call, all[axis], at[axis], how);
          std::vector<R> shorter(line.size() / by.size());
          for (std::size_t j = 0; j < line.size(); ++j)
            if (by[j % by.size()] != 0) shorter[j / by.size()] += by[j % by.size()] * line[j];
          line = std::move(shorter);
        }
        element = fitting<T>(static_cast<double>(line.front()));
        continue;
      }
    }
    element = is_outside ? T() : from[static_cast<std::size_t>(place)];
  }
}

Kernel resizing(Resizing how) {
  return [how](const Call& call, Inputs in) {
    Shape shape;
    for (const Line<double>& line : lines<double>(call, how)) shape.push_back(line.out);
    Tensor y({in[0]->dtype(), shape});
    for_type(y.dtype(), [&]<class T>() {
      if constexpr (std::is_same_v<T, double>)
        resize_into<T, double>(call, how, *in[0], y);
      else
        resize_into<T, float>(call, how, *in[0], y);
    });
    return y;
  };
}

}  // namespace

std::vector<VariantKernel> resizing_variants() {
  return {
      variant_of("sequential", "coordinates and weights in f32, f64 in f64; integers are rounded down", resizing({}))};
}

std::vector<Bug> upsampling_bugs() {
  return {bug_of("Upsample", "rounds-up", "the nearest element is that above", resizing({.rounds_up = true})),
          bug_of("Upsample", "centres", "coordinates are those of centres", resizing({.centres = true}))};
}

std::vector<Bug> resizing_bugs() {
  const auto bug = [](const char* name, const char* what, Resizing how) {
    return bug_of("Resize", name, what, resizing(how));
  };
  return {bug("forgets-half", "coordinates are those of corners", {.forgets_half = true}),
          bug("rounds-down", "the nearest element is that below", {.rounds_down = true}),
          bug("ignores-coefficient", "the cubic coefficient is -0.5", {.ignores_cubic_a = true}),
          bug("keeps-outside", "exclude_outside is ignored", {.keeps_outside = true}),
          bug("never-widens", "antialias is ignored", {.never_widens = true}),
          bug("never-extrapolates", "what lies outside is the edge", {.never_extrapolates = true}),
          bug("ignores-roi", "all of X is taken", {.ignores_roi = true}),
          bug("swaps-policy", "not_larger and not_smaller are exchanged", {.swaps_policy = true}),
          bug("stretches-corners", "align_corners divides by the extents", {.stretches_corners = true})};
}

}  // namespace assay::mutation
