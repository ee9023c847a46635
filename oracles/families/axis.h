// SPDX-License-Identifier: Apache-2.0
// Oracles of operators that take lines along an axis, each by itself, written as what one element of a line is.
#pragma once

#include "oracles/rules/exponentials.h"

#include <optional>
#include <variant>
#include <vector>

namespace assay::oracles {

// What all elements of a line share, looked at once.
struct OperandLine {
  explicit OperandLine(std::vector<Scalar> values);

  std::vector<Scalar> x;
  bool has_nan, has_infinity, is_all_lowest;  // infinity: +inf; lowest: nothing but -inf
  std::optional<Exponentials> exponentials;   // where there is a number, and none of the first two
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

// Returns the oracle of an operator of Shaping::axis whose output has the shape of its input.
Oracle along_lines(LineValue (*rule)(const LinePoint&));

}  // namespace assay::oracles
