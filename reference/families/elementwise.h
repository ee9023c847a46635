// SPDX-License-Identifier: Apache-2.0
// Kernels of operators that map elements one by one, whatever their type.
#pragma once

#include "reference/operator.h"

#include <algorithm>
#include <type_traits>

namespace assay {

// Returns the kernel of Y[i] = f(X[i]), Y of the type and shape of X. `f` takes and returns any element type that the
// operator admits.
template <class F>
Kernel each(F f) {
  return [f](const Call&, std::span<const Tensor* const> in) {
    Tensor y = Tensor::to_be_written(in[0]->type());
    for_number(y.dtype(), [&]<class T>() { std::ranges::transform(in[0]->as<T>(), y.as<T>().begin(), f); });
    return y;
  };
}

// The shape of an input.
ShapeFunction same_as(std::string input);

}  // namespace assay
