// SPDX-License-Identifier: Apache-2.0
// "Did you mean …": the candidate with the smallest edit distance (Levenshtein, case ignored), for error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Empty where nothing is near: more than half of the word would have to change.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean X?" or nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace assay
