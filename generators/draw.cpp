// SPDX-License-Identifier: Apache-2.0
#include "generators/draw.h"

namespace assay::generators {
namespace {

thread_local rc::Random* drawn_from = nullptr;

// What rc::gen::inRange makes of a generator of its own; draw_test.cpp holds it to that.
Int in_range(rc::Random random, Int low, Int high) {
  const auto choices = static_cast<rc::Random::Number>(high) - static_cast<rc::Random::Number>(low) + 1;
  return static_cast<Int>(random.next() % choices + static_cast<rc::Random::Number>(low));
}

}  // namespace

Drawing::Drawing(const rc::Random& random) : random_(random), before_(std::exchange(drawn_from, &random_)) {}
Drawing::~Drawing() { drawn_from = before_; }

Int between(Int low, Int high) {
  expects(low <= high, "a draw from nothing");
  return drawn_from ? in_range(drawn_from->split(), low, high) : *rc::gen::inRange<Int>(low, high + 1);
}

}  // namespace assay::generators
