// SPDX-License-Identifier: Apache-2.0
// Bounds what the nodes of a tree add to the errors of their operands.
#pragma once

#include "oracles/exact/expression.h"

namespace assay::oracles {

inline constexpr double raised = 1 + 0x1p-40;  // more than the roundings of what is computed of bounds

inline double lost(const Policy& p) { return p.flushes ? p.vanishing() : p.smallest(); }

// A bound that is no number proves nothing: 0 times infinity.
inline double proven(double bound) { return bound >= 0 ? bound * raised : unproven; }

// Returns what so many roundings add to a value whose computed size is no more than that.
inline double rho(const Policy& p, double size, double roundings = 1) {
  return roundings * p.unit() * size * (1 + 4 * roundings * p.unit());
}

}  // namespace assay::oracles
