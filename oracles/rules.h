// SPDX-License-Identifier: Apache-2.0
// Rules: oracles written as the value of one element, from which the answer, its bound and the rulings touched follow.
#pragma once

#include "oracles/enclosure.h"

#include <span>
#include <string_view>

namespace assay::oracles {

// The operands of one element of an output, and how the clauses are read.
struct Point {
  const Call& call;
  const Readings& readings;
  std::span<const Scalar> x;  // one per input

  bool reads(std::string_view ruling, std::string_view reading) const { return readings.of(ruling) == reading; }
};

// Returns the oracle of an operator that selects or copies: Y[i] is exactly rule({X[i]}), whatever the type. A ruling
// is touched where another reading of it gives another element. Flushed subnormals and f64 computed in f32 are below
// the level, not wrong (elementwise 5.3).
Oracle pointwise(Scalar (*rule)(const Point&));

}  // namespace assay::oracles
