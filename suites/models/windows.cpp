// SPDX-License-Identifier: Apache-2.0
#include "suites/models/windows.h"

#include "oracles/graphs/exactness.h"
#include "suites/campaign/signature.h"
#include "suites/graphs/exact_data.h"
#include "suites/graphs/graph_run.h"
#include "suites/planning/suite.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace assay::suites {
namespace {

constexpr std::size_t longest_name = 200;    // as in ModelNode
constexpr Int most_listed = 4096;            // numbers of a list that a line writes out
constexpr Int most_elements = Int{1} << 24;  // of a value

// Returns the zero point of a quantizer, the first where there are several.
Int zero_point_of(const std::vector<WindowOperand>& operands) {
  const bool is_given = operands.size() > 2 && operands[2].tensor && operands[2].tensor->elements() > 0 &&
                        is_integer(operands[2].tensor->dtype());
  return is_given ? static_cast<Int>(oracles::number_in(*operands[2].tensor, 0)) : 0;
}

}  // namespace

WindowCutter::WindowCutter(const GraphModel& graph) {
  for (std::size_t at = 0; at < graph.nodes.size(); ++at)
    for (const std::string& value : taken_by(graph.nodes[at])) takers_[value].push_back(at);
  for (const std::string& output : graph.outputs) takers_[output].push_back(graph.nodes.size());
}

void WindowCutter::add(std::size_t at, const GraphNode& node, const Node& arrived,
                       const std::vector<WindowOperand>& operands) {
  Case c;
  c.version = node.definition->version;
  c.opset = node.opset;
  c.ir_version = c.opset < 21 ? 8 : 10;
  c.node = arrived;
  round_slope(c);
  if (!oracles::may_be_exact(Call(*node.definition, c.node)) || !c.node.outputs.empty()) return;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto& [given, is_constant] = operands[i];
    if (!given) continue;
    const Tensor& tensor = *given;
    const Parameter& input = node.definition->inputs[i];
    const bool is_bytes = is_quantizer(c) && i == 0 && is_integer(tensor.dtype());
    const bool is_list = !is_bytes && (!input.reads_as.empty() || !is_float(tensor.dtype()) || is_bound(c, i));
    if (tensor.elements() > (is_list ? most_listed : most_elements) || tensor.elements() == 0) return;
    if (tensor.dtype() == DType::string) return;
    const std::string seed = std::to_string(i + 1);
    c.sources[input.name] = {is_list       ? stated(tensor)
                             : is_bytes    ? exact_bytes(tensor.type(), zero_point_of(operands), is_constant, seed)
                             : is_constant ? exact_constant(c, i, tensor.shape(), seed)
                                           : Recipe{"small", seed},
                             is_constant};
  }
  for (auto& [name, input] : c.node.inputs) input.data.reset();  // the source has them
  for (const std::string& output : node.outputs)
    if (!output.empty()) givers_[output] = at;
  const bool is_large = suites::is_large(moved_bytes(c));
  members_.emplace(
      at, Member{printable(node.name, longest_name), node.body, std::move(c), node.inputs, node.outputs, is_large});
}

// The last member before a window, in the same body, that gives a part of it something.
std::optional<std::size_t> WindowCutter::next_of(const Members& inside) const {
  std::optional<std::size_t> last;
  for (const auto& [at, member] : inside)
    for (const std::string& value : member->operands)
      if (const auto giver = givers_.find(value);
          giver != givers_.end() && !inside.contains(giver->second) && members_.at(giver->second).body == member->body)
        last = std::max(last.value_or(0), giver->second);
  return last;
}

bool WindowCutter::is_seen_outside(const std::string& value, const Members& inside) const {
  const auto takers = takers_.find(value);
  return takers == takers_.end() ||
         std::ranges::any_of(takers->second, [&](std::size_t taker) { return !inside.contains(taker); });
}

std::optional<GraphCase> WindowCutter::graph_of(const Members& inside) const {
  GraphCase graph;
  graph.opset = inside.begin()->second->c.opset;
  graph.ir_version = inside.begin()->second->c.ir_version;
  std::map<std::string, std::string> names;
  std::set<std::string> given;
  for (const auto& [at, member] : inside) given.insert(member->results.begin(), member->results.end());
  for (const auto& [at, member] : inside)
    for (std::size_t i = 0; i < member->operands.size(); ++i) {
      const std::string& value = member->operands[i];
      if (value.empty() || given.contains(value) || names.contains(value)) continue;
      const std::string& input = member->c.definition().inputs[i].name;
      Source source = member->c.sources.at(input);
      const std::string& family = source.recipe.family;
      if (family == "small" || family.starts_with("sparse") || family.starts_with("around"))
        source.recipe.argument = std::to_string(graph.leaves.size() + 1);
      const std::string name = names[value] = value_name(graph.leaves.size());
      graph.leaves.push_back({name, member->c.node.inputs.at(input).type, source});
    }
  std::size_t next = graph.leaves.size();
  for (const auto& [at, member] : inside) {
    GraphStep step{member->c, {}, {}};
    for (const std::string& value : member->operands) step.operands.push_back(value.empty() ? "" : names.at(value));
    for (const std::string& value : member->results) {
      step.results.push_back(value.empty() ? "" : names[value] = value_name(next++));
      if (!value.empty() && is_seen_outside(value, inside)) graph.outputs.push_back(step.results.back());
    }
    graph.steps.push_back(std::move(step));
  }
  // Reads its line back, which says all there is.
  Result<GraphCase> read = parse_graph_case(line(graph));
  return read ? std::optional(*std::move(read)) : std::nullopt;
}

std::vector<ModelWindow> WindowCutter::windows() const {
  std::map<std::size_t, std::vector<ModelWindow>> by_size;
  std::map<std::string, std::pair<std::size_t, std::size_t>> known;
  for (const auto& [end, member] : members_) {
    Members inside{{end, &member}};
    while (inside.size() < most_nodes_of_a_window) {
      const std::optional<std::size_t> next = next_of(inside);
      if (!next) break;
      inside.emplace(*next, &members_.at(*next));
      const std::optional<GraphCase> graph = graph_of(inside);
      if (!graph) continue;
      if (!oracles::may_be_exact(*graph)) break;
      const std::string text = line(*graph);
      std::vector<ModelWindow>& like = by_size[inside.size()];
      if (const auto [found, is_new] = known.try_emplace(text, inside.size(), like.size()); !is_new) {
        ++by_size[found->second.first][found->second.second].count;
        continue;
      }
      ModelWindow& window = like.emplace_back(ModelWindow{text, {}});
      for (const auto& [at, each] : inside) {
        window.nodes.push_back(each->name);
        window.is_large |= each->is_large;
      }
    }
  }
  std::vector<ModelWindow> all;
  for (auto& [size, some] : by_size) std::ranges::move(some, std::back_inserter(all));
  return all;
}

namespace {

using oracles::State;

// Draws 1 and -1 for what goes in, where larger numbers need too many bits.
GraphCase with_signs_alone(GraphCase graph) {
  for (GraphLeaf& leaf : graph.leaves)
    if (leaf.source.recipe.family == "small") leaf.source.recipe.family = "sign";
  return graph;
}

WindowResult result_of(const ModelWindow& window, Backend& backend, const RunOptions& run_options) {
  const GraphCase graph = *parse_graph_case(window.line);
  WindowResult result{window, {}};
  result.verdict = run_graph(graph, backend, run_options);
  const auto says = [&](const char* words) { return result.verdict.detail.find(words) != std::string::npos; };
  if (result.verdict.state != State::unscored || !(says(" bits of ") || says(" is too large for "))) return result;
  const GraphCase gentler = with_signs_alone(graph);
  result.window.line = line(gentler);
  result.verdict = run_graph(gentler, backend, run_options);
  return result;
}

bool holds_any(const ModelWindow& window, const std::vector<std::set<std::string>>& groups) {
  const std::set<std::string> own(window.nodes.begin(), window.nodes.end());
  return std::ranges::any_of(groups,
                             [&](const std::set<std::string>& group) { return std::ranges::includes(own, group); });
}

}  // namespace

std::vector<WindowResult> run_windows(const std::vector<ModelWindow>& windows, const std::set<std::string>& wrong_alone,
                                      WorkerPool& pool, const RunOptions& run_options) {
  std::vector<std::set<std::string>> broken;
  for (const std::string& node : wrong_alone) broken.push_back({node});
  std::vector<WindowResult> results;
  Progress progress;
  progress.stage = "windows of the model";
  progress.total = windows.size();
  for (std::size_t first = 0; first < windows.size();) {
    std::size_t end = first;  // those of one size, which are smaller than what follows
    while (end < windows.size() && windows[end].nodes.size() == windows[first].nodes.size()) ++end;
    std::vector<const ModelWindow*> open;
    for (; first < end; ++first)
      if (!holds_any(windows[first], broken)) open.push_back(&windows[first]);
    std::vector<WindowResult> some(open.size());
    std::atomic<std::size_t> next = 0;
    std::mutex large_window;  // one at a time
    in_parallel(pool, [&](Backend& backend) {
      for (std::size_t i; (i = next++) < open.size() && !(run_options.stop && *run_options.stop);) {
        std::unique_lock<std::mutex> turn(large_window, std::defer_lock);
        if (open[i]->is_large) turn.lock();
        some[i] = result_of(*open[i], backend, run_options);
      }
    });
    for (WindowResult& each : some) {
      if (each.window.nodes.empty()) continue;  // an interrupt cut it off
      if (is_finding(each.verdict.state)) broken.emplace_back(each.window.nodes.begin(), each.window.nodes.end());
      results.push_back(std::move(each));
    }
    progress.done = end;
    if (run_options.progress) run_options.progress(progress);
  }
  return results;
}

}  // namespace assay::suites
