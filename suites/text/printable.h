// SPDX-License-Identifier: Apache-2.0
// Strangers' words, made fit for one line of a report or a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::suites {

// Valid UTF-8 on one line and at most `limit` bytes: white space becomes single blanks; control characters, invalid
// bytes and what reorders or hides text become escapes; what is cut off is marked with "...".
std::string printable(std::string_view words, std::size_t limit = 400);

}  // namespace assay::suites
