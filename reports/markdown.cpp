// SPDX-License-Identifier: Apache-2.0
// Markdown for a pull request: the answer, a table per operator version, the causes with their replay lines folded up.
#include "reference/sequence.h"
#include "reports/pieces.h"
#include "reports/render.h"
#include "reports/rows.h"
#include "suites/text/markup.h"

#include <algorithm>
#include <array>
#include <string>

namespace assay::reports {
namespace {

using suites::code_block;
using suites::code_span;
using suites::html_text;

constexpr std::array states = {"pass",     "contested", "below",   "fail",        "error",
                               "unscored", "accepted",  "refused", "unsupported", "not run"};

constexpr std::ptrdiff_t most_lines = 95;  // of a comment that somebody reads

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
  void close(const std::string& words) { text_ += words; }
  const std::string& text() const { return text_; }

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
  return text.empty() ? "" : "\nReadings of unclear clauses, with cases: " + code_span(text) + "\n";
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
  for (const Json& cause : causes) {
    const std::size_t found = cause.at("graphs").size();
    text += "- " + code_span(words(cause, "text", 400)) + " (" + std::to_string(found) +
            (found == 1 ? " graph" : " graphs") + "), " + code_span(words(cause, "replay", 1 << 16)) + "\n";
  }
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
      (cause.decides ? "" : ", shown apart") + "</summary>\n\n";
  text += code_block(cause.sentence) + "\n" + code_block(cause.replay, "sh");
  return text + "\n</details>\n";
}

void add_causes(const std::vector<CauseRow>& causes, Comment& comment) {
  if (!causes.empty()) comment.add("\n### What was found\n\n");
  std::size_t told = 0;
  while (told < causes.size() && comment.add(details(causes[told]))) ++told;
  if (told == causes.size()) return;
  Int left = 0;
  for (std::size_t i = told; i < causes.size(); ++i) left += causes[i].count;
  comment.close("\n**Cut here:** " + std::to_string(causes.size() - told) + " more causes (" + cases(left) +
                ") do not fit into a comment. The JSON report has them.\n");
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
  comment.add(table_head(rendering.is_fuzz()));
  std::size_t left = 0;
  for (const Json& row : report.at("operators")) left += comment.add(table_row(row, rendering.is_fuzz())) ? 0 : 1;
  if (left > 0) comment.close("\n**Cut here:** " + std::to_string(left) + " more operator versions do not fit.\n");
  comment.add(special_values(report));
  comment.add(readings(report));
  comment.add(over_every_input(report));
  comment.add(over_graphs(report));
  comment.add(agreed(report));
  add_causes(causes_of(rendering), comment);
  out << comment.text();
}

}  // namespace assay::reports
