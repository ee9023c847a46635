// SPDX-License-Identifier: Apache-2.0
#include "oracles/operands.h"

namespace assay::oracles {

Scalars scalars(const Tensor& tensor) {
  Scalars out{tensor.shape(), {}};
  out.values.reserve(static_cast<std::size_t>(tensor.elements()));
  for (Int i = 0; i < tensor.elements(); ++i) out.values.push_back(scalar(tensor, i));
  return out;
}

Shape position(const Shape& shape, Int flat) {
  Shape at(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; flat /= shape[axis]) at[axis] = flat % shape[axis];
  return at;
}

std::string place(std::string_view name, const Shape& shape, Int flat) {
  return std::string(name) + assay::text(position(shape, flat));
}

}  // namespace assay::oracles
