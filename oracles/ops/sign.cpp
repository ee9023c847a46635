// SPDX-License-Identifier: Apache-2.0
// The exact answers of Abs, Neg and Sign. The lowest integer has no opposite: it wraps, or saturates as another reading
// has it (E17). Of NaN a sign is NaN or 0 (E13).
#include "oracles/families/elementwise.h"

namespace assay::oracles {
namespace {

// -x, of a number that is positive or negative.
Scalar opposite(const ElementPoint& p) {
  const Scalar x = negated(p.x[0]);
  return is_float(type_of(p)) ? x : fitted(p, truncated(ratio(x)));
}

}  // namespace

Oracle abs() {
  return exact_elementwise(
      [](const ElementPoint& p) -> ElementValue { return p.x[0].negative ? opposite(p) : p.x[0]; });
}

Oracle neg() {
  return exact_elementwise([](const ElementPoint& p) -> ElementValue { return opposite(p); });
}

Oracle sign() {
  return exact_elementwise([](const ElementPoint& p) -> ElementValue {
    if (p.x[0].is == Scalar::Class::nan) return one_of("E13", {nan(), Scalar()});
    return p.x[0].is_zero() ? p.x[0] : scalar(p.x[0].negative ? -1 : 1);
  });
}

}  // namespace assay::oracles
