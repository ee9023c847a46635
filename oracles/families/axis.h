// SPDX-License-Identifier: Apache-2.0
// Oracles of operators that take lines along an axis, each by itself, written as what one element of a line is.
#pragma once

#include "oracles/exact/tree.h"
#include "oracles/rules/exponentials.h"

#include <optional>
#include <variant>
#include <vector>

namespace assay::oracles {

// Returns the axis that is meant, from the front; none where a negative one is read as outside of the range (N1).
std::optional<Int> axis_of(const Call& call, const Readings& readings);

// Where the elements of a line stand: `length` of them, `step` apart.
struct Along {
  Int length = 1, step = 1;

  Int line_of(Int index) const { return index / (length * step) * step + index % step; }
  Int at(Int index) const { return index / step % length; }
  Int index(Int line, Int at) const { return (line / step * length + at) * step + line % step; }
};

// Returns how the lines along an axis of the first input lie: of all axes from there on, in versions that flatten.
Along along(const Call& call, Int axis);

// What all elements of a line share, looked at once.
struct OperandLine {
  explicit OperandLine(std::vector<Scalar> values, bool in_double = false);

  std::vector<Scalar> x;
  bool in_double;                             // exponentials are for the filter
  bool has_nan, has_infinity, is_all_lowest;  // infinity: +inf; lowest: nothing but -inf
  // Hold what only some operators need of a line; exponentials where there is a number, and none of the first two.
  const Exponentials* exponentials() const;
  const Group& group() const;  // of numbers

 private:
  mutable std::optional<Exponentials> exponentials_;
  mutable std::optional<Group> group_;
};

// One element of a line, and how the clauses are read.
struct LinePoint {
  const Call& call;
  const Readings& readings;
  DType dtype;
  const OperandLine& line;
  Int at;  // in it

  const Scalar& own() const { return line.x[static_cast<std::size_t>(at)]; }
  bool reads(std::string_view ruling, std::string_view reading) const { return readings.of(ruling) == reading; }
};

// An element that needs no rounding, or what is computed of the line.
using LineValue = std::variant<Element, std::unique_ptr<Expression>>;

// One element of Softmax or LogSoftmax of a line: with +inf or NaN in it see N25; of nothing but -inf it is 0/0 (N26).
LineValue share_of(const LinePoint& p);
LineValue logarithm_of_share(const LinePoint& p);

// Returns the oracle of an operator of Shaping::axis whose output has the shape of its input.
Oracle along_lines(LineValue (*rule)(const LinePoint&));

}  // namespace assay::oracles
