// SPDX-License-Identifier: Apache-2.0
// The exact answers of Resize and Upsample: which coordinate of X an element stands for, as a fraction, and the nearest
// cells or the sum around it (rules/interpolation.h).
#include "oracles/exact/expression.h"
#include "oracles/exact/operands.h"
#include "oracles/families/elementwise.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/interpolation.h"
#include "oracles/rules/rules.h"
#include "reference/flat_index.h"
#include "reference/operator.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace assay::oracles {
namespace {

const Ratio half{{1, -1}, 1};
Ratio exactly_of(double value) { return ratio(scalar_of(value)); }

// One axis: extents, the scale between them, and the part of X that is taken.
struct Scaled {
  Int in = 0, out = 0;
  Ratio scale = ratio(Int{1});
  double start = 0, end = 1;
};

std::string said(const Call& call, const char* attribute, const char* otherwise) {
  return call.definition().attribute(attribute) ? call.text(attribute) : otherwise;
}
std::string transformation(const Call& call) { return said(call, "coordinate_transformation_mode", "asymmetric"); }
bool is_listed(const Call& call, const char* name) {
  return call.states(name) && !(call.has(name) && volume(call.shape(name)) == 0);
}
bool says_yes(const Call& call, const char* flag) { return call.states(flag) && call.integer(flag) == 1; }
bool reads(const Call& call, const Readings& readings, const char* id, const char* reading) {
  return call.definition().ruling(id) && readings.of(id) == reading;
}

// Of an input or an attribute.
std::vector<double> numbers(const Call& call, const char* input) {
  if (!call.has(input)) {
    const Reals stated = call.reals(input);
    return {stated.begin(), stated.end()};
  }
  const Tensor& data = *call.node().inputs.find(input)->second.data;
  std::vector<double> all;
  for (Int i = 0; i < data.elements(); ++i) all.push_back(scalar(data, i).as_double());
  return all;
}

// The axis that each entry of a list is for.
std::vector<std::size_t> meant(const Call& call) {
  std::vector<std::size_t> all;
  const bool lists = call.states("axes") && !call.ints("axes").empty();
  for (Int i = 0; i < (lists ? std::ssize(call.ints("axes")) : call.rank("X")); ++i)
    all.push_back(lists ? axis_in(call.rank("X"), call.ints("axes")[static_cast<std::size_t>(i)])
                        : static_cast<std::size_t>(i));
  return all;
}

void scale_by_factors(const Call& call, const Readings& readings, std::vector<Scaled>& all) {
  const bool has_plane = call.states("height_scale");
  const std::vector<double> list = has_plane
                                       ? std::vector<double>{1, 1, call.real("height_scale"), call.real("width_scale")}
                                       : numbers(call, "scales");
  const std::vector<std::size_t> axes = meant(call);
  const bool crops = transformation(call) == "tf_crop_and_resize";
  for (std::size_t i = 0; i < list.size(); ++i) {
    Scaled& each = all[axes[i]];
    each.scale = exactly_of(list[i]);
    Ratio length = ratio(each.in) * each.scale;
    if (reads(call, readings, "M21", "f32-product"))
      length = exactly_of(static_cast<float>(each.in) * static_cast<float>(list[i]));
    if (crops && reads(call, readings, "M23", "with-roi"))
      length = length * (exactly_of(each.end) - exactly_of(each.start));
    each.out = static_cast<Int>(floor(length));
  }
}

void scale_to_sizes(const Call& call, std::vector<Scaled>& all) {
  const Ints list = call.ints("sizes");
  const std::vector<std::size_t> axes = meant(call);
  const std::string policy = said(call, "keep_aspect_ratio_policy", "stretch");
  std::optional<Ratio> common;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Scaled& each = all[axes[i]];
    each.out = list[i];
    if (each.in == 0) continue;
    each.scale = ratio(list[i]) / ratio(each.in);
    if (!common || (policy == "not_larger" ? each.scale < *common : *common < each.scale)) common = each.scale;
  }
  if (policy == "stretch" || !common) return;
  for (const std::size_t axis : axes) {
    all[axis].scale = *common;
    all[axis].out = static_cast<Int>(floor(*common * ratio(all[axis].in) + half));
  }
}

std::vector<Scaled> scaled(const Call& call, const Readings& readings) {
  std::vector<Scaled> all;
  for (const Int extent : call.shape("X")) all.push_back({extent, extent});
  const std::vector<std::size_t> axes = meant(call);
  if (transformation(call) == "tf_crop_and_resize") {
    const std::vector<double> roi = numbers(call, "roi");
    for (std::size_t i = 0; i < axes.size(); ++i) all[axes[i]].start = roi[i], all[axes[i]].end = roi[i + axes.size()];
  }
  if (is_listed(call, "sizes"))
    scale_to_sizes(call, all);
  else
    scale_by_factors(call, readings, all);
  return all;
}

// Readings refuse versions that are deprecated; by others the output has no extent.
std::optional<Shape> resized_shape(const Call& call, const Readings& readings) {
  if (call.definition().ruling("M54") && readings.of("M54") == "refuse") return std::nullopt;
  Shape out;
  for (const Scaled& each : scaled(call, readings)) out.push_back(each.out);
  if (std::ranges::any_of(out, [](Int extent) { return extent < 0; })) return std::nullopt;
  return out;
}

bool is_power_of_two(const Ratio& value) {
  const Integer top = abs(value.numerator).mantissa;
  const auto is_power = [](const Integer& n) { return n > 0 && (n & (n - 1)) == 0; };
  return is_power(top) && is_power(value.denominator);
}
bool is_power_of_two(Int value) { return value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value)); }
bool is_sixteenth(double value) { return value * 16 == std::floor(value * 16) && std::fabs(value) <= 2; }

// Coordinates of one axis, and by how much they may err (movement 5.1).
class Track {
 public:
  Track(const Call& call, const Readings& readings, const Scaled& scaled)
      : axis_(scaled), how_(reads(call, readings, "M43", "half-pixel") ? "half_pixel" : transformation(call)) {
    length_ = ratio(axis_.out);
    const bool is_own = ratio(axis_.in) * axis_.scale == length_;
    if (!is_own && call.definition().ruling("M20")) {
      if (readings.of("M20") == "ratio") ratio_ = length_ / ratio(axis_.in);
      if (readings.of("M20") == "fractional-length") length_ = ratio(axis_.in) * axis_.scale;
    }
    const bool keeps_size = axis_.in == axis_.out && (axis_.scale != ratio(Int{1}) || how_ == "tf_half_pixel_for_nn");
    if (keeps_size && how_ != "tf_crop_and_resize") copies_ = reads(call, readings, "M22", "same-size-copy");
  }

  const Scaled& axis() const { return axis_; }
  Coordinate at(Int o) const {
    Coordinate x{copies_ ? ratio(o) : exact(ratio(o)), 0};
    if (!copies_ && !is_certain(o)) x.drift = drift(o, std::fabs(approximate(x.at))) * (1 + std::ldexp(1.0, -20));
    return x;
  }

 private:
  bool is_single() const { return length_ == ratio(Int{1}); }
  Ratio scale() const { return ratio_.value_or(axis_.scale); }

  Ratio exact(const Ratio& o) const {
    const Ratio one = ratio(Int{1}), last = ratio(axis_.in - 1), middle = (o + half) / scale() - half;
    if (how_ == "asymmetric") return o / scale();
    if (how_ == "tf_half_pixel_for_nn") return middle + half;
    if (how_ == "align_corners") return is_single() ? Ratio() : o * last / (length_ - one);
    if (how_ == "pytorch_half_pixel" && is_single()) return {};
    if (how_ == "half_pixel_symmetric")
      return ratio(axis_.in) * half * (one - ratio(axis_.out) / (axis_.scale * ratio(axis_.in))) + middle;
    if (how_ != "tf_crop_and_resize") return middle;
    const Ratio start = exactly_of(axis_.start), end = exactly_of(axis_.end);
    if (is_single()) return (start + end) * half * last;
    return start * last + o * (end - start) * last / (length_ - one);
  }

  double drift(Int o, double c) const {
    const auto last = static_cast<double>(axis_.in - 1);
    if (how_ == "asymmetric" || how_ == "align_corners") return 3 * c;
    if (how_ == "half_pixel_symmetric") return 5 * (c + 1) + 4 * (last + 1);
    if (how_ != "tf_crop_and_resize") return 5 * (c + 1);
    if (is_single()) return 3 * c;
    const double along = static_cast<double>(o) * (axis_.end - axis_.start) * last / (approximate(length_) - 1);
    return 2 * std::fabs(axis_.start) * last + 5 * std::fabs(along) + c;
  }

  // Tells whether every usual order of the formula is exact.
  bool is_certain(Int o) const {
    const bool is_small = o < (1 << 20), keeps = axis_.in == axis_.out && axis_.scale == ratio(Int{1});
    if (is_single() && (how_ == "align_corners" || how_ == "pytorch_half_pixel")) return true;
    if (how_ == "align_corners")
      return o == 0 || axis_.in == axis_.out || (is_power_of_two(axis_.in - 1) && is_power_of_two(axis_.out - 1));
    if (how_ == "tf_crop_and_resize") {
      if (axis_.start == 0 && (o == 0 || (axis_.end == 1 && axis_.in == axis_.out)) && !is_single()) return true;
      return is_sixteenth(axis_.start) && is_sixteenth(axis_.end) && axis_.in <= 257 && axis_.out <= 257 &&
             (is_single() || (is_power_of_two(axis_.out - 1) && length_ == ratio(axis_.out)));
    }
    const bool is_whole = (ratio(axis_.in) * axis_.scale) == ratio(axis_.out);
    return is_small && (keeps || is_power_of_two(scale())) && (how_ != "half_pixel_symmetric" || is_whole);
  }

  Scaled axis_;
  std::string how_;
  Ratio length_;
  std::optional<Ratio> ratio_;
  bool copies_ = false;
};

class ResizedAnswer final : public Answer {
 public:
  ResizedAnswer(const Call& call, const Tensor& x, const Readings& readings)
      : call_(call), x_(x), shape_(*resized_shape(call, readings)), readings_(readings) {
    for (const Scaled& each : scaled(call, readings)) tracks_.emplace_back(call, readings, each);
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return x_.dtype(); }

  Element element(Int index) const override {
    const std::vector<Coordinate> at = coordinates(index);
    const std::optional<bool> is_outside = falls_outside(at);
    if (is_nearest()) {
      const std::vector<Scalar> all = options(at, is_outside, 1);
      return all.size() == 1 ? exactly(all.front(), dtype()) : one_of("M62", all);
    }
    if (!is_outside) return unscored("a coordinate may round out of the input (M50)");
    if (*is_outside) return exactly(extrapolated(), dtype());
    return interpolation(at).element("M47");
  }

  std::vector<Tolerance> wider(Int index) const override {
    const std::vector<Coordinate> at = coordinates(index);
    const std::optional<bool> is_outside = falls_outside(at);
    if (!is_nearest()) return is_outside == false ? interpolation(at).wider() : std::vector<Tolerance>();
    std::vector<Tolerance> all;
    if (is_float(dtype())) all.push_back(flushing(element(index), options(at, is_outside, 1), dtype()));
    std::vector<Scalar> finite = options(at, is_outside, 2);
    std::erase_if(finite, [](const Scalar& each) { return !each.is_finite(); });
    if (finite.size() < 2 || dtype() == DType::string || dtype() == DType::boolean) return all;
    Tolerance out = beyond("coordinates of twice the error");
    const auto less = [](const Scalar& a, const Scalar& b) { return ratio(a) < ratio(b); };
    out.range = Interval{*std::ranges::min_element(finite, less), *std::ranges::max_element(finite, less)};
    all.push_back(out);
    return all;
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    std::string where = "X at";
    for (const Coordinate& each : coordinates(index)) where += " " + std::to_string(approximate(each.at));
    all.push_back({{written(nearest(element(index), dtype()), dtype())}, where});
    return all;
  }

  std::pair<const Tensor*, Int> copied(Int index) const override {
    const std::vector<Coordinate> at = coordinates(index);
    if (!is_nearest() || falls_outside(at) != false) return {};
    const std::vector<Int> all = cells(at, 1);
    return all.size() == 1 ? std::pair<const Tensor*, Int>{&x_, all.front()} : std::pair<const Tensor*, Int>{};
  }

 private:
  bool is_nearest() const { return call_.text("mode") == "nearest"; }

  std::vector<Coordinate> coordinates(Int index) const {
    const Shape at = position(shape_, index);
    std::vector<Coordinate> all;
    for (std::size_t axis = 0; axis < at.size(); ++axis) all.push_back(tracks_[axis].at(at[axis]));
    return all;
  }

  // Tells whether what is cropped leaves the input; none where that is for rounding to say.
  std::optional<bool> falls_outside(const std::vector<Coordinate>& at) const {
    if (transformation(call_) != "tf_crop_and_resize") return false;
    bool is_unsure = false;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      const Ratio off = exactly_of(2 * at[axis].drift * std::ldexp(1.0, -24)),
                  last = ratio(tracks_[axis].axis().in - 1);
      if (at[axis].at + off < Ratio() || last < at[axis].at - off) return true;
      is_unsure |= at[axis].drift != 0 && (at[axis].at - off < Ratio() || last < at[axis].at + off);
      if (at[axis].drift == 0 && (at[axis].at < Ratio() || last < at[axis].at)) return true;
    }
    return is_unsure ? std::nullopt : std::optional(false);
  }

  Scalar extrapolated() const {
    if (!is_float(dtype()) && !is_integer(dtype())) return scalar(zero_, 0);
    const Scalar value = scalar_of(call_.real("extrapolation_value"));
    if (!value.is_finite()) return value;
    if (is_float(dtype())) return rounded(ratio(value), format_of(dtype()));
    return saturated(dtype(), floor(ratio(value) + half));
  }

  Integer round(const Ratio& x, std::size_t axis) const {
    std::string how = said(call_, "nearest_mode", "");
    const bool shrinks = tracks_[axis].axis().scale < ratio(Int{1});
    if (call_.definition().ruling("M43")) {
      const std::string_view old = readings_.of("M43");
      const bool rounds = old == "round-half-down" || old == "half-pixel";
      how = rounds ? "round_prefer_floor" : old == "floor" || !shrinks ? "floor" : "ceil";
    }
    if (how == "floor") return floor(x);
    if (how == "round_prefer_ceil") return floor(x + half);
    return Integer(-floor(how == "ceil" ? Ratio() - x : half - x));
  }

  // Where in X the nearest cells stand, each axis within so many times its error.
  std::vector<Int> cells(const std::vector<Coordinate>& at, double units) const {
    std::vector<Int> all{0};
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      std::vector<Int> longer;
      const Int extent = tracks_[axis].axis().in;
      for (const Int before : all)
        for (const Int cell : cells_near(at[axis], units, [&](const Ratio& x) { return round(x, axis); }))
          longer.push_back(before * extent + std::clamp(cell, Int{0}, extent - 1));
      all = std::move(longer);
    }
    const Int first = all.front();
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    std::ranges::stable_partition(all, [&](Int cell) { return cell == first; });
    return all;
  }

  std::vector<Scalar> options(const std::vector<Coordinate>& at, std::optional<bool> is_outside, double units) const {
    std::vector<Scalar> all;
    if (is_outside == true) return {extrapolated()};
    for (const Int cell : cells(at, units))
      if (const Scalar x = scalar(x_, cell); std::ranges::none_of(all, [&](const Scalar& o) { return same(o, x); }))
        all.push_back(x);
    if (!is_outside) all.push_back(extrapolated());
    return all;
  }

  Interpolation interpolation(const std::vector<Coordinate>& at) const {
    const bool is_cubic = call_.text("mode") == "cubic", excludes = says_yes(call_, "exclude_outside");
    std::vector<WeightedAxis> axes;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      const Scaled& track = tracks_[axis].axis();
      Weighing how{.is_cubic = is_cubic, .is_normalised = excludes};
      if (is_cubic) how.a = scalar_of(call_.real("cubic_coeff_a")).value();
      if (says_yes(call_, "antialias") && track.scale < ratio(Int{1}))
        how.stretch = track.scale, how.is_normalised = true;
      axes.push_back(weigh(at[axis], how, [&](Int i) {
        const Int inside = std::clamp(i, Int{0}, track.in - 1);
        return Cell{inside, excludes && i != inside};
      }));
    }
    return {std::move(axes), is_cubic, dtype(),
            [&](const std::vector<Int>& cell) { return scalar(x_, flat_index(x_.shape(), cell)); }};
  }

  Call call_;
  Tensor x_, zero_{{x_.dtype(), {}}};
  Shape shape_;
  Readings readings_;
  std::vector<Track> tracks_;
};

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
  return Answers(std::make_unique<ResizedAnswer>(call, *in.at(0), readings));
}

}  // namespace

Oracle resize() { return with_touched({answer, resized_shape, {}, true, {"X"}}); }
Oracle upsample() { return resize(); }

}  // namespace assay::oracles
