// SPDX-License-Identifier: Apache-2.0
// Glossary: what each word says that assay prints, operator versions and case lines aside.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

// Says what a word means, in one line or several: a ruling (A3, A3=clamp0, clamp0), a constraint (Conv.C6, W2), a
// verdict, an outcome, a mark, a level, a class of cases, a type, a recipe (small, small:7), a word of case lines, a
// law, a trait of a case (ek < s), a profile and its restrictions. None for a word that is none of these.
std::optional<std::string> meaning_of(std::string_view word);

// Every word that has a meaning, for suggestions; of recipes the families.
std::vector<std::string> glossary_words();

// How a case is written, in some 15 lines.
std::string_view case_grammar();
std::string_view graph_grammar();

}  // namespace assay::suites
