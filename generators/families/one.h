// SPDX-License-Identifier: Apache-2.0
// The shapes that operators of one tensor are asked with.
#pragma once

#include "reference/tensor.h"

#include <cstdint>

namespace assay::generators {

inline constexpr std::uint64_t shape_strata = 24;

// Draws a scalar, vectors, ranks 2 to 5, more, an empty axis or extents of 1, by stratum; vectors stand more than once.
Shape draw_shape(std::uint64_t stratum);

// Draws that many axes of so many elements: the prime factors spread over them or, of none, one of them empty.
Shape spread(Int elements, Int rank);

}  // namespace assay::generators
