// SPDX-License-Identifier: Apache-2.0
#include "suites/graphs/graph_run.h"

#include "reference/onnx_io.h"
#include "suites/campaign/signature.h"

#include <array>

namespace assay::suites {
namespace {

using oracles::GraphVerdict;
using oracles::State;

// Says at which level of optimization what is wrong at the one asked for is right.
std::string blamed(const oracles::GraphJudge& judge, Request request, Backend& backend) {
  static constexpr std::array<std::string_view, 4> levels{"all", "extended", "basic", "none"};
  for (const std::string_view level : levels) {
    if (level == request.optimization) continue;
    request.optimization = level;
    if (judge.judge(backend.run(request)).state == State::pass)
      return "; right with optimization=" + std::string(level);
  }
  return "; wrong with optimization=none as well";
}

Request request_of(const GraphCase& graph, const GraphData& leaves, const RunOptions& run_options) {
  Request request;
  request.id = case_id(line(graph));
  request.model = model_of(graph, leaves);
  request.sets.push_back(graph_inputs(graph, leaves));
  request.threads = run_options.settings.threads;
  request.optimization = run_options.settings.optimization;
  request.options = run_options.options;
  return request;
}

}  // namespace

GraphVerdict run_graph(const GraphCase& graph, Backend& backend, const RunOptions& run_options) {
  const oracles::GraphJudge judge(graph, 1);
  if (!judge.obstacle().empty()) return {State::unscored, judge.obstacle()};
  Request request = request_of(graph, judge.leaves(), run_options);
  const GraphVerdict first = judge.judge(backend.run(request));
  if (!is_finding(first.state)) return first;
  if (std::string why = judge.confirm(); !why.empty()) return {State::unscored, std::move(why)};
  request.fresh = true;
  GraphVerdict alone = judge.judge(backend.run(request));
  if (!is_finding(alone.state))
    return {State::unscored, "right alone in a fresh process, but among others: " + first.detail};
  alone.detail += blamed(judge, request, backend);
  return alone;
}

}  // namespace assay::suites
