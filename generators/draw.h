// SPDX-License-Identifier: Apache-2.0
// Draws. Inside rc::gen::exec they are RapidCheck's own, kept to shrink by: every draw shrinks towards its first or
// smallest value. Inside a Drawing they are the same numbers and nothing is kept, at a tenth of the price.
#pragma once

#include "reference/tensor.h"

#include <rapidcheck.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace assay::generators {

// While it lives, the draws of this thread come from `random`, as those of rc::gen::exec at full size would.
class Drawing {
 public:
  explicit Drawing(const rc::Random& random);
  ~Drawing();
  Drawing(const Drawing&) = delete;
  Drawing& operator=(const Drawing&) = delete;

 private:
  rc::Random random_;
  rc::Random* before_;
};

// Both ends included.
Int between(Int low, Int high);
inline bool chance(Int percent) { return between(0, 99) >= 100 - percent; }

template <class T>
const T& pick(const std::vector<T>& from) {
  return from[static_cast<std::size_t>(between(0, static_cast<Int>(from.size()) - 1))];
}
template <class T>
T& pick(std::vector<T>& from) {
  return const_cast<T&>(pick(std::as_const(from)));
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
