// SPDX-License-Identifier: Apache-2.0
// ONNX's own messages in and out, as bytes. Its headers are included by onnx_*.cpp of this folder and by the tests that
// hold us against the package, and by nothing else.
#pragma once

#include "reference/case.h"
#include "reference/graph_case.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

// The ModelProto of a case: one node, its graph inputs and initializers, output dimensions symbolic. Deterministic
// bytes: names from the schema, attributes in schema order, producer "assay" without a version, raw_data little-endian.
std::string model_of(const Case& c);
// The same from what `operands` drew for set 0. `names`, where it is not 0, is a seed for what a model may have
// otherwise and mean the same: names of producer, graph, node, tensors and symbols, the order of attributes and of
// initializers. Graph inputs keep their order.
std::string model_of(const Case& c, const Operands& data, int names = 0);

// The cases as independent nodes of one model, for runtimes that are slow to load: the inputs of case i are called
// "i_X" and so on, the outputs come in the order of the cases. All share opset, IR version and domain.
std::string packed_model_of(const std::vector<const Case*>& cases);

// The graph inputs of that model that are no initializers, for one data set, as TensorProtos in graph-input order.
std::vector<std::string> graph_inputs(const Case& c, int set);
std::vector<std::string> graph_inputs(const Case& c, const Operands& data, bool named = true);

// The same of a graph: values keep their names, dimensions of outputs are symbolic.
std::string model_of(const GraphCase& graph, const GraphData& leaves);
std::vector<std::string> graph_inputs(const GraphCase& graph, const GraphData& leaves);

std::string encode_tensor(const Tensor& tensor, std::string_view name);
// Strangers' bytes: raw_data or the typed fields; anything else is one clear line.
Result<Tensor> decode_tensor(std::string_view bytes);
// Element type and dims alone, whatever data there is; an extent of -1 stands for one that is not known.
Result<TensorType> decode_type(std::string_view bytes);

// What ONNX's checker and shape inference (strict, with type checks) say of a model and its first output.
struct Inferred {
  std::string error;  // empty where both accept
  std::optional<DType> dtype;
  std::optional<std::vector<std::optional<Int>>> shape;  // an extent may be unknown
};
Inferred infer(std::string_view model);

// A node of a stranger's model with the graph inputs and initializers of the model, for workers.
struct Served {
  OpVersion version;  // since_version resolved from the opset import
  int opset = 0;
  // The types of initializers are known, those of graph inputs as declared: an extent left open is -1, a shape left out
  // is a scalar's, and what the tensors turn out to be overrules both.
  Node node;
  std::vector<std::string> operand_names;  // the node's inputs, "" where absent
  std::vector<std::string> graph_inputs;
  std::map<std::string, Tensor> initializers;
  std::vector<std::string> schema_names;  // of the node's inputs, in order
  std::vector<std::string> output_names;  // those that are asked for, in schema order
};
Result<Served> parse_model(std::string_view bytes);               // of a single node
Result<std::vector<Served>> parse_nodes(std::string_view bytes);  // of independent nodes, in graph order
// Tells whether the outputs of the graph are those of its nodes, in their order, and no function is there, as
// parse_nodes demands.
bool gives_what_nodes_give(std::string_view bytes);

// The nodes of a stranger's model, of whatever operators, in graph order; the opset is what the model imports for their
// domain, 0 where it imports none.
struct NodeName {
  std::string domain, op;
  int opset = 0;
};
Result<std::vector<NodeName>> node_names(std::string_view model);

// Names what stands in an attribute of an If, a Loop or a Scan.
struct GraphBody {
  std::string attribute, name;               // "then_branch", "if1/then_branch"
  std::vector<std::string> inputs, outputs;  // names of values, as the nodes of the model have them
  std::size_t first = 0, last = 0;           // its nodes, those of bodies within included: [first, last) of the model's
};

// Holds one node of a model of many: as `Served`, but for its inputs, whose types are what arrives.
struct GraphNode {
  std::string name, op;                      // as written: "conv1", "Conv", "com.microsoft:NhwcConv"
  std::vector<std::string> inputs, outputs;  // names of values, "" where left out
  std::string body = {};                     // "loop/body" where it stands in a body; empty: in the model itself
  std::vector<GraphBody> bodies = {};
  int opset = 0;
  const Definition* definition = nullptr;
  Node node;            // attributes, inputs that are left out, and the outputs that are asked for
  std::string because;  // there is no definition, or what the node breaks
};

struct GraphModel {
  std::vector<std::pair<std::string, TensorType>> inputs;  // that have no initializer; every extent is known
  std::map<std::string, Tensor> initializers;
  std::vector<GraphNode> nodes;      // each behind those it needs, and those of its bodies
  std::vector<std::string> outputs;  // names of values
  // Holds types of values, where ONNX's inference, which goes on behind what it cannot tell, knows every extent.
  std::map<std::string, TensorType> types;
};

// Settles what a model leaves open: extents by symbol ("batch") or by input and axis ("X.0").
using Extents = std::map<std::string, Int, std::less<>>;

// Returns what an extent is taken for that a model leaves open and nobody gives: 1 of the first axis, 8 of any other.
Int assumed_extent(std::size_t axis);

// Reads a stranger's model of any operators, the model's own functions inlined; data that stand in files beside it are
// read from `folder`.
Result<GraphModel> read_graph(std::string_view model, const std::filesystem::path& folder, const Extents& extents);

// The same model as one message that needs nothing beside it: functions inlined, data of other files within, the
// extents of inputs settled.
Result<std::string> settled_model(std::string_view model, const std::filesystem::path& folder, const Extents& extents);
// Has such a model give these values as well, behind its own outputs, in their order; those it gives already stay where
// they are. Of a value in a body all turns are given, along a first axis for each Loop and Scan around it; where the
// branch of an If is not taken, a tensor of the shape `of_no_branch`.
inline const Shape of_no_branch{0, 1, 0, 1, 0};
std::string model_giving(std::string_view settled, const std::vector<std::string>& values);

// Every operator version in the registry of the package, deprecated ones included, by name and version.
struct Registered {
  OpVersion version;
  bool deprecated = false;
};
std::vector<Registered> registered_operators();

}  // namespace assay
