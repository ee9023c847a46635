// SPDX-License-Identifier: Apache-2.0
#include "reports/fuzz_report.h"

#include "reports/pieces.h"
#include "reports/terminal.h"
#include "suites/triage/clauses.h"
#include "suites/triage/finding_folder.h"

#include <algorithm>

namespace assay::reports {
namespace {

using oracles::State;
using suites::Cause;

Counts totals_of(const suites::Tally& tally) {
  Counts totals;
  for (State state : oracles::all_states) totals[state] = 0;
  for (const auto& [version, counts] : tally.states)
    for (const auto& [state, count] : counts) totals[state] += count;
  return totals;
}

Json plan_json(const FuzzReport& report) {
  const suites::FuzzPlan& plan = report.plan;
  Json types = Json::array();
  for (DType type : plan.selection.types) types.push_back(name(type));
  Json json = {{"seed", plan.seed},
               {"cases", nullptr},
               {"asked", report.harvest.tally.runs},
               {"complete", report.complete},
               {"shard", text(plan.shard)},
               {"operators", plan.selection.operators},
               {"types", types},
               {"regressions", plan.regressions.size()},
               {"islands", plan.islands}};
  if (plan.cases) json["cases"] = *plan.cases;
  return json;
}

Json finding_json(const FuzzReport& report, const suites::Finding& finding, std::size_t cause) {
  const oracles::Verdict& verdict = finding.answered.verdict;
  Json json = {{"id", case_id(finding.line)},
               {"line", finding.line},
               {"found", finding.found},
               {"origin", finding.origin},
               {"state", name(verdict.state)},
               {"because", verdict.because},
               {"detail", verdict.detail},
               {"signature", text(finding.signature)},
               {"pattern", finding.signature.pattern},
               {"needs", finding.predicate},
               {"models", finding.diagnosis.models},
               {"by_shape", finding.diagnosis.by_shape},
               {"confirmed", finding.diagnosis.is_confirmed},
               {"shrunk", finding.is_shrunk},
               {"asks", finding.runs},
               {"stands_for", finding.stands_for},
               {"folder", suites::folder_name(finding)},
               {"cause", cause + 1}};
  if (!finding.session.empty()) json["session"] = finding.session;
  add_explanation(json, report.invocation, report.backend, finding);
  json["replay"] = replay_line(report.invocation, finding.replayed());
  return json;
}

Json peak_json(const FuzzReport& report, const suites::WorstCase& peak) {
  const std::string canonical = line(peak.c);
  return {{"island", peak.island},
          {"op", text(peak.c.version)},
          {"line", canonical},
          {"state", name(peak.answered.verdict.state)},
          {"share", peak.answered.verdict.worst_share},
          {"asks", peak.runs},
          {"replay", replay_line(report.invocation, canonical)}};
}

// Every clause that the report names.
std::set<std::string> clauses_in(const FuzzReport& report) {
  std::set<std::string> ids;
  for (const auto& [id, followed] : report.harvest.tally.followed) ids.insert(id);
  for (const suites::Finding& finding : report.findings)
    for (const std::string& id : suites::clauses_of(finding.c)) ids.insert(id);
  return ids;
}

void write_coverage(const suites::CoverageRow& row, std::ostream& out) {
  const std::size_t constraints = row.broken.size() + row.unbroken.size();
  const std::size_t rulings = row.touched.size() + row.untouched.size();
  out << "  " << text(row.version) << ": " << row.legal << " legal, " << row.near_misses << " near misses; " << row.seen
      << " of " << row.possible << " pairs, " << row.broken.size() << " of " << constraints << " constraints, "
      << row.touched.size() << " of " << rulings << " rulings\n";
}

// The highest of all islands.
void write_peak(const FuzzReport& report, std::ostream& out) {
  const auto share = [](const suites::WorstCase& peak) { return peak.answered.verdict.worst_share; };
  const auto highest = std::ranges::max_element(report.peaks, {}, share);
  if (highest == report.peaks.end()) return;
  out << "  seeking on " << report.peaks.size() << " islands: at most " << in_digits(share(*highest), 3)
      << " of the error budget\n      replay: " << replay_line(report.invocation, line(highest->c)) << "\n";
}

// By finding.
std::vector<std::size_t> causes_of(const FuzzReport& report) {
  std::vector<std::size_t> all(report.findings.size());
  for (std::size_t i = 0; i < report.causes.size(); ++i)
    for (const std::size_t member : report.causes[i].members) all[member] = i;
  return all;
}

Json failure_json(const FuzzReport& report, std::size_t at) {
  const suites::Failure& failure = report.harvest.failures[at];
  Json json = {{"index", failure.index},
               {"id", case_id(failure.planned.line)},
               {"line", failure.planned.line},
               {"state", name(failure.told.verdict.state)},
               {"because", failure.told.verdict.because},
               {"pattern", failure.signature.pattern},
               {"excused", at < report.excused.size() && report.excused[at]}};
  if (at < report.cause_of.size() && report.cause_of[at] != suites::no_cause) json["cause"] = report.cause_of[at] + 1;
  return json;
}

std::string breaches_text(const FuzzReport& report) {
  const Counts totals = totals_of(report.harvest.tally);
  std::string words;
  for (State state : {State::fail, State::below, State::refused, State::error, State::contested}) {
    if (state == State::contested && !report.invocation.strict) continue;
    if (const Int cases = count(totals, state); cases > 0)
      words += (words.empty() ? "" : ", ") + std::to_string(cases) + " " + std::string(name(state));
  }
  const auto islands = std::ranges::count_if(
      report.harvest.failures, [](const suites::Failure& each) { return each.planned.origin.starts_with("island "); });
  if (islands > 0) words += (words.empty() ? "" : ", ") + std::to_string(islands) + " on islands";
  for (const auto& [mark, cases] : report.harvest.tally.marks)
    if (cases > 0 && mark != "session")  // which is among the states
      words += (words.empty() ? "" : ", ") + std::to_string(cases) + " " + mark;
  return words;
}

void write_marked(const FuzzReport& report, std::ostream& out) {
  std::map<std::pair<std::string, std::string>, std::vector<const suites::Failure*>> groups;
  for (const suites::Failure& each : report.harvest.marked)
    for (const suites::Mark& mark : each.told.marks)
      if (!suites::session_state(mark)) groups[{mark.name, mark.by}].push_back(&each);
  for (const auto& [key, cases] : groups) {
    const suites::Failure& first = *cases.front();
    const auto mark = std::ranges::find_if(
        first.told.marks, [&](const suites::Mark& each) { return each.name == key.first && each.by == key.second; });
    out << "MARK  " << key.first << ", " << key.second << ": " << cases.size()
        << (cases.size() == 1 ? " case, the first: " : " cases, the first: ") << mark->detail
        << "\n      replay: " << replay_line(report.invocation, first.planned.line, *mark) << "\n";
  }
}

}  // namespace

Int FuzzReport::unexcused() const { return std::ranges::count(excused, false); }

bool FuzzReport::conforms() const {
  const bool is_marked = std::ranges::any_of(harvest.tally.marks, [](const auto& mark) { return mark.second > 0; });
  return unexcused() == 0 && !is_marked;
}

void write_json(const FuzzReport& report, std::ostream& out) {
  Document document(out);
  document.member("schema", schema_version);
  document.member("kind", "fuzz");
  document.member("tool", tool_json(report.invocation));
  document.member("judgement", judgement_json());
  document.member("standard", standard_json());
  document.member("backend", backend_json(report.invocation, report.backend));
  document.member("plan", plan_json(report));
  document.member("level", oracles::name(report.invocation.level));
  document.member("mode", report.invocation.strict ? "strict" : "lenient");
  document.member("conforms", report.conforms());
  document.member("special_values", report.invocation.counts_special() ? "count" : "apart");
  document.member("totals", counts_json(totals_of(report.harvest.tally)));
  document.member("special", counts_json(report.harvest.tally.special));
  document.member("marks", report.harvest.tally.marks);
  const suites::Tally& tally = report.harvest.tally;
  document.list("operators", tally.states, [&](const auto& row) {
    return Json{{"op", text(row.first)},
                {"counts", counts_json(row.second)},
                {"types", types_json(tally.types.at(row.first))},
                {"errors", errors_json(tally.errors.at(row.first))}};
  });
  document.list("rulings", report.harvest.tally.followed, [](const auto& row) {
    return Json{{"id", row.first}, {"followed", row.second}};
  });
  document.list("clauses", clauses_json(clauses_in(report)), [](const Json& each) { return each; });
  document.list("coverage", report.harvest.coverage.table().rows, coverage_json);
  document.list("peaks", report.peaks, [&](const suites::WorstCase& peak) { return peak_json(report, peak); });
  document.list("causes", report.causes, [&](const Cause& cause) {
    return cause_json(cause, report.findings,
                      replay_line(report.invocation, report.findings[cause.smallest].replayed()));
  });
  const std::vector<std::size_t> causes = causes_of(report);
  std::size_t finding = 0;
  document.list("findings", report.findings,
                [&](const suites::Finding& each) { return finding_json(report, each, causes[finding++]); });
  document.list("signatures", signatures_of(report.harvest.failures), signature_json);
  std::size_t at = 0;
  document.list("failures", report.harvest.failures,
                [&](const suites::Failure&) { return failure_json(report, at++); });
  document.list("marked", report.harvest.marked, [&](const suites::Failure& each) {
    Json marks = Json::array();
    for (const suites::Mark& mark : each.told.marks)
      marks.push_back(mark_json(report.invocation, each.planned.line, mark));
    return Json{{"index", each.index},
                {"id", case_id(each.planned.line)},
                {"line", each.planned.line},
                {"state", name(each.told.verdict.state)},
                {"marks", marks}};
  });
  document.member("run", run_json(report.run, report.harvest.tally.runs));
}

void write_session(const FuzzReport& report, std::string_view file, Colour colour, std::ostream& out,
                   std::size_t most_causes) {
  out << "assay " << report.invocation.tool_version << " (standard ONNX " << standard_release << ")  fuzz "
      << report.backend.backend << (report.backend.version.empty() ? "" : " ") << report.backend.version << ", "
      << report.invocation.configuration() << "\n";
  out << "  seed " << report.plan.seed << ", shard " << text(report.plan.shard) << ": " << report.harvest.tally.runs
      << " cases" << (report.complete ? "" : ", interrupted; --resume goes on") << "\n";
  for (const suites::CoverageRow& row : report.harvest.coverage.table().rows) write_coverage(row, out);
  write_special(report.harvest.tally.special, out);
  write_peak(report, out);
  const std::size_t shown = std::min(most_causes, report.causes.size());
  for (std::size_t i = 0; i < shown; ++i)
    write_cause({report.causes[i], report.findings[report.causes[i].smallest],
                 suites::judgement_of(report.invocation.level, report.backend.arithmetic)},
                i + 1, report.invocation, colour, out);
  write_more(report.causes.size() - shown, out);
  write_marked(report, out);
  const Int excused = std::ranges::count(report.excused, true);
  const std::string where = file.empty() ? "no report written" : std::string(file) + " written";
  if (report.conforms())
    out << "nothing found that counts" << (excused > 0 ? "; " + std::to_string(excused) + " failures are expected" : "")
        << "; " << where << "\n";
  else
    out << painted("found:", colour) << " " << breaches_text(report) << " in " << report.causes.size() << " causes"
        << (excused > 0 ? ", " + std::to_string(excused) + " of the failures expected" : "") << "; "
        << (report.folder.empty() ? "" : report.folder + "/ holds the examples; ") << where
        << ". That is the finding about the backend, not a breakdown of assay.\n";
}

}  // namespace assay::reports
