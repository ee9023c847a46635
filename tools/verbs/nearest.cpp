// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/nearest.h"

#include "reference/nearest.h"

namespace assay::tools {

std::string suggestion(std::string_view word, const std::vector<std::string>& choices) {
  if (const std::string found = nearest(word, choices); !found.empty()) return "; did you mean " + found + "?";
  std::string all;
  for (const std::string& choice : choices) all += (all.empty() ? "" : ", ") + choice;
  return "; there are " + all;
}

}  // namespace assay::tools
