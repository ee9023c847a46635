// SPDX-License-Identifier: Apache-2.0
#include "suites/golden/golden_graphs.h"

#include "generators/graphs/graph_drawing.h"
#include "reference/parallel.h"
#include "suites/campaign/signature.h"
#include "suites/golden/golden_outputs.h"
#include "suites/graphs/graph_folder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <set>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

bool is_exact(const GraphCase& graph) {
  const oracles::GraphJudge judge(graph, 1);
  return judge.is_exact() && judge.confirm().empty();
}

// One graph, and what came back of it.
struct Judged {
  oracles::GraphVerdict verdict;
  std::vector<FileProblem> problems;
};

Judged judged(const GraphCase& graph, const fs::path& answers) {
  const oracles::GraphJudge judge(graph, 1);
  Recording recording{golden_name(graph), {}, 1};
  for (const std::string& output : graph.outputs) recording.types.push_back(judge.right(output).dtype());
  RecordedAnswers saved = saved_outcome(answers, std::move(recording));
  oracles::GraphVerdict verdict = judge.judge(saved.outcome);
  verdict.cure = std::nullopt;
  return {std::move(verdict), std::move(saved.problems)};
}

}  // namespace

std::string golden_name(const GraphCase& graph) { return "test_graph_" + case_id(line(graph)).substr(0, digits_of_id); }

std::vector<GraphCase> exact_graphs(std::uint64_t seed, std::uint64_t drawn, int jobs) {
  std::vector<std::optional<GraphCase>> all(drawn);
  assay::in_parallel(all.size(), static_cast<std::size_t>(jobs), [&](std::size_t index, std::size_t) {
    GraphCase graph = generators::draw_graph(seed, index).graph;
    if (is_exact(graph)) all[index] = std::move(graph);
  });
  std::vector<GraphCase> kept;
  std::set<std::string> names;
  for (std::optional<GraphCase>& each : all)
    if (each && names.insert(golden_name(*each)).second) kept.push_back(*std::move(each));
  return kept;
}

std::vector<GoldenFile> golden_files(const GraphCase& graph) {
  const std::string folder = "graphs/" + golden_name(graph) + "/";
  std::vector<GoldenFile> files;
  for (auto& [path, bytes] : files_of(graph)) files.push_back({folder + path, std::move(bytes)});
  const nlohmann::ordered_json json{{"assay", 1}, {"line", line(graph)}, {"id", case_id(line(graph))}};
  constexpr int indent = 1;
  files.push_back({folder + "case.json", json.dump(indent) + "\n"});
  return files;
}

RecordedGraphs judged_graphs(const std::vector<GraphCase>& graphs, const fs::path& answers, int jobs) {
  std::vector<Judged> all(graphs.size());
  assay::in_parallel(graphs.size(), static_cast<std::size_t>(jobs),
                     [&](std::size_t i, std::size_t) { all[i] = judged(graphs[i], answers); });
  RecordedGraphs out;
  out.harvest.complete = true;
  out.harvest.graphs = graphs.size();
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    std::ranges::move(all[i].problems, std::back_inserter(out.problems));
    ++out.harvest.states[all[i].verdict.state];
    if (!is_finding(all[i].verdict.state)) continue;
    const std::string own = line(graphs[i]);
    out.harvest.findings.push_back({i, own, own, std::move(all[i].verdict), operators_of(graphs[i])});
  }
  sort_into_causes(out.harvest);
  return out;
}

}  // namespace assay::suites
