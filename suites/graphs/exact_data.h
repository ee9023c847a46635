// SPDX-License-Identifier: Apache-2.0
// Exact data: what the nodes of a graph are given so that few bits are enough for what comes of it
// (oracles/graphs/exactness.h). Data are small integers, whatever the operator.
#pragma once

#include "reference/case.h"

#include <string>

namespace assay::suites {

// Draws a constant: of weights about three in each sum are 1 or -1, the others 0; a variance is 1 with its epsilon.
Recipe exact_constant(const Case& c, std::size_t input, const Shape& shape, const std::string& seed);

// Makes a slope the next power of two.
void round_slope(Case& c);

// Tells whether an input is a bound, which is kept as it is.
bool is_bound(const Case& c, std::size_t input);

}  // namespace assay::suites
