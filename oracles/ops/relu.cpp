// SPDX-License-Identifier: Apache-2.0
// The exact answer of Relu: max(0, x). Of NaN it is NaN, or 0 as another reading has it (E12).
#include "oracles/rules/rules.h"

namespace assay::oracles {

Oracle relu() {
  return pointwise([](const ElementPoint& p) {
    if (p.x[0].is == Scalar::Class::nan) return p.reads("E12", "zero") ? Scalar() : p.x[0];
    return p.x[0].negative ? Scalar() : p.x[0];
  });
}

}  // namespace assay::oracles
