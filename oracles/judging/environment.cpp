// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/environment.h"

#include "reference/result.h"

#include <bit>
#include <cfloat>
#include <cstdint>

namespace assay::oracles {
namespace {

// Knuth's TwoSum: s + e = a + b exactly, in round to nearest without contraction or excess precision.
bool two_sum_is_exact(double left, double right, double low) {
  const volatile double kept_a = left, kept_b = right;  // not worked out by the compiler
  const double a = kept_a, b = kept_b;
  const double s = a + b, part = s - a, e = (a - (s - part)) + (b - part);
  return e == low;
}

// With contraction x*x - p would be 0 or the whole product's tail.
bool contracts(double value) {
  const volatile double kept = value;
  const double x = kept;
  const double p = x * x;
  return x * x - p != 0;
}

}  // namespace

std::string unsound_environment() {
  const volatile double one = 1, tiny = 0x1p-60, least = 0x1p-1074, smallest_normal = DBL_MIN;
  const volatile float least_single = 0x1p-149f, smallest_single = FLT_MIN;
  if (one + tiny != 1 || one - tiny != 1 || -one - tiny != -1 || one + 0x1p-53 != 1 || one + 0x1.8p-53 != 1 + 0x1p-52)
    return "the rounding mode is not to nearest, ties to even";
  // By their bits: a comparison would take a subnormal as zero as well.
  if (std::bit_cast<std::uint64_t>(smallest_normal * 0.5) == 0 ||
      std::bit_cast<std::uint32_t>(smallest_single * 0.5f) == 0)
    return "subnormal results are flushed to zero (FTZ)";
  if (least * 0x1p1000 == 0 || least_single * 0x1p100f == 0) return "subnormal operands are taken as zero (DAZ)";
  if (!two_sum_is_exact(1, 0x1p-60, 0x1p-60) || !two_sum_is_exact(0x1.8p0, 0x1p-53, 0x1p-53) || contracts(1 + 0x1p-30))
    return "sums and products are not rounded one by one";
  return "";
}

void expect_sound_environment() {
  if (const std::string wrong = unsound_environment(); !wrong.empty())
    throw BrokenPromise("the floating-point environment cannot be trusted: " + wrong);
}

}  // namespace assay::oracles
