// SPDX-License-Identifier: Apache-2.0
// The filter's own convolution engine: for a tile of an output plane at a time, the sums of products in double and the
// sums of their absolute values in single or in levels, in one fixed order; or both in double, with what rounding lost
// of the sums; or the sums of products of 8 bits in whole numbers. It shares nothing with the kernels.
//
// Packing resolves padding, strides and dilations: a tile of the input is copied phase by phase (cells of equal
// remainder modulo the stride), so that tap t of every output lies at one constant distance from it. What is left is
// one flat loop over outputs; those past the end of a row compute garbage that nobody reads.
#pragma once

#include "oracles/exact/geometry.h"
#include "oracles/filter/operand_range.h"
#include "reference/tensor.h"

#include <functional>
#include <span>
#include <vector>

namespace assay::oracles {

// Where the elements of a tensor lie, channels first or last: distances in elements.
struct PlaneStrides {
  Int batch = 0, channel = 0;
  std::vector<Int> cell;  // per spatial axis
  Int group = 0;          // beyond the channels of the groups before
};
PlaneStrides channels_first(Int channels, std::span<const Int> plane);
PlaneStrides channels_last(Int channels, std::span<const Int> plane);

struct ConvFilter {
  std::vector<WindowAxis> tracks;
  Int batch = 1, groups = 1, depth = 1, maps = 1;  // channels and output maps per group
  const Tensor* x = nullptr;
  PlaneStrides from;
  double x_zero = 0;         // subtracted from every cell in the input
  Weights weights;           // of an x of 8 bits and without sizes whole numbers up to 255
  std::vector<double> bias;  // per map of all groups, or none
  bool sizes = true;         // whether the sums of absolute values are wanted
  bool pairs = false;        // of f64: sums in twice the precision
  // The largest magnitudes of a cell and a weight where they are known: sizes may then be summed in levels
  // (quantized16.h).
  double largest_cell = 0, largest_weight = 0;
};

// A run of consecutive outputs of one plane.
struct Tile {
  Int n = 0, map = 0, first = 0, count = 0;  // map over all groups; `first` is row-major within the plane
  Int group = 0;
  const double* sum = nullptr;
  const double* low = nullptr;  // of pairs: the sum is sum + low
  // The sum of |terms|, the bias included, lies between these two, but for rounding; none where none is wanted.
  const double *least = nullptr, *size = nullptr;
  // Of deformed samples (deformed.h): what rounded coordinates may add to the budget, at most; 1 where some coordinate
  // is not exact in the accumulator, else 0; 1 where `coordinate_error` may be too large, else 0.
  const double *coordinate_error = nullptr, *inexact = nullptr, *uncertain = nullptr;
};

// Works out what a tile says beyond its sums, on demand.
class TileDetails {
 public:
  virtual ~TileDetails() = default;
  // Per output of the tile, the finest power of two that is the lowest bit of a cell in its window; infinite where all
  // are zero. Of some cells of the window, or of all.
  virtual std::span<const double> finest_cells(bool all) = 0;
  // Calls f(cell, weight) for every tap of one output, in order, until it says true; whether it did.
  virtual bool any_product(Int at, const std::function<bool(double, double)>& f) = 0;
};

// Every output once: plane by plane, in order.
void sweep(const ConvFilter& what, const std::function<void(const Tile&, TileDetails&)>& use);

}  // namespace assay::oracles
