// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/operands.h"

namespace assay::oracles {

Scalars scalars(const Tensor& tensor) {
  Scalars out{tensor.shape(), {}};
  out.values.reserve(static_cast<std::size_t>(tensor.elements()));
  for (Int i = 0; i < tensor.elements(); ++i) out.values.push_back(scalar(tensor, i));
  return out;
}

Scalar Cells::at(Int flat) const {
  constexpr Int few = 4096;
  if (tensor_.elements() > few) return scalar(tensor_, flat);
  if (values_.empty()) values_ = scalars(tensor_).values;
  return values_[static_cast<std::size_t>(flat)];
}

std::vector<double> doubles(const Tensor& tensor) {
  std::vector<double> out;
  for_float(tensor.dtype(), [&]<class T>() {
    for (const T value : tensor.as<T>()) out.push_back(static_cast<double>(value));
  });
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
