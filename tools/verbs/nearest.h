// SPDX-License-Identifier: Apache-2.0
// Nearest: what somebody who mistyped a word probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::tools {

// "; did you mean certify?", or the choices where none is near: the end of an error message.
std::string suggestion(std::string_view word, const std::vector<std::string>& choices);

}  // namespace assay::tools
