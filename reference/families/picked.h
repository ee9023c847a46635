// SPDX-License-Identifier: Apache-2.0
// Kernels of operators that pick elements along each axis by itself, and the lists of axes that say which.
#pragma once

#include "reference/families/moved.h"

namespace assay {

bool are_axes(const Ints& axes, Int rank);
// Tells whether none is listed twice, from either end.
bool are_distinct(Ints axes, Int rank);
// The axes that a call lists, or all those of its first input.
Ints all_axes(const Call& call);
inline Ints axes_of(const Call& call) { return call.states("axes") ? call.ints("axes") : all_axes(call); }

// The data of an input that the call reads; its elements in row-major order.
const Tensor& data_of(const Call& call, std::string_view input);
std::vector<double> reals(const Call& call, std::string_view input);

// Picks the elements of x: that of the output at (i, j, …) stands at (along[0][i], along[1][j], …); the element of
// `fill` where one of these is negative.
Tensor picked(const Tensor& x, const std::vector<Ints>& along, const Tensor& fill);

// An element along an axis, and what it counts for.
struct AxisTap {
  Int at;
  double weight;
};
// Adds up, axis by axis, the taps of each output along it.
std::vector<double> blended(std::vector<double> x, const Shape& shape,
                            const std::vector<std::vector<std::vector<AxisTap>>>& taps);

}  // namespace assay
