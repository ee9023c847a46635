// SPDX-License-Identifier: Apache-2.0
// The exact answer of Identity.
#include "oracles/families/elementwise.h"

namespace assay::oracles {

const Oracle& identity() {
  static const Oracle oracle = copying_elementwise([](const ElementPoint& p) -> ElementValue { return p.x[0]; });
  return oracle;
}

}  // namespace assay::oracles
