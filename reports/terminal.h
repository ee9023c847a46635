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

// Writes "  title: a, b, c", wrapped; of more than so many lines the rest is counted. Nothing where there is no item.
void write_list(std::string_view title, const std::vector<std::string>& items, std::string_view separator,
                std::size_t most_lines, std::ostream& out);

// A cause: its sentence, where it holds, its smallest case, up to three wrong elements and the command that shows it.
struct ShownCause {
  const suites::Cause& cause;
  const suites::Finding& smallest;
  oracles::Judgement judgement = {};    // under which it failed
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

}  // namespace assay::reports
