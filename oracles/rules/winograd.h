// SPDX-License-Identifier: Apache-2.0
// How far Winograd convolution F(m,3) may land from the exact sum (numerics 2.5; Barabasz et al., arXiv 1803.10986).
//
//   |s - y| <= γ(P,u) W,  W = |A^T| [ sum_c (|G||w_c||G^T|) .* (|B^T||x_c||B|) ] |A|,  P = 2r(m+2) + C + 10
//
// over r axes of three taps, stride 1, dilation 1, C channels. Where an implementation puts its tile is its own affair:
// the largest W over the m^r places of an output in its tile counts.
#pragma once

#include "oracles/exact/enclosure.h"
#include "oracles/exact/geometry.h"

#include <functional>
#include <optional>
#include <vector>

namespace assay::oracles {

// One output of a convolution as Winograd sees it. `input(c, at)` is the cell at a position of the plane of the group's
// channel c, zero outside; `weight(c, tap)` likewise.
struct Neighbourhood {
  std::vector<WindowAxis> tracks;
  std::vector<Int> window;  // the output position
  Int channels = 0;
  std::function<Scalar(Int, const std::vector<Int>&)> input;
  std::function<Scalar(Int, const std::vector<Int>&)> weight;
  std::optional<Scalar> bias;
};

// At least one axis of three taps, the others of one; stride 1 and dilation 1 everywhere.
bool winograd_applies(const std::vector<WindowAxis>& tracks);

// The tolerance of F(m,3), m = 2 or 4, computed in `format`.
Tolerance winograd(const Neighbourhood& around, int m, const Format& format, std::string arithmetic);

}  // namespace assay::oracles
