// SPDX-License-Identifier: Apache-2.0
// Table: rows of cells on the terminal, the first of them the head.
#pragma once

#include <string>
#include <vector>

namespace assay::tools {

using TableRow = std::vector<std::string>;

void print_columns(const std::vector<TableRow>& rows);
void print_markdown(const std::vector<TableRow>& rows);

}  // namespace assay::tools
