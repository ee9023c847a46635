// SPDX-License-Identifier: Apache-2.0
// Vary: a neighbour of a legal case of floats, of the same version and types and as legal, for a search that climbs to
// the data on which a backend rounds worst.
#pragma once

#include "reference/case.h"

#include <cstdint>

namespace assay::generators {

// The case with data whose sums are not exact.
Case inexact(Case c, std::uint64_t seed);

// One step away: other data of one input, more or fewer terms. A function of its arguments.
Case varied(const Case& c, std::uint64_t seed);

}  // namespace assay::generators
