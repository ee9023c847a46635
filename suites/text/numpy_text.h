// SPDX-License-Identifier: Apache-2.0
// Values as Python text, for scripts that somebody else runs.
#pragma once

#include "reference/tensor.h"

#include <optional>
#include <string>
#include <string_view>

namespace assay::suites {

// Writes a tensor as an expression that gives the same bits in numpy (imported as np; bfloat16 by ml_dtypes): a few
// values one by one, a constant, a count or a pattern of any length. None where that takes more than so many letters.
std::optional<std::string> numpy_text(const Tensor& tensor, std::size_t most_letters = 1000);

std::string python_shape(const Shape& shape);  // "(1, 1, 4)", "(4,)", "()"

// Writes text as a literal, whatever is in it: printable ASCII, the rest escaped.
std::string python_string(std::string_view text);
// Writes it over several lines, in triple quotes.
std::string python_block(std::string_view text);

}  // namespace assay::suites
