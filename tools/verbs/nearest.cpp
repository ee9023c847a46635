// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace assay::tools {
namespace {

bool is_same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// Levenshtein, case ignored: insertions, deletions and replacements from `a` to `b`.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (is_same_letter(a[i], b[j]) ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& choices) {
  const auto nearest =
      std::ranges::min_element(choices, {}, [&](const std::string& choice) { return edits(word, choice); });
  if (nearest != choices.end() && edits(word, *nearest) <= std::max<std::size_t>(1, nearest->size() / 2))
    return "; did you mean " + *nearest + "?";
  std::string all;
  for (const std::string& choice : choices) all += (all.empty() ? "" : ", ") + choice;
  return "; there are " + all;
}

}  // namespace assay::tools
