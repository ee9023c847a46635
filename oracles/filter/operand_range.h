// SPDX-License-Identifier: Apache-2.0
// The operands of the filter, and what it needs to know of them before anything is summed.
#pragma once

#include "reference/tensor.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace assay::oracles {

// The lowest set bit of a finite number, as a number: 2^k; +infinity for zero.
[[gnu::always_inline]] inline double lowest_bit(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(std::fabs(value));
  const bool is_power = (bits & ((std::uint64_t{1} << 52) - 1)) == 0;  // or zero
  const double size = std::bit_cast<double>(bits), without = std::bit_cast<double>(bits & (bits - 1));
  const double lowest = is_power ? size : size - without;
  return size == 0 ? std::numeric_limits<double>::infinity() : lowest;
}

struct OperandRange {
  bool finite = true;
  double finest = std::numeric_limits<double>::infinity();  // the finest lowest bit; infinite where all are zero
  double coarsest = 0;                                      // the coarsest one; infinite where some are zero
  // Magnitudes; `least` of those that are not zero.
  double largest = 0, least = std::numeric_limits<double>::infinity();
};

// Rows of as many weights as an output has terms: a tensor of floats as it stands, numbers of one's own, or ones.
class Weights {
 public:
  Weights() = default;
  explicit Weights(const Tensor& tensor) : tensor_(&tensor) {}
  explicit Weights(std::vector<double> values) : values_(std::move(values)) {}
  static Weights ones(Int count);

  Int size() const { return tensor_ ? tensor_->elements() : ones_ + static_cast<Int>(values_.size()); }
  double operator[](Int at) const;
  void read(Int first, Int count, double* to) const;
  OperandRange survey(Int first, Int count) const;

 private:
  const Tensor* tensor_ = nullptr;
  std::vector<double> values_;
  Int ones_ = 0;  // that stand for values
};

// Reads a tensor of floats as doubles, a block at a time; best from the first element to the last.
class DoubleReader {
 public:
  explicit DoubleReader(const Tensor& tensor) : of_(tensor) {}

  double operator[](Int at) {
    if (at - first_ >= std::ssize(block_) || at < first_) load(at);
    return block_[static_cast<std::size_t>(at - first_)];
  }

 private:
  void load(Int at);

  Weights of_;
  Int first_ = 0;
  std::vector<double> block_;
};

// How many of the `maps` of a group are summed side by side from map m on: eight, then four, then one at a time.
inline constexpr Int most_abreast = 8;
inline Int block_at(Int m, Int maps) { return m + most_abreast <= maps ? most_abreast : m + 4 <= maps ? 4 : 1; }

OperandRange survey(std::span<const double> values);
OperandRange survey(const Tensor& tensor);

// Of the weights as a whole, and of each map the coarsest lowest bit of a weight.
struct SurveyedWeights {
  OperandRange all;
  std::vector<double> coarsest;
};

SurveyedWeights survey(const Weights& weights, Int maps, Int row);

}  // namespace assay::oracles
