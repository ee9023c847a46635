// SPDX-License-Identifier: Apache-2.0
// Generators: which cases to run. Legal cases reach every cell of an operator's coverage table, near misses break
// exactly one constraint. A case never knows its answer: only reference/ is seen from here.
#pragma once

#include "reference/case.h"

#include <rapidcheck.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::generators {

// A legal case, a pure function of its arguments. `index` walks through the strata, the corners an operator wants to
// be drawn; a run of `strata` consecutive indices visits each.
Case legal(const Definition& definition, DType type, std::uint64_t seed, std::uint64_t index);

// Makes a legal case what most deployed models are: all but the data constant, the taps of a convolution moved into its
// channels (a kernel of 1x1 and as many terms), one scale and zero point for all. As it was where that is too large.
Case deployed(Case c);

// A case that breaks `constraint` and nothing else; none where this version has no call that does.
std::optional<Case> near_miss(const Definition& definition, DType type, std::string_view constraint, std::uint64_t seed,
                              std::uint64_t index);

// The constraints that can be broken alone, in the order of the definition; the general ones (G1 …) first.
std::vector<std::string> breakable(const Definition& definition);

// The same legal cases for properties; they shrink towards fewer axes, smaller extents and omitted attributes.
rc::Gen<Case> legal(const Definition& definition, DType type);

}  // namespace assay::generators
