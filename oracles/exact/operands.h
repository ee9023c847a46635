// SPDX-License-Identifier: Apache-2.0
// A tensor operand taken apart once, element by element, with its extents.
#pragma once

#include "oracles/exact/exact.h"

#include <utility>
#include <vector>

namespace assay::oracles {

struct Scalars {
  Shape shape;
  std::vector<Scalar> values;

  const Scalar& at(Int flat) const { return values[static_cast<std::size_t>(flat)]; }
  Int extent(std::size_t axis) const { return shape.at(axis); }
};
Scalars scalars(const Tensor& tensor);

// The same taken apart on demand: at once where it is small, element by element where it is large.
class Cells {
 public:
  explicit Cells(Tensor tensor) : tensor_(std::move(tensor)) {}

  const Tensor& tensor() const { return tensor_; }
  const Shape& shape() const { return tensor_.shape(); }
  Int extent(std::size_t axis) const { return shape().at(axis); }
  Scalar at(Int flat) const;

 private:
  Tensor tensor_;
  mutable std::vector<Scalar> values_;
};
// Of a float type; exact.
std::vector<double> doubles(const Tensor& tensor);

// "X[0,1,3]": the element a flat row-major index names.
std::string place(std::string_view name, const Shape& shape, Int flat);
Shape position(const Shape& shape, Int flat);

}  // namespace assay::oracles
