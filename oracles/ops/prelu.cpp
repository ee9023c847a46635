// SPDX-License-Identifier: Apache-2.0
// The exact answer of PRelu: x, or the product with slope where x < 0, rounded once or wrapped. 0 times -inf is NaN, or
// 0 as the limit has it (E50); by another reading an infinite slope spoils every other x (E11).
#include "oracles/families/elementwise.h"

namespace assay::oracles {

Oracle prelu() {
  return elementwise([](const ElementPoint& p) -> ElementValue {
    const Scalar &x = p.x[0], &slope = p.x[1];
    if (x.is == Scalar::Class::nan) return x;
    if (!x.negative || x.is_zero()) return !slope.is_finite() && p.reads("E11", "blend") ? nan() : x;
    if (slope.is == Scalar::Class::nan) return slope;
    if (is_infinite(x) && slope.is_zero()) return one_of("E50", {nan(), Scalar()});
    if (is_infinite(x) || is_infinite(slope)) return infinity(!slope.negative);
    return or_itself(p, in_type(p, ratio(x) * slope.value()));
  });
}

}  // namespace assay::oracles
