// SPDX-License-Identifier: Apache-2.0
#include "reference/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace assay {
namespace {

bool is_same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (is_same_letter(a[i], b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const auto cost = [&](const std::string& candidate) { return distance(word, candidate); };
  const auto best = std::ranges::min_element(candidates, {}, cost);
  if (word.size() > 256 || best == candidates.end() || 2 * cost(*best) > std::max(word.size(), best->size())) return "";
  return *best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : "; did you mean " + found + "?";
}

}  // namespace assay
