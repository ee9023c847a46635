// SPDX-License-Identifier: Apache-2.0
// GraphRun: what a backend makes of graphs that have one right answer.
#pragma once

#include "oracles/graphs/graph_judge.h"
#include "suites/campaign/campaign.h"

#include <string>

namespace assay::suites {

// Runs a graph and judges what comes back. What breaks is run again alone, first in a fresh process, and that decides;
// where it does so again, the optimization levels below say whether a rewriting of the graph did it. Throws
// BrokenPromise where our own hands disagree about the answer.
oracles::GraphVerdict run_graph(const GraphCase& graph, Backend& backend, const RunOptions& run_options);

}  // namespace assay::suites
