// SPDX-License-Identifier: Apache-2.0
// Conversions: rounds a number to a float type, of eight bits or less by the tables of Cast (elementwise 3.8), and says
// which texts are a number (E33).
#pragma once

#include "oracles/exact/enclosure.h"
#include "oracles/exact/literal.h"
#include "oracles/rules/rules.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace assay::oracles {

struct SmallRounding {
  bool saturates = true;        // of floats of eight bits
  std::string mode = "up";      // of powers of two: up, down or nearest
  bool loses_infinity = false;  // an infinity becomes NaN where it saturates (E29)
  bool is_minus_zero = false;   // what is rounded, or it is negative
};
// Reads the attributes saturate and round_mode, what other readings make of them, and the sign of the operand.
SmallRounding rounding_of(const ElementPoint& p);
// A value of the type or, where the text leaves it open, what is admitted.
using NarrowedValue = std::variant<Scalar, Element>;
NarrowedValue narrowed(const Literal& value, DType type, const SmallRounding& how);

// Lists what rounding to another format first makes of a value (E25, E26), what lies between among it: no less
// accurate. None where that decides whether the value is in range.
std::optional<std::vector<Tolerance>> rounded_twice(const Ratio& value, const Scalar& once, DType type,
                                                    const SmallRounding& how);

// The same of a type of more than eight bits, where it decides nothing else.
std::vector<Tolerance> rounded_twice(const Ratio& value, DType type);

// Returns what an element of a type may become as a string: a string itself; of an integer its decimal digits; of a
// float any decimal literal that rounds to it in its type or, where digits may be lost, one that is it rounded to eight
// digits or more.
Element in_words(const Scalar& value, DType type, bool may_lose_digits);

// The largest number of a float type of eight bits or less with a sign.
Scalar largest_of(DType type);

}  // namespace assay::oracles
