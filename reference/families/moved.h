// SPDX-License-Identifier: Apache-2.0
// Kernels of operators whose outputs are elements of their first input, whatever the type.
#pragma once

#include "reference/operator.h"

namespace assay {

// Infers one output of that shape, of the type of the first input.
Inference moved_to(ShapeFunction shape);

// Returns the kernel of an operator that keeps the elements in their order, bit for bit, and changes the shape alone.
Kernel viewed();

// The default of a list that is empty where it is left out.
Ints no_entries(const Call& call);

// The lines of a tensor along an axis, which is counted from 0: f(line, first, step) of each, whose element i stands at
// first + i * step. None where the tensor has no elements.
template <class F>
void for_each_line(const Shape& shape, Int axis, F&& f) {
  const Int elements = volume(shape), step = volume(std::span(shape).subspan(static_cast<std::size_t>(axis) + 1));
  const Int extent = shape[static_cast<std::size_t>(axis)];
  for (Int line = 0; elements > 0 && line < elements / extent; ++line)
    f(line, line / step * extent * step + line % step, step);
}

// The product of the extents of 0 or more; of more than 2^62 that number, which no tensor has elements.
Int bounded_volume(const Shape& shape);

}  // namespace assay
