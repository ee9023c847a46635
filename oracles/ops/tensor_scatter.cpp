// SPDX-License-Identifier: Apache-2.0
// The exact answer of TensorScatter: how far an element stands behind where its batch is written, modulo the extent of
// the axis; within update it is one of those.
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {

Oracle tensor_scatter() {
  return moved([](const Call& call, const Readings&) { return std::optional<Shape>(call.shape("past_cache")); },
               [](const CopyPoint& p) {
                 Shape at = p.at();
                 const std::size_t axis = axis_in(p.call.rank("past_cache"), p.call.integer("axis"));
                 const Int extent = p.shape[axis];
                 const bool says = p.call.states("write_indices");
                 const Int start = says ? p.call.ints("write_indices")[static_cast<std::size_t>(at[0])] % extent : 0;
                 at[axis] = ((at[axis] - start) % extent + extent) % extent;
                 if (at[axis] >= p.call.shape("update")[axis]) return Origin{p.index};
                 return origin(p.call.shape("update"), at, 1);
               });
}

}  // namespace assay::oracles
