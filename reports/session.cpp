// SPDX-License-Identifier: Apache-2.0
// What `assay certify` prints: a table of operator versions, then what breaks conformance, then one sentence.
#include "reference/sequence.h"
#include "reports/exhaust_report.h"
#include "reports/graph_report.h"
#include "reports/model_run.h"
#include "reports/terminal.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>

namespace assay::reports {
namespace {

using oracles::State;

bool is_loud(State state) { return state == State::fail || state == State::below || state == State::error; }

// Columns of the table, after the version and the share that was judged.
constexpr std::array counted = {State::pass,  State::contested, State::fail,     State::error,       State::refused,
                                State::below, State::unscored,  State::accepted, State::unsupported, State::not_run};

std::string number(Int count) { return count == 0 ? "" : std::to_string(count); }

// "except 1, 3": the causes for which it does not conform.
std::string exceptions_of(const OperatorRow& row) {
  return "except " + joined(row.exceptions, ", ", [](const Exception& each) { return std::to_string(each.cause + 1); });
}

// The causes that kept cases of this version from being run: "hangs: cause 2".
std::string cut_by(const Report& report, const OpVersion& version) {
  std::set<std::string> words;
  for (std::size_t i = 0; i < report.suite.cases.size(); ++i) {
    const auto& verdict = report.campaign.verdicts[i];
    if (verdict && verdict->state == State::not_run && report.suite.cases[i].c.version == version)
      words.insert(verdict->because);
  }
  std::string all;
  for (const std::string& because : words) {
    all += (all.empty() ? "" : ", ") + because;
    for (std::size_t i = 0; i < report.sorted.causes.size(); ++i)
      if (report.sorted.causes[i].state == State::error &&
          report.sorted.causes[i].because.find(because) != because.npos)
        all += ": cause " + std::to_string(i + 1);
  }
  return all;
}

std::string standing(const Report& report, const OperatorRow& row) {
  std::string words;
  switch (row.certified) {
    case Certified::conforms: words = "conforms"; break;
    case Certified::not_conforming: words = row.exceptions.empty() ? "does not conform" : exceptions_of(row); break;
    case Certified::not_certified: words = "not certified"; break;
  }
  if (row.level && row.certified == Certified::conforms) words += ", " + std::string(oracles::name(*row.level));
  if (const std::string cut = cut_by(report, row.version); !cut.empty()) words += "; not run (" + cut + ")";
  return words;
}

// Nothing was judged, and nothing is wrong.
bool is_excluded(const OperatorRow& row) { return row.judged == 0 && row.exceptions.empty() && !row.is_cut; }

void write_table(const Report& report, Colour colour, std::ostream& out) {
  std::vector<std::string> head = {"", "judged"};
  for (const State state : counted) head.emplace_back(name(state));
  head.emplace_back();
  Table table(std::move(head));
  for (const OperatorRow& row : report.operators) {
    if (is_excluded(row)) continue;
    const std::string share = row.legal == 0 ? "" : std::to_string(100 * row.judged / row.legal) + " %";
    std::vector<std::string> cells = {text(row.version), share};
    std::set<std::size_t> loud;
    for (const State state : counted) {
      if (is_loud(state) && count(row.counts, state) > 0) loud.insert(cells.size());
      cells.push_back(number(count(row.counts, state)));
    }
    cells.push_back(standing(report, row));
    table.add(std::move(cells), std::move(loud));
  }
  table.write(colour, out);
  if (const std::string excluded = joined(filtered(report.operators, is_excluded), ", ",
                                          [](const OperatorRow& row) { return text(row.version); });
      !excluded.empty())
    out << "  nothing to judge: " << excluded << "\n";
}

// Holds what one case showed beside its verdict.
void write_mark(const Report& report, const ReportedFinding& finding, Colour colour, std::ostream& out) {
  const suites::SuiteCase& planned = report.suite.cases[finding.first];
  const suites::Mark& mark = mark_of(report, finding);
  out << painted(padded(upper(mark.name), 13), colour) << " " << text(finding.version) << ": " << finding.count
      << (finding.count == 1 ? " case, " : " cases, ") << mark.by << "\n";
  write_wrapped(mark.detail, out);
  out << "      replay: " << replay_line(report.invocation, planned.line, mark) << "\n";
}

// The predicates of a cause over all versions, those that cover most first.
std::vector<std::string> where(const Report& report, std::size_t cause) {
  std::vector<std::string> all;
  for (const OperatorRow& row : report.operators)
    for (const Exception& each : row.exceptions)
      if (each.cause == cause)
        for (const suites::Predicate& when : each.when)
          if (std::ranges::find(all, when.text()) == all.end()) all.push_back(when.text());
  return all;
}

Int not_told(const Report& report, std::size_t cause) {
  Int count = 0;
  for (const OperatorRow& row : report.operators)
    for (const Exception& each : row.exceptions)
      if (each.cause == cause) count += each.others;
  return count;
}

// Of an interrupted run, whose failures were not sorted.
void write_unsorted(const Report& report, const ReportedFinding& finding, Colour colour, std::ostream& out) {
  const suites::SuiteCase& planned = report.suite.cases[finding.first];
  out << painted(padded(upper(name(finding.state)), 13), colour) << " " << text(finding.version) << ": "
      << finding.count << " " << finding.because << "\n";
  if (!finding.detail.empty()) write_wrapped(finding.detail, out);
  out << "      replay: " << replay_line(report.invocation, planned.line) << "\n";
}

void write_causes(const Report& report, Colour colour, std::size_t most, std::ostream& out) {
  const std::vector<suites::Cause>& causes = report.sorted.causes;
  std::vector<const ReportedFinding*> others;  // marks, and what decides and was not sorted
  for (const ReportedFinding& finding : report.findings) {
    const bool is_told = finding.cause != suites::no_cause || finding.deciding == 0;
    if (!finding.mark.empty() ? mark_of(report, finding).breaches : !is_told) others.push_back(&finding);
  }
  const std::size_t shown = std::min(most, causes.size()), left = std::min(most - shown, others.size());
  for (std::size_t i = 0; i < shown; ++i)
    write_cause({causes[i], report.sorted.findings[causes[i].smallest], where(report, i), not_told(report, i)}, i + 1,
                report.invocation, colour, out);
  for (std::size_t i = 0; i < left; ++i)
    others[i]->mark.empty() ? write_unsorted(report, *others[i], colour, out)
                            : write_mark(report, *others[i], colour, out);
  write_more(causes.size() - shown + others.size() - left, out);
}

void write_readings_followed(const Report& report, std::ostream& out) {
  const std::string words = joined(report.rulings, "; ", [](const RulingRow& row) {
    std::string followed = row.id;
    for (const auto& [reading, cases] : row.followed) followed += " " + reading + " " + std::to_string(cases);
    return followed;
  });
  if (!words.empty()) out << "  readings followed: " << words << "\n";
}

void write_acceptance(const Report& report, std::ostream& out) {
  Int refused = 0, accepted = 0;
  std::string which;
  for (const ConstraintRow& row : report.constraints) {
    refused += row.refused;
    accepted += row.accepted;
    if (row.accepted > 0) which += (which.empty() ? "" : ", ") + row.id + " " + std::to_string(row.accepted);
  }
  if (refused + accepted == 0) return;
  out << "  models that break a constraint: " << refused << " refused, " << accepted << " accepted"
      << (which.empty() ? "" : " (" + which + ")") << "\n";
}

std::string breaches(const Report& report) {
  std::string words;
  for (State state : {State::fail, State::below, State::refused, State::error, State::contested}) {
    if (state == State::contested && !report.invocation.strict) continue;
    const Int cases = count(report.totals, state) - count(report.excused, state);
    if (cases > 0)
      words += (words.empty() ? "" : ", ") + std::to_string(cases) + " " + std::string(oracles::name(state));
  }
  for (const auto& [mark, cases] : report.marks)
    if (cases > 0) words += (words.empty() ? "" : ", ") + std::to_string(cases) + " " + mark;
  if (const auto functions = std::ranges::count_if(report.every_input, &suites::Accuracy::breaks); functions > 0)
    words += (words.empty() ? "" : ", ") + std::to_string(functions) +
             (functions == 1 ? " function over every input" : " functions over every input");
  if (const Int windows = breaching_windows(report); windows > 0)
    words += (words.empty() ? "" : ", ") + std::to_string(windows) + (windows == 1 ? " window" : " windows") +
             " of the model";
  if (report.graphs && !report.graphs->conforms()) {
    const auto graphs = report.graphs->findings.size() + static_cast<std::size_t>(report.graphs->unsorted);
    words += (words.empty() ? "" : ", ") + std::to_string(graphs) + (graphs == 1 ? " graph" : " graphs");
  }
  return words;
}

// Cases that break conformance, by their verdict.
Int failures(const Report& report) {
  Int all = 0;
  for (const auto& [state, cases] : report.totals)
    if (breaks_conformance(state, report.invocation.strict)) all += cases;
  return all;
}

std::string scope(const Report& report) {
  if (!report.campaign.is_complete() && failures(report) >= report.invocation.most_failures &&
      report.invocation.most_failures > 0)
    return "stopped after " + std::to_string(failures(report)) + " failures, not a certificate; ";
  if (report.is_interrupted()) return "interrupted, not a certificate; ";
  return report.suite.complete ? "" : "part of the suite, not a certificate; ";
}

Int excused(const Report& report) {
  Int all = 0;
  for (const auto& [state, cases] : report.excused) all += cases;
  return all;
}

// What was agreed before the run, and what has become of it.
void write_agreed(const Report& report, Colour colour, std::ostream& out) {
  const Expectations& agreed = report.agreed;
  if (agreed.ledger) {
    Int covered = 0;
    for (const auto& expectations : agreed.settlement.expectations)
      covered += std::ranges::count(expectations, suites::Expectation::Kind::xfail, &suites::Expectation::kind);
    out << "  expected by " << agreed.ledger->file << ": " << covered << " xfail under "
        << agreed.ledger->entries.size() << (agreed.ledger->entries.size() == 1 ? " entry\n" : " entries\n");
  }
  if (agreed.baseline) {
    const suites::BaselineComparison& comparison = agreed.comparison;
    out << "  against " << agreed.baseline->file << ": " << comparison.fresh << " new, " << comparison.repeated
        << " known, " << comparison.fixed.size() << " fixed";
    if (comparison.not_requested > 0)
      out << "; " << comparison.not_requested << " cases of this run are not in it: run the same suite";
    out << "\n";
  }
  for (const suites::Complaint& each : agreed.settlement.complaints)
    out << painted(padded(upper(suites::name(each.kind)), 9), colour) << each.entry << ": " << each.detail << "\n";
}

}  // namespace

void write_conclusion(const Report& report, std::string_view file, std::ostream& out) {
  const std::string where = file.empty() ? "no report written" : std::string(file) + " written";
  switch (report.certified) {
    case Certified::conforms:
      out << (report.is_as_agreed() ? "conforms: " : "conforms, but the ledger has to be mended: ")
          << count(report.totals, State::pass) << " pass"
          << (report.campaign.backend.answers_shapes ? " in type and shape, values were not judged" : "");
      if (excused(report) > 0) out << ", " << excused(report) << " as agreed";
      out << "; " << scope(report) << where << "\n";
      break;
    case Certified::not_conforming:
      out << "not conforming: " << breaches(report) << "; " << scope(report) << where
          << ". That is the finding about the backend, not a breakdown of assay.\n";
      break;
    case Certified::not_certified:
      out << "not certified: no case of the selection could be judged; " << scope(report) << where << "\n";
  }
}

void write_heading(const suites::Suite& suite, const suites::Description& backend, const Invocation& invocation,
                   std::ostream& out) {
  out << "assay " << invocation.tool_version << " (suite " << suite.hash.substr(0, 8)
      << (suite.profile ? ", profile " + std::string(suite.profile->name) : "") << ", standard ONNX "
      << standard_release << ")  backend " << backend.backend << (backend.version.empty() ? "" : " ") << backend.version
      << (backend.device.empty() ? "" : ", ") << backend.device << "\n";
}

void write_session(const Report& report, std::string_view file, Colour colour, std::ostream& out,
                   std::size_t most_causes) {
  write_heading(report.suite, report.campaign.backend, report.invocation, out);
  write_table(report, colour, out);
  write_special(report.special, out);
  write_readings_followed(report, out);
  write_acceptance(report, out);
  write_every_input(report, colour, out);
  if (report.model) write_model(report, most_causes == all_causes, out);
  write_causes(report, colour, most_causes, out);
  if (report.graphs) {
    out << "drawn graphs, to find what optimisers do wrong: ";
    write_graphs(report.invocation, *report.graphs, colour, out, most_causes);
  }
  write_agreed(report, colour, out);
  write_conclusion(report, file, out);
}

}  // namespace assay::reports
