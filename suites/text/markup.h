// SPDX-License-Identifier: Apache-2.0
// Markup: strangers' words in Markdown (GitHub's) and HTML. A mention, a link or a tag in them stays text.
#pragma once

#include <string>
#include <string_view>

namespace assay::suites {

// For elements and for attributes in double quotes.
std::string html_text(std::string_view words);

// A code span: nothing in it is markup, nobody is mentioned. Good in a cell of a table as well.
std::string code_span(std::string_view words);

// A fenced block of one or more lines, longer fences than any in it.
std::string code_block(std::string_view lines, std::string_view language = "");

}  // namespace assay::suites
