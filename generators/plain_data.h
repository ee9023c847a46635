// SPDX-License-Identifier: Apache-2.0
// Plainer data for one input of a case, and the guard against data that show nothing.
#pragma once

#include "reference/case.h"

#include <vector>

namespace assay::generators {

// The case with its input `part` of the schema filled more plainly, the plainest first: counted up, small integers,
// few values written out, each of those replaced by 1, by 0 where nothing is weighed with it, by a rounder number.
std::vector<Case> plainer_data(const Case& c, int part);

// Tells whether what the case computes with does not become a constant or all zeros where it was not before.
bool says_as_much(const Case& before, const Case& after);

}  // namespace assay::generators
