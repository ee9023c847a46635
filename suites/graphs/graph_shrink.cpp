// SPDX-License-Identifier: Apache-2.0
#include "suites/graphs/graph_shrink.h"

#include "reference/sequence.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace assay::suites {
namespace {

// Works out every value of a graph.
GraphData all_values(const GraphCase& graph) {
  GraphData all = leaves_of(graph, 0);
  evaluate(graph, all, 1, [&](const GraphStep& step, const GraphData& values) {
    for (const std::string& result : step.results)
      if (const auto found = values.find(result); found != values.end()) all.insert(*found);
  });
  return all;
}

// Counts what a smaller graph has less of, the most telling first.
auto size_of(const GraphCase& graph) {
  std::size_t words = 0;
  Int elements = 0, extents = 0;
  for (const GraphStep& step : graph.steps) words += step.c.node.attributes.size() + step.operands.size();
  for (const GraphLeaf& leaf : graph.leaves) {
    elements += volume(leaf.type.shape);
    for (const Int each : leaf.type.shape) extents += each;
  }
  return std::tuple(graph.steps.size(), graph.outputs.size(), words, elements, extents, line(graph).size());
}

class Shrinking {
 public:
  Shrinking(GraphCase graph, const std::function<bool(const GraphCase&)>& still_fails, int most_tries)
      : graph_(std::move(graph)), still_fails_(still_fails), tries_left_(most_tries) {}

  GraphCase run() && {
    for (bool is_smaller = true; is_smaller;) {
      is_smaller = false;
      for (const auto part : {&Shrinking::outputs, &Shrinking::nodes_behind, &Shrinking::nodes_before,
                              &Shrinking::nodes_between, &Shrinking::words, &Shrinking::extents, &Shrinking::data})
        while ((this->*part)()) is_smaller = true;
    }
    return std::move(graph_);
  }

 private:
  // Goes on with a graph where it is smaller, legal and still fails.
  bool accept(const GraphCase& candidate) {
    if (tries_left_ <= 0) return false;
    Result<GraphCase> read = parse_graph_case(line(tidied(candidate)));
    if (!read || size_of(*read) >= size_of(graph_)) return false;
    --tries_left_;
    if (!still_fails_(*read)) return false;
    graph_ = *std::move(read);
    return true;
  }

  bool outputs() {
    if (graph_.outputs.size() < 2) return false;
    const std::vector<std::string> all = graph_.outputs;
    for (const std::string& each : all) {
      GraphCase fewer = graph_;
      fewer.outputs = {each};
      if (accept(fewer)) return true;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      GraphCase fewer = graph_;
      fewer.outputs.erase(fewer.outputs.begin() + static_cast<std::ptrdiff_t>(i));
      if (accept(fewer)) return true;
    }
    return false;
  }

  // Ends with a value in the middle.
  bool nodes_behind() {
    for (const GraphStep& step : std::vector(graph_.steps))
      for (const std::string& each : step.results) {
        GraphCase shorter = graph_;
        shorter.outputs = {each};
        if (!each.empty() && accept(shorter)) return true;
      }
    return false;
  }

  // Gives the graph what a few of its first nodes give, or what one of its nodes gives.
  bool nodes_before() {
    const GraphData values = all_values(graph_);
    for (std::size_t count = graph_.steps.size() - 1; count > 0; --count)
      if (accept(without(0, count, values))) return true;
    for (std::size_t at = 0; at < graph_.steps.size(); ++at)
      if (accept(without(at, at + 1, values))) return true;
    return false;
  }
  GraphCase without(std::size_t first, std::size_t end, const GraphData& values) const {
    GraphCase out = graph_;
    for (std::size_t at = first; at < end; ++at)
      for (const std::string& each : out.steps[at].results) {
        const bool is_output = std::ranges::find(out.outputs, each) != out.outputs.end();
        if (is_output && out.outputs.size() > 1) std::erase(out.outputs, each);
        const Tensor& tensor = values.find(each)->second;
        out.leaves.push_back({each, tensor.type(), {stated(tensor), false}});
      }
    out.steps.erase(out.steps.begin() + static_cast<std::ptrdiff_t>(first),
                    out.steps.begin() + static_cast<std::ptrdiff_t>(end));
    return out;
  }

  // Takes what a node takes for what it gives, where the types are the same.
  bool nodes_between() {
    const GraphData values = all_values(graph_);
    for (std::size_t at = 0; at < graph_.steps.size(); ++at)
      for (const std::string& operand : graph_.steps[at].operands) {
        if (operand.empty() ||
            values.find(operand)->second.type() != values.find(graph_.steps[at].results.front())->second.type())
          continue;
        GraphCase fewer = graph_;
        const std::string result = fewer.steps[at].results.front();
        fewer.steps.erase(fewer.steps.begin() + static_cast<std::ptrdiff_t>(at));
        for (GraphStep& step : fewer.steps) std::ranges::replace(step.operands, result, operand);
        std::ranges::replace(fewer.outputs, result, operand);
        if (accept(fewer)) return true;
      }
    return false;
  }

  // Leaves out attributes and optional operands.
  bool words() {
    for (std::size_t at = 0; at < graph_.steps.size(); ++at) {
      for (const auto& [name, value] : Attributes(graph_.steps[at].c.node.attributes)) {
        GraphCase fewer = graph_;
        fewer.steps[at].c.node.attributes.erase(name);
        if (accept(fewer)) return true;
      }
      if (graph_.steps[at].operands.size() < 2) continue;
      GraphCase fewer = graph_;
      fewer.steps[at].operands.pop_back();
      if (accept(fewer)) return true;
    }
    return false;
  }

  // Lowers every extent of a number, or one extent of one value.
  bool extents() {
    std::set<Int> all;
    for (const GraphLeaf& leaf : graph_.leaves)
      if (is_float(leaf.type.dtype)) all.insert(leaf.type.shape.begin(), leaf.type.shape.end());
    for (const Int from : all)
      for (const Int to : {Int{1}, Int{2}, from / 2, from - 1})
        if (to > 0 && to < from && accept(with_extent(from, to))) return true;
    for (std::size_t at = 0; at < graph_.leaves.size(); ++at)
      for (std::size_t axis = 0; axis < graph_.leaves[at].type.shape.size(); ++axis)
        for (const Int to : {Int{1}, graph_.leaves[at].type.shape[axis] - 1}) {
          if (to <= 0) continue;
          GraphCase smaller = graph_;
          resize(smaller.leaves[at], axis, to);
          if (accept(smaller)) return true;
        }
    return false;
  }
  GraphCase with_extent(Int from, Int to) const {
    GraphCase out = graph_;
    for (GraphLeaf& leaf : out.leaves) {
      for (std::size_t axis = 0; axis < leaf.type.shape.size(); ++axis)
        if (leaf.type.shape[axis] == from) resize(leaf, axis, to);
      if (leaf.type.dtype != DType::i64 || leaf.source.recipe.family != "values") continue;
      Tensor list = fill(leaf.source.recipe, leaf.type);
      std::ranges::replace(list.as<std::int64_t>(), from, to);
      leaf.source.recipe = stated(list);
    }
    return out;
  }
  // Keeps the data that are left.
  static void resize(GraphLeaf& leaf, std::size_t axis, Int to) {
    const Recipe& recipe = leaf.source.recipe;
    const Tensor old = recipe.family == "values" ? fill(recipe, leaf.type) : Tensor();
    leaf.type.shape[axis] = to;
    if (recipe.family != "values" || volume(leaf.type.shape) > old.elements()) return;
    std::string kept = recipe.argument;
    std::size_t end = 0;
    for (Int i = 0; i < volume(leaf.type.shape) && end != kept.npos; ++i) end = kept.find(',', end + (i > 0 ? 1 : 0));
    leaf.source.recipe.argument = kept.substr(0, end);
  }

  bool data() {
    static const std::vector<Recipe> plain{
        {"const", "0"}, {"const", "1"}, {"iota", "1"}, {"sign", "1"}, {"small", "1"}};
    for (std::size_t at = 0; at < graph_.leaves.size(); ++at) {
      const Recipe own = graph_.leaves[at].source.recipe;
      if (!is_float(graph_.leaves[at].type.dtype)) continue;
      const auto rank = std::ranges::find(plain, own) - plain.begin();
      for (std::ptrdiff_t i = 0; i < rank; ++i) {
        GraphCase plainer = graph_;
        plainer.leaves[at].source.recipe = plain[static_cast<std::size_t>(i)];
        if (accept_plainer(plainer)) return true;
      }
    }
    return false;
  }
  // Accepts plainer data, whose line may be longer.
  bool accept_plainer(const GraphCase& candidate) {
    if (tries_left_-- <= 0) return false;
    Result<GraphCase> read = parse_graph_case(line(candidate));
    if (!read || !still_fails_(*read)) return false;
    graph_ = *std::move(read);
    return true;
  }

  GraphCase graph_;
  const std::function<bool(const GraphCase&)>& still_fails_;
  int tries_left_;
};

}  // namespace

GraphCase shrunk(const GraphCase& graph, const std::function<bool(const GraphCase&)>& still_fails, int most_tries) {
  return Shrinking(graph, still_fails, most_tries).run();
}

}  // namespace assay::suites
