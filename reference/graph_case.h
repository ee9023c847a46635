// SPDX-License-Identifier: Apache-2.0
// GraphCase: nodes that feed one another, with their data, as one line of text. Nothing outside the line changes the
// model or the data.
//
//   graph opset=13 ir=8 a=f32[1,2,4]~small:1 b=f32[3,2,1]~sparse2:2@init c=Conv(a,b) d=Relu(c) e=Concat(c,d){axis=1}
//   out=e
//
// Tokens are separated by one space: the opset and IR version, the values that go in, the steps, each behind those it
// needs, the outputs, the presentation. A step takes values by name, "" where an input is left out, and writes its
// attributes as a case line does; its operator is of the version that the opset selects. All are of ai.onnx. What a
// node reads its outputs' types from, a shape or axes, is worked out from integers that go in and from extents.
#pragma once

#include "reference/case.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct GraphLeaf {
  std::string name;
  TensorType type;
  Source source;
  bool operator==(const GraphLeaf&) const = default;
};

struct GraphStep {
  Case c;  // its node; a source for every input that is a leaf
  // By schema order of inputs and of outputs, "" where one is left out, up to the last that is there.
  std::vector<std::string> operands, results;
  bool operator==(const GraphStep&) const = default;
};

// Names what the steps stand in, which computes what they do: an If whose condition is constant, a Loop of one turn, a
// function of the model's own.
enum class Wrapper { none, branch, loop, function };
// "if", "loop", "function"; "" for none.
std::string_view name(Wrapper wrapper);

struct GraphCase {
  int opset = 1, ir_version = 8;
  std::vector<GraphLeaf> leaves;
  std::vector<GraphStep> steps;
  std::vector<std::string> outputs;
  DeclaredShapes declared = DeclaredShapes::fixed;
  Wrapper inside = Wrapper::none;
  bool operator==(const GraphCase&) const = default;
};

// The canonical line; two graphs are the same exactly when their lines are.
std::string line(const GraphCase& graph);
// Tells whether a line is that of a graph.
bool is_graph_line(std::string_view line);
// Error where a step is not legal, a name is not there or the line is not canonical.
Result<GraphCase> parse_graph_case(std::string_view line);

// Names the i-th value: a, b, … z, aa, ab, …
std::string value_name(std::size_t i);

// Keeps what the outputs need, named in the order of definition.
GraphCase tidied(const GraphCase& graph);

using Attributes = std::map<std::string, Attribute, std::less<>>;

class KnownIntegers;

// Builds a graph node by node.
class GraphBuilder {
 public:
  GraphBuilder(int opset, int ir_version);
  ~GraphBuilder();

  std::string leaf(const TensorType& type, const Source& source);  // its name
  // Adds a node of the version that the opset selects; names what it gives. Nothing where it would not be legal.
  std::vector<std::string> step(const std::string& op, const std::vector<std::string>& operands,
                                Attributes attributes = {}, std::size_t results = 1);
  void drop_step() { graph_.steps.pop_back(); }  // the last one; its names stay taken

  // Null where the opset has no such operator.
  const Definition* definition(const std::string& op) const;
  const TensorType& type(const std::string& name) const { return types_.find(name)->second; }
  const GraphCase& graph() const { return graph_; }  // without outputs

 private:
  GraphCase graph_;
  std::map<std::string, TensorType, std::less<>> types_;
  std::unique_ptr<KnownIntegers> known_;
};

// Tensors by the names of values.
using GraphData = std::map<std::string, Tensor, std::less<>>;
// Fills what goes in, for a data set.
GraphData leaves_of(const GraphCase& graph, int set);
// Sees a step and the values at hand, among them all that it takes and gives.
using StepVisitor = std::function<void(const GraphStep& step, const GraphData& values)>;
// Works a graph out by our own kernels, step by step, and returns its outputs. A value goes once no step needs it.
GraphData evaluate(const GraphCase& graph, GraphData leaves, int threads, const StepVisitor& visit = {});
// Drops what a step takes or gives where no later step takes it and it is no output.
void drop_unneeded(const GraphCase& graph, std::size_t step, GraphData& values);
// Works out a step by our own kernels and keeps what it gives.
void run_step(const GraphStep& step, const Operands& operands, int threads, GraphData& values);
// The inputs of a step, in schema order.
Operands operands_of(const GraphStep& step, const GraphData& values);

}  // namespace assay
