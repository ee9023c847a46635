// SPDX-License-Identifier: Apache-2.0
// Locating: the nodes of somebody's model whose outputs, as a backend computes them within the model, are not what
// arrives at the node allows.
#pragma once

#include "oracles/judging/verdict.h"
#include "suites/campaign/campaign.h"
#include "suites/models/model_suite.h"

#include <optional>
#include <string>
#include <vector>

namespace assay::suites {

// Says what of a model has to be run for a node to be wrong.
enum class Scope {
  alone,     // the node, on the same data
  in_model,  // the model, though what arrives at the node is shown beside its outputs
  unseen,    // the model, where what arrives at the node is not shown, so that nodes may be computed as one
};

struct LocatedNode {
  ModelNode node;  // its line, where a line can say it: the node alone, on what the backend computed before it
  oracles::Verdict verdict;
  std::string turn = {};  // of a node in the body of a Loop or a Scan: "2", "2.0" where they stand in each other
  Scope scope = Scope::alone;
  std::string cure = {};  // of what is wrong in the model only: the setting under which it is right
};

struct Location {
  std::vector<LocatedNode> wrong;     // in the order of the model
  std::vector<ModelNode> not_judged;  // `because` says why
  std::size_t judged = 0;             // nodes
  std::size_t nodes = 0, of = 0;      // looked at, of those that take something in
};

// Runs the model once per node, with the outputs of that node alone shown beside its own, and judges them by what
// arrives there, which is what the backend gave for the nodes before it: in a body turn by turn, of many turns the
// first and the last eight. What is wrong is looked at again in a fresh process, alone, and with what arrives shown as
// well. Of a node that is right alone, a difference that the rounding of what arrives may explain is none: a legal
// rewriting may compute it otherwise. Ends behind the first node that fails, unless `finds_all`. Throws InputError
// where the backend does not run the model at all.
Location locate(const ModelSource& source, bool finds_all, WorkerPool& pool, const RunOptions& run_options);

}  // namespace assay::suites
