// SPDX-License-Identifier: Apache-2.0
// The exact answer of Pow. A float has the special values of IEEE 754's pow; an integer is exact where the exponent is
// one too, else truncated of whatever lies within the bound (E22).
#include "oracles/families/elementwise.h"
#include "oracles/judging/finding.h"

#include <array>
#include <cmath>

namespace assay::oracles {
namespace {

const Scalar one = scalar(1);

bool is_whole(const Scalar& x) { return x.is_zero() || x.exponent >= 0; }
bool is_odd(const Scalar& x) { return !x.is_zero() && x.exponent == 0; }

// 0 or an infinity to a power that is neither NaN nor 0.
ElementValue of_end(const ElementPoint& p, const Scalar& x, const Scalar& y) {
  const bool vanishes = x.is_zero() != y.negative, keeps_sign = y.is_finite() && is_odd(y);
  if (vanishes) return Scalar();
  if (x.is_zero() && x.negative && keeps_sign) return one_of("A29", {infinity(true), infinity()});
  const bool is_half = same(y, scalar_of(0.5));
  if (is_infinite(x) && x.negative && is_half && p.reads("E55", "sqrt")) return nan();
  return infinity(x.negative && keeps_sign);
}

// Evaluates a finite power of a finite base, and what computing it by a logarithm or by products admits besides.
ElementValue real_power(const ElementPoint& p, const Scalar& x, const Scalar& y) {
  ElementValue value = function_value(Function::pow, x, {y});
  auto& evaluation = std::get<Evaluation>(value);
  const Format& working = format_of(type_of(p) == DType::f64 ? DType::f64 : DType::f32);
  const double size = evaluation.of(Real(Ratio{evaluation.argument, 1}, 96)).size();
  const double times = std::abs(y.as_double()), turns = size * std::abs(times * std::log2(std::abs(x.as_double())));
  if (std::isfinite(size) && std::isfinite(turns) && std::isfinite(times * size)) {
    const double unit = std::ldexp(1 + 0x1p-20, working.unit_exponent());
    const double required = bound(evaluation.tolerance, size, working);
    evaluation.others = [=, type = type_of(p), whole = is_whole(y)] {
      std::vector<Tolerance> all{with_budget("a logarithm that is rounded", required + 8 * unit * turns)};
      if (whole) all.push_back(with_budget("repeated products", required + 2 * times * unit * size));
      if (type == DType::f64 || type == DType::f32) return all;
      const Format& own = format_of(type);
      all.push_back(with_budget("a logarithm in " + std::string(name(type)),
                                bound(FunctionTolerance{16}, size, own) + 8 * std::ldexp(turns, own.unit_exponent())));
      return all;
    };
  }
  return value;
}

ElementValue float_power(const ElementPoint& p) {
  const Scalar& x = p.x[0];
  Scalar y = p.x[1];
  if (p.reads("E22", "exponent-in-type") && y.is_finite()) y = rounded(ratio(y), format_of(type_of(p)));
  if (y.is_zero() || same(x, one)) return one;
  if (is_nan(x) || is_nan(y)) return nan();
  if (is_infinite(y)) {
    const auto order = x.is_finite() ? abs(ratio(x)) <=> ratio(one) : std::strong_ordering::greater;
    if (order == 0) return one;
    return (order > 0) == !y.negative ? infinity() : Scalar();
  }
  if (x.is_zero() || is_infinite(x)) return of_end(p, x, y);
  return x.negative && !is_whole(y) ? ElementValue(nan()) : real_power(p, x, y);
}

// -- integers

// Returns what a double out of range converts to: the lowest, or the nearest.
ElementValue out_of_range(const ElementPoint& p, bool is_negative) {
  const Scalar lowest = lowest_of(type_of(p)), largest = scalar(-(lowest.as_integer() + 1));
  return one_of("E22", {lowest, is_negative ? lowest : largest});
}

ElementValue by_double(const ElementPoint& p, const Integer& exact) {
  const Scalar near = rounded(Ratio{{exact, 0}, 1}, format_of(DType::f64));
  if (near.is_finite() && fits(type_of(p), truncated(ratio(near)))) return fitted(p, truncated(ratio(near)));
  return out_of_range(p, exact < 0);
}

ElementValue whole_power(const ElementPoint& p, const Scalar& x, const Scalar& y) {
  const Integer base = truncated(ratio(x));
  if (y.negative) {
    if (base == 0) return undefined("E15", "0 to a negative power may be anything");
    return base == 1 ? one : base == -1 ? scalar(is_odd(y) ? -1 : 1) : Scalar();
  }
  const bool is_small = base == 0 || base == 1 || base == -1;
  const Integer times = truncated(ratio(y));
  if (is_small) return base == 0 && times > 0 ? Scalar() : base == -1 && is_odd(y) ? scalar(-1) : one;
  if (times <= 64) {
    const Integer exact = boost::multiprecision::pow(base, static_cast<unsigned>(times));
    const bool is_beyond = exact > Integer(1) << 53 || exact < -(Integer(1) << 53) || !fits(type_of(p), exact);
    return is_beyond && p.reads("E22", "via-double") ? by_double(p, exact) : ElementValue(fitted(p, exact));
  }
  const bool is_negative = base < 0 && is_odd(y);
  if (p.reads("E22", "via-double")) return out_of_range(p, is_negative);
  const Integer cycle = Integer(1) << 64,
                wrapped = boost::multiprecision::powm((base % cycle + cycle) % cycle, times, cycle);
  // Beyond every type, and the same modulo 2^64.
  return fitted(p, is_negative ? wrapped - (cycle << 64) : wrapped + (cycle << 64));
}

// The integers that truncation gives of [y - B, y + B] in a format; none where one does not fit.
std::optional<Interval> truncated_of(const Scalar& x, const Scalar& y, DType type, DType working) {
  const Format& format = format_of(working);
  const Scalar base = working == DType::f64 ? x : rounded(ratio(x), format);
  const Scalar exponent = working == DType::f64 ? y : rounded(ratio(y), format);
  if (!base.is_finite() || !exponent.is_finite() || base.is_zero()) return std::nullopt;
  if (base.negative && !is_whole(exponent)) return std::nullopt;
  const Real real = enclosed(Function::pow, std::array{Real(ratio(base), 128), Real(ratio(exponent), 128)});
  if (!real.is_bounded() || real.size() > 0x1p70) return std::nullopt;
  const double off = bound(FunctionTolerance{16}, real.size(), format);
  const Ratio budget = ratio(scalar_of(off));
  const Integer lower = truncated(Ratio{real.lower(), 1} - budget), upper = truncated(Ratio{real.upper(), 1} + budget);
  if (!fits(type, lower) || !fits(type, upper)) return std::nullopt;
  return Interval{scalar(static_cast<Int>(lower)), scalar(static_cast<Int>(upper))};
}

ElementValue truncated_power(const ElementPoint& p, const Scalar& x, const Scalar& y) {
  if (!y.is_finite()) return unscored("an exponent that is no number");
  if (y.is_zero()) return one;
  if (x.is_zero())
    return y.negative ? ElementValue(undefined("E15", "0 to a negative power may be anything")) : Scalar();
  if (x.negative && !is_whole(y)) return undefined("E24", "NaN as an integer may be anything");
  const std::optional<Interval> near = truncated_of(x, y, type_of(p), DType::f64);
  if (!near) return undefined("E24", "what does not fit may be anything");
  const Real real = enclosed(Function::pow, std::array{Real(ratio(x), 256), Real(ratio(y), 256)});
  Evaluation out;
  out.whole = Evaluation::Whole{scalar(static_cast<Int>(truncated(Ratio{real.lower(), 1}))), *near};
  out.others = [x, y, type = type_of(p)] {
    std::vector<Tolerance> all;
    if (const std::optional<Interval> wide = truncated_of(x, y, type, DType::f32)) {
      all.push_back(beyond("a power in f32"));
      all.back().range = wide;
    }
    return all;
  };
  return out;
}

ElementValue power(const ElementPoint& p) {
  if (is_float(type_of(p))) return float_power(p);
  const bool has_whole_exponent = !is_float(p.call.type("Y").dtype);
  return has_whole_exponent ? whole_power(p, p.x[0], p.x[1]) : truncated_power(p, p.x[0], p.x[1]);
}

}  // namespace

Oracle pow() { return elementwise(power); }

}  // namespace assay::oracles
