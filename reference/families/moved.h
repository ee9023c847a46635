// SPDX-License-Identifier: Apache-2.0
// Kernels of operators whose outputs are elements of their first input, whatever the type.
#pragma once

#include "reference/operator.h"

namespace assay {

// Infers one output of that shape.
Inference moved_to(ShapeFunction shape);

// States what the versions 21, 23, 24 and 25 of operators of any type admit besides.
void small_types(Operator& op);

// An axis counted from the front, and whether there is one of that number, counted from either end.
inline Int from_front(Int axis, Int rank) { return axis < 0 ? axis + rank : axis; }
inline bool is_axis(Int axis, Int rank) { return axis >= -rank && axis < rank; }

// Returns the kernel of an operator that keeps the elements in their order, bit for bit, and changes the shape alone.
Kernel viewed();

// Where the elements of an output stand in an input: `first`, and so many steps further along each of the extents.
struct Strides {
  Shape extents;
  Ints steps;
  Int first = 0;
};
// The steps from an element to the next along each axis.
Ints steps_of(const Shape& shape);

// Returns the kernel of an operator whose output stands in its first input so, whatever its axes are.
Kernel strided(Strides (*of)(const Call&));

// Copies runs of elements: the i-th is that of x which starts at source(i); zeros where that is negative.
Tensor in_runs(const Tensor& x, TensorType type, Int run, const std::function<Int(Int)>& source);
// The same of runs that start at these places in x, and in every block of so many elements behind.
Tensor in_runs(const Tensor& x, TensorType type, Int run, const Ints& places, Int block);

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
