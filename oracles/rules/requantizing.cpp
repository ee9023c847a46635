// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/requantizing.h"

#include "oracles/rules/rules.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {
namespace {

// below + rest / denominator, 0 <= rest < denominator.
struct Floored {
  Integer below, rest, denominator;
};

Floored floored(const Ratio& value) {
  Floored out{0, 0, value.denominator};
  Integer numerator = value.numerator.mantissa;
  const int exponent = value.numerator.exponent;
  if (exponent >= 0)
    numerator <<= static_cast<unsigned>(exponent);
  else
    out.denominator <<= static_cast<unsigned>(-exponent);
  boost::multiprecision::divide_qr(numerator, out.denominator, out.below, out.rest);
  if (out.rest < 0) {
    out.below -= 1;
    out.rest += out.denominator;
  }
  return out;
}

// One evaluation order in a real floating-point type, watched: no intermediate may leave the normal range.
template <class F>
class Watched {
 public:
  explicit Watched(F value) : value_(value) {}
  Watched operator*(const Watched& other) const { return {value_ * other.value_, *this, other}; }
  Watched operator/(const Watched& other) const { return {value_ / other.value_, *this, other}; }
  bool is_lost() const { return lost_; }
  F value() const { return value_; }

 private:
  Watched(F value, const Watched& a, const Watched& b) : value_(value), lost_(a.lost_ || b.lost_) {
    if (a.value_ != 0 && !std::isnormal(value)) lost_ = true;
  }
  F value_;
  bool lost_ = false;
};

template <class F>
std::vector<Watched<F>> orders(Int sum, const Scaling& of) {
  const auto factor = [](const Scalar& scale) { return Watched<F>(static_cast<F>(scale.as_double())); };
  const Watched<F> a(static_cast<F>(sum)), sx = factor(of.sx), sw = factor(of.sw), sy = factor(of.sy);
  return {sx * sw / sy * a, sx / sy * sw * a, sw / sy * sx * a, a * sx * sw / sy, sx * sw * a / sy};
}

template <class F>
bool join(Interval& admitted, const Requantizing& how, Int a, const Scaling& scaling, Int zero) {
  for (const Watched<F>& order : orders<F>(a, scaling)) {
    if (order.is_lost()) return false;
    const Scalar got = how(static_cast<double>(order.value()), zero);
    if (got.as_integer() < admitted.lower.as_integer()) admitted.lower = got;
    if (got.as_integer() > admitted.upper.as_integer()) admitted.upper = got;
  }
  return true;
}

bool is_exact(Int a, const Scaling& by) {
  if (a == 0) return true;
  const Integer product = Integer(scalar(a).significand) * by.sx.significand * by.sw.significand;
  const bool in_range = std::abs(by.sx.exponent) < 60 && std::abs(by.sw.exponent) < 60 && std::abs(by.sy.exponent) < 60;
  return in_range && by.sy.significand == 1 && product < (Integer(1) << 24U);
}

Ratio slack_of(const Requantizing& how, const Ratio& v, Int roundings, Int zero) {
  const Ratio magnitude = oracles::abs(v);
  // k u (1 + 2^-20), and u (|v| + |zy|) where the zero point is added in floating point.
  Ratio slack = magnitude * Dyadic{roundings * ((Int{1} << 20) + 1), -44};
  if (how.adds_first) slack = slack + (magnitude + oracles::abs(Ratio{{zero, 0}, 1})) * Dyadic{(Int{1} << 20) + 1, -44};
  return slack;
}

}  // namespace

Integer floor_of(const Ratio& value) { return floored(value).below; }
bool is_tie(const Ratio& value) {
  const Floored parts = floored(value);
  return parts.rest * 2 == parts.denominator;
}

Integer nearest_integer(const Ratio& value, Int shift) {
  const Floored parts = floored(value);
  const int order = Integer(parts.rest * 2).compare(parts.denominator);
  return order > 0 || (order == 0 && (parts.below + shift) % 2 != 0) ? Integer(parts.below + 1) : parts.below;
}

// Of a positive one the floor and the rest are exact.
Int nearest_integer(double value, Int shift) {
  const double magnitude = std::min(std::abs(value), 0x1p53), floor = std::floor(magnitude), rest = magnitude - floor;
  const auto below = static_cast<Int>(floor);
  const Int nearest = rest > 0.5 || (rest == 0.5 && (below + shift) % 2 != 0) ? below + 1 : below;
  return std::signbit(value) ? -nearest : nearest;
}

Scalar Requantizing::clamped(const Integer& value) const { return saturated(type, value); }

Ratio Scaling::of(Int a) const {
  const Dyadic numerator = Dyadic{a, 0} * sx.value() * sw.value();
  return {{sy.negative ? Integer(-numerator.mantissa) : numerator.mantissa, numerator.exponent - sy.exponent},
          sy.significand};
}

Element requantized(const Requantizing& how, Int a, const Scaling& scaling, Int zero) {
  for (const Scalar* scale : {&scaling.sx, &scaling.sw, &scaling.sy})
    if (!scale->is_finite() || scale->is_zero()) return unscored("a scale is zero, infinite or NaN");
  Element out;
  out.value = scaling.of(a);
  out.nearest = how(out.value, zero);
  out.required.arithmetic = "f32 requantisation in any order (Q1)";
  const bool nothing_rounds = is_exact(a, scaling);
  const Ratio slack = nothing_rounds ? Ratio{} : slack_of(how, out.value, scaling.roundings, zero);
  Interval admitted{how(out.value - slack, zero), how(out.value + slack, zero)};
  if (!nothing_rounds &&
      !(join<float>(admitted, how, a, scaling, zero) && join<double>(admitted, how, a, scaling, zero)))
    return unscored("an intermediate of some order leaves the normal range");
  out.required.range = admitted;
  return out;
}

std::vector<Tolerance> fixed_point(const Requantizing& how, Int a, const Scaling& scaling, Int zero,
                                   const Element& element) {
  return one_step_off(how, element, zero, is_exact(a, scaling));
}

std::vector<Tolerance> one_step_off(const Requantizing& how, const Element& element, Int zero, bool nothing_rounds) {
  if (nothing_rounds && !is_tie(element.value)) return {};
  const Integer below = floor_of(element.value);
  const auto stepped = [&](const Scalar& value, Int by) { return how.clamped(value.as_integer() + by); };
  Tolerance out;
  out.level = Level::widest;
  out.arithmetic = "fixed-point requantisation, one step off (Q2)";
  out.range = nothing_rounds
                  ? Interval{how.clamped(below + zero), how.clamped(below + 1 + zero)}
                  : Interval{stepped(element.required.range->lower, -1), stepped(element.required.range->upper, 1)};
  return {out};
}

Element within(const Requantizing& how, const Ratio& v, const Ratio& slack, Int zero) {
  Element out;
  out.value = v;
  out.nearest = how(v, zero);
  out.required.arithmetic = "f32 requantisation in any order (Q1)";
  const bool adds_inexactly = how.adds_first && !slack.is_zero();
  const Ratio most =
      adds_inexactly ? slack + units_of_f32(oracles::abs(v) + slack + oracles::abs(Ratio{{zero, 0}, 1}), 1) : slack;
  out.required.range = Interval{how(v - most, zero), how(v + most, zero)};
  return out;
}

Element joined(Element a, const Element& b) {
  if (a.kind != Kind::finite) return a;
  if (b.kind != Kind::finite) return b;
  Interval& admitted = *a.required.range;
  if (b.required.range->lower.as_integer() < admitted.lower.as_integer()) admitted.lower = b.required.range->lower;
  if (b.required.range->upper.as_integer() > admitted.upper.as_integer()) admitted.upper = b.required.range->upper;
  return a;
}

Ratio divided(const Ratio& a, const Scalar& by) {
  return {a.numerator * Dyadic{by.negative ? -1 : 1, -by.exponent}, a.denominator * by.significand};
}
Ratio units_of_f32(const Ratio& of, Int count) { return of * Dyadic{count, format_of(DType::f32).unit_exponent()}; }

DynamicRange::DynamicRange(const Tensor& x) {
  const Format& single = format_of(DType::f32);
  const Int count = x.elements();
  if (count == 0) unscored = "no element";
  for (Int i = 0; i < count; ++i) {
    const Scalar each = oracles::scalar(x, i);
    if (!each.is_finite()) unscored = "NaN or an infinity among the data (W49)";
    if (!each.is_finite()) return;
    low = std::min(low, ratio(each));
    high = std::max(high, ratio(each));
  }
  const Ratio width = high - low;
  scale = {width.numerator, width.denominator * 255};
  if (!(width < Ratio{single.overflow_threshold(), 1})) unscored = "the range overflows (W49)";
  if (!width.is_zero() && scale < Ratio{Dyadic::power_of_two(single.min_exponent), 1})
    unscored = "the scale is subnormal";
  const Scalar near = rounded(scale, single);
  is_exact = near.significand == 1 && ratio(near) == scale;
}

// -255 low / (high - low), moved by 6 u 255.
Int DynamicRange::zero(Int side) const {
  const Ratio exact{(Dyadic() - low.numerator) * Dyadic{scale.denominator, -scale.numerator.exponent},
                    low.denominator * scale.numerator.mantissa};
  const Ratio moved = is_exact ? Ratio() : units_of_f32({{side * 6 * 255, 0}, 1}, 1);
  return Requantizing{DType::u8}.clamped(nearest_integer(exact + moved, 0)).as_integer();
}

Ratio DynamicRange::slack(const Ratio& quotient) {
  return units_of_f32(oracles::abs(quotient), 10) +
         Ratio{Dyadic::power_of_two(format_of(DType::f32).smallest_exponent()), 1};
}

}  // namespace assay::oracles
