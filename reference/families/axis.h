// SPDX-License-Identifier: Apache-2.0
// Kernels of operators that take lines along the axis an attribute names, each by itself.
#pragma once

#include "reference/operator.h"

#include <functional>
#include <span>

namespace assay {

// The input and the attribute `axis` with its default; the axis lies in [-r, r-1], and there is one.
void along_axis(Operator& op, int axis);

// Returns the kernel of an operator whose output has the type and shape of its input: f(x, y) reads a line and writes
// it, both as doubles; every element is rounded once to the type.
Kernel along_lines(void (*f)(std::span<const double> x, std::span<double> y));

}  // namespace assay
