// SPDX-License-Identifier: Apache-2.0
// The exact answers of IsNaN and IsInf.
#include "oracles/families/elementwise.h"

namespace assay::oracles {

Oracle finds_nan() {
  return copying_elementwise([](const ElementPoint& p) -> ElementValue { return truth(is_nan(p.x[0])); });
}

Oracle finds_infinity() {
  return copying_elementwise([](const ElementPoint& p) -> ElementValue {
    const char* const detects = p.x[0].negative ? "detect_negative" : "detect_positive";
    return truth(is_infinite(p.x[0]) && p.call.integer(detects) != 0);
  });
}

}  // namespace assay::oracles
