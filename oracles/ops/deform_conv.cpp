// SPDX-License-Identifier: Apache-2.0
// The exact answer of DeformConv (spec 1.5), any number of axes r:
//
//   Y[n,m,o] = B[m] + sum over c, kappa of  W * mask * beta(h),   h_a = base_a + offset_a,  base_a = o_a s_a - pb_a +
//   kappa_a d_a
//
// beta is the multilinear interpolation of the plane extended by zeros. All of it is dyadic, so the value is exact.
//
// Budget, for arithmetic with unit roundoff u (numerics 2.8 has r = 2):
//  1. Coordinates. base_a is an integer; adding the offset, in one or two steps, and taking the fraction change h_a by
//  at
//     most D_a = 2u(|base_a| + |offset_a|) + u. beta is continuous and piecewise multilinear: its derivative along a is
//     a convex combination of differences of neighbours along a. Moving one coordinate after the other, |beta(h') -
//     beta(h)| <= sum_a L_a D_a, L_a the largest such difference in the cells within D of h. D_a = 0 where base_a +
//     offset_a and its fraction are representable.
//  2. Interpolation. A corner weight is a product of r factors, each rounded at most once: 2r - 1 roundings; the cell:
//  1;
//     adding 2^r corners: 2^r - 1; mask and W: 2; the sum: n. With 3 to spare (stored columns, converted operands),
//     every elementary product suffers at most R = n + 2r + 2^r + 4 roundings: gamma(R,u) A, A = |b| + sum |W mask| sum
//     omega |x|.
//  3. Underflow: each of fewer than n 2^r (r + 4) operations loses at most η/2, multiplied by what follows.
// An interpolation written a + t(b - a) rounds against both ends: A with omega = 1, a level below.
// Collapse: where every coordinate is exact and sum |W mask| sum |x| <= 2^p g for g dividing every elementary product,
// nothing rounds, whichever way it is written.
#include "oracles/dot.h"
#include "oracles/enclosure.h"
#include "oracles/filter.h"
#include "oracles/geometry.h"
#include "oracles/operands.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace assay::oracles {
namespace {

constexpr int no_granule = std::numeric_limits<int>::max();

Dyadic whole(Int value) { return {value, 0}; }

// The largest power of two that divides it, as an exponent.
int granule_of(const Dyadic& value) {
  return value.is_zero() ? no_granule
                         : value.exponent + static_cast<int>(boost::multiprecision::lsb(abs(value).mantissa));
}

// Rounded down; beyond ±2^62 that bound itself, far outside any input.
Int floor_of(const Dyadic& value) {
  constexpr Int far = Int{1} << 62;
  if (value >= whole(far)) return far;
  if (value <= whole(-far)) return -far;
  if (value.exponent >= 0) return static_cast<Int>(Integer(value.mantissa << static_cast<unsigned>(value.exponent)));
  const auto shift = static_cast<unsigned>(-value.exponent);
  const Integer magnitude = abs(value).mantissa, down = magnitude >> shift;
  if (value.mantissa >= 0) return static_cast<Int>(down);
  return -static_cast<Int>(down << shift == magnitude ? down : Integer(down + 1));
}

// How coordinates and sums are computed.
struct Machine {
  const Format* format;
  int slack_exponent = 0;                      // 1: truncating, 2u per operation
  Int spare = 0;                               // further roundings of every product
  bool converts() const { return spare > 1; }  // operands are rounded to the format first

  Dyadic unit() const { return Dyadic::power_of_two(format->unit_exponent() + slack_exponent); }
};

struct Coordinate {
  Int base;
  const Scalar* offset;
  Dyadic at;     // base + offset
  Dyadic reach;  // |base| + |offset|

  bool is_exact(const Format& format) const {
    const int finest = std::min(0, offset->is_zero() ? 0 : offset->exponent);
    return finest >= format.unit_exponent() && reach <= Dyadic::power_of_two(format.precision + finest);
  }
  Dyadic change(const Machine& machine) const {
    if (!machine.converts() && is_exact(*machine.format)) return {};
    return machine.unit() * (reach + reach + whole(1));
  }
};

// One tap of one output: a weight, a mask and a sampled place of one plane.
struct Sample {
  const Scalar *weight, *mask;  // mask may be null: 1
  Int weight_index, mask_index, plane;
  std::vector<Coordinate> where;
};

// What one sample contributes.
struct Blend {
  Dyadic value, magnitude, magnitude_lerp;  // beta, with omega, with omega = 1
  int granule = no_granule;                 // of every omega x
  int finest = no_granule;                  // of every partial product, in any order
  Dyadic largest;                           // of the intermediates of one sample, in any order
  bool nan_admitted = false, nonfinite_near = false, subnormal = false;
  bool positive_infinity = false, negative_infinity = false, nan = false;
};

// A tensor taken apart once some element is asked for.
class Apart {
 public:
  explicit Apart(Tensor tensor) : tensor_(std::move(tensor)) {}

  const Tensor& tensor() const { return tensor_; }
  const Shape& shape() const { return tensor_.shape(); }
  Int extent(std::size_t axis) const { return shape().at(axis); }
  const Scalar& at(Int flat) const {
    if (values_.empty()) values_ = scalars(tensor_).values;
    return values_[static_cast<std::size_t>(flat)];
  }

 private:
  Tensor tensor_;
  mutable std::vector<Scalar> values_;
};

class DeformConvAnswer final : public Answer {
 public:
  DeformConvAnswer(const Call& call, const Operands& in, std::vector<Track> tracks, const Readings& readings,
                   const Arithmetic& declared)
      : dtype_(call.type("X").dtype),
        tracks_(std::move(tracks)),
        declared_(declared),
        hard_zero_(readings.of("A20") == "hard-zero"),
        group_(call.integer("group")),
        offset_group_(call.integer("offset_group")),
        x_(*in.at(0)),
        w_(*in.at(1)),
        offset_(*in.at(2)) {
    if (in.size() > 3 && in[3]) b_.emplace(*in[3]);
    if (in.size() > 4 && in[4]) mask_.emplace(*in[4]);
    shape_ = {x_.extent(0), w_.extent(0)};
    for (const Track& t : tracks_) {
      shape_.push_back(t.windows);
      taps_.push_back(t.taps);
      plane_.push_back(t.in);
    }
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return dtype_; }

  Element element(Int index) const override {
    Element out;
    const std::vector<Sample> all = samples(index);
    const Scalar* bias = bias_of(index);
    out.terms = static_cast<Int>(all.size()) + (bias ? 1 : 0);
    if (const std::string reason = unscorable(all); !reason.empty()) return unscored(std::move(out), reason);
    Blend total = sum(all, bias);
    if (total.nonfinite_near) return unscored(std::move(out), "a coordinate may round onto an infinity or NaN");
    out.value = {total.value, 1};
    out.magnitude = {total.magnitude, 1};
    if (total.nan_admitted) out.nan_admitted = "A21";
    if (total.nan || (total.positive_infinity && total.negative_infinity)) {
      out.kind = Kind::nan;
      return out;
    }
    const Format& format = accumulator();
    out.asked =
        allowance(all, total, Level::L2,
                  std::string(dtype_ == DType::f64 ? "f64" : "f32") + " coordinates and accumulation in any order",
                  {.format = &format}, total.magnitude);
    if (out.asked.may_overflow) return unscored(std::move(out), "an intermediate may overflow");
    if (total.positive_infinity) out.kind = Kind::positive_infinity;
    if (total.negative_infinity) out.kind = Kind::negative_infinity;
    return out;
  }

  std::vector<Allowance> wider(Int index) const override {
    const std::vector<Sample> all = samples(index);
    if (!unscorable(all).empty()) return {};
    const Blend total = sum(all, bias_of(index));
    const Format &type = format_of(dtype_), &format = accumulator();
    const Machine truncating{.format = &format, .slack_exponent = 1};
    std::vector<Allowance> wide;
    wide.push_back(
        allowance(all, total, Level::L2t, "truncating coordinates and accumulation", truncating, total.magnitude));
    wide.push_back(allowance(all, total, Level::L3, "every operation in " + std::string(name(dtype_)),
                             {.format = &type, .slack_exponent = 0, .spare = 1}, total.magnitude));
    wide.push_back(
        allowance(all, total, Level::widest, "interpolation as a + t(b - a)", truncating, total.magnitude_lerp));
    wide.back().blurs_nonfinite = total.positive_infinity || total.negative_infinity || total.nan_admitted;
    wide.push_back(flushed(all, total, truncating));
    if (dtype_ == DType::f32) {
      static const Format tf32{11, -126, 127};
      wide.push_back(with_narrow_products(all, total, "TF32 inputs", tf32, truncating));
      wide.push_back(with_narrow_products(all, total, "bf16 inputs", format_of(DType::bf16), truncating));
    }
    if (dtype_ == DType::f64)
      wide.push_back(allowance(all, total, Level::widest, "f64 computed in f32",
                               {.format = &format_of(DType::f32), .slack_exponent = 1, .spare = 8},
                               total.magnitude_lerp));
    if (declared_.accumulator && format_of(*declared_.accumulator).precision < format.precision)
      wide.push_back(allowance(
          all, total, Level::widest, "declared " + std::string(name(*declared_.accumulator)) + " arithmetic",
          {.format = &format_of(*declared_.accumulator), .slack_exponent = 1, .spare = 8}, total.magnitude_lerp));
    return wide;
  }

  std::vector<Tap> taps(Int index) const override {
    std::vector<Tap> all;
    for (const Sample& s : samples(index)) {
      std::vector<std::string> factors{hexadecimal(*s.weight)};
      if (s.mask) factors.push_back(hexadecimal(*s.mask));
      std::string where = place("W", w_.shape(), s.weight_index) + " at";
      for (const Coordinate& c : s.where) where += " " + std::to_string(c.base) + "+" + hexadecimal(*c.offset);
      all.push_back({std::move(factors), where + " of plane " + std::to_string(s.plane)});
    }
    if (const Scalar* bias = bias_of(index)) all.push_back({{hexadecimal(*bias)}, "B"});
    return all;
  }

  std::optional<Screening> screen(const Tensor& got, const Screen& how) const override {
    if (hard_zero_ || x_.extent(1) == 0 || w_.extent(0) == 0) return std::nullopt;
    Deformed all{.tracks = tracks_,
                 .batch = x_.extent(0),
                 .groups = group_,
                 .depth = w_.extent(1),
                 .maps = w_.extent(0) / group_,
                 .offset_groups = offset_group_,
                 .x = &x_.tensor(),
                 .offset = &offset_.tensor(),
                 .mask = mask_ ? &mask_->tensor() : nullptr,
                 .weights = Weights(w_.tensor()),
                 .bias = {}};
    if (b_) all.bias = doubles(b_->tensor());
    if (b_) all.bias.resize(static_cast<std::size_t>(w_.extent(0)), all.bias.front());  // A13: allow-1
    return oracles::screen(std::move(all), got, how);
  }

  // A20: some sample lies outside the padded tensor, or may after rounding, and yet within one cell of the input.
  bool reaches_border(Int index) const {
    return std::ranges::any_of(samples(index), [&](const Sample& s) {
      return is_near(s) && std::ranges::any_of(s.where, [&, a = std::size_t{0}](const Coordinate& c) mutable {
               const Track& track = tracks_[a++];
               return is_outside_padding(c, track) || is_at_border(c, track);
             });
    });
  }

 private:
  const Format& accumulator() const { return format_of(dtype_ == DType::f64 ? DType::f64 : DType::f32); }

  static Element unscored(Element out, std::string reason) {
    out.kind = Kind::unscored;
    out.reason = std::move(reason);
    return out;
  }

  const Scalar* bias_of(Int index) const {
    return b_ ? &b_->at(b_->extent(0) == 1 ? 0 : position(shape_, index)[1]) : nullptr;
  }

  std::vector<Sample> samples(Int index) const {
    const Shape y = position(shape_, index);
    const Int depth = w_.extent(1), taps = volume(taps_), axes = static_cast<Int>(tracks_.size());
    Int windows = 1, window = 0;
    for (std::size_t a = 0; a < tracks_.size(); ++a) {
      windows *= shape_[a + 2];
      window = window * shape_[a + 2] + y[a + 2];
    }
    std::vector<Sample> all;
    for (Int c = 0; c < depth; ++c) {
      const Int channel = y[1] / (w_.extent(0) / group_) * depth + c;
      const Int q = channel / (x_.extent(1) / offset_group_);
      Int flat = 0;
      each(taps_, [&](const std::vector<Int>& tap) {
        const Int row = (y[0] * offset_group_ + q) * taps + flat;
        Sample s{&w_.at((y[1] * depth + c) * taps + flat),
                 nullptr,
                 (y[1] * depth + c) * taps + flat,
                 0,
                 y[0] * x_.extent(1) + channel,
                 {}};
        if (mask_) {
          s.mask_index = row * windows + window;
          s.mask = &mask_->at(s.mask_index);
        }
        for (Int a = 0; a < axes; ++a) {
          const auto axis = static_cast<std::size_t>(a);
          const Scalar& offset = offset_.at((row * axes + a) * windows + window);
          const Int base = tracks_[axis].at(y[axis + 2], tap[axis]);
          const Dyadic displaced = offset.is_finite() ? offset.value() : Dyadic{};
          s.where.push_back({base, &offset, whole(base) + displaced, abs(whole(base)) + abs(displaced)});
        }
        all.push_back(std::move(s));
        ++flat;
      });
    }
    return all;
  }

  // Text and implementations say nothing of a weight, mask or offset that is no number; hard-zero is undecidable where
  // rounding may carry a coordinate over the border.
  std::string unscorable(const std::vector<Sample>& all) const {
    for (const Sample& s : all) {
      if (!s.weight->is_finite() || (s.mask && !s.mask->is_finite())) return "an infinite or NaN weight or mask";
      for (std::size_t a = 0; a < s.where.size(); ++a) {
        if (!s.where[a].offset->is_finite()) return "an infinite or NaN offset";
        if (hard_zero_ && is_at_border(s.where[a], tracks_[a]))
          return "a coordinate within its rounding error of the border";
      }
    }
    return "";
  }

  static Dyadic first(const Track& t) { return whole(-t.before); }
  static Dyadic last(const Track& t) { return whole(t.in - 1 + t.after); }

  static bool is_outside_padding(const Coordinate& c, const Track& t) { return c.at < first(t) || c.at > last(t); }

  bool is_at_border(const Coordinate& c, const Track& t) const {
    const Dyadic change = c.change({.format = &accumulator()});
    return !change.is_zero() && (abs(c.at - first(t)) <= change || abs(c.at - last(t)) <= change);
  }

  // Some neighbour lies in the input, or may after rounding.
  bool is_near(const Sample& s) const {
    for (std::size_t a = 0; a < s.where.size(); ++a) {
      const Dyadic change = s.where[a].change({.format = &accumulator(), .slack_exponent = 1});
      if (s.where[a].at <= whole(-1) - change || s.where[a].at >= whole(tracks_[a].in) + change) return false;
    }
    return true;
  }

  // A21 of a sample at -1 exactly: the cell at 0 is a neighbour with weight 0, and an infinity there may be multiplied.
  bool may_multiply_edge(const Sample& s) const {
    if (!has_nonfinite_x()) return false;
    bool is_at_edge = false;
    for (std::size_t a = 0; a < s.where.size(); ++a) {
      if (s.where[a].at < whole(-1) || s.where[a].at >= whole(tracks_[a].in)) return false;
      is_at_edge |= s.where[a].at == whole(-1);
    }
    return is_at_edge && sampled(s).nan_admitted;
  }

  bool is_zero_by_reading(const Sample& s) const {
    if (!hard_zero_) return false;
    for (std::size_t a = 0; a < s.where.size(); ++a)
      if (is_outside_padding(s.where[a], tracks_[a])) return true;
    return false;
  }

  // The flat index of a cell of the plane, -1 outside.
  Int flat_cell(Int plane, const std::vector<Int>& at) const {
    Int flat = plane;
    for (std::size_t a = 0; a < at.size(); ++a) {
      if (at[a] < 0 || at[a] >= plane_[a]) return -1;
      flat = flat * plane_[a] + at[a];
    }
    return flat;
  }

  const Scalar* cell(Int plane, const std::vector<Int>& at) const {
    const Int flat = flat_cell(plane, at);
    return flat < 0 ? nullptr : &x_.at(flat);
  }

  void add_corner(Blend& out, const Scalar& x, const Dyadic& omega, const Scalar& weight, const Scalar* mask) const {
    if (!x.is_finite()) {
      const bool nothing = weight.is_zero() || (mask && mask->is_zero());
      const bool negative = x.negative != (weight.negative != (mask && mask->negative));
      if (omega.is_zero())
        out.nan_admitted = true;
      else if (x.is == Scalar::Class::nan || nothing)
        out.nan = true;
      else
        (negative ? out.negative_infinity : out.positive_infinity) = true;
      return;
    }
    out.magnitude_lerp += abs(x.value());
    out.subnormal |= x.is_subnormal(format_of(dtype_));
    if (omega.is_zero() || x.is_zero()) return;
    const Dyadic product = omega * x.value();
    out.value += product;
    out.magnitude += abs(product);
  }

  // beta and its sums over the 2^r corners.
  Blend sampled(const Sample& s) const {
    Blend out;
    const std::size_t axes = s.where.size();
    std::vector<Int> low(axes);
    std::vector<Dyadic> fraction(axes);
    int fineness = 0;
    for (std::size_t a = 0; a < axes; ++a) {
      low[a] = floor_of(s.where[a].at);
      fraction[a] = s.where[a].at - whole(low[a]);
      fineness += std::min(0, granule_of(fraction[a]) == no_granule ? 0 : granule_of(fraction[a]));
    }
    each(std::vector<Int>(axes, 2), [&](const std::vector<Int>& corner) {
      std::vector<Int> at(axes);
      Dyadic omega = whole(1);
      for (std::size_t a = 0; a < axes; ++a) {
        at[a] = low[a] + corner[a];
        omega = omega * (corner[a] ? fraction[a] : whole(1) - fraction[a]);
      }
      const Scalar* x = cell(s.plane, at);
      if (!x) return;
      add_corner(out, *x, omega, *s.weight, s.mask);
      if (x->is_finite() && !x->is_zero()) out.granule = std::min(out.granule, x->exponent + fineness);
    });
    return out;
  }

  // Infinities or NaN within reach of a coordinate that is not exact in the coarsest arithmetic there is room for:
  // operations in T, and f64 computed in f32.
  bool may_touch_nonfinite(const Sample& s) const {
    if (!has_nonfinite_x()) return false;
    const Machine machine{.format = &format_of(dtype_ == DType::f64 ? DType::f32 : dtype_), .slack_exponent = 1};
    if (std::ranges::all_of(s.where, [&](const Coordinate& c) { return c.change(machine).is_zero(); })) return false;
    bool found = false;
    around(s, machine, [&](const std::vector<Int>& at) {
      const Scalar* x = cell(s.plane, at);
      found |= x && !x->is_finite();
    });
    return found;
  }

  // The cells within the change of each coordinate, clipped to the input and one cell beyond.
  template <class F>
  void around(const Sample& s, const Machine& machine, F&& f) const {
    std::vector<Int> from, extent;
    for (std::size_t a = 0; a < s.where.size(); ++a) {
      const Dyadic change = s.where[a].change(machine);
      const Int low = std::clamp<Int>(floor_of(s.where[a].at - change), -1, plane_[a]);
      const Int high = std::clamp<Int>(floor_of(s.where[a].at + change) + 1, -1, plane_[a]);
      from.push_back(low);
      extent.push_back(high - low + 1);
    }
    each(extent, [&](std::vector<Int> at) {
      for (std::size_t a = 0; a < at.size(); ++a) at[a] += from[a];
      f(at);
    });
  }

  Blend sum(const std::vector<Sample>& all, const Scalar* bias) const {
    Blend total;
    for (const Sample& s : all) {
      if (is_zero_by_reading(s)) continue;
      total.nonfinite_near |= may_touch_nonfinite(s);
      if (!is_near(s)) {
        total.nan_admitted |= may_multiply_edge(s);
        continue;
      }
      const Blend one = sampled(s);
      const Dyadic factor = s.mask ? s.weight->value() * s.mask->value() : s.weight->value();
      const Dyadic size = abs(factor);
      total.value += factor * one.value;
      total.magnitude += size * one.magnitude;
      total.magnitude_lerp += size * one.magnitude_lerp;
      if (!factor.is_zero() && one.granule != no_granule) {
        total.granule = std::min(total.granule, one.granule + granule_of(factor));
        total.finest = std::min(total.finest, one.granule + std::min(0, granule_of(s.weight->value())) +
                                                  (s.mask ? std::min(0, granule_of(s.mask->value())) : 0));
      }
      total.largest = std::max(total.largest, largest_of(s, one));
      total.nan |= one.nan;
      total.nan_admitted |= one.nan_admitted;
      total.positive_infinity |= one.positive_infinity;
      total.negative_infinity |= one.negative_infinity;
      total.subnormal |= one.subnormal || s.weight->is_subnormal(format_of(dtype_)) ||
                         (s.mask && s.mask->is_subnormal(format_of(dtype_)));
    }
    if (bias) add_bias(total, *bias);
    return total;
  }

  // |x| summed over the corners covers b - a of a + t(b - a); weight and mask may be multiplied in before or after.
  static Dyadic largest_of(const Sample& s, const Blend& one) {
    const auto at_least_one = [](const Dyadic& value) { return std::max(whole(1), value); };
    Dyadic largest = at_least_one(one.magnitude_lerp) * at_least_one(abs(s.weight->value()));
    return s.mask ? largest * at_least_one(abs(s.mask->value())) : largest;
  }

  void add_bias(Blend& total, const Scalar& bias) const {
    if (bias.is == Scalar::Class::nan) total.nan = true;
    if (bias.is == Scalar::Class::infinite) (bias.negative ? total.negative_infinity : total.positive_infinity) = true;
    if (!bias.is_finite() || bias.is_zero()) return;
    total.value += bias.value();
    total.magnitude += abs(bias.value());
    total.magnitude_lerp += abs(bias.value());
    total.granule = std::min(total.granule, bias.exponent);
    total.subnormal |= bias.is_subnormal(format_of(dtype_));
  }

  // sum of |W mask| sum_a L_a D_a, with one L for all axes: the range of the values in reach.
  Dyadic displacement(const std::vector<Sample>& all, const Machine& machine) const {
    Dyadic total;
    for (const Sample& s : all) {
      Dyadic change;
      for (const Coordinate& c : s.where) change += c.change(machine);
      if (change.is_zero()) continue;
      const Dyadic factor = s.mask ? s.weight->value() * s.mask->value() : s.weight->value();
      total += abs(factor) * range(s, machine) * change;
    }
    return total;
  }

  // The largest difference of two values in the cells within reach, zeros outside included. Every T fits a double.
  Dyadic range(const Sample& s, const Machine& machine) const {
    if (plain_.empty()) plain_ = doubles(x_.tensor());
    double low = std::numeric_limits<double>::infinity(), high = -low;
    const Scalar *lowest = nullptr, *highest = nullptr;
    static const Scalar zero;
    around(s, machine, [&](const std::vector<Int>& at) {
      const Int flat = flat_cell(s.plane, at);
      const Scalar* x = flat < 0 || !x_.at(flat).is_finite() ? &zero : &x_.at(flat);
      const double value = x == &zero ? 0 : plain_[static_cast<std::size_t>(flat)];
      if (value < low) low = value, lowest = x;
      if (value > high) high = value, highest = x;
    });
    return lowest ? highest->value() - lowest->value() : Dyadic{};
  }

  bool is_exact(const std::vector<Sample>& all, const Blend& total, const Machine& machine) const {
    if (machine.converts()) return false;
    const bool places = std::ranges::all_of(all, [&](const Sample& s) {
      return std::ranges::all_of(s.where, [&](const Coordinate& c) { return c.is_exact(*machine.format); });
    });
    return places && (total.granule == no_granule ||
                      (std::min(total.granule, total.finest) >= machine.format->smallest_exponent() &&
                       total.magnitude_lerp < machine.format->overflow_threshold() &&
                       total.magnitude_lerp <= Dyadic::power_of_two(machine.format->precision + total.granule)));
  }

  // A power of two no smaller than 1 and any operand, for what follows an underflow.
  Dyadic ceiling(const std::vector<Sample>& all) const {
    Dyadic most = whole(1);
    for (const Sample& s : all) {
      Dyadic size = abs(s.weight->value()) + whole(1);
      if (s.mask) size = size * (abs(s.mask->value()) + whole(1));
      most = std::max(most, size);
    }
    return most * largest_x();
  }

  bool has_nonfinite_x() const {
    if (!has_nonfinite_x_) {
      const std::vector<double> all = doubles(x_.tensor());
      has_nonfinite_x_ = !std::ranges::all_of(all, [](double x) { return std::isfinite(x); });
    }
    return *has_nonfinite_x_;
  }

  // |x| of the largest, and 1 at least.
  const Dyadic& largest_x() const {
    if (largest_x_) return *largest_x_;
    largest_x_ = whole(1);
    for (Int i = 0; i < x_.tensor().elements(); ++i)
      if (x_.at(i).is_finite()) largest_x_ = std::max(*largest_x_, abs(x_.at(i).value()));
    return *largest_x_;
  }

  Allowance allowance(const std::vector<Sample>& all, const Blend& total, Level level, std::string arithmetic,
                      const Machine& machine, const Dyadic& magnitude) const {
    Allowance out;
    out.level = level;
    out.arithmetic = std::move(arithmetic);
    const Dyadic most = std::max(total.magnitude_lerp, total.largest);
    out.may_overflow = most + most >= machine.format->overflow_threshold();
    if (is_exact(all, total, machine)) return out;
    const Int axes = static_cast<Int>(tracks_.size()), corners = Int{1} << axes;
    const Int roundings = static_cast<Int>(all.size()) + 1 + 2 * axes + corners + 4 + machine.spare;
    const int unit = machine.format->unit_exponent() + machine.slack_exponent;
    const Dyadic share{roundings, unit};
    out.vacuous = share >= whole(1);
    const Dyadic growth = share <= Dyadic{1, -1} ? gamma(roundings, unit) : share;
    const Dyadic moved = displacement(all, machine);
    const Int operations = (static_cast<Int>(all.size()) + 1) * corners * (axes + 4);
    const Dyadic underflow =
        Dyadic{operations, machine.format->smallest_exponent() + machine.slack_exponent} * ceiling(all);
    out.budget = {growth * magnitude + moved + moved * growth + underflow, 1};
    return out;
  }

  Allowance flushed(const std::vector<Sample>& all, const Blend& total, const Machine& machine) const {
    Allowance out = allowance(all, total, Level::widest, "subnormals flushed", machine, total.magnitude);
    out.flushes_output = true;
    const Int operations = (static_cast<Int>(all.size()) + 1) * (Int{8} << tracks_.size());
    // Every flushed operand or result is below λ of T or of the accumulator, multiplied by what follows.
    if (total.subnormal || (total.granule != no_granule && total.granule < machine.format->min_exponent))
      out.budget = out.budget +
                   Ratio{Dyadic{operations, std::max(format_of(dtype_).min_exponent, machine.format->min_exponent)} *
                             ceiling(all),
                         1};
    return out;
  }

  // Weights and columns rounded to a narrower format before they are multiplied: 2u each, (2e + e^2) A in all.
  Allowance with_narrow_products(const std::vector<Sample>& all, const Blend& total, std::string arithmetic,
                                 const Format& narrow, const Machine& machine) const {
    Allowance out = allowance(all, total, Level::widest, std::move(arithmetic), machine, total.magnitude_lerp);
    const bool fits = std::ranges::all_of(all, [&](const Sample& s) {
      const Blend one = sampled(s);
      const Dyadic column = s.mask ? one.value * s.mask->value() : one.value;
      return fits_in(s.weight->value(), narrow) && fits_in(column, narrow);
    });
    if (fits) return out;
    const Dyadic e = Dyadic::power_of_two(narrow.unit_exponent() + 1);
    out.budget = out.budget + Ratio{(e + e + e * e) * total.magnitude * (whole(1) + e), 1};
    return out;
  }

  static bool fits_in(const Dyadic& value, const Format& format) {
    if (value.is_zero()) return true;
    const int low = granule_of(value),
              high = value.exponent + static_cast<int>(boost::multiprecision::msb(abs(value).mantissa));
    return high - low < format.precision && low >= format.smallest_exponent() && high <= format.max_exponent;
  }

  DType dtype_;
  std::vector<Track> tracks_;
  Arithmetic declared_;
  bool hard_zero_;
  Int group_, offset_group_;
  Apart x_, w_, offset_;
  std::optional<Apart> b_, mask_;
  Shape shape_;
  std::vector<Int> taps_, plane_;
  mutable std::vector<double> plain_;  // x as doubles, exact
  mutable std::optional<Dyadic> largest_x_;
  mutable std::optional<bool> has_nonfinite_x_;
};

std::unique_ptr<Answer> answer(const Call& call, const Operands& in, const Readings& readings,
                               const Arithmetic& declared) {
  return std::make_unique<DeformConvAnswer>(call, in, *tracks(call, sliding(call), readings), readings, declared);
}

std::optional<Shape> shape(const Call& call, const Readings& readings) {
  return windowed(call, call.dim("X", 0), call.dim("W", 0), readings);
}

std::vector<std::string> touched(const Call& call, const Operands* in) {
  if (!in) return {};
  const std::vector<Track> windows = *tracks(call, sliding(call), {});
  const Shape y = *shape(call, {});
  if (volume(y) == 0 || call.dim("X", 1) == 0) return {};
  const Reach reach = reaches_border(windows, *in->at(2), call.dim("X", 0) * call.integer("offset_group"));
  if (reach != Reach::unsure) return reach == Reach::yes ? std::vector<std::string>{"A20"} : std::vector<std::string>{};
  const DeformConvAnswer ruled(call, *in, windows, {}, {});
  const Int group_maps = y[1] / call.integer("group"), plane = volume(std::span(y).subspan(2));
  for (Int i = 0, count = volume(y); i < count; ++i) {
    const bool samples_as_before = i / plane % y[1] % group_maps != 0;  // all maps of a group sample the same places
    if (!samples_as_before && ruled.reaches_border(i)) return {"A20"};
  }
  return {};
}

}  // namespace

const Oracle& deform_conv() {
  static const Oracle oracle{answer, shape, touched, true};
  return oracle;
}

}  // namespace assay::oracles
