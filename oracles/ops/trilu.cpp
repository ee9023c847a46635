// SPDX-License-Identifier: Apache-2.0
// The exact answer of Trilu: an element, or zero on the other side of the diagonal.
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {

Oracle trilu() {
  return moved([](const Call& call, const Readings&) { return std::optional<Shape>(call.shape("input")); },
               [](const CopyPoint& p) {
                 const Shape at = p.at();
                 const Int diagonal = at[at.size() - 1] - at[at.size() - 2];
                 const Int k = p.call.states("k") ? p.call.integer("k") : 0;
                 const bool is_kept = p.call.integer("upper") != 0 ? diagonal >= k : diagonal <= k;
                 return Origin{is_kept ? p.index : -1};
               });
}

}  // namespace assay::oracles
