// SPDX-License-Identifier: Apache-2.0
// Unevaluated sums of two doubles, high + low with |low| <= ulp(high) / 2: about 106 bits. Error-free transformations
// of Knuth, Dekker and Veltkamp; the bounds are those of Joldes, Muller and Popescu, Tight and rigorous error bounds
// for basic building blocks of double-word arithmetic (ACM TOMS 44 (2017)), u = 2^-53. They hold while nothing over- or
// underflows, which is the caller's to see to.
#pragma once

#include <cmath>

namespace assay::oracles {

#if defined(__FP_FAST_FMA)
inline constexpr bool has_fma = true;
#else
inline constexpr bool has_fma = false;
#endif

struct Pair {
  double high = 0, low = 0;
};

// a + b, exactly.
[[gnu::always_inline]] inline Pair exact_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

// a b - p, where p is the rounded product and neither exceeds 2^995.
[[gnu::always_inline]] inline double rest_of_product(double a, double b, double p) {
  if constexpr (has_fma) return __builtin_fma(a, b, -p);
  constexpr double splitter = 0x1p27 + 1;
  const double big_a = splitter * a, big_b = splitter * b;
  const double high_a = big_a - (big_a - a), low_a = a - high_a;
  const double high_b = big_b - (big_b - b), low_b = b - high_b;
  return ((high_a * high_b - p) + high_a * low_b + low_a * high_b) + low_a * low_b;
}

// a b, exactly.
[[gnu::always_inline]] inline Pair exact_product(double a, double b) {
  const double p = a * b;
  return {p, rest_of_product(a, b, p)};
}

// Within 2 u^2 |a + b| (DWPlusFP).
[[gnu::always_inline]] inline Pair operator+(Pair a, double b) {
  const Pair sum = exact_sum(a.high, b);
  return exact_sum(sum.high, a.low + sum.low);
}

// Within 4 u^2 (|a| + |b|): the lower parts are below u (|a| + |b|) and rounded twice.
[[gnu::always_inline]] inline Pair operator+(Pair a, Pair b) {
  const Pair sum = exact_sum(a.high, b.high);
  return exact_sum(sum.high, sum.low + (a.low + b.low));
}

// Within 3 u^2 |a b| (DWTimesFP).
[[gnu::always_inline]] inline Pair operator*(Pair a, double b) {
  const Pair product = exact_product(a.high, b);
  return exact_sum(product.high, a.low * b + product.low);
}

// Within 7 u^2 |a b| (DWTimesDW).
[[gnu::always_inline]] inline Pair operator*(Pair a, Pair b) {
  const Pair product = exact_product(a.high, b.high);
  return exact_sum(product.high, (a.high * b.low + a.low * b.high) + product.low);
}

}  // namespace assay::oracles
