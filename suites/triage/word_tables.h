// SPDX-License-Identifier: Apache-2.0
// The words of assay that nothing else lists, each with one sentence: what the glossary says of them. # in a word
// stands for a type, a number or a list of numbers, and may be missing at its end: "except #".
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace assay::suites {

using Word = std::pair<std::string_view, std::string_view>;

std::span<const std::span<const Word>> word_tables();
// Of these, the reasons of verdicts, what a signature says of the wrong elements and where they are, and arithmetic.
std::span<const Word> reason_words();
std::span<const Word> likeness_words();
std::span<const Word> region_words();
std::span<const Word> arithmetic_words();

}  // namespace assay::suites
