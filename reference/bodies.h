// SPDX-License-Identifier: Apache-2.0
// Works out what If, Loop and Scan give, whose bodies run turn by turn (onnx/docs/Operators.md).
#pragma once

#include "reference/onnx_io.h"

#include <functional>
#include <map>
#include <span>
#include <string>

namespace assay {

// The slice at `index` of an axis, which it has no longer. Not of strings.
Tensor slice_of(const Tensor& tensor, std::size_t axis, Int index);
// One or more slices of one type, side by side along an axis of their own: `axis` up to their rank. Not of strings.
Tensor stacked(std::span<const Tensor> slices, std::size_t axis);

// Counts the axes that the values of each body have beyond their own where all turns are collected, as a Loop or a Scan
// can: one per Loop and Scan around them. Left out are the bodies of a Scan of before version 9, and of other nodes.
std::map<std::string, std::size_t> turn_axes(const GraphModel& model);

// Runs the nodes of a model, and the bodies of those that have some.
class BodyRunner {
 public:
  using Named = std::map<std::string, Tensor>;
  // Works out a node of an operator that has no body, by its place in the model.
  using Compute = std::function<Result<Values>(std::size_t node, const Named& values)>;

  BodyRunner(const GraphModel& model, Compute compute) : model_(model), compute_(std::move(compute)) {}

  // Works out a node; `values` holds what it takes, and what its bodies take from around them. The error says what is
  // not known: a body is cut off at the 10,000th node it would run.
  Result<Values> run(std::size_t node, const Named& values);

 private:
  Result<Values> any(std::size_t node, const Named& values);
  Result<Values> body(const GraphBody& body, std::span<const Tensor> inputs, Named& values);
  Result<Values> branch(const GraphNode& node, Named values);
  Result<Values> turns(const GraphNode& node, Named values);

  const GraphModel& model_;
  Compute compute_;
  Int left_ = 0;  // nodes that may still be run
};

// Notes what a node gives, by name.
void put(const GraphNode& node, Values out, BodyRunner::Named& values);

// Returns what a Loop or a Scan gives its body as the i-th input in a turn, where nothing has been carried there yet;
// `operand`: what the node takes as its i-th input, null where that is left out.
Result<Tensor> goes_in(const GraphNode& node, std::size_t i, Int turn, const Tensor* operand);

}  // namespace assay
