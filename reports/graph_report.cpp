// SPDX-License-Identifier: Apache-2.0
#include "reports/graph_report.h"

#include "reference/case.h"
#include "reference/sequence.h"
#include "reports/pieces.h"
#include "suites/campaign/signature.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <ostream>

namespace assay::reports {
namespace {

using oracles::State;
using suites::GraphCause;
using suites::GraphFinding;
using suites::GraphHarvest;

Int in_state(const GraphHarvest& harvest, State state) {
  const auto found = harvest.states.find(state);
  return found == harvest.states.end() ? 0 : found->second;
}

const GraphFinding& smallest(const GraphHarvest& harvest, const GraphCause& cause) {
  return harvest.findings[cause.members.front()];
}

Json cause_json(const Invocation& invocation, const GraphHarvest& harvest, const GraphCause& cause) {
  Json found = Json::array();
  for (const std::size_t member : cause.members) found.push_back(harvest.findings[member].index);
  const GraphFinding& example = smallest(harvest, cause);
  return {{"text", in_words(cause)},
          {"operators", cause.operators},
          {"state", name(cause.symptom.state)},
          {"reason", cause.symptom.reason},
          {"right_with", cause.symptom.cure.value_or("")},
          {"graphs", found},
          {"line", example.line},
          {"detail", example.verdict.detail},
          {"folder", folder_name(example)},
          {"replay", replay_line(invocation, example.line)}};
}

Json cell_json(const std::pair<const std::pair<std::string_view, std::string_view>, suites::GraphCell>& cell) {
  return {{"pattern", cell.first.first},
          {"hazard", cell.first.second},
          {"graphs", cell.second.graphs},
          {"judged", cell.second.judged},
          {"wrong", cell.second.wrong}};
}

Json finding_json(const GraphFinding& finding) {
  return {{"index", finding.index},
          {"found", finding.found},
          {"line", finding.line},
          {"state", name(finding.verdict.state)},
          {"detail", finding.verdict.detail},
          {"right_with", finding.verdict.cure.value_or("")}};
}

Counts counts_of(const GraphHarvest& harvest) {
  Counts counts;
  for (const State state : oracles::all_states) counts[state] = in_state(harvest, state);
  return counts;
}

void write_graph_cause(const Invocation& invocation, const GraphHarvest& harvest, std::size_t at, Colour colour,
                       std::ostream& out) {
  const GraphCause& cause = harvest.causes[at];
  const GraphFinding& example = smallest(harvest, cause);
  const auto graphs = cause.members.size();
  out << at + 1 << ". " << painted(suites::printable(in_words(cause), 400), colour) << "  (" << graphs
      << (graphs == 1 ? " graph" : " graphs") << ")\n      " << suites::printable(example.verdict.detail, 300)
      << "\n      replay: " << replay_line(invocation, example.line) << "\n";
}

}  // namespace

std::string folder_name(const GraphFinding& finding) { return "graph_" + case_id(finding.line).substr(0, 12); }

Json graphs_json(const Invocation& invocation, const GraphHarvest& harvest) {
  Json causes = Json::array(), findings = Json::array(), cells = Json::array(), unscored = Json::array();
  for (const GraphCause& cause : harvest.causes) causes.push_back(cause_json(invocation, harvest, cause));
  for (const GraphFinding& finding : harvest.findings) findings.push_back(finding_json(finding));
  for (const auto& cell : harvest.cells) cells.push_back(cell_json(cell));
  for (const auto& [because, graphs] : harvest.obstacles)
    unscored.push_back({{"because", because}, {"graphs", graphs}});
  return {{"graphs", harvest.graphs},
          {"complete", harvest.complete},
          {"conforms", harvest.conforms()},
          {"totals", counts_json(counts_of(harvest))},
          {"unsorted", harvest.unsorted},
          {"causes", causes},
          {"findings", findings},
          {"cells", cells},
          {"unscored", unscored}};
}

void write_json(const GraphReport& report, std::ostream& out) {
  Document document(out);
  document.member("schema", schema_version);
  document.member("kind", "graphs");
  document.member("tool", tool_json(report.invocation));
  document.member("standard", standard_json());
  document.member("backend", backend_json(report.invocation, report.backend));
  document.member("seed", report.plan.seed);
  const Json graphs = graphs_json(report.invocation, report.harvest);
  for (const auto& [key, value] : graphs.items()) document.member(key, value);
  document.member("run", run_json(report.run, report.harvest.graphs));
}

void write_graphs(const Invocation& invocation, const GraphHarvest& harvest, Colour colour, std::ostream& out,
                  std::size_t most_causes) {
  out << harvest.graphs << " graphs" << (harvest.complete ? "" : ", interrupted") << "; "
      << in_state(harvest, State::pass) << " pass, " << in_state(harvest, State::unscored)
      << " have no single right answer, " << in_state(harvest, State::unsupported) << " are not taken\n";
  const std::size_t shown = std::min(most_causes, harvest.causes.size());
  for (std::size_t i = 0; i < shown; ++i) write_graph_cause(invocation, harvest, i, colour, out);
  write_more(harvest.causes.size() - shown, out);
  if (harvest.unsorted > 0) out << harvest.unsorted << " graphs that fail were not looked into: the time was up\n";
}

void write_session(const GraphReport& report, std::string_view file, Colour colour, std::ostream& out,
                   std::size_t most_causes) {
  const GraphHarvest& harvest = report.harvest;
  out << "assay " << report.invocation.tool_version << " (standard ONNX " << standard_release << ")  fuzz --graphs "
      << report.backend.backend << (report.backend.version.empty() ? "" : " ") << report.backend.version << ", "
      << report.invocation.configuration() << "\n  seed " << report.plan.seed << ": ";
  write_graphs(report.invocation, harvest, colour, out, most_causes);
  const std::string where = file.empty() ? "no report written" : std::string(file) + " written";
  if (harvest.conforms())
    out << "nothing found; " << where << "\n";
  else
    out << painted("found:", colour) << " " << harvest.findings.size() << " graphs in " << harvest.causes.size()
        << " causes; " << (report.folder.empty() ? "" : report.folder + "/ holds the examples; ") << where
        << ". That is the finding about the backend, not a breakdown of assay.\n";
}

}  // namespace assay::reports
