// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/table.h"

#include "reports/terminal.h"

#include <algorithm>
#include <iostream>

namespace assay::tools {

void print_columns(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const TableRow& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], reports::width_of(row[i]));
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) std::cout << reports::padded(row[i], widths[i] + 2);
    std::cout << row.back() << "\n";
  }
}

void print_markdown(const std::vector<TableRow>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::cout << "|";
    for (const std::string& cell : rows[i]) std::cout << " " << cell << " |";
    std::cout << "\n";
    if (i > 0) continue;
    std::cout << "|";
    for (std::size_t column = 0; column < rows[i].size(); ++column) std::cout << "---|";
    std::cout << "\n";
  }
}

}  // namespace assay::tools
