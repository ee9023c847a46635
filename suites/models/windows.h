// SPDX-License-Identifier: Apache-2.0
// Windows: a few nodes of somebody's model that feed one another, as graph cases with exact data, so that a fusion is
// met as the model triggers it.
#pragma once

#include "oracles/graphs/graph_judge.h"
#include "suites/campaign/campaign.h"
#include "suites/models/evaluation.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay::suites {

inline constexpr std::size_t most_nodes_of_a_window = 6;

struct ModelWindow {
  std::string line;                // of a GraphCase
  std::vector<std::string> nodes;  // by name, in their order
  Int count = 1;                   // windows of the model that have this line
  bool is_large = false;           // some node is, of suite.h
};

// What arrives at an input; null where it is left out. Of a constant, nothing that goes into the model changes it.
struct WindowOperand {
  const Tensor* tensor = nullptr;
  bool is_constant = false;
};

// Takes the nodes of a model in their order, then cuts windows. Attributes, types, extents and lists are the model's
// own; floats are drawn, and a slope that is no power of two becomes the next one.
class WindowCutter {
 public:
  explicit WindowCutter(const GraphModel& graph);

  // Notes a node, by its place in the model, with the types and the lists that arrive at it.
  void add(std::size_t at, const GraphNode& node, const Node& arrived, const std::vector<WindowOperand>& operands);

  // Two to six nodes each, those of few nodes first; every line once. A window that may round whatever its data is not
  // among them.
  std::vector<ModelWindow> windows() const;

 private:
  // A node that may be in a window.
  struct Member {
    std::string name, body;
    Case c;  // sources: of what is drawn or kept where nothing in the window gives it
    std::vector<std::string> operands, results;
    bool is_large;
  };
  using Members = std::map<std::size_t, const Member*>;

  std::optional<std::size_t> next_of(const Members& inside) const;
  std::optional<GraphCase> graph_of(const Members& inside) const;
  bool is_seen_outside(const std::string& value, const Members& inside) const;

  std::map<std::size_t, Member> members_;                   // by place in the model
  std::map<std::string, std::size_t> givers_;               // of values: a member
  std::map<std::string, std::vector<std::size_t>> takers_;  // of values: any node; of an output, the end
};

struct WindowResult {
  ModelWindow window;
  oracles::GraphVerdict verdict;
};

// Runs windows, those of few nodes first. Left out are those with a node that is wrong alone, by name, or with all the
// nodes of a smaller window that is wrong.
std::vector<WindowResult> run_windows(const std::vector<ModelWindow>& windows, const std::set<std::string>& wrong_alone,
                                      WorkerPool& pool, const RunOptions& run_options);

}  // namespace assay::suites
