// SPDX-License-Identifier: Apache-2.0
// The filter of integer outputs: which of them are the exact sum, requantised and rounded once (numerics 2.9).
#pragma once

#include "oracles/filter/filter.h"

#include <functional>
#include <vector>

namespace assay::oracles {

// Of integer outputs sat(rne(a M) + zero), or sat(rne(a M + zero)): a an exact integer sum, M a real.
//
// a is exact in double. M' is within 2^-51 of M, so a M' within 2^-50 |a M| of a M: where a M' is further than that
// from a tie, both round alike, in either order of rounding and adding. Where M' = M has so few bits that a M' is exact
// too, ties are decided as well.
struct RequantizeFilter {
  ConvFilter sweep;  // without sizes
  PlaneStrides to;
  std::vector<double> scale;  // M' per map
  std::vector<bool> exact;    // per map: |a| < 2^32 times M' is M' itself and exact
  double zero = 0, low = 0, high = 0;
  bool adds_first = false;
  double most = 0x1p31;  // |a| beyond is left undecided
};
// Right means RN here: every other answer stays undecided.
FilterResult screen(const RequantizeFilter& sums, const Tensor& got, const FilterOptions& how);

// Tells whether some sum is beyond 32 bits; whether some a M is within `share` (|a M| + |zero|) of a tie, given to
// `at_tie` by its row-major index until it says true.
bool leaves_32_bits(const RequantizeFilter& sums, double share, const std::function<bool(Int)>& at_tie);

}  // namespace assay::oracles
