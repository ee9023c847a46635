// SPDX-License-Identifier: Apache-2.0
// A tensor operand taken apart once, element by element, with its extents.
#pragma once

#include "oracles/exact.h"

#include <vector>

namespace assay::oracles {

struct Scalars {
  Shape shape;
  std::vector<Scalar> values;

  const Scalar& at(Int flat) const { return values[static_cast<std::size_t>(flat)]; }
  Int extent(std::size_t axis) const { return shape.at(axis); }
};
Scalars scalars(const Tensor& tensor);

// "X[0,1,3]": the element a flat row-major index names.
std::string place(std::string_view name, const Shape& shape, Int flat);
Shape position(const Shape& shape, Int flat);

}  // namespace assay::oracles
