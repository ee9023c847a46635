// SPDX-License-Identifier: Apache-2.0
// The exact answer of ReverseSequence: the index along time mirrored where it is within its sequence.
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {

Oracle reverse_sequence() {
  return moved([](const Call& call, const Readings&) { return std::optional<Shape>(call.shape("input")); },
               [](const CopyPoint& p) {
                 Shape at = p.at();
                 const auto axis = [&](const char* name) { return static_cast<std::size_t>(p.call.integer(name)); };
                 const Int length = p.call.ints("sequence_lens")[static_cast<std::size_t>(at[axis("batch_axis")])];
                 Int& time = at[axis("time_axis")];
                 if (time < length) time = length - (time + 1);
                 return origin(p.shape, at);
               });
}

}  // namespace assay::oracles
