// SPDX-License-Identifier: Apache-2.0
// Resize (ai.onnx 10, 11, 13, 18, 19) - https://onnx.ai/onnx/operators/onnx__Resize.html
// Upsample (ai.onnx 1, 7, 9, 10) - https://onnx.ai/onnx/operators/onnx__Upsample.html
//
//   Y[o] = the element of X nearest to x(o), or the sum of those around it, each axis weighted by itself
//
// x is a coordinate of X for each axis of o, by coordinate_transformation_mode; o / scale before version 11.
// Upsample is version 10 of Resize by scales of 1 or more.
#include "reference/families/picked.h"
#include "reference/type_lists.h"
#include "reference/window.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

// One axis: its extents, the scale between them, and the part of X that is taken.
struct Track {
  Int in = 0, out = 0;
  double scale = 1, start = 0, end = 1;
};

bool gives(const Call& call, const char* list) {
  return call.has(list) ? volume(call.shape(list)) > 0 : call.states(list);
}
std::string word(const Call& call, const char* attribute, const char* otherwise) {
  return call.definition().attribute(attribute) ? call.text(attribute) : otherwise;
}
std::string transformation(const Call& call) { return word(call, "coordinate_transformation_mode", "asymmetric"); }
bool crops(const Call& call) { return transformation(call) == "tf_crop_and_resize"; }
std::string policy(const Call& call) { return word(call, "keep_aspect_ratio_policy", "stretch"); }
bool is_set(const Call& call, const char* flag) { return call.states(flag) && call.integer(flag) != 0; }

// Upsample-1 scales the last two axes.
std::vector<double> scales(const Call& call) {
  if (call.definition().attribute("height_scale")) {
    std::vector<double> all(static_cast<std::size_t>(std::max<Int>(0, call.rank("X") - 2)), 1.0);
    all.insert(all.end(), {call.real("height_scale"), call.real("width_scale")});
    return all;
  }
  const Reals all = gives(call, "scales") ? call.reals("scales") : Reals();
  return {all.begin(), all.end()};
}
Ints sizes(const Call& call) { return gives(call, "sizes") ? call.ints("sizes") : Ints(); }
std::size_t at(Int axis, const Call& call) { return static_cast<std::size_t>(from_front(axis, call.rank("X"))); }

// Sets extents and scales by sizes: each by its own ratio, or all by the smallest or largest of them.
void fit_sizes(const Call& call, std::vector<Track>& tracks) {
  const Ints all = sizes(call), axes = axes_of(call);
  const auto size = [&](std::size_t i) { return std::min(all[i], Int{1} << 31); };
  std::size_t ruling = 0;
  for (std::size_t i = 1; i < all.size() && policy(call) != "stretch"; ++i) {
    const Int mine = size(i) * tracks[at(axes[ruling], call)].in, best = size(ruling) * tracks[at(axes[i], call)].in;
    if (policy(call) == "not_larger" ? mine < best : mine > best) ruling = i;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    Track& track = tracks[at(axes[i], call)];
    const bool is_own = policy(call) == "stretch";
    const Int numerator = size(is_own ? i : ruling),
              denominator = is_own ? track.in : tracks[at(axes[ruling], call)].in;
    track.out = is_own ? all[i] : (2 * numerator * track.in + denominator) / (2 * denominator);
    track.scale = denominator == 0 ? 1 : static_cast<double>(numerator) / static_cast<double>(denominator);
  }
}

std::vector<Track> tracks(const Call& call) {
  std::vector<Track> all;
  for (const Int extent : call.shape("X")) all.push_back({extent, extent});
  const Ints axes = axes_of(call);
  const std::vector<double> by = scales(call);
  for (std::size_t i = 0; i < by.size(); ++i) {
    Track& track = all[at(axes[i], call)];
    track.scale = by[i];
    track.out = track.in == 0 ? 0 : static_cast<Int>(std::min(std::floor(static_cast<double>(track.in) * by[i]), 1e15));
  }
  if (gives(call, "sizes")) fit_sizes(call, all);
  const std::vector<double> roi = crops(call) ? reals(call, "roi") : std::vector<double>();
  for (std::size_t i = 0; i < roi.size() / 2; ++i) {
    all[at(axes[i], call)].start = roi[i];
    all[at(axes[i], call)].end = roi[i + axes.size()];
  }
  return all;
}

Shape resized(const Call& call) {
  Shape shape;
  for (const Track& each : tracks(call)) shape.push_back(each.out);
  return shape;
}

double coordinate(const Track& track, Int index, const std::string& how) {
  const auto o = static_cast<double>(index), last_in = static_cast<double>(track.in - 1),
             last_out = static_cast<double>(track.out - 1);
  const double half = (o + 0.5) / track.scale - 0.5;
  if (how == "asymmetric") return o / track.scale;
  if (how == "tf_half_pixel_for_nn") return half + 0.5;
  if (how == "align_corners") return track.out == 1 ? 0 : o * last_in / last_out;
  if (how == "pytorch_half_pixel") return track.out == 1 ? 0 : half;
  if (how == "half_pixel_symmetric")
    return (last_in + 1) / 2 * (1 - (last_out + 1) / (track.scale * (last_in + 1))) + half;
  if (how == "tf_crop_and_resize" && track.out == 1) return (track.start + track.end) * last_in / 2;
  if (how == "tf_crop_and_resize") return track.start * last_in + o * (track.end - track.start) * last_in / last_out;
  return half;
}

double nearest(double x, double scale, const std::string& how) {
  if (how == "round_prefer_floor") return std::ceil(x - 0.5);
  if (how == "round_prefer_ceil") return std::floor(x + 0.5);
  if (how == "floor" || how == "ceil") return how == "floor" ? std::floor(x) : std::ceil(x);
  return scale < 1 ? std::ceil(x) : std::floor(x);
}

double cubic(double t, double a) {
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

std::vector<AxisTap> taps_around(const Call& call, const Track& track, double x) {
  const double q = is_set(call, "antialias") && track.scale < 1 ? track.scale : 1;
  const bool is_cubic = call.text("mode") == "cubic", excludes = is_set(call, "exclude_outside");
  const double reach = (is_cubic ? 2 : 1) / q;
  std::vector<AxisTap> taps;
  double total = 0;
  for (double i = std::ceil(x - reach); i <= x + reach; ++i) {
    const auto cell = static_cast<Int>(i), inside = std::clamp(cell, Int{0}, track.in - 1);
    const double t = std::fabs(x - i) * q, weight = is_cubic ? cubic(t, call.real("cubic_coeff_a")) : 1 - t;
    if (weight == 0 || (excludes && cell != inside)) continue;
    taps.push_back({inside, weight});
    total += weight;
  }
  for (AxisTap& tap : taps)
    if (q < 1 || excludes) tap.weight /= total;
  return taps;
}

template <class T>
T rounded_to(double value) {
  if constexpr (std::is_integral_v<T>) {
    const auto low = static_cast<double>(std::numeric_limits<T>::min()),
               high = -low + (low == 0 ? std::ldexp(1.0, 8 * sizeof(T)) : 0);
    value = std::nearbyint(value);
    return value >= high  ? std::numeric_limits<T>::max()
           : value <= low ? std::numeric_limits<T>::min()
                          : static_cast<T>(value);
  } else {
    return T(value);
  }
}

Values interpolate(const Call& call, const Tensor& in, const std::vector<Track>& all,
                   const std::vector<std::vector<double>>& x) {
  Tensor y({in.dtype(), resized(call)});
  std::vector<std::vector<std::vector<AxisTap>>> taps(all.size());
  for (std::size_t axis = 0; axis < all.size(); ++axis)
    for (const double each : x[axis])
      taps[axis].push_back(std::isnan(each) ? std::vector<AxisTap>() : taps_around(call, all[axis], each));
  if (y.elements() == 0) return y;
  for_number(in.dtype(), [&]<class T>() {
    const std::vector<double> sums = blended({in.as<T>().begin(), in.as<T>().end()}, in.shape(), taps);
    std::ranges::transform(sums, y.as<T>().begin(), rounded_to<T>);
    if (!crops(call)) return;
    for_each_position(y.shape(), [&](const Shape& o, Int i) {
      for (std::size_t axis = 0; axis < all.size(); ++axis)
        if (taps[axis][static_cast<std::size_t>(o[axis])].empty())
          y.as<T>()[static_cast<std::size_t>(i)] = rounded_to<T>(call.real("extrapolation_value"));
    });
  });
  return y;
}

Values resize_data(const Call& call, Inputs in) {
  const std::vector<Track> all = tracks(call);
  std::vector<std::vector<double>> x;  // NaN outside of what is cropped
  std::vector<Ints> along;
  for (const Track& track : all) {
    x.emplace_back();
    along.emplace_back();
    for (Int o = 0; o < track.out; ++o) {
      const double at = coordinate(track, o, transformation(call)), last = static_cast<double>(track.in - 1);
      const bool is_outside = crops(call) && (at < 0 || at > last);
      x.back().push_back(is_outside ? std::numeric_limits<double>::quiet_NaN() : at);
      const double found = std::clamp(nearest(at, track.scale, word(call, "nearest_mode", "")), 0.0, last);
      along.back().push_back(is_outside ? -1 : static_cast<Int>(found));
    }
  }
  if (call.text("mode") != "nearest") return interpolate(call, *in[0], all, x);
  Tensor fill({in[0]->dtype(), {}});
  if (crops(call))
    for_type(fill.dtype(), [&]<class T>() {
      if constexpr (Number<T>) fill.as<T>()[0] = rounded_to<T>(call.real("extrapolation_value"));
    });
  return picked(*in[0], along, fill);
}

// -- constraints

bool has_axes(const Call& call) { return are_axes(axes_of(call), call.rank("X")); }
bool is_list(const Call& call, const char* name) { return !call.has(name) || call.rank(name) == 1; }

bool holds_numbers(const Call& call) {
  const DType type = call.type("X").dtype;
  const std::string mode = call.text("mode");
  const bool computes = mode == "linear" || mode == "bilinear" || mode == "cubic";
  return !computes || is_float(type) || is_integer(type);
}

bool has_one_list(const Call& call) { return gives(call, "scales") != gives(call, "sizes"); }
bool fits_axes(const Call& call) {
  if (call.rank("X") == 0) return true;
  const std::size_t axes = axes_of(call).size();
  return (!gives(call, "scales") || scales(call).size() == axes) &&
         (!gives(call, "sizes") || sizes(call).size() == axes);
}

bool has_sizes(const Call& call) {
  const Ints all = sizes(call), axes = axes_of(call);
  for (std::size_t i = 0; i < all.size() && has_axes(call) && all.size() == axes.size(); ++i) {
    const bool is_empty = call.shape("X")[at(axes[i], call)] == 0;
    if (all[i] < 0 || (is_empty && (all[i] != 0 || policy(call) != "stretch"))) return false;
  }
  return true;
}

bool has_scales(const Call& call) {
  return std::ranges::all_of(scales(call), [](double s) { return s > 0; });
}

bool has_scale_per_axis(const Call& call) {
  return call.rank("X") == 0 || scales(call).size() == call.shape("X").size();
}

void transformed(Operator& op) {
  op.without("scales")
      .without("C2")
      .type("T1", types::all_tensor_types())
      .type("T2", types::all_float_types())
      .input("X", "T1")
      .parameter("roi", "T2", "roi")
      .parameter("scales", "f32", "scales")
      .parameter("sizes", "i64", "sizes", Arity::optional)
      .output("Y", "T1")
      .attribute("exclude_outside", 0)
      .attribute("extrapolation_value", 0.0F)
      .attribute("cubic_coeff_a", -0.75F);
}

}  // namespace

// clang-format off
Operator resize() {
  return Operator("Resize")
      .input("X", "T").output("Y", "T").rulings({"A29", "E1", "M20", "M21", "M44", "M62"})
      .require("C3", "every scale is positive", has_scales)
      .require("C9", "rank(X) >= 1", [](auto& c) { return c.rank("X") > 0; })
      .require("C10", "scales is a list", [](auto& c) { return is_list(c, "scales"); })
      .require("C12", "mode is nearest where X holds no numbers", holds_numbers)
      .since(10).type("T", types::all_tensor_types()).word("mode", {"nearest", "linear"}, "C7").ruling("M43")
          .parameter("scales", "f32", "scales")
          .require("C2", "scales has as many entries as X has axes", has_scale_per_axis)
      .since(11, "coordinates are transformed; roi, sizes, mode cubic").with(transformed).without("T").without("C7").settled("M43")
          .rulings({"M22", "M23", "M46", "M47"})
          .word("coordinate_transformation_mode", {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                                   "tf_crop_and_resize", "tf_half_pixel_for_nn"}, "C8")
          .word("mode", {"nearest", "linear", "cubic"}, "C7")
          .word("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}, "C11")
          .require("C1", "one of scales and sizes has entries", has_one_list)
          .require("C2", "scales or sizes has an entry for each axis", fits_axes)
          .require("C4", "sizes are not negative, and 0 where X has no elements", has_sizes)
          .require("C5", "to crop, roi has two entries for each axis", [](auto& c) {
            return !crops(c) || c.rank("X") == 0 || (c.has("roi") && reals(c, "roi").size() == 2 * axes_of(c).size()); })
          .require("C13", "sizes and roi are lists", [](auto& c) { return is_list(c, "sizes") && is_list(c, "roi"); })
      .since(13, "roi and scales may be left out; T1 admits bfloat16").type("T1", types::all_tensor_types_ir4())
          .without("roi").without("scales").without("sizes").without("C8")
          .parameter("roi", "T2", "roi", Arity::optional).parameter("scales", "f32", "scales", Arity::optional)
          .parameter("sizes", "i64", "sizes", Arity::optional).ruling("M52")
          .word("coordinate_transformation_mode", {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                                   "tf_crop_and_resize"}, "C8")
          .require("C14", "scales and sizes are left out, not empty", [](auto& c) {
            return (!c.has("scales") || gives(c, "scales")) && (!c.has("sizes") || gives(c, "sizes")); }, "M52")
      .since(18, "antialias, axes and keep_aspect_ratio_policy").attribute("antialias", 0).attribute("axes", all_axes)
          .word("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}, "C15").ruling("M61")
          .require("C6", "axes are in [-rank(X), rank(X) - 1]", has_axes)
          .require("C16", "no axis is listed twice", [](auto& c) { return are_distinct(axes_of(c), c.rank("X")); })
          .require("C17", "antialias needs mode linear or cubic", [](auto& c) {
            return !is_set(c, "antialias") || c.text("mode") != "nearest"; }, "M61")
      .since(19, "half_pixel_symmetric").without("C8")
          .word("coordinate_transformation_mode", {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                                   "tf_crop_and_resize", "half_pixel_symmetric"}, "C8")
      .shaping(Shaping::moved).infer(moved_to(resized)).kernel(resize_data);
}

Operator upsample() {
  using enum AttributeSpec::Kind;
  return Operator("Upsample")
      .input("X", "T").output("Y", "T").rulings({"A29", "E1", "M20", "M21", "M43", "M44", "M62"})
      .require("C1", "no scale is less than 1", [](auto& c) {
        return std::ranges::all_of(scales(c), [](double s) { return s >= 1; }); })
      .require("C9", "rank(X) >= 1", [](auto& c) { return c.rank("X") > 0; })
      .require("C12", "mode is nearest where X holds no numbers", holds_numbers)
      .since(1).type("T", {DType::boolean, DType::i32, DType::i64, DType::f16, DType::f32, DType::f64})
          .required_attribute("height_scale", real).required_attribute("width_scale", real)
          .word("mode", {"nearest", "bilinear"}, "C3")
          .require("C4", "rank(X) = 4", [](auto& c) { return c.rank("X") == 4 || c.rank("X") == 0; })
      .since(7, "scales of every axis; mode linear; T admits every type").type("T", types::all_tensor_types())
          .without("height_scale").without("width_scale").without("C4").without("C3")
          .required_attribute("scales", reals).word("mode", {"nearest", "linear"}, "C3")
          .require("C2", "scales has as many entries as X has axes", has_scale_per_axis)
      .since(9, "scales is an input").without("scales").parameter("scales", "f32", "scales")
          .require("C10", "scales is a list", [](auto& c) { return is_list(c, "scales"); })
      .since(10, "deprecated").ruling("M54")
      .shaping(Shaping::moved).infer(moved_to(resized)).kernel(resize_data);
}
// clang-format on

}  // namespace assay
