// SPDX-License-Identifier: Apache-2.0
// The filter's engine for deformed samples: a tile of output windows at a time, every tap of every channel is sampled
// into a column, in double or in pairs, and the columns are summed like cells of a convolution. It knows nothing of the
// kernels, which round their coordinates.
#pragma once

#include "oracles/filter/conv_filter.h"

#include <functional>
#include <vector>

namespace assay::oracles {

struct Deformed {
  std::vector<WindowAxis> tracks;
  Int batch = 1, groups = 1, depth = 1, maps = 1, offset_groups = 1;  // channels and output maps per group
  const Tensor *x = nullptr, *offset = nullptr, *mask = nullptr;      // mask: none is 1
  Weights weights;                                                    // groups * maps rows of depth * taps
  std::vector<double> bias;                                           // per map of all groups, or none
  bool pairs = false;                                                 // of f64
  double largest = 0;                                                 // of |x|, all of which are finite
};

// Every output once, plane by plane within each tile. The columns err by no more than
//   (3 r + 2^r + 2) u of the sum of their absolute terms, u = 2^-53: every fraction of a coordinate and its complement
//   is one rounding of a difference, each elementary product has r of them, r further products and 2^r - 1 additions;
//   2^-30 of `coordinate_error` besides, where a coordinate is no double: rounding it moves it by u |h|, which is 2^-30
//   of what the accumulator may move it by, along the same slope; of pairs (2 r + 7 (r - 1) + 6 + 4 2^r) u^2, and all
//   coordinates are exact (pair.h).
void sweep(const Deformed& what, const std::function<void(const Tile&, TileDetails&)>& use);

// Whether some sample lies outside the padded tensor, or may after rounding, and yet within one cell of the input
// (A20).
enum class Reach { no, yes, unsure };
Reach reaches_border(const std::vector<WindowAxis>& tracks, const Tensor& offset, Int rows);

}  // namespace assay::oracles
