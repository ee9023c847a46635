// SPDX-License-Identifier: Apache-2.0
// The exact answer of SwiGLU. Where the gate is 0 at an infinity the product is NaN, or its limit (E50).
#include "oracles/families/elementwise.h"

#include <cmath>

namespace assay::oracles {
namespace {

ElementValue gated(const ElementPoint& p) {
  const Scalar &a = p.x[0], &b = p.x[1], alpha = constant(p, "alpha");
  if (is_nan(a) || is_nan(b)) return nan();
  const double size = a.is_finite() ? a.as_double() : 0;
  const double open = std::abs(size) / (1 + std::exp(-alpha.as_double() * size));
  if (b.is_finite() && std::abs(b.as_double()) > 0x1p1016 && open < 0x1p-960)
    return unscored("a gate that vanishes times what nearly overflows");
  if (b.is_finite() && !std::isfinite(2 * size * b.as_double())) return unscored("A B overflows");
  if (!is_infinite(a) && !is_infinite(b)) return function_value(Function::swiglu, a, {alpha, b});
  const ElementValue infinite = infinity(a.negative != b.negative);
  if (is_infinite(a)) {
    const bool is_open = !alpha.is_zero() && alpha.negative == a.negative;
    if (is_open) return b.is_zero() ? ElementValue(nan()) : infinite;
    if (alpha.is_zero() && !b.is_zero()) return one_of("E50", {nan(), std::get<Scalar>(infinite)});
    return is_infinite(b) || b.is_zero() ? ElementValue(nan()) : one_of("E50", {nan(), Scalar()});
  }
  if (a.is_zero()) return nan();
  // A gate that is nearly closed may be computed as 0, or a little off it.
  const bool is_closed =
      alpha.as_double() * size < -8 || open < std::ldexp(1.0, format_of(type_of(p)).min_exponent + 2);
  return is_closed ? one_of("E50", {nan(), infinity(), infinity(true)}) : infinite;
}

}  // namespace

Oracle swiglu() { return elementwise(gated); }

}  // namespace assay::oracles
