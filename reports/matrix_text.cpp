// SPDX-License-Identifier: Apache-2.0
// A matrix as Markdown, as a page without a script, and as the JSON it can be made of again.
#include "reference/sequence.h"
#include "reports/matrix.h"
#include "reports/page.h"
#include "reports/pieces.h"
#include "suites/text/markup.h"

#include <algorithm>
#include <array>

namespace assay::reports {
namespace {

using suites::code_span;
using suites::html_text;

constexpr std::array states = {"pass",     "contested", "below",       "fail",  "unscored",
                               "accepted", "refused",   "unsupported", "error", "not run"};

std::string many(std::size_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

bool conforms(const MatrixCell& cell) { return cell.certified == "conforms"; }

Int conforming(const MatrixRow& row) {
  return std::ranges::count_if(row.cells, [](const auto& cell) { return conforms(cell.second); });
}

Int judged(const MatrixRow& row) {
  return std::ranges::count_if(row.cells, [](const auto& cell) { return cell.second.judged > 0; });
}

Int total(const MatrixRow& row, const char* state) {
  const auto found = row.totals.find(state);
  return found == row.totals.end() ? 0 : found->second;
}

// What breaks it, the gravest first, or why nothing was judged: "3 fail, 25 refused".
std::string reasons(const MatrixCell& cell, std::string (*fit)(std::string_view)) {
  constexpr std::array<std::string_view, 4> gravest = {"fail", "error", "below", "refused"};
  std::vector<std::pair<std::string, Int>> all(cell.breaches.begin(), cell.breaches.end());
  std::ranges::stable_sort(all, {}, [&](const auto& each) { return std::ranges::find(gravest, each.first); });
  std::string text =
      joined(all, ", ", [&](const auto& each) { return std::to_string(each.second) + " " + fit(each.first); });
  if (text.empty() && cell.judged == 0 && cell.unsupported > 0)
    text = std::to_string(cell.unsupported) + " unsupported";
  return text;
}

// The level stands beside the word where it is a promise, else beside the numbers.
std::string standing(const MatrixCell& cell) {
  return cell.certified + (conforms(cell) && !cell.level.empty() ? " " + cell.level : "");
}

std::string share(const MatrixCell& cell) {
  return (conforms(cell) || cell.level.empty() ? "" : cell.level + ", ") + std::to_string(cell.judged) + " of " +
         std::to_string(cell.legal) + " judged";
}

std::string heading(const Matrix& matrix) {
  return many(matrix.rows.size(), "report") + ", " + many(matrix.versions.size(), "operator version");
}

bool is_mixed(const Matrix& matrix) {
  return std::ranges::any_of(matrix.rows, [](const MatrixRow& row) { return !row.otherwise.empty(); });
}

constexpr std::string_view mixed =
    "A row with a note under its name was run otherwise, or by another measure, and does not compare with the rest.";
constexpr std::string_view cells_say =
    "A cell says whether the version conforms, what breaks conformance, the level that every passing case meets, and "
    "how "
    "many of the legal cases could be judged.";

// -- Markdown

using Line = std::vector<std::string>;

void write_table(const Line& head, const std::vector<Line>& lines, std::ostream& out) {
  const auto write = [&](const Line& line) {
    for (const std::string& cell : line) out << "| " << cell << (cell.empty() ? "" : " ");
    out << "|\n";
  };
  write(head);
  for (std::size_t i = 0; i < head.size(); ++i) out << "|---";
  out << "|\n";
  for (const Line& line : lines) write(line);
}

std::string named(const MatrixRow& row) {
  std::string text = code_span(row.backend);
  if (!row.version.empty()) text += " " + code_span(row.version);
  if (!row.settings.empty()) text += " " + code_span(joined(row.settings, " "));
  return text;
}

// And in what it was run otherwise than the others.
std::string named_with_cases(const MatrixRow& row) {
  return named(row) + (row.otherwise.empty() ? "" : "<br>" + code_span(joined(row.otherwise, "; ")));
}

// A word of ours as it is, any other as code.
std::string in_markdown(std::string_view word) {
  const bool is_plain =
      std::ranges::all_of(word, [](char each) { return (each >= 'a' && each <= 'z') || each == ' '; });
  return is_plain ? std::string(word) : code_span(word);
}

std::string in_a_line(const MatrixCell& cell) {
  const std::string why = reasons(cell, in_markdown);
  return standing(cell) + (why.empty() ? "" : "<br>" + why) + "<br>" + share(cell);
}

void write_versions(const Matrix& matrix, std::ostream& out) {
  Line head = {"backend"};
  for (const std::string& version : matrix.versions) head.push_back(code_span(version));
  std::vector<Line> lines;
  for (const MatrixRow& row : matrix.rows) {
    Line line = {named_with_cases(row)};
    for (const std::string& version : matrix.versions)
      line.push_back(row.cells.contains(version) ? in_a_line(row.cells.at(version)) : "");
    lines.push_back(line);
  }
  write_table(head, lines, out);
}

void write_counts(const Matrix& matrix, std::ostream& out) {
  Line head = {"backend", "versions that conform, of those judged"};
  head.insert(head.end(), states.begin(), states.end());
  head.insert(head.end(), {"marks", "time"});
  std::vector<Line> lines;
  for (const MatrixRow& row : matrix.rows) {
    Line line = {named_with_cases(row), std::to_string(conforming(row)) + " of " + std::to_string(judged(row))};
    for (const char* state : states) line.push_back(std::to_string(total(row, state)));
    line.insert(line.end(), {std::to_string(row.marks), std::to_string(row.seconds) + " s"});
    lines.push_back(line);
  }
  write_table(head, lines, out);
}

void write_readings(const Matrix& matrix, std::ostream& out) {
  std::vector<Line> lines;
  for (const MatrixRow& row : matrix.rows)
    if (!row.readings.empty()) lines.push_back({named(row), code_span(joined(row.readings, " "))});
  if (!lines.empty()) write_table({"backend", "readings it follows most"}, lines, out << "\n");
}

// -- HTML

std::string paragraph(std::string_view words, std::string_view kind) {
  return "  <p class=\"" + std::string(kind) + "\">" + html_text(words) + "</p>\n";
}

std::string row_head(const MatrixRow& row, bool whole) {
  std::string text = "<th scope=\"row\"><bdi>" + html_text(row.backend) + "</bdi>";
  if (!row.version.empty()) text += " <bdi class=\"soft\">" + html_text(row.version) + "</bdi>";
  if (!row.settings.empty()) text += "<span class=\"detail\">" + html_text(joined(row.settings, " ")) + "</span>";
  if (whole)
    for (const std::string& each : row.otherwise) text += "<span class=\"detail other\">" + html_text(each) + "</span>";
  return text + "</th>";
}

std::string cell_text(const MatrixCell* cell) {
  if (cell == nullptr)
    return "<td class=\"cell\"><span class=\"soft\" aria-hidden=\"true\">·</span><span class=\"unseen\">not "
           "tested</span></td>";
  std::string kind = cell->certified;
  std::ranges::replace(kind, ' ', '-');
  std::string text = "<td class=\"cell\"><span class=\"state s-" + kind +
                     "\"><svg aria-hidden=\"true\"><use href=\"#sign-" + kind + "\"/></svg>" +
                     html_text(standing(*cell)) + "</span>";
  if (const std::string why = reasons(*cell, html_text); !why.empty())
    text += "<span class=\"detail\">" + why + "</span>";
  return text + "<span class=\"detail\">" + html_text(share(*cell)) + "</span></td>";
}

std::string table(std::string_view label, std::string_view kind, const std::string& head, const std::string& body) {
  return "  <div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"" + std::string(label) +
         "\"><table class=\"" + std::string(kind) + "\">\n  <caption class=\"unseen\">" + std::string(label) +
         "</caption>\n  <thead><tr>" + head + "</tr></thead>\n  <tbody>\n" + body + "  </tbody></table></div>\n";
}

std::string column(std::string_view words, std::string_view kind = "") {
  return "<th scope=\"col\"" + (kind.empty() ? "" : " class=\"" + std::string(kind) + "\"") + ">" + html_text(words) +
         "</th>";
}

std::string number(Int count) { return "<td class=\"num\">" + (count == 0 ? "·" : std::to_string(count)) + "</td>"; }

std::string versions_part(const Matrix& matrix) {
  std::string head = column("Backend"), body;
  for (const std::string& version : matrix.versions) head += column(version);
  for (const MatrixRow& row : matrix.rows) {
    body += "  <tr>" + row_head(row, true);
    for (const std::string& version : matrix.versions)
      body += cell_text(row.cells.contains(version) ? &row.cells.at(version) : nullptr);
    body += "</tr>\n";
  }
  return paragraph(cells_say, "soft") + (is_mixed(matrix) ? paragraph(mixed, "notice") : "") +
         table("Backends and operator versions", "matrix", head, body);
}

std::string counts_part(const Matrix& matrix) {
  std::string head = column("Backend") + column("Versions that conform, of those judged", "num"), body;
  for (const char* state : states) head += column(state, "num");
  head += column("marks", "num") + column("time", "num");
  for (const MatrixRow& row : matrix.rows) {
    body += "  <tr>" + row_head(row, false) + "<td class=\"num\">" + std::to_string(conforming(row)) + " of " +
            std::to_string(judged(row)) + "</td>";
    for (const char* state : states) body += number(total(row, state));
    body += number(row.marks) + "<td class=\"num\">" + std::to_string(row.seconds) + " s</td></tr>\n";
  }
  return table("Counts of each backend", "matrix", head, body);
}

std::string readings_part(const Matrix& matrix) {
  std::string body;
  for (const MatrixRow& row : matrix.rows)
    if (!row.readings.empty())
      body += "  <tr>" + row_head(row, false) + "<td class=\"line\">" + html_text(joined(row.readings, " ")) +
              "</td></tr>\n";
  if (body.empty()) return paragraph("No case showed one.", "soft");
  return table("Readings of each backend", "matrix", column("Backend") + column("Readings of unclear clauses"), body);
}

std::string lead_part(const Matrix& matrix) {
  const auto good = std::ranges::count_if(
      matrix.rows, [](const MatrixRow& row) { return judged(row) > 0 && conforming(row) == judged(row); });
  std::string facts;
  for (const std::string& each : matrix.measure) facts += "<li>" + html_text(each) + "</li>";
  return paragraph(std::to_string(good) + " of " + std::to_string(matrix.rows.size()) +
                       (good == 1 ? " conforms" : " conform") + " in every operator version that could be judged.",
                   "lead") +
         "  <ul class=\"facts\">" + facts + "</ul>\n";
}

}  // namespace

void write_matrix_markdown(const Matrix& matrix, std::ostream& out) {
  out << "Run: " << code_span(joined(matrix.measure, "; ")) << ". " << cells_say
      << (is_mixed(matrix) ? " " + std::string(mixed) : "") << "\n\n";
  write_versions(matrix, out);
  write_counts(matrix, out << "\n");
  write_readings(matrix, out);
}

void write_matrix_summary(const Matrix& matrix, std::ostream& out) {
  out << "Run: " << code_span(joined(matrix.measure, "; ")) << "." << (is_mixed(matrix) ? " " + std::string(mixed) : "")
      << "\n\n";
  write_counts(matrix, out);
  write_readings(matrix, out);
}

void write_matrix_page(const Matrix& matrix, std::ostream& out) {
  const std::string title = heading(matrix), lead = lead_part(matrix), versions = versions_part(matrix),
                    counts = counts_part(matrix), readings = readings_part(matrix),
                    css_hash = page::source_hash(page::css),
                    foot =
                        "Made from " + many(matrix.rows.size(), "report") +
                        " of assay certify; the JSON is the report, "
                        "this page shows it. What breaks conformance: fail, below, refused, error, and marks such as "
                        "unstable.";
  page::write(page::matrix,
              {{"css", page::css},
               {"css-hash", css_hash},
               {"title", title},
               {"lead", lead},
               {"versions", versions},
               {"counts", counts},
               {"readings", readings},
               {"foot", foot}},
              out);
}

void write_matrix_json(const Matrix& matrix, std::ostream& out) {
  Document document(out);
  document.member("schema", schema_version);
  document.member("kind", "matrix");
  document.list("reports", matrix.reports, [](const Json& each) { return each; });
}

}  // namespace assay::reports
