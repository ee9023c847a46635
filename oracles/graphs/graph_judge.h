// SPDX-License-Identifier: Apache-2.0
// GraphJudge: holds what came back for a graph against its one right answer (exactness.h).
#pragma once

#include "oracles/graphs/exactness.h"
#include "oracles/judging/verdict.h"
#include "reference/graph_case.h"

#include <optional>
#include <string>

namespace assay::oracles {

struct GraphVerdict {
  State state = State::unscored;
  std::string detail = "";  // "d[0,3,1] is 5, exactly 7; 12 of 200 elements differ"; why it is unscored
  // The setting under which it is right: "optimization=basic", "disable=Pad_Fusion"; "" where it is wrong under every
  // one, none where no other was tried.
  std::optional<std::string> cure = "";
};

// Holds the right outputs of a graph, worked out once. Keeps no reference.
class GraphJudge {
 public:
  GraphJudge(GraphCase graph, int threads);

  const GraphData& leaves() const { return leaves_; }
  // Says why the graph has no single right answer; empty where it has one.
  const std::string& obstacle() const { return exactness_.obstacle; }
  // Tells whether the graph has one right answer and nothing but its numbers passes.
  bool is_exact() const;
  const Tensor& right(const std::string& output) const { return exactness_.outputs.find(output)->second; }

  // `pass`: every number is the right one. A graph with a BatchNormalization passes within 2^-10 of the magnitude of
  // what is added up, since its root may be one of an approximation; any other is `below` within 2^-7 of it, as where
  // operands are rounded to bfloat16 or a product is taken by an algorithm that rounds. An output that is rounded
  // passes within the coarse bound. The rest is `fail`.
  GraphVerdict judge(const Outcome& outcome) const;

  // Looks again before something is called wrong: at every element for clauses of several readings, which the obstacle
  // tells by a sample, and at a sample of every step by its own oracle. Returns why the graph has no single right
  // answer after all; throws BrokenPromise where the values are wrong.
  std::string confirm() const;

 private:
  GraphCase graph_;
  int threads_;
  GraphData leaves_;
  Exactness exactness_;
};

}  // namespace assay::oracles
