// SPDX-License-Identifier: Apache-2.0
// Oracles of operators that take lines along an axis, each by itself, written as what one element of a line is.
#pragma once

#include "oracles/exponentials.h"

#include <span>
#include <variant>

namespace assay::oracles {

// One element of a line, and how the clauses are read.
struct LinePoint {
  const Call& call;
  const Readings& readings;
  DType dtype;
  std::span<const Scalar> x;                 // the line
  Int at;                                    // in it
  const Exponentials& exponentials() const;  // of the line; shared by its elements
  std::shared_ptr<const Exponentials>& shared;

  const Scalar& own() const { return x[static_cast<std::size_t>(at)]; }
  bool reads(std::string_view ruling, std::string_view reading) const { return readings.of(ruling) == reading; }
};

// An element that needs no rounding, or what is computed of the line.
using LineValue = std::variant<Element, std::unique_ptr<Expression>>;

// Returns the oracle of an operator of Shaping::axis whose output has the shape of its input.
Oracle along_lines(LineValue (*rule)(const LinePoint&));

}  // namespace assay::oracles
