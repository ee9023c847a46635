// SPDX-License-Identifier: Apache-2.0
// What `assay certify` prints: a table of operator versions, then what breaks conformance, then one sentence.
#include "reference/sequence.h"
#include "reports/exhaust_report.h"
#include "reports/graph_report.h"
#include "reports/model_run.h"
#include "reports/terminal.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <ostream>
#include <set>

namespace assay::reports {
namespace {

using oracles::State;

bool is_loud(State state) { return state == State::fail || state == State::below || state == State::error; }

// Columns of the table, after the version and the share that was judged.
constexpr std::array counted = {State::pass,  State::contested, State::fail,     State::error,       State::refused,
                                State::below, State::unscored,  State::accepted, State::unsupported, State::not_run};

constexpr std::size_t most_rows = 20;  // of the table, unless all is asked for
constexpr std::size_t few_lines = 2;   // of a list that no one reads to its end

std::string number(Int count) { return count == 0 ? "" : std::to_string(count); }

// "except 1, 3": the causes for which it does not conform.
std::string exceptions_of(const OperatorRow& row) {
  return "except " + joined(row.exceptions, ", ", [](const Exception& each) { return std::to_string(each.cause + 1); });
}

std::string deed(const std::string& because) {
  if (because == "timed out") return "hangs";
  if (because == "crashed") return "crashes";
  return because == "out of memory" ? "eats memory" : because;
}

// Names what kept cases of this version from being run, and the causes of its operator that do so: "hangs: cause 2".
std::string cut_by(const Report& report, const OpVersion& version) {
  std::set<std::string> words;
  for (std::size_t i = 0; i < report.suite.cases.size(); ++i) {
    const auto& verdict = report.campaign.verdicts[i];
    if (verdict && verdict->state == State::not_run && report.suite.cases[i].c.version == version)
      words.insert(verdict->because);
  }
  return joined(words, "; ", [&](const std::string& because) {
    std::string numbers;
    for (std::size_t i = 0; i < report.sorted.causes.size(); ++i) {
      const suites::Cause& cause = report.sorted.causes[i];
      if (cause.state == State::error && operator_name(cause.op) == operator_name(version) &&
          cause.because.find(because) != because.npos)
        numbers += (numbers.empty() ? "" : ", ") + std::to_string(i + 1);
    }
    if (numbers.empty()) return deed(because);
    return deed(because) + (numbers.find(',') == numbers.npos ? ": cause " : ": causes ") + numbers;
  });
}

std::string standing(const Report& report, const OperatorRow& row) {
  std::string words;
  switch (row.certified) {
    case Certified::conforms: words = "conforms"; break;
    case Certified::not_conforming: words = row.exceptions.empty() ? "does not conform" : exceptions_of(row); break;
    case Certified::not_certified: words = "not certified"; break;
  }
  if (row.level && row.certified == Certified::conforms) words += ", " + std::string(oracles::name(*row.level));
  if (row.is_cut) words += " (" + cut_by(report, row.version) + ")";
  return words;
}

// Nothing was judged, and nothing is wrong.
bool is_excluded(const OperatorRow& row) { return row.judged == 0 && row.exceptions.empty() && !row.is_cut; }

// Versions of one operator of which the same is said: "Conv-1, 11".
struct TableRow {
  std::string name, standing;
  std::vector<const OperatorRow*> versions;

  bool is_wrong() const { return versions.front()->certified == Certified::not_conforming; }
  Int sum(State state) const {
    Int all = 0;
    for (const OperatorRow* each : versions) all += count(each->counts, state);
    return all;
  }
};

std::vector<TableRow> table_rows(const Report& report) {
  std::vector<TableRow> rows;
  for (const OperatorRow& each : report.operators) {
    if (is_excluded(each)) continue;
    const std::string words = standing(report, each);
    const bool is_like_last = !rows.empty() && rows.back().standing == words &&
                              operator_name(rows.back().versions.front()->version) == operator_name(each.version);
    if (is_like_last)
      rows.back().name += ", " + std::to_string(each.version.since_version);
    else
      rows.push_back({text(each.version), words, {}});
    rows.back().versions.push_back(&each);
  }
  return rows;
}

// Names versions, and an operator alone where all of its versions are among them.
std::vector<std::string> names_of(const Report& report, const std::vector<const OperatorRow*>& rows) {
  std::map<std::string, std::vector<const OperatorRow*>> by_operator;
  std::map<std::string, std::size_t> all;
  for (const OperatorRow* each : rows) by_operator[operator_name(each->version)].push_back(each);
  for (const OperatorRow& each : report.operators) ++all[operator_name(each.version)];
  std::vector<std::string> names;
  for (const auto& [name, versions] : by_operator)
    if (versions.size() == all[name] && versions.size() > 1)
      names.push_back(name);
    else
      for (const OperatorRow* each : versions) names.push_back(text(each->version));
  return names;
}

std::string share_of(const TableRow& row) {
  Int legal = 0, judged = 0;
  for (const OperatorRow* each : row.versions) legal += each->legal, judged += each->judged;
  return legal == 0 ? "" : std::to_string(100 * judged / legal) + " %";
}

std::vector<std::string> cells_of(const TableRow& row, std::set<std::size_t>& loud) {
  std::vector<std::string> cells = {row.name, share_of(row)};
  for (const State state : counted) {
    if (is_loud(state) && row.sum(state) > 0) loud.insert(cells.size());
    cells.push_back(number(row.sum(state)));
  }
  cells.push_back(row.standing);
  return cells;
}

// Says what the versions of a row that is not shown are named under.
std::string told_by_name(const TableRow& row) {
  if (!row.is_wrong()) return row.standing;
  if (row.sum(State::fail) + row.sum(State::error) > 0) return "wrong answers or crashes as well";
  if (row.sum(State::below) > 0) return "less accurate than asked for, nothing worse";
  return row.sum(State::refused) > 0 ? "refuse legal models, nothing worse" : "marked, nothing worse";
}

// One row per operator, or more where its versions stand otherwise: all of them, or the worst where they would not fit
// on a screen.
void write_table(const Report& report, Colour colour, bool is_whole, std::ostream& out) {
  const std::vector<TableRow> rows = table_rows(report);
  std::vector<std::size_t> shown(rows.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  if (!is_whole && rows.size() > most_rows) {
    const auto wrong = [&](std::size_t i) { return rows[i].sum(State::fail) + rows[i].sum(State::error); };
    std::erase_if(shown, [&](std::size_t i) { return wrong(i) == 0; });
    std::ranges::stable_sort(shown, std::greater(), wrong);
    shown.resize(std::min(shown.size(), most_rows));
    std::ranges::sort(shown);
  }
  std::vector<std::string> head = {"", "judged"};
  for (const State state : counted) head.emplace_back(name(state));
  head.emplace_back();
  Table table(std::move(head));
  std::map<std::string, std::vector<const OperatorRow*>> others;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!std::ranges::binary_search(shown, i)) {
      std::ranges::copy(rows[i].versions, std::back_inserter(others[told_by_name(rows[i])]));
      continue;
    }
    std::set<std::size_t> loud;
    std::vector<std::string> cells = cells_of(rows[i], loud);
    table.add(std::move(cells), std::move(loud));
  }
  if (!shown.empty()) table.write(colour, out);
  const std::size_t most = is_whole ? std::numeric_limits<std::size_t>::max() : few_lines;
  for (const auto& [words, versions] : others)
    write_list(words + " (" + std::to_string(versions.size()) + ")", names_of(report, versions), ",", most, out);
  std::vector<const OperatorRow*> excluded;
  for (const OperatorRow& each : report.operators)
    if (is_excluded(each)) excluded.push_back(&each);
  write_list("nothing to judge", names_of(report, excluded), ",", most, out);
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
    const bool decides = finding.mark.empty() || finding.mark == "session";
    if (finding.cause != suites::no_cause || (decides && finding.deciding == 0)) continue;
    if (finding.mark.empty() ? finding.deciding > 0 : mark_of(report, finding).breaches) others.push_back(&finding);
  }
  const std::size_t shown = std::min(most, causes.size()), left = std::min(most - shown, others.size());
  for (std::size_t i = 0; i < shown; ++i)
    write_cause({causes[i], report.sorted.findings[causes[i].smallest],
                 suites::judgement_of(report.invocation.level, report.campaign.backend.arithmetic), where(report, i),
                 not_told(report, i)},
                i + 1, report.invocation, colour, out);
  for (std::size_t i = 0; i < left; ++i)
    others[i]->mark.empty() ? write_unsorted(report, *others[i], colour, out)
                            : write_mark(report, *others[i], colour, out);
  write_more(causes.size() - shown + others.size() - left, out);
}

void write_readings_followed(const Report& report, std::size_t most_lines, std::ostream& out) {
  std::vector<std::string> items;
  for (const RulingRow& row : report.rulings) {
    if (row.followed.empty()) continue;
    items.push_back(row.id);
    for (const auto& [reading, cases] : row.followed) items.back() += " " + reading + " " + std::to_string(cases);
  }
  write_list("readings followed", items, ";", most_lines, out);
}

void write_acceptance(const Report& report, std::size_t most_lines, std::ostream& out) {
  Int refused = 0, accepted = 0;
  std::vector<std::string> which;
  for (const ConstraintRow& row : report.constraints) {
    refused += row.refused;
    accepted += row.accepted;
    if (row.accepted > 0) which.push_back(row.id + " " + std::to_string(row.accepted));
  }
  if (refused + accepted == 0) return;
  const std::string title = "models that break a constraint: " + std::to_string(refused) + " refused, " +
                            std::to_string(accepted) + " accepted";
  if (which.empty())
    out << "  " << title << "\n";
  else
    write_list(title, which, ",", most_lines, out);
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
    if (cases > 0 && mark != "session")  // which is among the states
      words += (words.empty() ? "" : ", ") + std::to_string(cases) + " " + mark;
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
  const bool is_whole = most_causes == all_causes;
  const std::size_t most_lines = is_whole ? std::numeric_limits<std::size_t>::max() : few_lines;
  write_table(report, colour, is_whole, out);
  write_special(report.special, out);
  write_readings_followed(report, most_lines, out);
  write_acceptance(report, most_lines, out);
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
