// SPDX-License-Identifier: Apache-2.0
// How much tests run: some cases as a rule, many under ASSAY_FULL=1; of what takes longest one case in ASSAY_ONE_IN, as
// under the sanitizers.
#pragma once

#include "reference/operator.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <set>
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

// Returns the newest version of one operator in so many, as a selection names them; none, which means all, where all
// are run.
inline std::set<std::string, std::less<>> thinned_versions() {
  std::set<std::string, std::less<>> all;
  for (std::size_t i = 0; one_in() > 1 && i < operators().size(); i += one_in())
    all.insert(text(operators()[i]->versions().back().version));
  return all;
}

}  // namespace assay
