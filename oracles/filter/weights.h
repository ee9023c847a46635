// SPDX-License-Identifier: Apache-2.0
// The weights of the filter's engines.
#pragma once

#include "reference/tensor.h"

#include <span>
#include <utility>
#include <vector>

namespace assay::oracles {

// Rows of as many weights as an output has terms: a tensor of floats as it stands, or numbers of one's own.
class Weights {
 public:
  Weights() = default;
  explicit Weights(const Tensor& tensor) : tensor_(&tensor) {}
  explicit Weights(std::vector<double> values) : values_(std::move(values)) {}

  const Tensor* tensor() const { return tensor_; }
  std::span<const double> values() const { return values_; }  // where there is no tensor
  Int size() const { return tensor_ ? tensor_->elements() : static_cast<Int>(values_.size()); }
  double operator[](Int at) const;
  void read(Int first, Int count, double* to) const;

 private:
  const Tensor* tensor_ = nullptr;
  std::vector<double> values_;
};

// How many of the `maps` of a group are summed side by side from map m on: four, then one at a time.
inline Int block_at(Int m, Int maps) { return m + 4 <= maps ? 4 : 1; }

}  // namespace assay::oracles
