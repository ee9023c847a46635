// SPDX-License-Identifier: Apache-2.0
// Exact data: what the nodes of a graph are given so that few bits are enough for what comes of it
// (oracles/graphs/exactness.h). Data are small integers, whatever the operator.
#pragma once

#include "reference/case.h"

#include <string>

namespace assay::suites {

// Draws a constant: of weights about three in each sum are 1 or -1, the others 0; a variance is 1 with its epsilon; a
// scale by which numbers are quantized is 1.
Recipe exact_constant(const Case& c, std::size_t input, const Shape& shape, const std::string& seed);

// Tells whether a case quantizes or dequantizes.
bool is_quantizer(const Case& c);
// Draws quantized numbers of a zero point: small ones, of weights about three in each sum 1 or -1 and the others 0.
Recipe exact_bytes(const TensorType& type, Int zero, bool is_constant, const std::string& seed);

// Makes a slope the next power of two.
void round_slope(Case& c);

// Tells whether an input is a bound, which is kept as it is.
bool is_bound(const Case& c, std::size_t input);

}  // namespace assay::suites
