// SPDX-License-Identifier: Apache-2.0
// How much tests run: some cases as a rule, many under ASSAY_FULL=1; of what takes longest one case in ASSAY_ONE_IN, as
// under the sanitizers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

namespace assay {

inline bool is_full_run() {
  const char* full = std::getenv("ASSAY_FULL");
  return full && std::string_view(full) == "1";
}

// Returns how many cases stand for each one that is run.
inline std::size_t one_in() {
  const char* given = std::getenv("ASSAY_ONE_IN");
  return is_full_run() || !given ? 1 : std::stoul(given);
}

inline std::size_t count(std::size_t few, std::size_t many) { return is_full_run() ? many : few; }
inline std::size_t thinned(std::size_t cases) { return std::max<std::size_t>(1, cases / one_in()); }

}  // namespace assay
