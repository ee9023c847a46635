// SPDX-License-Identifier: Apache-2.0
// Markdown for a pull request: the answer, the gravest causes with their replay lines folded up, a table of the
// operator versions, or of those that do not conform where all of them are too many.
#include "reference/sequence.h"
#include "reports/pieces.h"
#include "reports/render.h"
#include "reports/rows.h"
#include "suites/text/markup.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

namespace assay::reports {
namespace {

using suites::code_block;
using suites::code_span;
using suites::html_text;

constexpr std::array states = {"pass",     "contested", "below",   "fail",        "error",
                               "unscored", "accepted",  "refused", "unsupported", "not run"};

constexpr std::ptrdiff_t most_lines = 95;                      // of a comment that somebody reads
constexpr std::size_t most_causes = 5, most_graph_causes = 2;  // of these, the gravest

// Text of at most comment_limit bytes, hence characters, and most_lines; what does not fit is counted.
class Comment {
 public:
  // Room is kept for the words about what was left out.
  bool add(const std::string& block) {
    constexpr std::size_t reserve = 400;
    if (text_.size() + block.size() + reserve > comment_limit) return false;
    lines_ += std::ranges::count(block, '\n');
    if (lines_ > most_lines) return false;
    text_ += block;
    return true;
  }
  const std::string& text() const { return text_; }
  std::ptrdiff_t lines_left() const { return most_lines - lines_; }

 private:
  std::string text_;
  std::ptrdiff_t lines_ = 0;
};

std::string heading(const Rendering& rendering) {
  const Json& report = rendering.report;
  std::string text = "## assay: " + code_span(backend_text(report)) + ": " + result_text(rendering) + "\n\n";
  text += code_span("assay " + words(report.at("tool"), "version")) + ", " +
          code_span("ONNX " + words(report.at("standard"), "release")) + ", " + code_span(configuration_text(report));
  if (rendering.is_fuzz()) {
    const Json& plan = report.at("plan");
    text += "; seed " + plan.at("seed").dump() + ", " + cases(plan.at("asked").get<Int>()) + " run" +
            (plan.at("complete").get<bool>() ? "" : ", **interrupted**");
  } else {
    const Json& suite = report.at("suite");
    text += "; suite " + words(suite, "hash").substr(0, 8) + ", " + suite.at("reached").dump() + " of " +
            suite.at("cases").dump() + " cases" +
            (words(report, "profile") == "default" ? "" : ", profile " + code_span(words(report, "profile"))) +
            (suite.at("complete").get<bool>() ? "" : ", **not complete: no certificate**");
  }
  return text + ".\n\n";
}

std::string table_head(bool is_fuzz) {
  std::string text = is_fuzz ? "| operator version |" : "| operator version | result | level | judged |";
  std::string rule = is_fuzz ? "|---|" : "|---|---|---|---|";
  for (const char* state : states) {
    text += std::string(" ") + state + " |";
    rule += "---:|";
  }
  return text + "\n" + rule + "\n";
}

std::string share(const Json& row) {
  const Int judged = row.at("judged").get<Int>(), legal = row.at("legal").get<Int>();
  return std::to_string(judged) + " of " + std::to_string(legal);
}

std::string table_row(const Json& row, bool is_fuzz) {
  std::string text = "| " + code_span(words(row, "op")) + " |";
  if (!is_fuzz) {
    text += " " + words(row, "certified") + " | " + words(row, "level") + " | " + share(row) + " |";
  }
  for (const char* state : states) {
    const Int count = row.at("counts").value(state, Int{0});
    text += count == 0 ? "  |" : " " + std::to_string(count) + " |";
  }
  return text + "\n";
}

std::string readings(const Json& report) {
  std::string text;
  for (const Json& row : report.at("rulings")) {
    std::string seen;
    for (const auto& [reading, count] : row.at("followed").items()) seen += " " + reading + " " + count.dump();
    if (!seen.empty()) text += (text.empty() ? "" : "; ") + words(row, "id") + seen;
  }
  constexpr std::size_t most = 400;
  return text.empty() ? ""
                      : "\nReadings of unclear clauses, with cases: " + code_span(suites::printable(text, most)) + "\n";
}

// "Over every f16 input: 23 functions, worst 24.2 ulp (Swish-24); not within the bound: Exp-13."
std::string over_every_input(const Json& report) {
  std::string text;
  for (const std::string type : {"f16", "bf16"}) {
    Int functions = 0;
    double worst = 0;
    std::string where, breaking;
    for (const Json& each : member(report, "every_input")) {
      if (words(each, "type") != type || each.at("unsupported").get<bool>()) continue;
      ++functions;
      const Json &counts = each.at("counts"), &peak = each.at("worst");
      if (counts.at("below") != 0 || counts.at("fail") != 0 || !words(each, "ended").empty())
        breaking += (breaking.empty() ? "; not within the bound: " : ", ") + words(each, "op");
      if (peak.is_null() || peak.at("ulp").get<double>() <= worst) continue;
      worst = peak.at("ulp").get<double>();
      where = ", worst " + in_digits(worst, 4) + " ulp (" + words(each, "op") + ")";
    }
    if (functions > 0)
      text += "\nOver every " + type + " input: " +
              code_span(std::to_string(functions) + (functions == 1 ? " function" : " functions") + where + breaking) +
              "\n";
  }
  return text;
}

// "248451 drawn graphs, 25 causes:" and the causes, the gravest first.
std::string over_graphs(const Json& report) {
  if (!report.contains("graphs")) return "";
  const Json &graphs = report.at("graphs"), &causes = graphs.at("causes");
  std::string text = "\n" + graphs.at("graphs").dump() + " drawn graphs, " + std::to_string(causes.size()) +
                     (causes.size() == 1 ? " cause" : " causes") + (causes.empty() ? ".\n" : ":\n");
  for (std::size_t i = 0; i < std::min(causes.size(), most_graph_causes); ++i) {
    const Json& cause = causes[i];
    const std::size_t found = cause.at("graphs").size();
    text += "- " + code_span(words(cause, "text", 400)) + " (" + std::to_string(found) +
            (found == 1 ? " graph" : " graphs") + "), " + code_span(words(cause, "replay", 1 << 16)) + "\n";
  }
  if (causes.size() > most_graph_causes)
    text += "- and " + std::to_string(causes.size() - most_graph_causes) + " more, in the JSON report\n";
  return text;
}

std::string agreed(const Json& report) {
  std::string text;
  if (const auto ledger = report.find("ledger"); ledger != report.end() && ledger->is_object()) {
    Int covered = 0;
    for (const Json& entry : ledger->at("entries")) covered += entry.at("covered").get<Int>();
    text += "\n" + cases(covered) + " expected by the ledger.\n";
    for (const Json& each : ledger->at("complaints"))
      text +=
          "- **" + words(each, "kind") + "**: " + code_span(words(each, "entry") + ": " + words(each, "detail")) + "\n";
  }
  if (const auto baseline = report.find("baseline"); baseline != report.end() && baseline->is_object())
    text += "\nAgainst the baseline: " + baseline->at("new").dump() + " new, " + baseline->at("known").dump() +
            " known, " + std::to_string(baseline->at("fixed").size()) + " fixed.\n";
  return text;
}

std::string versions(const CauseRow& cause) {
  return joined(cause.versions, ", ", [](const auto& each) { return each.first; });
}

// Within <summary> GitHub reads HTML only.
std::string details(const CauseRow& cause) {
  const std::string because = cause.because == cause.state ? "" : cause.because;
  std::string text =
      "<details><summary><b>" + html_text(cause.mark.empty() ? cause.state : cause.mark) + "</b> " +
      (because.empty() ? "" : "<code>" + html_text(because) + "</code> ") + "in <code>" + html_text(versions(cause)) +
      "</code>: " +
      (cause.mark == every_input ? std::to_string(cause.count) + (cause.count == 1 ? " input" : " inputs")
                                 : cases(cause.count)) +
      "</summary>\n\n";
  text += code_block(cause.sentence) + "\n" + code_block(cause.replay, "sh");
  return text + "\n</details>\n";
}

void add_causes(const std::vector<CauseRow>& causes, Comment& comment) {
  if (!causes.empty()) comment.add("### What was found\n\n");
  std::size_t told = 0;
  while (told < std::min(causes.size(), most_causes) && comment.add(details(causes[told]))) ++told;
  if (told == causes.size()) return;
  Int left = 0;
  for (std::size_t i = told; i < causes.size(); ++i) left += causes[i].count;
  comment.add("\n**Cut here:** " + std::to_string(causes.size() - told) + " more causes (" + cases(left) +
              "). The JSON report has them.\n");
}

// Tells whether a row is of an operator version in which something is wrong.
bool is_wrong(const Json& row, bool is_fuzz) {
  if (!is_fuzz) return words(row, "certified") == "not conforming";
  const auto breaks = [&](const char* state) { return row.at("counts").value(state, Int{0}) > 0; };
  return breaks("fail") || breaks("error") || breaks("refused") || breaks("below");
}

// All rows; the worst alone where they would not fit.
void add_table(const Rendering& rendering, Comment& comment) {
  const bool is_fuzz = rendering.is_fuzz();
  std::vector<const Json*> rows;
  for (const Json& row : rendering.report.at("operators")) rows.push_back(&row);
  constexpr std::ptrdiff_t beside = 8;  // lines: head, what is left out
  const bool all_fit = static_cast<std::ptrdiff_t>(rows.size()) + beside < comment.lines_left();
  if (!all_fit)
    std::ranges::stable_sort(rows, std::greater(), [](const Json* row) {
      return row->at("counts").value("fail", Int{0}) + row->at("counts").value("error", Int{0});
    });
  comment.add("\n### Operator versions\n\n" + table_head(is_fuzz));
  std::map<std::string, Int> left_out;
  for (const Json* row : rows) {
    const bool is_shown = (all_fit || is_wrong(*row, is_fuzz)) && comment.lines_left() > beside / 2;
    if (is_shown && comment.add(table_row(*row, is_fuzz))) continue;
    ++left_out[is_fuzz ? is_wrong(*row, is_fuzz) ? "that failed" : "without a failure" : words(*row, "certified")];
  }
  const std::string others = joined(
      left_out, ", ", [](const auto& each) { return std::to_string(each.second) + " " + code_span(each.first); });
  if (!others.empty()) comment.add("\nNot shown: " + others + ".\n");
}

// Says what became of special values, which are in no row where they do not count.
std::string special_values(const Json& report) {
  const Json special = member(report, "special");
  std::string text;
  for (const auto& [state, count] : special.items()) text += (text.empty() ? "" : ", ") + count.dump() + " " + state;
  return text.empty() ? ""
                      : "\nSpecial values (NaN, infinities, integer overflow), which do not count: " + text + ".\n";
}

}  // namespace

void write_markdown(const Rendering& rendering, std::ostream& out) {
  const Json& report = rendering.report;
  Comment comment;
  comment.add(heading(rendering));
  add_causes(causes_of(rendering), comment);
  comment.add(special_values(report));
  comment.add(readings(report));
  comment.add(over_every_input(report));
  comment.add(over_graphs(report));
  comment.add(agreed(report));
  add_table(rendering, comment);
  out << comment.text();
}

}  // namespace assay::reports
