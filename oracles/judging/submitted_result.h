// SPDX-License-Identifier: Apache-2.0
// SubmittedResult: somebody's model of one node, with what went in and what came out, held against the oracle. For
// whoever has tensors at hand, but no suite and no backend.
#pragma once

#include "oracles/judging/judge.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::oracles {

// A tensor under the name of its graph input or output; names are empty where the order tells them.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

struct SubmittedResult {
  std::string_view model;            // the bytes of a ModelProto
  std::vector<NamedTensor> inputs;   // of the graph, without initializers
  std::vector<NamedTensor> outputs;  // of the graph
};

struct Ruled {
  std::string id, reading, title;  // "A7", "ceil", what is unclear
};

struct ExaminedResult {
  OpVersion version;
  std::string output;  // its name in the graph
  Verdict verdict;
  std::vector<std::string> violated;  // "C6: dim(W,0) mod group = 0", of a model that breaks constraints
  std::vector<Ruled> rulings;         // that the call touches, as read for this verdict
  Int offenders = 0;                  // elements that made it `fail` or `below`, or depart from the ruling
  std::optional<Evidence> worst;      // the one of these farthest from the right answer
  double worst_ulp = 0;               // its distance; infinite where one of the two is no number
};

// The error says in one line what is wrong with the claim, or what of it is not covered.
Result<ExaminedResult> examine(const SubmittedResult& claim, const Judgement& judgement = {});

}  // namespace assay::oracles
