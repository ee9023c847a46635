// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/sampling.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {
namespace {

Dyadic whole(Int value) { return {value, 0}; }

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

Dyadic first(const WindowAxis& t) { return whole(-t.before); }
Dyadic last(const WindowAxis& t) { return whole(t.in - 1 + t.after); }

bool is_outside_padding(const Sample::Coordinate& c, const WindowAxis& t) { return c.at < first(t) || c.at > last(t); }

// |x| summed over the corners covers b - a of a + t(b - a); weight and mask may be multiplied in before or after.
Dyadic largest_of(const Sample& s, const Blend& one) {
  const auto at_least_one = [](const Dyadic& value) { return std::max(whole(1), value); };
  Dyadic largest = at_least_one(one.magnitude_lerp) * at_least_one(abs(s.weight.value()));
  return s.mask ? largest * at_least_one(abs(s.mask->value())) : largest;
}

}  // namespace

int granule_of(const Dyadic& value) {
  return value.is_zero() ? Blend::no_granule
                         : value.exponent + static_cast<int>(boost::multiprecision::lsb(abs(value).mantissa));
}

bool Sample::Coordinate::is_exact(const Format& format) const {
  const int finest = std::min(0, offset.is_zero() ? 0 : offset.exponent);
  return finest >= format.unit_exponent() && reach <= Dyadic::power_of_two(format.precision + finest);
}

Dyadic Sample::Coordinate::change(const Machine& machine) const {
  if (!machine.converts() && is_exact(*machine.format)) return {};
  return machine.unit() * (reach + reach + whole(1));
}

Dyadic Sample::factor() const { return mask ? weight.value() * mask->value() : weight.value(); }

Sampling::Sampling(const Call& call, const Operands& in, std::vector<WindowAxis> tracks, const Readings& readings)
    : dtype_(call.type("X").dtype),
      tracks_(std::move(tracks)),
      hard_zero_(readings.of("A20") == "hard-zero"),
      group_(call.integer("group")),
      offset_group_(call.integer("offset_group")),
      x_(*in.at(0)),
      w_(*in.at(1)),
      offset_(*in.at(2)) {
  if (in.size() > 3 && in[3]) b_.emplace(*in[3]);
  if (in.size() > 4 && in[4]) mask_.emplace(*in[4]);
  shape_ = {x_.extent(0), w_.extent(0)};
  for (const WindowAxis& t : tracks_) {
    shape_.push_back(t.windows);
    taps_.push_back(t.taps);
    plane_.push_back(t.in);
  }
}

std::optional<Scalar> Sampling::bias_of(Int index) const {
  if (!b_) return std::nullopt;
  return b_->at(b_->extent(0) == 1 ? 0 : position(shape_, index)[1]);
}

std::vector<Sample> Sampling::samples(Int index) const {
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
      const Int weight = (y[1] * depth + c) * taps + flat;
      Sample s{w_.at(weight), std::nullopt, weight, y[0] * x_.extent(1) + channel, {}};
      if (mask_) s.mask = mask_->at(row * windows + window);
      for (Int a = 0; a < axes; ++a) {
        const auto axis = static_cast<std::size_t>(a);
        const Scalar offset = offset_.at((row * axes + a) * windows + window);
        const Int base = tracks_[axis].at(y[axis + 2], tap[axis]);
        const Dyadic displaced = offset.is_finite() ? offset.value() : Dyadic{};
        s.where.push_back({base, offset, whole(base) + displaced, abs(whole(base)) + abs(displaced)});
      }
      all.push_back(std::move(s));
      ++flat;
    });
  }
  return all;
}

std::string Sampling::unscorable(const std::vector<Sample>& all) const {
  for (const Sample& s : all) {
    if (!s.weight.is_finite() || (s.mask && !s.mask->is_finite())) return "an infinite or NaN weight or mask";
    for (std::size_t a = 0; a < s.where.size(); ++a) {
      if (!s.where[a].offset.is_finite()) return "an infinite or NaN offset";
      if (hard_zero_ && is_at_border(s.where[a], tracks_[a]))
        return "a coordinate within its rounding error of the border";
    }
  }
  return "";
}

bool Sampling::reaches_border(Int index) const {
  return std::ranges::any_of(samples(index), [&](const Sample& s) {
    if (!is_near(s)) return false;
    for (std::size_t a = 0; a < s.where.size(); ++a)
      if (is_outside_padding(s.where[a], tracks_[a]) || is_at_border(s.where[a], tracks_[a])) return true;
    return false;
  });
}

bool Sampling::is_at_border(const Sample::Coordinate& c, const WindowAxis& t) const {
  const Dyadic change = c.change({.format = &accumulator()});
  return !change.is_zero() && (abs(c.at - first(t)) <= change || abs(c.at - last(t)) <= change);
}

// Some neighbour lies in the input, or may after rounding.
bool Sampling::is_near(const Sample& s) const {
  for (std::size_t a = 0; a < s.where.size(); ++a) {
    const Dyadic change = s.where[a].change({.format = &accumulator(), .slack_exponent = 1});
    if (s.where[a].at <= whole(-1) - change || s.where[a].at >= whole(tracks_[a].in) + change) return false;
  }
  return true;
}

// A21 of a sample at -1 exactly: the cell at 0 is a neighbour with weight 0, and an infinity there may be multiplied.
bool Sampling::may_multiply_edge(const Sample& s) const {
  if (!has_nonfinite_x()) return false;
  bool is_at_edge = false;
  for (std::size_t a = 0; a < s.where.size(); ++a) {
    if (s.where[a].at < whole(-1) || s.where[a].at >= whole(tracks_[a].in)) return false;
    is_at_edge |= s.where[a].at == whole(-1);
  }
  return is_at_edge && sampled(s).nan_admitted;
}

bool Sampling::is_zero_by_reading(const Sample& s) const {
  if (!hard_zero_) return false;
  for (std::size_t a = 0; a < s.where.size(); ++a)
    if (is_outside_padding(s.where[a], tracks_[a])) return true;
  return false;
}

// The flat index of a cell of the plane, -1 outside.
Int Sampling::flat_cell(Int plane, const std::vector<Int>& at) const {
  Int flat = plane;
  for (std::size_t a = 0; a < at.size(); ++a) {
    if (at[a] < 0 || at[a] >= plane_[a]) return -1;
    flat = flat * plane_[a] + at[a];
  }
  return flat;
}

void Sampling::add_corner(Blend& out, const Scalar& x, const Dyadic& omega, const Sample& s) const {
  if (!x.is_finite()) {
    const bool nothing = s.weight.is_zero() || (s.mask && s.mask->is_zero());
    const bool negative = x.negative != (s.weight.negative != (s.mask && s.mask->negative));
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

Blend Sampling::sampled(const Sample& s) const {
  Blend out;
  const std::size_t axes = s.where.size();
  std::vector<Int> low(axes);
  std::vector<Dyadic> fraction(axes);
  int fineness = 0;
  for (std::size_t a = 0; a < axes; ++a) {
    low[a] = floor_of(s.where[a].at);
    fraction[a] = s.where[a].at - whole(low[a]);
    fineness += fraction[a].is_zero() ? 0 : std::min(0, granule_of(fraction[a]));
  }
  each(std::vector<Int>(axes, 2), [&](const std::vector<Int>& corner) {
    std::vector<Int> at(axes);
    Dyadic omega = whole(1);
    for (std::size_t a = 0; a < axes; ++a) {
      at[a] = low[a] + corner[a];
      omega = omega * (corner[a] ? fraction[a] : whole(1) - fraction[a]);
    }
    const Int flat = flat_cell(s.plane, at);
    if (flat < 0) return;
    const Scalar x = x_.at(flat);
    add_corner(out, x, omega, s);
    if (x.is_finite() && !x.is_zero()) out.granule = std::min(out.granule, x.exponent + fineness);
  });
  return out;
}

// Infinities or NaN within reach of a coordinate that is not exact in the coarsest arithmetic there is room for:
// operations in T, and f64 computed in f32.
bool Sampling::may_touch_nonfinite(const Sample& s) const {
  if (!has_nonfinite_x()) return false;
  const Machine machine{.format = &format_of(dtype_ == DType::f64 ? DType::f32 : dtype_), .slack_exponent = 1};
  if (std::ranges::all_of(s.where, [&](const Sample::Coordinate& c) { return c.change(machine).is_zero(); }))
    return false;
  bool found = false;
  around(s, machine,
         [&](Int flat) { found |= flat >= 0 && !std::isfinite(plain_x()[static_cast<std::size_t>(flat)]); });
  return found;
}

// The flat indices of the cells within the change of each coordinate, clipped to the input and one cell beyond, which
// is -1.
template <class F>
void Sampling::around(const Sample& s, const Machine& machine, F&& f) const {
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
    f(flat_cell(s.plane, at));
  });
}

Blend Sampling::sum(const std::vector<Sample>& all, const std::optional<Scalar>& bias) const {
  Blend total;
  for (const Sample& s : all) {
    if (is_zero_by_reading(s)) continue;
    total.nonfinite_near |= may_touch_nonfinite(s);
    if (!is_near(s)) {
      total.nan_admitted |= may_multiply_edge(s);
      continue;
    }
    const Blend one = sampled(s);
    const Dyadic factor = s.factor(), size = abs(factor);
    total.value += factor * one.value;
    total.magnitude += size * one.magnitude;
    total.magnitude_lerp += size * one.magnitude_lerp;
    if (!factor.is_zero() && one.granule != Blend::no_granule) {
      total.granule = std::min(total.granule, one.granule + granule_of(factor));
      total.finest = std::min(total.finest, one.granule + std::min(0, granule_of(s.weight.value())) +
                                                (s.mask ? std::min(0, granule_of(s.mask->value())) : 0));
    }
    total.largest = std::max(total.largest, largest_of(s, one));
    total.nan |= one.nan;
    total.nan_admitted |= one.nan_admitted;
    total.positive_infinity |= one.positive_infinity;
    total.negative_infinity |= one.negative_infinity;
    total.subnormal |= one.subnormal || s.weight.is_subnormal(format_of(dtype_)) ||
                       (s.mask && s.mask->is_subnormal(format_of(dtype_)));
  }
  if (bias) add_bias(total, *bias);
  return total;
}

void Sampling::add_bias(Blend& total, const Scalar& bias) const {
  if (bias.is == Scalar::Class::nan) total.nan = true;
  if (bias.is == Scalar::Class::infinite) (bias.negative ? total.negative_infinity : total.positive_infinity) = true;
  if (!bias.is_finite() || bias.is_zero()) return;
  total.value += bias.value();
  total.magnitude += abs(bias.value());
  total.magnitude_lerp += abs(bias.value());
  total.granule = std::min(total.granule, bias.exponent);
  total.subnormal |= bias.is_subnormal(format_of(dtype_));
}

Dyadic Sampling::range(const Sample& s, const Machine& machine) const {
  const std::vector<double>& plain = plain_x();
  double low = std::numeric_limits<double>::infinity(), high = -low;
  around(s, machine, [&](Int flat) {
    const double x = flat < 0 ? 0 : plain[static_cast<std::size_t>(flat)];
    const double value = std::isfinite(x) ? x : 0;
    low = std::min(low, value);
    high = std::max(high, value);
  });
  return low > high ? Dyadic{} : scalar_of(high).value() - scalar_of(low).value();
}

const std::vector<double>& Sampling::plain_x() const {
  if (plain_.empty()) plain_ = doubles(x_.tensor());
  return plain_;
}

bool Sampling::has_nonfinite_x() const {
  if (!has_nonfinite_x_) has_nonfinite_x_ = !std::ranges::all_of(plain_x(), [](double x) { return std::isfinite(x); });
  return *has_nonfinite_x_;
}

const Dyadic& Sampling::largest_x() const {
  if (largest_x_) return *largest_x_;
  double largest = 1;
  for (const double x : plain_x())
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return largest_x_.emplace(scalar_of(largest).value());
}

}  // namespace assay::oracles
