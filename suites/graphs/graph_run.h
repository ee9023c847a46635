// SPDX-License-Identifier: Apache-2.0
// GraphRun: what a backend makes of graphs that have one right answer.
#pragma once

#include "oracles/graphs/graph_judge.h"
#include "suites/campaign/campaign.h"

#include <functional>
#include <optional>
#include <string>

namespace assay::suites {

// Runs a graph and judges what comes back. What breaks is run again alone, first in a fresh process, and that decides;
// where it does so again, it is run at lower levels of optimization and, where the backend can leave one out, without
// each rewriting, to say which makes it wrong. Throws BrokenPromise where our own hands disagree about the answer.
oracles::GraphVerdict run_graph(const GraphCase& graph, Backend& backend, const RunOptions& run_options);

// Finds the rewriting without which a model is right, else the highest level of optimization at which it is: a setting
// as "disable=Pad_Fusion" or "optimization=basic"; empty where it is wrong at every level. `is_right` runs a request.
using IsRight = std::function<bool(const Request&)>;
std::string cure_of(const Request& request, const Description& backend, const IsRight& is_right);

// Lets every session of a pool work at the same time; ends when all have.
void in_parallel(WorkerPool& pool, const std::function<void(Backend&)>& work);

// Tells what makes a graph wrong, coarse enough that a smaller one still has it.
struct GraphSymptom {
  oracles::State state = oracles::State::pass;
  std::string reason;  // of a refusal or an error, without its numbers
  std::optional<std::string> cure;
  auto operator<=>(const GraphSymptom&) const = default;
};
GraphSymptom symptom_of(const oracles::GraphVerdict& verdict);

// Tells whether a graph is wrong in the same way. Looks once, in no fresh process.
bool has_symptom(const GraphCase& graph, const GraphSymptom& symptom, Backend& backend, const RunOptions& run_options);

}  // namespace assay::suites
