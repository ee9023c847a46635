// SPDX-License-Identifier: Apache-2.0
// Makes a suite of somebody's model: every node of an operator that is defined here becomes cases with the model's own
// attributes, types, extents and constants. What arrives at a node is computed by our own kernels.
#pragma once

#include "reference/onnx_io.h"
#include "suites/models/windows.h"
#include "suites/planning/suite.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::suites {

// Names a model as a command line does.
struct ModelSource {
  std::string file;      // empty: none
  std::string inputs;    // a folder with input_0.pb or NAME.npy …; empty: inputs are drawn
  Extents extents = {};  // what the model leaves open: "batch" or "X.0"

  std::string words() const;  // "--model FILE --dim batch=1", as a command line has them
};

struct ModelNode {
  std::string name, op;            // "conv1", "Conv-11"; "If" of an operator that is not defined here
  std::vector<std::string> lines;  // of its cases; nodes of one configuration share them
  std::string because;             // why there are none
};

struct ModelSuite {
  Suite suite;
  std::string hash;  // SHA-256 of the file
  std::vector<ModelNode> nodes;
  std::vector<ModelWindow> windows;
};

// Three kinds of data per node: small integers, which most arithmetic keeps exact; numbers of full significands; and
// what arrives there. Of the first two only data and weights are drawn: an index, a scale or a list of axes stays the
// model's own. Throws InputError where the file is no model, or its inputs do not fit.
ModelSuite suite_of(const ModelSource& source, const Selection& selection, std::uint64_t seed, int threads);

// Stores what the case lines of a model name, for a replay.
void store_data(const ModelSource& source, int threads);

// The nodes as cases by inferred types alone, nothing computed: for predicates. Fills in `because` where a type is not
// known.
struct TypedNode {
  ModelNode node;
  std::optional<Case> c;
};
std::vector<TypedNode> typed_nodes(const ModelSource& source);

}  // namespace assay::suites
