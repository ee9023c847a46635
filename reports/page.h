// SPDX-License-Identifier: Apache-2.0
// The parts of the pages, as they stand in reports/page, and how a page is put together; embedded when the build is
// configured.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::reports::page {

extern const std::string_view html, css, js, matrix, exhaust;

using Parts = std::vector<std::pair<std::string_view, std::string_view>>;  // {"css", "..."} stands for {{css}}

// "'sha256-…'" as a Content-Security-Policy has it.
std::string source_hash(std::string_view source);

// Writes `frame` with its {{names}} replaced; a name that is not in `parts` becomes nothing.
void write(std::string_view frame, const Parts& parts, std::ostream& out);

}  // namespace assay::reports::page
