// SPDX-License-Identifier: Apache-2.0
// The exact answers of Add, Sub, Mul and Div: a fraction that is rounded once, or truncated to an integer that wraps.
// The sign that a quotient by -0 has is not judged (A29).
#include "oracles/families/elementwise.h"

#include <cmath>

namespace assay::oracles {
namespace {

ElementValue sum(const ElementPoint& p, const Scalar& a, const Scalar& b) {
  if (is_nan(a) || is_nan(b)) return nan();
  if (!is_infinite(a) && !is_infinite(b)) return in_type(p, ratio(a) + ratio(b));
  return is_infinite(a) && is_infinite(b) && a.negative != b.negative ? nan() : is_infinite(a) ? a : b;
}

ElementValue product(const ElementPoint& p, const Scalar& a, const Scalar& b) {
  if (is_nan(a) || is_nan(b)) return nan();
  if (!is_infinite(a) && !is_infinite(b)) return in_type(p, ratio(a) * b.value());
  return a.is_zero() || b.is_zero() ? nan() : infinity(a.negative != b.negative);
}

ElementValue quotient(const ElementPoint& p, const Scalar& a, const Scalar& b) {
  const bool is_negative = a.negative != b.negative;
  if (is_nan(a) || is_nan(b)) return nan();
  if (!is_float(type_of(p)) && b.is_zero()) return undefined("E15", "a division by zero may give anything");
  if (is_infinite(a) ? is_infinite(b) : a.is_zero() && b.is_zero()) return nan();
  if (is_infinite(b)) return Scalar();
  if (b.is_zero() && b.negative) return one_of("A29", {infinity(true), infinity()});
  if (is_infinite(a) || b.is_zero()) return infinity(is_negative);
  const Ratio by_size{{a.value().mantissa, a.exponent - b.exponent}, b.significand};
  ElementValue value = in_type(p, b.negative ? Ratio() - by_size : by_size, true);
  const double size = std::abs(approximate(by_size)) * (1 + 0x1p-40);
  if (type_of(p) != DType::f64 || !std::isfinite(size)) return value;
  // 1 / b is rounded, by half of η where it is subnormal, and so is its product with a. Narrower types have functions
  // of 10 bits.
  const double budget = 0x1p-53 * size + 0x1p-1074 * std::abs(a.as_double());
  std::get<Evaluation>(value).others = [budget] {
    return std::vector{with_budget("a product with the reciprocal", budget)};
  };
  return value;
}

}  // namespace

Oracle add() {
  return elementwise([](const ElementPoint& p) { return sum(p, p.x[0], p.x[1]); });
}
Oracle sub() {
  return elementwise([](const ElementPoint& p) { return sum(p, p.x[0], negated(p.x[1])); });
}
Oracle mul() {
  return elementwise([](const ElementPoint& p) { return product(p, p.x[0], p.x[1]); });
}
Oracle div() {
  return elementwise([](const ElementPoint& p) { return quotient(p, p.x[0], p.x[1]); });
}

}  // namespace assay::oracles
