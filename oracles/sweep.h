// SPDX-License-Identifier: Apache-2.0
// The filter's own convolution engine: for a piece of an output plane at a time, the sums of products in double and the
// sums of their absolute values in single, in one fixed order; or both in double, with what rounding lost of the sums.
// It shares nothing with the kernels.
//
// Packing resolves padding, strides and dilations: a piece of the input is copied phase by phase (cells of equal
// remainder modulo the stride), so that tap t of every output lies at one constant distance from it. What is left is
// one flat loop over outputs; those past the end of a row compute garbage that nobody reads.
#pragma once

#include "oracles/geometry.h"
#include "reference/tensor.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace assay::oracles {

// Where the elements of a tensor lie, channels first or last: distances in elements.
struct Strides {
  Int batch = 0, channel = 0;
  std::vector<Int> cell;  // per spatial axis
};
Strides channels_first(Int channels, std::span<const Int> plane);
Strides channels_last(Int channels, std::span<const Int> plane);

// groups * maps rows of depth * taps: a tensor of floats as it stands, or numbers of one's own.
class Weights {
 public:
  Weights() = default;
  explicit Weights(const Tensor& tensor) : tensor_(&tensor) {}
  explicit Weights(std::vector<double> values) : values_(std::move(values)) {}

  Int size() const { return tensor_ ? tensor_->elements() : static_cast<Int>(values_.size()); }
  double operator[](Int at) const;
  void read(Int first, Int count, double* to) const;
  // `block` rows of `terms` from row `row` on, 1 or 4, side by side: to[term][row].
  void pack(Int row, Int block, Int terms, double* to) const;
  // All of them, of every group block by block, each at its first row.
  void pack_all(Int groups, Int maps, Int terms, double* to) const;

 private:
  const Tensor* tensor_ = nullptr;
  std::vector<double> values_;
};

// How many of the `maps` of a group are summed side by side from map m on: four, then one at a time.
inline Int block_at(Int m, Int maps) { return m + 4 <= maps ? 4 : 1; }

struct Sweep {
  std::vector<Track> tracks;
  Int batch = 1, groups = 1, depth = 1, maps = 1;  // channels and output maps per group
  const Tensor* x = nullptr;
  Strides from;
  double x_zero = 0;  // subtracted from every cell in the input
  Weights weights;
  std::vector<double> bias;  // per map of all groups, or none
  bool sizes = true;         // whether the sums of absolute values are wanted
  bool pairs = false;        // of f64: sums in twice the precision
};

// A run of consecutive outputs of one plane.
struct Patch {
  Int n = 0, map = 0, first = 0, count = 0;  // map over all groups; `first` is row-major within the plane
  const double* sum = nullptr;
  const float* size = nullptr;  // of |terms|, the bias included; none where none are wanted
  // Of pairs, instead of `size`: the sum is sum + low.
  const double *low = nullptr, *wide_size = nullptr;
  // Of deformed samples (deformed.h): what rounded coordinates may add to the budget, at most; 1 where some coordinate
  // is not exact in the accumulator, else 0; 1 where `moved` may be too large, else 0.
  const double *moved = nullptr, *inexact = nullptr, *vague = nullptr;
};

// What a patch says beyond its sums, worked out when asked.
class Piece {
 public:
  virtual ~Piece() = default;
  // Per output of the patch, the finest power of two that is the lowest bit of a cell in its window; infinite where all
  // are zero. Of some cells of the window, or of all.
  virtual std::span<const double> finest_cells(bool all) = 0;
  // Calls f(cell, weight) for every tap of one output, in order, until it says true; whether it did.
  virtual bool any_product(Int at, const std::function<bool(double, double)>& f) = 0;
};

// Every output once: plane by plane, in order.
void sweep(const Sweep& what, const std::function<void(const Patch&, Piece&)>& use);

// The lowest set bit of a finite number, as a number: 2^k; +infinity for zero.
[[gnu::always_inline]] inline double lowest_bit(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(std::fabs(value));
  const bool is_power = (bits & ((std::uint64_t{1} << 52) - 1)) == 0;  // or zero
  const double size = std::bit_cast<double>(bits), without = std::bit_cast<double>(bits & (bits - 1));
  const double lowest = is_power ? size : size - without;
  return size == 0 ? std::numeric_limits<double>::infinity() : lowest;
}

}  // namespace assay::oracles
