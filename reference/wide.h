// SPDX-License-Identifier: Apache-2.0
// Wide: the unevaluated sum of two doubles, about 104 bits, by additions and multiplications alone (Dekker 1971). No
// sum, product or quotient here overflows where its operands are between 2^-900 and 2^900, or 0.
#pragma once

#include <cmath>

namespace assay {

struct Wide {
  double high = 0, low = 0;

  Wide() = default;
  constexpr Wide(double value) : high(value) {}
  constexpr Wide(double upper, double lower) : high(upper), low(lower) {}
  double rounded() const { return high + low; }
};

// a + b, |a| >= |b| or a = 0.
inline Wide ordered_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
inline Wide exact_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
inline Wide exact_product(double a, double b) {
  const auto upper = [](double x) {
    const double scaled = x * 0x8000001p0;
    return scaled - (scaled - x);
  };
  const double product = a * b, a_upper = upper(a), b_upper = upper(b), a_lower = a - a_upper, b_lower = b - b_upper;
  return {product, ((a_upper * b_upper - product) + a_upper * b_lower + a_lower * b_upper) + a_lower * b_lower};
}

inline Wide operator-(const Wide& a) { return {-a.high, -a.low}; }
inline Wide operator+(const Wide& a, const Wide& b) {
  const Wide high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
  const Wide sum = ordered_sum(high.high, high.low + low.high);
  return ordered_sum(sum.high, sum.low + low.low);
}
inline Wide operator-(const Wide& a, const Wide& b) { return a + -b; }
inline Wide operator*(const Wide& a, const Wide& b) {
  const Wide product = exact_product(a.high, b.high);
  return ordered_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}
inline Wide operator/(const Wide& a, const Wide& b) {
  const double first = a.high / b.high;
  const Wide rest = a - b * Wide(first);
  const double second = rest.high / b.high;
  const Wide last = rest - b * Wide(second);
  return ordered_sum(first, second) + Wide(last.high / b.high);
}
// Of a number that is not negative.
inline Wide root(const Wide& a) {
  if (a.high <= 0) return 0.0;
  const double first = std::sqrt(a.high);  // IEEE 754 rounds it correctly
  const Wide rest = a - exact_product(first, first);
  return ordered_sum(first, rest.high / (2 * first));
}
inline Wide scaled(const Wide& a, int exponent) { return {std::ldexp(a.high, exponent), std::ldexp(a.low, exponent)}; }

}  // namespace assay
