// SPDX-License-Identifier: Apache-2.0
// CSV (RFC 4180): one row per case. A spreadsheet that opens it computes nothing: what would begin a formula is text.
#include "reference/sequence.h"
#include "reports/render.h"
#include "reports/rows.h"

#include <algorithm>
#include <array>

namespace assay::reports {
namespace {

constexpr std::array columns = {"op",     "id",      "class", "state",    "because",  "detail",   "level",
                                "result", "marks",   "read",  "followed", "violated", "elements", "unscored",
                                "exact",  "worst_q", "line",  "origin",   "replay"};

// Excel, LibreOffice and their kin compute what begins so, full-width forms included.
bool begins_a_formula(std::string_view text) {
  constexpr std::array<std::string_view, 8> beginnings = {"=", "+", "-", "@", "＝", "＋", "－", "＠"};
  return std::ranges::any_of(beginnings, [&](std::string_view each) { return text.starts_with(each); });
}

void write_field(std::string_view text, std::ostream& out) {
  out << '"';
  if (begins_a_formula(text)) out << '\'';
  for (char letter : text) out << (letter == '"' ? "\"\"" : std::string(1, letter));
  out << '"';
}

std::string number(const Json& row, const char* name) {
  const auto found = row.find(name);
  return found == row.end() || !found->is_number() ? "" : found->dump();
}

std::string list(const Json& row, const char* name) {
  return joined(member(row, name), " ", [](const Json& each) { return each.get<std::string>(); });
}

std::string_view name(RowOutcome standing) {
  switch (standing) {
    case RowOutcome::passes: return "passes";
    case RowOutcome::skipped: return "skipped";
    case RowOutcome::apart: return "apart";
    case RowOutcome::expected: return "expected";
    default: return "breaks";
  }
}

std::string field(const CaseRow& row, std::string_view column) {
  if (column == "op") return row.op;
  if (column == "state") return row.state;
  if (column == "because") return row.because;
  if (column == "detail") return row.detail;
  if (column == "line") return row.line;
  if (column == "result") return std::string(name(row.standing));
  if (column == "marks") return row.marks();
  if (column == "replay") return row.replay();
  if (column == "read") return readings_text(member(*row.json, "readings"));
  if (column == "followed") return readings_text(member(*row.json, "followed"));
  if (column == "violated") return list(*row.json, "violated");
  const std::string key(column);
  const std::string text = words(*row.json, key.c_str());
  return text.empty() ? number(*row.json, key.c_str()) : text;
}

}  // namespace

void write_csv(const Rendering& rendering, std::ostream& out) {
  const char* separator = "";
  for (const char* column : columns) {
    out << std::exchange(separator, ",") << column;
  }
  out << "\r\n";
  const CaseRows cases(rendering);
  for (const CaseRow& row : cases.rows()) {
    separator = "";
    for (const char* column : columns) {
      out << std::exchange(separator, ",");
      write_field(field(row, column), out);
    }
    out << "\r\n";
  }
}

}  // namespace assay::reports
