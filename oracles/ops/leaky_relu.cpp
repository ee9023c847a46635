// SPDX-License-Identifier: Apache-2.0
// The exact answer of LeakyRelu: x, or alpha x where x < 0, within one ulp of what is computed in; a factor that is
// rounded to the type leaves nothing to round but the product. 0 times -inf is NaN, or 0 as the limit has it (E50).
#include "oracles/families/elementwise.h"

namespace assay::oracles {

Oracle leaky_relu() {
  return elementwise([](const ElementPoint& p) -> ElementValue {
    const Scalar& x = p.x[0];
    if (x.is == Scalar::Class::nan || x.is_zero() || !x.negative) return x;
    const Scalar alpha = constant(p, "alpha");
    if (x.is_finite()) return or_itself(p, product(alpha, x, p.reads("E38", "rounded") ? 0 : 1));
    if (alpha.is_zero()) return one_of("E50", {nan(), Scalar()});
    return Scalar{Scalar::Class::infinite, !alpha.negative, 0, 0};
  });
}

}  // namespace assay::oracles
