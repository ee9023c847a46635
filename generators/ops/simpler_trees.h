// SPDX-License-Identifier: Apache-2.0
// The steps that shrink an ensemble of trees, whose lists change together.
#pragma once

#include "generators/operator_generator.h"

namespace assay::generators {

// Leaves out trees, then nodes that branch, then weights. What no root leads to any more goes with them, and the nodes
// that are left are numbered from 0.
std::span<const ShrinkStep> simpler_trees();

}  // namespace assay::generators
