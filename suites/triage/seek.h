// SPDX-License-Identifier: Apache-2.0
// Seeking: climbs towards the case on which a backend uses most of the error budget. Islands do not know of one
// another: what an island finds is a function of the selection, the seed, its number and the backend (decisions 7).
#pragma once

#include "suites/planning/suite.h"
#include "suites/triage/shrinker.h"

#include <cstdint>

namespace assay::suites {

// The worst case an island found. `answered.verdict.worst_share` says how much of the budget it used: above 1 the
// backend is outside the level asked for.
struct WorstCase {
  std::uint64_t island = 0;
  Case c;
  Answered answered;
  int runs = 0;
};

// Islands take turns over the operators, versions and types of the selection whose answers are rounded (QLinearConv's
// are exact up to ties). Throws InputError where the selection has none.
WorstCase climb(const Selection& selection, std::uint64_t seed, std::uint64_t island, const RunCase& run_case,
                int steps = 60);

// As many legal cases as they come: what climbing is compared with.
WorstCase sample(const Selection& selection, std::uint64_t seed, std::uint64_t island, const RunCase& run_case,
                 int steps = 60);

}  // namespace assay::suites
