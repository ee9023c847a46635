// SPDX-License-Identifier: Apache-2.0
// The exact answers of Ceil, Floor and Round. A number with a negative exponent is no integer, since its significand is
// odd, and below 2^53; every other one stays.
#include "oracles/families/elementwise.h"

namespace assay::oracles {
namespace {

bool stays(const Scalar& x) { return !x.is_finite() || x.is_zero() || x.exponent >= 0; }

// The integers on either side of one that is none.
Int below(const Scalar& x) {
  const Int whole = x.exponent < -63 ? 0 : static_cast<Int>(x.significand >> -x.exponent);
  return x.negative ? -whole - 1 : whole;
}

}  // namespace

Oracle ceil() {
  return exact_elementwise(
      [](const ElementPoint& p) -> ElementValue { return stays(p.x[0]) ? p.x[0] : scalar(below(p.x[0]) + 1); });
}

Oracle floor() {
  return exact_elementwise(
      [](const ElementPoint& p) -> ElementValue { return stays(p.x[0]) ? p.x[0] : scalar(below(p.x[0])); });
}

Oracle round() {
  return exact_elementwise([](const ElementPoint& p) -> ElementValue {
    if (stays(p.x[0])) return p.x[0];
    const Int low = below(p.x[0]);
    const Dyadic middle = {2 * Integer(low) + 1, -1};
    const auto order = p.x[0].value() <=> middle;
    return scalar(order < 0 || (order == 0 && low % 2 == 0) ? low : low + 1);
  });
}

}  // namespace assay::oracles
