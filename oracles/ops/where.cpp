// SPDX-License-Identifier: Apache-2.0
// The exact answer of Where. What the side that is not chosen holds never matters.
#include "oracles/families/elementwise.h"

namespace assay::oracles {

Oracle where() {
  return copying_elementwise([](const ElementPoint& p) -> ElementValue { return p.x[p.x[0].is_zero() ? 2 : 1]; });
}

}  // namespace assay::oracles
