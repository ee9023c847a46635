// SPDX-License-Identifier: Apache-2.0
// Sets of which one member holds for the whole of an output: the constants of an operator are all rounded, or none is.
#pragma once

#include "reference/operator.h"

#include <vector>

namespace assay::oracles {

// The members of such sets, those aside that the rulings name first: one change at a time, then products of two.
std::vector<Readings> other_members(const Definition& definition);

// Tells whether a model is refused under these where it touches them: no output fits.
bool refuses(const Readings& readings);

}  // namespace assay::oracles
