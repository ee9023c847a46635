// SPDX-License-Identifier: Apache-2.0
#include "reference/functions.h"

#include <cmath>
#include <limits>

namespace assay {

// x = k ln 2 + r with |r| <= ln 2 / 2: e^x = 2^k (1 + r + r^2/2! + … + r^14/14!), whose first term left out is below
// 2^-62. k times the upper part of ln 2, 33 bits, is exact.
double exponential(double x) {
  if (x != x) return x;
  if (x > 709.8) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0;
  constexpr double upper = 0x1.62e42feep-1, lower = 0x1.a39ef35793c76p-33, per_ln_2 = 0x1.71547652b82fep0;
  const double k = std::floor(x * per_ln_2 + 0.5), high = x - k * upper, low = k * lower, r = high - low;
  double sum = 0;
  for (int i = 14; i > 1; --i) sum = (sum + 1) * r / i;
  // What r lost when it was rounded, and 1 last of all.
  const double lost = (high - r) - low;
  return std::ldexp(1 + (r + (sum * r + lost)), static_cast<int>(k));
}

}  // namespace assay
