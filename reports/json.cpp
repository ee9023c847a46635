// SPDX-License-Identifier: Apache-2.0
// The report as JSON, written member by member: one line per operator, ruling, constraint, finding and verdict, so that
// two reports can be compared with diff.
#include "reference/sequence.h"
#include "reports/graph_report.h"
#include "reports/model_run.h"
#include "reports/pieces.h"
#include "suites/campaign/signature.h"
#include "suites/triage/clauses.h"

#include <cmath>
#include <ostream>

namespace assay::reports {
namespace {

using oracles::State;
using oracles::Verdict;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json readings_json(const Readings& readings) {
  Json json = Json::object();
  for (const auto& [id, reading] : readings.departures()) json[id] = reading;
  return json;
}

Json suite_json(const Report& report) {
  std::size_t reached = 0;
  for (const auto& verdict : report.campaign.verdicts) reached += verdict.has_value();
  return {{"name", report.suite.name},        {"version", report.suite.version},    {"hash", report.suite.hash},
          {"complete", report.is_complete()}, {"cases", report.suite.cases.size()}, {"reached", reached}};
}

Json classes_json(const Report& report) {
  Json json = Json::object();
  for (const auto& [name, counts] : report.by_class) {
    json[name] = counts_json(counts);
    json[name]["decides"] = decides(name, report.invocation.counts_special());
  }
  return json;
}

Json standing_json(const Certification& standing) {
  return {{"certified", name(standing.certified)},
          {"legal", standing.legal},
          {"judged", standing.judged},
          {"level", level_json(standing.level)}};
}

Json operator_json(const OperatorRow& row) {
  Json json = {{"op", text(row.version)},
               {"certified", name(row.certified)},
               {"counts", counts_json(row.counts)},
               {"types", types_json(row.types)},
               {"legal", row.legal},
               {"judged", row.judged},
               {"level", level_json(row.level)},
               {"standings", Json::object()},
               {"errors", errors_json(row.errors)}};
  for (const auto& [type, standing] : row.standings)
    json["standings"][std::string(name(type))] = standing_json(standing);
  json["exceptions"] = transformed<Json>(row.exceptions, exception_json);
  return json;
}

Json constraint_json(const ConstraintRow& row) {
  return {{"id", row.id},
          {"text", row.text},
          {"refused", row.refused},
          {"accepted", row.accepted},
          {"contested", row.contested},
          {"unsupported", row.unsupported},
          {"error", row.error}};
}

Json finding_json(const Report& report, const ReportedFinding& finding) {
  const suites::SuiteCase& first = report.suite.cases[finding.first];
  Json json = {{"op", text(finding.version)}, {"state", oracles::name(finding.state)},
               {"because", finding.because},  {"detail", finding.detail},
               {"count", finding.count},      {"deciding", finding.deciding},
               {"first", case_id(first.line)}};
  if (!finding.mark.empty()) json["mark"] = finding.mark;
  json["replay"] = finding.mark.empty() ? replay_line(report.invocation, first.line)
                                        : replay_line(report.invocation, first.line, mark_of(report, finding));
  if (finding.cause != suites::no_cause) json["cause"] = finding.cause + 1;
  const std::string& smallest = report.suite.cases[finding.smallest].line;
  json["smallest"] = {{"id", case_id(smallest)}, {"line", smallest}};
  if (finding.mark.empty()) json["smallest"]["replay"] = replay_line(report.invocation, smallest);
  json["needs"] = suites::predicate_of(report.suite.cases[finding.smallest].c);
  json["clauses"] = finding.clauses;
  return json;
}

// A cause, and what there is to see of its smallest case.
Json told_cause(const Report& report, const suites::Cause& cause) {
  const suites::Finding& smallest = report.sorted.findings[cause.smallest];
  const Verdict& verdict = smallest.answered.verdict;
  Json json = cause_json(cause, report.sorted.findings, replay_line(report.invocation, smallest.replayed()));
  json["detail"] = verdict.detail;
  add_explanation(json, report.invocation, report.campaign.backend, smallest);
  return json;
}

// Every clause that the report names.
std::set<std::string> clauses_in(const Report& report) {
  std::set<std::string> ids;
  for (const RulingRow& row : report.rulings) ids.insert(row.id);
  for (const ConstraintRow& row : report.constraints) ids.insert(row.id);
  for (const ReportedFinding& finding : report.findings) ids.insert(finding.clauses.begin(), finding.clauses.end());
  for (const suites::Finding& finding : report.sorted.findings)
    for (const std::string& id : suites::clauses_of(finding.c)) ids.insert(id);
  return ids;
}

void add_readings(Json& json, const Verdict& verdict) {
  if (!verdict.readings.departures().empty()) json["readings"] = readings_json(verdict.readings);
  if (!verdict.also.empty()) json["also"] = transformed<Json>(verdict.also, readings_json);
  if (!verdict.followed.empty()) json["followed"] = verdict.followed;
}

void add_measures(Json& json, const Verdict& verdict) {
  json["elements"] = verdict.elements;
  json["unscored"] = verdict.unscored;
  json["exact"] = verdict.exact;
  json["worst_q"] = number(verdict.worst_q);
  json["worst_ulp"] = number(verdict.worst_ulp);
  json["worst_share"] = number(verdict.worst_share);
}

// The marks of the campaign, then what was agreed about this case: xfail and xpass by an entry of the ledger, known by
// the baseline; their detail is the breach they are about.
std::vector<suites::Mark> marks_of(const Report& report, std::size_t index) {
  std::vector<suites::Mark> all = report.campaign.marks[index];
  if (report.agreed.ledger)
    for (const suites::Expectation& each : report.agreed.settlement.expectations[index])
      all.push_back({std::string(suites::name(each.kind)), each.entry, each.breach.word, false, ""});
  if (report.agreed.baseline)
    for (const suites::Breach& each : report.agreed.comparison.known[index])
      all.push_back({"known", "baseline", each.word, false, ""});
  return all;
}

Json verdict_json(const Report& report, std::size_t index) {
  const suites::SuiteCase& planned = report.suite.cases[index];
  const Verdict& verdict = *report.campaign.verdicts[index];
  Json json = {{"id", case_id(planned.line)},    {"line", planned.line},
               {"class", report.classes[index]}, {"state", oracles::name(verdict.state)},
               {"because", verdict.because},     {"detail", verdict.detail},
               {"origin", planned.origin}};
  json["level"] = level_json(verdict.level);
  if (report.cause_of[index] != suites::no_cause) json["cause"] = report.cause_of[index] + 1;
  add_readings(json, verdict);
  for (const std::string& id : verdict.violated) json["violated"].push_back(planned.c.version.name + "." + id);
  if (report.suite.profile) json["restrictions"] = tags(*report.suite.profile->part(planned.c.version));
  if (verdict.elements > 0) add_measures(json, verdict);
  if (verdict.evidence) json["evidence"] = evidence_json(*verdict.evidence);
  for (const suites::Mark& mark : marks_of(report, index))
    json["marks"].push_back(mark_json(report.invocation, planned.line, mark, cause_of_session(report, mark)));
  if (verdict.state != State::pass && verdict.state != State::unsupported)
    json["replay"] = replay_line(report.invocation, planned.line);
  return json;
}

Json entry_json(const suites::Entry& entry, const suites::Use& use) {
  const auto operators = transformed<Json>(entry.versions, [](const Definition* each) { return text(each->version); });
  return {{"id", entry.id},         {"operators", operators},   {"when", entry.when.text()},
          {"states", entry.states}, {"because", entry.because}, {"reason", entry.reason},
          {"link", entry.link},     {"owner", entry.owner},     {"expires", suites::text(entry.expires)},
          {"met", use.met},         {"covered", use.covered},   {"passed", use.passed}};
}

Json ledger_json(const Expectations& agreed) {
  if (!agreed.ledger) return nullptr;
  Json entries = Json::array();
  for (std::size_t i = 0; i < agreed.ledger->entries.size(); ++i)
    entries.push_back(entry_json(agreed.ledger->entries[i], agreed.settlement.uses[i]));
  const auto complaints = transformed<Json>(agreed.settlement.complaints, [](const suites::Complaint& each) {
    return Json{{"entry", each.entry}, {"kind", suites::name(each.kind)}, {"detail", each.detail}};
  });
  return {{"hash", agreed.ledger->hash}, {"entries", entries}, {"complaints", complaints}};
}

Json baseline_json(const Report& report) {
  if (!report.agreed.baseline) return nullptr;
  const suites::BaselineComparison& comparison = report.agreed.comparison;
  return {{"hash", report.agreed.baseline->hash},
          {"known", comparison.repeated},
          {"new", comparison.fresh},
          {"unasked", comparison.not_requested},
          {"fixed", transformed<Json>(comparison.fixed,
                                      [&](std::size_t index) { return case_id(report.suite.cases[index].line); })}};
}

}  // namespace

void write_json(const Report& report, std::ostream& out) {
  Document document(out);
  document.member("schema", schema_version);
  document.member("tool", tool_json(report.invocation));
  document.member("suite", suite_json(report));
  document.member("judgement", judgement_json());
  document.member("standard", standard_json());
  document.member("backend", backend_json(report.invocation, report.campaign.backend));
  document.member("seed", report.invocation.seed);
  document.member("level", oracles::name(report.invocation.level));
  document.member("profile", report.suite.profile ? report.suite.profile->name : "default");
  document.member("mode", report.invocation.strict ? "strict" : "lenient");
  document.member("certified", name(report.certified));
  document.member("ledger", ledger_json(report.agreed));
  document.member("baseline", baseline_json(report));
  document.member("special_values", report.invocation.counts_special() ? "count" : "apart");
  document.member("totals", counts_json(report.totals));
  document.member("special", counts_json(report.special));
  document.member("marks", report.marks);
  document.member("classes", classes_json(report));
  if (report.model) {
    document.member("model", model_json(report));
    document.list("nodes", node_rows(report), node_json);
    document.list("windows", report.model->windows,
                  [&](const suites::WindowResult& each) { return window_json(report, each); });
  }
  if (report.graphs) document.member("graphs", graphs_json(report.invocation, *report.graphs));
  document.list("operators", report.operators, operator_json);
  document.list("rulings", report.rulings, ruling_json);
  document.list("constraints", report.constraints, constraint_json);
  document.list("clauses", clauses_json(clauses_in(report)), [](const Json& each) { return each; });
  document.list("coverage", report.coverage.table().rows, coverage_json);
  document.list("causes", report.sorted.causes, [&](const suites::Cause& each) { return told_cause(report, each); });
  document.list("findings", report.findings, [&](const ReportedFinding& each) { return finding_json(report, each); });
  if (report.invocation.every_input)
    document.list("every_input", report.every_input,
                  [&](const suites::Accuracy& each) { return accuracy_json(each, report.invocation); });
  std::vector<std::size_t> reached;
  for (std::size_t i = 0; i < report.campaign.verdicts.size(); ++i)
    if (report.campaign.verdicts[i]) reached.push_back(i);
  document.list("verdicts", reached, [&](std::size_t index) { return verdict_json(report, index); });
  document.member("run", run_json(report.run, reached.size()));
}

}  // namespace assay::reports
