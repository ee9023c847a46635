// SPDX-License-Identifier: Apache-2.0
// The exact answer of QLinearConv (spec 1.4, numerics 2.9). The sum a is an integer, the requantised value
// v = a * sx * sw[m] / sy a rational, and the answer sat(rne(v) + zy), or sat(rne(v + zy)) when adding comes first
// (A16).
//
// Q1: every evaluation in f32 has at most 5 roundings, so it lands within 5 u |v| (1 + 2^-20) of v, u = 2^-24, and
// adding zy before rounding is one more, u (|v| + |zy|). An output is admitted if it rounds from a value that near, so
// two are admitted only next to a tie. The five orders of decisions 3, in f32 and in f64, are computed besides and
// joined; one whose intermediate leaves the normal range makes the element unscored. Collapse: with sy a power of two
// and a * sx * sw of at most 24 significant bits no order rounds, and one value is left. Q2 (fixed-point
// requantisation) is one step off at most; where nothing rounds it can differ on a tie only.
#include "oracles/exact/operands.h"
#include "oracles/filter/requantize_filter.h"
#include "oracles/rules/convolution.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

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

Integer floor_of(const Ratio& value) { return floored(value).below; }
bool is_tie(const Ratio& value) {
  const Floored parts = floored(value);
  return parts.rest * 2 == parts.denominator;
}

// value + shift, to nearest, ties to even; less the shift.
Integer nearest_integer(const Ratio& value, Int shift) {
  const Floored parts = floored(value);
  const int order = Integer(parts.rest * 2).compare(parts.denominator);
  return order > 0 || (order == 0 && (parts.below + shift) % 2 != 0) ? Integer(parts.below + 1) : parts.below;
}

// The same of a double: of a positive one the floor and the rest are exact. From 2^53 on any value does, every output
// type being narrower.
Int nearest_integer(double value, Int shift) {
  const double magnitude = std::min(std::abs(value), 0x1p53), floor = std::floor(magnitude), rest = magnitude - floor;
  const auto below = static_cast<Int>(floor);
  const Int nearest = rest > 0.5 || (rest == 0.5 && (below + shift) % 2 != 0) ? below + 1 : below;
  return std::signbit(value) ? -nearest : nearest;
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
std::vector<Watched<F>> orders(Int sum, float x_scale, float w_scale, float y_scale) {
  const Watched<F> a(static_cast<F>(sum)), sx(static_cast<F>(x_scale)), sw(static_cast<F>(w_scale)),
      sy(static_cast<F>(y_scale));
  return {sx * sw / sy * a, sx / sy * sw * a, sw / sy * sx * a, a * sx * sw / sy, sx * sw * a / sy};
}

struct Range {
  Int low, high;
};

Range range_of(DType dtype) { return dtype == DType::u8 ? Range{0, 255} : Range{-128, 127}; }

// Of u8 or i8.
Int integer_at(const Tensor& tensor, Int flat) {
  const auto at = static_cast<std::size_t>(flat);
  return tensor.dtype() == DType::u8 ? Int{tensor.as<std::uint8_t>()[at]} : Int{tensor.as<std::int8_t>()[at]};
}

class QLinearConvAnswer final : public Answer {
 public:
  QLinearConvAnswer(const Call& call, const Operands& in, std::vector<WindowAxis> tracks, const Readings& readings)
      : dtype_(call.type("y_zero_point").dtype),
        add_first_(readings.of("A16") == "add-then-round"),
        accumulator_(readings.of("A17")),
        x_(*in.at(0)),
        w_(*in.at(3)),
        x_zero_(scalars(*in.at(2))),
        w_zero_(scalars(*in.at(5))),
        y_zero_(scalars(*in.at(7))),
        x_scale_(scalars(*in.at(1))),
        w_scale_(scalars(*in.at(4))),
        y_scale_(scalars(*in.at(6))),
        scales_{as_floats(*in.at(1)), as_floats(*in.at(4)), as_floats(*in.at(6))},
        group_(call.integer("group")),
        gathering_(in.at(0)->shape(), in.at(3)->shape(), group_, std::move(tracks)) {
    if (in.size() > 8 && in[8]) b_ = scalars(*in[8]);
  }

  std::optional<Screening> screen(const Tensor& got, const Screen& how) const override {
    const RequantizeFilter* sums = requantising();
    if (!sums || accumulator_ != Readings().of("A17")) return std::nullopt;
    return oracles::screen(*sums, got, how);
  }

  // None where a scale is so large or small that some order of evaluation might lose it.
  const RequantizeFilter* requantising() const {
    if (!sums_) sums_ = make_requantising();
    return *sums_ ? &**sums_ : nullptr;
  }

  Shape shape() const override { return gathering_.shape(); }
  DType dtype() const override { return dtype_; }

  Element element(Int index) const override {
    Element out;
    const Gathering::Output y = gathering_.output(index);
    const Int exact = sum(y, out.terms);
    const Scalar &sx = x_scale_.at(0), &sw = of_map(w_scale_, y.m), &sy = y_scale_.at(0);
    out.kind = Kind::unscored;
    out.reason = "a scale is zero, infinite or NaN";
    for (const Scalar* scale : {&sx, &sw, &sy})
      if (!scale->is_finite() || scale->is_zero()) return out;
    const Int a = accumulated(exact);
    out.value = requantised(a, sx, sw, sy);
    const Int zero = whole(y_zero_.at(0));
    out.nearest = answer(out.value, zero);
    out.asked.arithmetic = "f32 requantisation in any order (Q1)";
    const bool nothing_rounds = is_exact(a, sx, sw, sy);
    const Ratio slack = nothing_rounds ? Ratio{} : slack_of(out.value, zero);
    Interval admitted{answer(out.value - slack, zero), answer(out.value + slack, zero)};
    if (!nothing_rounds && !join_orders(admitted, a, y.m, zero)) {
      out.reason = "an intermediate of some order leaves the normal range";
      return out;
    }
    out.asked.range = admitted;
    out.kind = Kind::finite;
    out.reason.clear();
    return out;
  }

  std::vector<Allowance> wider(Int index) const override {
    const Element e = element(index);
    if (e.kind != Kind::finite) return {};
    const Gathering::Output y = gathering_.output(index);
    Int terms = 0;
    const bool nothing_rounds =
        is_exact(accumulated(sum(y, terms)), x_scale_.at(0), of_map(w_scale_, y.m), y_scale_.at(0));
    if (nothing_rounds && !is_tie(e.value)) return {};
    Allowance fixed_point;
    fixed_point.level = Level::widest;
    fixed_point.arithmetic = "fixed-point requantisation, one step off (Q2)";
    const Integer below = floor_of(e.value);
    fixed_point.range = nothing_rounds ? Interval{offset(below), offset(below + 1)}
                                       : Interval{stepped(e.asked.range->lower, -1), stepped(e.asked.range->upper, 1)};
    return {fixed_point};
  }

  std::vector<Tap> taps(Int index) const override {
    std::vector<Tap> all;
    const Gathering::Output y = gathering_.output(index);
    gathering_.each_tap(
        y,
        [&](Int x, Int w) {
          all.push_back({{std::to_string(integer_at(x_, x) - whole(x_zero_.at(0))),
                          std::to_string(integer_at(w_, w) - whole(of_map(w_zero_, y.m)))},
                         place("x", x_.shape(), x) + " " + place("w", w_.shape(), w)});
        },
        [](Int) {});
    if (b_) all.push_back({{std::to_string(whole(of_map(*b_, y.m)))}, "B"});
    all.push_back({{hexadecimal(x_scale_.at(0)), hexadecimal(of_map(w_scale_, y.m)), hexadecimal(y_scale_.at(0))},
                   "x_scale w_scale y_scale"});
    all.push_back({{std::to_string(whole(y_zero_.at(0)))}, "y_zero_point"});
    return all;
  }

  // What the data decide: the order of rounding and adding, and an accumulator beyond 32 bits.
  bool leaves_32_bits(Int index) const {
    Int terms = 0;
    const Int exact = sum(gathering_.output(index), terms);
    return exact < std::numeric_limits<std::int32_t>::min() || exact > std::numeric_limits<std::int32_t>::max();
  }

 private:
  struct Scales {
    std::vector<float> x, w, y;
  };
  static std::vector<float> as_floats(const Tensor& scales) {
    return {scales.as<float>().begin(), scales.as<float>().end()};
  }

  static Int whole(const Scalar& s) { return s.as_integer(); }
  static const Scalar& of_map(const Scalars& list, Int m) { return list.at(list.values.size() == 1 ? 0 : m); }

  // From 2^-30 to 2^30 no intermediate of any order of |a| <= 2^31 leaves the normal range of f32.
  static bool is_moderate(const Scalar& scale) {
    const double size = std::abs(approximate({scale.value(), 1}));
    return scale.is_finite() && 0x1p-30 <= size && size <= 0x1p30;
  }

  std::optional<RequantizeFilter> make_requantising() const {
    const auto all_moderate = [](const Scalars& list) { return std::ranges::all_of(list.values, is_moderate); };
    if (!all_moderate(x_scale_) || !all_moderate(w_scale_) || !all_moderate(y_scale_)) return std::nullopt;
    const Int maps = w_.shape().at(0), row = maps ? w_.elements() / maps : 0;
    RequantizeFilter out;
    out.sweep = {.tracks = gathering_.tracks(),
                 .batch = x_.shape().at(0),
                 .groups = group_,
                 .depth = w_.shape().at(1),
                 .maps = maps / group_,
                 .x = &x_,
                 .from = channels_first(x_.shape().at(1), std::span(x_.shape()).subspan(2)),
                 .x_zero = static_cast<double>(whole(x_zero_.at(0))),
                 .weights = {},
                 .bias = {},
                 .sizes = false};
    const auto bits = [](const Scalar& s) { return std::bit_width(s.significand); };
    const Scalar &sx = x_scale_.at(0), &sy = y_scale_.at(0);
    const auto plain = [](const Scalar& s) { return s.as_double(); };
    std::vector<double> weights;
    for (Int m = 0; m < maps; ++m) {
      const Int zero = whole(of_map(w_zero_, m));
      for (Int t = 0; t < row; ++t) weights.push_back(static_cast<double>(integer_at(w_, m * row + t) - zero));
      if (b_) out.sweep.bias.push_back(static_cast<double>(whole(of_map(*b_, m))));
      const Scalar& sw = of_map(w_scale_, m);
      out.scale.push_back(plain(sx) * plain(sw) / plain(sy));  // the product is exact
      out.exact.push_back(bits(sy) == 1 && bits(sx) + bits(sw) <= 21);
    }
    out.sweep.weights = Weights(std::move(weights));
    const Shape y = shape();
    out.to = channels_first(maps, std::span(y).subspan(2));
    const Range range = range_of(dtype_);
    out.zero = static_cast<double>(whole(y_zero_.at(0)));
    out.low = static_cast<double>(range.low);
    out.high = static_cast<double>(range.high);
    out.adds_first = add_first_;
    return out;
  }

  Int sum(const Gathering::Output& y, Int& terms) const {
    Int total = b_ ? whole(of_map(*b_, y.m)) : 0;
    const Int x_zero = whole(x_zero_.at(0)), w_zero = whole(of_map(w_zero_, y.m));
    terms = b_ ? 1 : 0;
    gathering_.each_tap(
        y,
        [&](Int x, Int w) {
          total += (integer_at(x_, x) - x_zero) * (integer_at(w_, w) - w_zero);
          ++terms;
        },
        [](Int) {});
    return total;
  }

  Int accumulated(Int exact) const {
    if (accumulator_ == "wrap32") return static_cast<std::int32_t>(static_cast<std::uint32_t>(exact));
    if (accumulator_ == "saturate32")
      return std::clamp<Int>(exact, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
    return exact;
  }

  static Ratio requantised(Int a, const Scalar& sx, const Scalar& sw, const Scalar& sy) {
    const Dyadic numerator = Dyadic{a, 0} * sx.value() * sw.value();
    return {{sy.negative ? Integer(-numerator.mantissa) : numerator.mantissa, numerator.exponent - sy.exponent},
            sy.significand};
  }

  // sat(rne(v) + zy) or sat(rne(v + zy)), of a Ratio or a double.
  template <class Value>
  Scalar answer(const Value& v, Int zero) const {
    return saturated(nearest_integer(v, add_first_ ? zero : 0) + zero);
  }

  Scalar saturated(Int value) const {
    const Range range = range_of(dtype_);
    return scalar(std::clamp(value, range.low, range.high));
  }
  Scalar saturated(const Integer& value) const {
    const Range range = range_of(dtype_);
    return scalar(static_cast<Int>(std::clamp(value, Integer(range.low), Integer(range.high))));
  }

  Scalar offset(const Integer& rounded_value) const { return saturated(rounded_value + whole(y_zero_.at(0))); }
  Scalar stepped(const Scalar& value, Int by) const { return saturated(whole(value) + by); }

  static bool is_exact(Int a, const Scalar& sx, const Scalar& sw, const Scalar& sy) {
    if (a == 0) return true;
    const Integer product = Integer(scalar(a).significand) * sx.significand * sw.significand;
    const bool in_range = std::abs(sx.exponent) < 60 && std::abs(sw.exponent) < 60 && std::abs(sy.exponent) < 60;
    return in_range && sy.significand == 1 && product < (Integer(1) << 24U);
  }

  Ratio slack_of(const Ratio& v, Int zero) const {
    const Ratio magnitude = oracles::abs(v);
    // 5 u (1 + 2^-20), and u (|v| + |zy|) where the zero point is added in floating point.
    Ratio slack = magnitude * Dyadic{5 * ((Int{1} << 20) + 1), -44};
    if (add_first_) slack = slack + (magnitude + oracles::abs(Ratio{{zero, 0}, 1})) * Dyadic{(Int{1} << 20) + 1, -44};
    return slack;
  }

  template <class F>
  bool join(Interval& admitted, Int a, Int m, Int zero) const {
    const std::vector<float>& w = scales_.w;
    for (const Watched<F>& order :
         orders<F>(a, scales_.x[0], w[w.size() == 1 ? 0 : static_cast<std::size_t>(m)], scales_.y[0])) {
      if (order.is_lost()) return false;
      const Scalar got = answer(static_cast<double>(order.value()), zero);
      if (whole(got) < whole(admitted.lower)) admitted.lower = got;
      if (whole(got) > whole(admitted.upper)) admitted.upper = got;
    }
    return true;
  }

  bool join_orders(Interval& admitted, Int a, Int m, Int zero) const {
    return join<float>(admitted, a, m, zero) && join<double>(admitted, a, m, zero);
  }

  DType dtype_;
  bool add_first_;
  std::string accumulator_;
  Tensor x_, w_;
  Scalars x_zero_, w_zero_, y_zero_, x_scale_, w_scale_, y_scale_;
  Scales scales_;
  std::optional<Scalars> b_;
  Int group_;
  Gathering gathering_;
  mutable std::optional<std::optional<RequantizeFilter>> sums_;
};

std::unique_ptr<Answer> answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
  return std::make_unique<QLinearConvAnswer>(call, in, *tracks(call, sliding(call), readings), readings);
}

std::optional<Shape> shape(const Call& call, const Readings& readings) {
  return windowed(call, call.dim("x", 0), call.dim("w", 0), readings);
}

bool differ(const Element& a, const Element& b) {
  if (a.kind != b.kind) return true;
  if (a.kind != Kind::finite) return false;
  const auto unlike = [](const Scalar& p, const Scalar& q) {
    return p.negative != q.negative || p.significand != q.significand || p.exponent != q.exponent;
  };
  return unlike(*a.nearest, *b.nearest) || unlike(a.asked.range->lower, b.asked.range->lower) ||
         unlike(a.asked.range->upper, b.asked.range->upper);
}

std::vector<std::string> touched(const Call& call, const Operands* in) {
  std::vector<std::string> ids = touched_by_geometry(call, sliding(call));
  if (!in) return ids;
  const auto windows = *tracks(call, sliding(call), {});
  const QLinearConvAnswer ruled(call, *in, windows, {}),
      added(call, *in, windows, Readings().with("A16", "add-then-round"));
  bool order_matters = false, leaves = false;
  if (const RequantizeFilter* sums = ruled.requantising()) {
    // Both orders admit the same single value further from a tie than 8 roundings in f32: numerics 2.9 counts 6.
    leaves = leaves_32_bits(*sums, 0x1p-21,
                            [&](Int i) { return order_matters = differ(ruled.element(i), added.element(i)); });
    if (order_matters) ids.emplace_back("A16");
    if (leaves) ids.emplace_back("A17");
    return ids;
  }
  for (Int i = 0, count = volume(ruled.shape()); i < count; ++i) {
    order_matters = order_matters || differ(ruled.element(i), added.element(i));
    leaves = leaves || ruled.leaves_32_bits(i);
  }
  if (order_matters) ids.emplace_back("A16");
  if (leaves) ids.emplace_back("A17");
  return ids;
}

}  // namespace

Oracle qlinear_conv() { return {answer, shape, touched, true}; }

}  // namespace assay::oracles
