// SPDX-License-Identifier: Apache-2.0
// How much the tests of this folder run: few cases as a rule, all of them under ASSAY_FULL=1.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace assay {

inline bool is_full_run() {
  const char* full = std::getenv("ASSAY_FULL");
  return full && std::string_view(full) == "1";
}

inline std::size_t count(std::size_t few, std::size_t many) { return is_full_run() ? many : few; }

}  // namespace assay
