// SPDX-License-Identifier: Apache-2.0
// Distribution: what a random operator draws all its numbers from, where there are enough of them to tell.
#pragma once

#include "reference/call.h"

#include <optional>

namespace assay::oracles {

struct Distribution {
  bool is_normal = false;
  double start = 0, width = 0;  // from `start` on, as wide as that; of a normal one the mean and the deviation
  double atom = 0;              // the largest share that rounding to the type puts on one number

  // Returns the share of numbers that lie at or below one.
  double below(double number) const;
};

// Fewer numbers say little of it.
inline constexpr Int fewest_drawn = 10'000;

// Returns that of a call whose output holds at least so many numbers, and no single one.
std::optional<Distribution> distribution_of(const Call& call);

}  // namespace assay::oracles
