// SPDX-License-Identifier: Apache-2.0
// Makes a suite of somebody's model: every node of an operator that is defined here becomes cases with the model's own
// attributes, types, extents and constants. What arrives at a node is computed by our own kernels.
#pragma once

#include "suites/models/evaluation.h"
#include "suites/models/windows.h"
#include "suites/planning/suite.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::suites {

struct ModelNode {
  std::string name, op;            // "conv1", "Conv-11"; "If" of an operator that is not defined here
  std::vector<std::string> lines;  // of its cases; nodes of one configuration share them
  std::string because;             // why there are none
};

// Names a node of a model, without lines.
ModelNode described(const GraphNode& node, std::string because);

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

// Returns the case of a node on what arrives at it; none where no case line can say it.
std::optional<Case> case_of(const GraphNode& node, const Arrival& arrival);

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
