// SPDX-License-Identifier: Apache-2.0
// Draws, for use inside rc::gen::exec. Every draw shrinks towards its first or smallest value.
#pragma once

#include "reference/tensor.h"

#include <rapidcheck.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace assay::generators {

// Both ends included.
inline Int between(Int low, Int high) { return *rc::gen::inRange<Int>(low, high + 1); }
inline bool chance(Int percent) { return between(0, 99) >= 100 - percent; }

template <class T>
const T& pick(const std::vector<T>& from) {
  return from[static_cast<std::size_t>(between(0, static_cast<Int>(from.size()) - 1))];
}
template <class T>
T pick(std::initializer_list<T> from) {
  return from.begin()[between(0, static_cast<Int>(from.size()) - 1)];
}

// One of the values, each as often as its weight says. Weights may be 0, but not all.
template <class T>
T weighted(std::initializer_list<std::pair<Int, T>> from) {
  Int total = 0;
  for (const auto& [weight, value] : from) total += weight;
  Int at = between(0, total - 1);
  for (const auto& [weight, value] : from)
    if ((at -= weight) < 0) return value;
  return from.begin()->second;
}

}  // namespace assay::generators
