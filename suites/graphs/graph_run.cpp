// SPDX-License-Identifier: Apache-2.0
#include "suites/graphs/graph_run.h"

#include "reference/onnx_io.h"
#include "suites/campaign/signature.h"

#include <array>
#include <future>
#include <regex>

namespace assay::suites {
namespace {

using oracles::GraphVerdict;
using oracles::State;

constexpr std::array<std::string_view, 4> levels{"all", "extended", "basic", "none"};
constexpr const char* disabling = "disable";  // the option by which a backend leaves a rewriting out

// Runs under a setting, as `cure` words it.
bool is_right_with(const std::string& setting, Request request, const IsRight& is_right) {
  const std::size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals), value = setting.substr(equals + 1);
  if (name == "optimization")
    request.optimization = value;
  else
    request.options[name] = value;
  return is_right(request);
}

IsRight judged_right(const oracles::GraphJudge& judge, Backend& backend) {
  return [&](const Request& request) { return judge.judge(backend.run(request)).state == State::pass; };
}

// A backend's words without the names of values, which another graph has not: "(n_q)" is "()", ": n." is ": .".
std::string without_names(const std::string& words) {
  static const std::regex name(R"re(([('"]|: )[a-z][a-z0-9_]{0,9}([)'".]))re");
  return std::regex_replace(words, name, "$1$2");
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

std::string cure_of(const Request& request, const Description& backend, const IsRight& is_right) {
  std::string level;
  for (const std::string_view each : levels)
    if (each != request.optimization && is_right_with("optimization=" + std::string(each), request, is_right)) {
      level = "optimization=" + std::string(each);
      break;
    }
  const auto passes = backend.options.find(disabling);
  if (passes == backend.options.end() || request.options.contains(disabling)) return level;
  for (const std::string& pass : passes->second)
    if (const std::string setting = std::string(disabling) + "=" + pass; is_right_with(setting, request, is_right))
      return setting;
  return level;
}

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
  request.fresh = false;
  const std::string cure = cure_of(request, backend.describe(), judged_right(judge, backend));
  alone.detail += cure.empty() ? "; wrong with optimization=none as well" : "; right with " + cure;
  alone.cure = cure;
  return alone;
}

void in_parallel(WorkerPool& pool, const std::function<void(Backend&)>& work) {
  std::vector<std::future<void>> others;
  for (std::size_t job = 1; job < pool.size(); ++job)
    others.push_back(std::async(std::launch::async, work, std::ref(pool.member(job))));
  work(pool.first());
  for (std::future<void>& other : others) other.get();
}

GraphSymptom symptom_of(const GraphVerdict& verdict) {
  // How far off a value is depends on the data.
  if (verdict.state == State::fail || verdict.state == State::below) return {State::fail, "", verdict.cure};
  return {verdict.state, reason_pattern(without_names(verdict.detail.substr(0, verdict.detail.rfind("; ")))),
          verdict.cure};
}

bool has_symptom(const GraphCase& graph, const GraphSymptom& symptom, Backend& backend, const RunOptions& run_options) {
  const oracles::GraphJudge judge(graph, 1);
  if (!judge.obstacle().empty()) return false;
  const Request request = request_of(graph, judge.leaves(), run_options);
  GraphVerdict verdict = judge.judge(backend.run(request));
  verdict.detail += "; ";
  verdict.cure = symptom.cure;
  if (symptom_of(verdict) != symptom) return false;
  const std::string cure = symptom.cure.value_or("");
  return is_right_with(cure.empty() ? "optimization=none" : cure, request, judged_right(judge, backend)) !=
         cure.empty();
}

}  // namespace assay::suites
