// SPDX-License-Identifier: Apache-2.0
// ShrinkCandidate: what to run instead of a case that failed, so that the failure fits on paper. A candidate is
// as legal as the case, or breaks exactly the same constraints; its data say as much as they must: never a constant
// input where there was none, never all zeros. Which candidate still fails is for the asker to find out.
#pragma once

#include "generators/family.h"

#include <optional>
#include <vector>

namespace assay::generators {

// What is made simpler: the step in the order of spec B (presentation, channels, axes, data, attributes, sizes), and
// which attribute, input or axis. A loop that goes on where it succeeded runs less than one that starts again.
struct Position {
  int step = 0, part = 0;
  auto operator<=>(const Position&) const = default;
};

struct ShrinkCandidate {
  Position at;
  Case c;
};

// The simpler cases of one, in the order of their positions, the boldest first at each: those of a position are made
// when they are looked at.
class SimplerCases {
 public:
  explicit SimplerCases(const Case& c);
  std::optional<ShrinkCandidate> next();

 private:
  Case case_;
  std::vector<std::string> violated_;
  std::vector<ShrinkStep> steps_;
  std::vector<Position> positions_;       // those to come, the next one last
  std::vector<ShrinkCandidate> pending_;  // of the last position, the next one last
};

// Appends the case made consistent where its operator knows how, then the case as it is: a near miss may be one because
// something does not fit.
void push_refitted(Cases& into, Case c);

// The case, and the one refitted to it, with the shape of its first input changed.
Cases with_shape(const Case& c, const std::function<void(Shape&)>& change);
// How many axes the first input has, if it is there; one of them made smaller.
int first_axes(const Case& c);
Cases smaller_first(const Case& c, int axis);

// Returns every value on the way from `value` to `target`, the target first, then ever closer to the value.
Ints towards(Int value, Int target);

// How much there is to read: the elements of all inputs, and the attributes that are written and not the default.
struct CaseSize {
  Int elements = 0, attributes = 0;
  auto operator<=>(const CaseSize&) const = default;
};
CaseSize size_of(const Case& c);

}  // namespace assay::generators
