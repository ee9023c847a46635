// SPDX-License-Identifier: Apache-2.0
// The rule of operators that select some elements of each line along an axis, and say where in the line they stand:
// values and places are right or wrong together.
#pragma once

#include "oracles/exact/enclosure.h"

#include <string>

namespace assay::oracles {

struct SelectionRule {
  Int (*axis)(const Call&);   // counted from 0
  Int (*count)(const Call&);  // of elements of a line that are selected
  // Tells whether one element comes before another by what it is, NaN being the greatest number; of others the one that
  // stands first in the line comes first.
  bool (*precedes)(const Call&, const Scalar&, const Scalar&);
  bool (*is_ordered)(const Call&);  // else the pairs of value and place may come in any order
  std::string nan_ruling;    // a set: of a line with NaN nothing is claimed but that values stand at their places
  std::string order_ruling;  // where the order is open; read as tie-any, any of those like the last may be taken
};

// Returns the oracle of two outputs, the values and their places. Flushed subnormals are below the level, not wrong; of
// places among those that tie when flushed nothing is claimed.
Oracle selected(SelectionRule rule);

}  // namespace assay::oracles
