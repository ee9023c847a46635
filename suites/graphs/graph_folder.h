// SPDX-License-Identifier: Apache-2.0
// Writes a graph into a folder: model.onnx, its inputs and right outputs in the layout of ONNX's node tests, and
// repro.py, which needs onnx, numpy and the runtime alone.
#pragma once

#include "oracles/graphs/graph_judge.h"
#include "suites/campaign/provenance.h"

#include <filesystem>
#include <map>
#include <string>

namespace assay::suites {

// Makes model.onnx, test_data_set_0/input_N.pb and output_N.pb, by path.
std::map<std::string, std::string> files_of(const GraphCase& graph);

void write_graph(const std::filesystem::path& folder, const GraphCase& graph, const oracles::GraphVerdict& verdict,
                 const Provenance& provenance);

}  // namespace assay::suites
