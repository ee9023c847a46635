// SPDX-License-Identifier: Apache-2.0
// Terminal: a table, and causes as a person reads them, gravest first.
#pragma once

#include "reports/report.h"

#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::reports {

std::string painted(const std::string& text, Colour colour);  // as what is wrong
std::size_t width_of(std::string_view text);                  // letters of UTF-8
std::string padded(std::string text, std::size_t width);      // to a width in letters
std::string upper(std::string_view word);

// Rows of cells in aligned columns, the first to the left, the others to the right; columns without a word but for
// their head are left out.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> cells, std::set<std::size_t> loud = {});
  void write(Colour colour, std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::set<std::size_t>> loud_{{}};
};

// A cause: its sentence, where it holds, its smallest case, one wrong element and the command that shows it.
struct ShownCause {
  const suites::Cause& cause;
  const suites::Finding& smallest;
  std::vector<std::string> where = {};  // predicates
  Int others = 0;                       // cases for which none of them holds, where they were looked for
};
void write_cause(const ShownCause& told, std::size_t number, const Invocation& invocation, Colour colour,
                 std::ostream& out);
// The line of special values, which are judged and in no other number; nothing where there is none.
void write_special(const Counts& special, std::ostream& out);
// "12 more causes: --show all".
void write_more(std::size_t causes, std::ostream& out);

// What a backend said, wrapped; a long message keeps its head and its tail.
void write_wrapped(const std::string& words, std::ostream& out);
// "Y[0,0,1] of data set 1  got 0.5 (0x1p-1)  want 0.75 (0x1.8p-1)" of a finding that has evidence.
void write_evidence(const suites::Finding& finding, std::ostream& out);

}  // namespace assay::reports
