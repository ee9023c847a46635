// SPDX-License-Identifier: Apache-2.0
// The pools among the sliding windows: their cases, and what they share of near misses.
#pragma once

#include "generators/questions.h"
#include "generators/values.h"

namespace assay::generators {

// Draws a pool of one window theme; `fill` makes the data for so many taps.
Case draw_pool(const Definition& definition, DType type, std::uint64_t stratum, Recipe (*fill)(const Sum&));

// The questions about a pool that is drawn so.
Questions pool_questions(Case (*draw)(const Definition&, DType, std::uint64_t));

// Those about a pool that selects: MaxPool.
const Questions& selecting_pool();

}  // namespace assay::generators
