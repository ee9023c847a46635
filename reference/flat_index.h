// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/tensor.h"

namespace assay {

// Returns the row-major place of a position in a tensor of this shape.
inline Int flat_index(const Shape& shape, const Shape& at) {
  Int flat = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) flat = flat * shape[axis] + at[axis];
  return flat;
}

}  // namespace assay
