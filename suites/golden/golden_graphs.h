// SPDX-License-Identifier: Apache-2.0
// Golden vectors of graphs: drawn graphs that have one right answer to the bit, however an optimiser rewrites them
// (oracles/graphs/exactness.h). A device is right where its outputs are equal to those written, the sign of a zero
// apart.
//
//   graphs/test_graph_0a1b2c3d4e5f6071/
//     model.onnx
//     test_data_set_0/  input_N.pb  output_N.pb
//     case.json         line, id
#pragma once

#include "suites/golden/golden.h"
#include "suites/graphs/graph_campaign.h"
#include "suites/workers/vector_folder.h"

#include <filesystem>

namespace assay::suites {

// Names the folder of a graph: "test_graph_0a1b2c3d4e5f6071", the end of it the head of the line's id.
std::string golden_name(const GraphCase& graph);

// Draws so many graphs and keeps those with one right answer to the bit, which kernels and oracle agree on.
std::vector<GraphCase> exact_graphs(std::uint64_t seed, std::uint64_t drawn, int jobs);

std::vector<GoldenFile> golden_files(const GraphCase& graph);

// Holds the verdicts on what a device brought back of graphs (golden_outputs.h), and every file that is not as it
// should be.
struct RecordedGraphs {
  GraphHarvest harvest;
  std::vector<FileProblem> problems;
};
// Nothing is run again, so no graph is made small and no rewriting is named.
RecordedGraphs judged_graphs(const std::vector<GraphCase>& graphs, const std::filesystem::path& answers, int jobs);

}  // namespace assay::suites
