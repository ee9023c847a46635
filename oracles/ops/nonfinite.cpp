// SPDX-License-Identifier: Apache-2.0
// The exact answers of IsNaN and IsInf.
#include "oracles/families/elementwise.h"

namespace assay::oracles {

const Oracle& finds_nan() {
  static const Oracle oracle =
      copying_elementwise([](const ElementPoint& p) -> ElementValue { return truth(is_nan(p.x[0])); });
  return oracle;
}

const Oracle& finds_infinity() {
  static const Oracle oracle = copying_elementwise([](const ElementPoint& p) -> ElementValue {
    const char* const detects = p.x[0].negative ? "detect_negative" : "detect_positive";
    return truth(is_infinite(p.x[0]) && p.call.integer(detects) != 0);
  });
  return oracle;
}

}  // namespace assay::oracles
