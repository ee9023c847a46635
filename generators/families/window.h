// SPDX-License-Identifier: Apache-2.0
// The parts of the family of sliding windows, convolutions and pools, each worked out on the Conv a case stands for.
#pragma once

#include "generators/family.h"

namespace assay::generators {

// Returns the generator of a pool that selects: MaxPool.
const OperatorGenerator& selecting_pool();

// Returns the pool with its channels second, where they stand last: one of ONNX's own layout.
Case pool_of(const Case& c);
// Returns a pool of that layout with its channels where those of another case stand.
Case with_channels_as_in(const Case& c, Case pool);

// Damages that any sliding-window operator admits: those of window_constraints (reference/window.h).
const std::vector<Mutation>& window_damages();

std::optional<AttributeDimension> window_attribute(const AttributeSpec& spec);
std::vector<Dimension> window_dimensions(const Definition& definition);
std::vector<int> window_features(const Case& c);
std::span<const Exclusion> window_exclusions();
Names window_cells(const Definition& definition);
Names window_traits(const Case& c);

std::span<const ShrinkStep> coarse_window_steps();  // channels, then axes
std::span<const ShrinkStep> fine_window_steps();    // the sizes of one axis after the other

}  // namespace assay::generators
