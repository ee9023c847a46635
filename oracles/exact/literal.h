// SPDX-License-Identifier: Apache-2.0
// Decimal literals, as Cast reads them from strings (elementwise E32).
#pragma once

#include "oracles/exact/exact.h"

#include <optional>
#include <string_view>

namespace assay::oracles {

// Holds what a literal says: a fraction, NaN or an infinity; neither where the text is none.
struct Literal {
  std::optional<Ratio> number;
  std::optional<Scalar> special;
};

// Reads [+-]digits[.digits][e[+-]digits], digits before or behind the point at least, and nan, inf, +inf, -inf in any
// case. Exponents of more than four digits are read as 9999, which lies beyond every format as well.
Literal read_literal(std::string_view text);

}  // namespace assay::oracles
