// SPDX-License-Identifier: Apache-2.0
// Scores: what generators of models of ai.onnx.ml share, whose lists are attributes and whose X is [N, F].
#pragma once

#include "generators/family.h"

namespace assay::generators {

// Gives the case that many classes, named by strings or by the integers of an attribute of that name.
void state_labels(Case& c, const char* integers, Int labels);

// Adds an entry to a list of integers or of floats.
Mutation lengthened(const char* attribute);
Mutation labels_of_both_kinds(const char* integers);
// Gives X another rank, or no features.
std::vector<Mutation> row_damages();

}  // namespace assay::generators
