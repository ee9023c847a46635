// SPDX-License-Identifier: Apache-2.0
// Mutation: what may have happened to a file or a line before it reaches a reader, by accident or on purpose.
#pragma once

#include "reference/recipe.h"

#include <string>
#include <vector>

namespace assay::crosscheck {

// Bytes changed, cut off, put in, taken out or doubled; numbers made huge, negative or none.
std::string damaged_bytes(std::string bytes, Generator& chance);

// The same, or a JSON document with members left out, doubled, renamed or of another kind, or nested deep. `donors` are
// documents whose parts may stand in it.
std::string damaged_json(const std::string& document, const std::vector<std::string>& donors, Generator& chance);

// The same, or a text of words with some left out, doubled, changed in order or taken from `donors`.
std::string damaged_words(const std::string& line, const std::vector<std::string>& donors, Generator& chance);

}  // namespace assay::crosscheck
