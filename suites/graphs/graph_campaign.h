// SPDX-License-Identifier: Apache-2.0
// A campaign over drawn graphs: what is wrong is made small and sorted into causes. Everything is a function of the
// seed, the number of graphs and the backend, not of jobs; a budget decides the number, and how small the last ones
// get.
#pragma once

#include "oracles/graphs/graph_judge.h"
#include "suites/campaign/campaign.h"
#include "suites/graphs/graph_run.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::suites {

struct GraphPlan {
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> graphs;
  std::optional<std::chrono::seconds> budget;  // three quarters of it run new graphs
};

struct GraphFinding {
  std::uint64_t index = 0;
  std::string line, found;             // made small, and as it was drawn
  oracles::GraphVerdict verdict;       // of the small one
  std::vector<std::string> operators;  // of its steps
};
std::vector<std::string> operators_of(const GraphCase& graph);

// Findings that fail alike; where it is by values, each holds the operators of the smallest.
struct GraphCause {
  GraphSymptom symptom;
  std::vector<std::string> operators;
  std::vector<std::size_t> members;  // findings, the smallest first
};
// "Pad > MaxPool: wrong values; right with disable=Pad_Fusion"
std::string in_words(const GraphCause& cause);

// A pattern beside one thing that a rewriting may forget.
struct GraphCell {
  Int graphs = 0, judged = 0, wrong = 0;
};

struct GraphHarvest {
  std::uint64_t graphs = 0;  // that were drawn
  bool complete = false;     // no interrupt ended it
  std::map<oracles::State, Int> states;
  std::map<std::string, Int> obstacles;  // of graphs without a single right answer, in general words
  std::map<std::pair<std::string_view, std::string_view>, GraphCell> cells;  // by pattern, then hazard or ""
  std::vector<GraphFinding> findings;                                        // by index
  std::vector<GraphCause> causes;                                            // the gravest first
  Int unsorted = 0;  // graphs that fail and were not looked into, the budget being used up

  bool conforms() const { return causes.empty() && unsorted == 0; }
};

// Sorts findings into causes, small ones first: a graph that holds the operators of a smaller one and fails alike has
// the same cause. So has one that is refused in the same words.
void sort_into_causes(GraphHarvest& harvest);

// Throws InputError where a backend answers types and shapes alone: of a graph the values are judged.
void expect_values(const Description& backend);
GraphHarvest run_graphs(const GraphPlan& plan, WorkerPool& pool, const RunOptions& run_options);

}  // namespace assay::suites
