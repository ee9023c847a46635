// SPDX-License-Identifier: Apache-2.0
// Tells what rounding may do to the outputs of a node where nobody sees what arrives there.
#pragma once

#include "suites/models/evaluation.h"

#include <vector>

namespace assay::suites {

// Tells whether outputs of a node may differ from the right ones because what arrives there, as others saw it, was not
// rounded in this run, or rounded otherwise: no element is further off than four times what comes of operands whose
// elements are moved by 2^13 roundings of float32, or 2^6 of what is narrower, and codes of quantized numbers by one.
// Outputs are those that the node has, in their order. True where extents follow the data.
bool may_be_rounding(const GraphNode& node, const Call& call, const Arrival& arrival,
                     const std::vector<Tensor>& outputs, int threads);

}  // namespace assay::suites
