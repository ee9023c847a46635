// SPDX-License-Identifier: Apache-2.0
// A stranger's model, read.
#include "reference/onnx_io.h"
#include "reference/onnx_io_message.h"

#include <onnx/onnx_pb.h>

#include <map>
#include <utility>

namespace assay {
namespace {

using namespace messages;

int opset_of(const onnx::ModelProto& model, const std::string& domain) {
  for (const onnx::OperatorSetIdProto& import : model.opset_import())
    if (domain_of(import.domain()) == domain) {
      if (!std::in_range<int>(import.version()) || import.version() < 1)
        reject("the model imports opset " + std::to_string(import.version()));
      return static_cast<int>(import.version());
    }
  reject("the model imports no opset of the domain " + quoted(domain));
}

const Definition& definition_of(const onnx::NodeProto& node, int opset) {
  const Operator* const op = find_operator(domain_of(node.domain()), node.op_type());
  if (!op) reject("no operator " + quoted(node.op_type()) + " in the domain " + quoted(node.domain()));
  const Definition* const definition = op->at(opset);
  if (!definition) reject("no " + op->name() + " in opset " + std::to_string(opset));
  return *definition;
}

Attribute value_of(const onnx::AttributeProto& proto) {
  switch (proto.type()) {
    case onnx::AttributeProto::INT: return Int{proto.i()};
    case onnx::AttributeProto::FLOAT: return proto.f();
    case onnx::AttributeProto::STRING: return proto.s();
    case onnx::AttributeProto::INTS: return Ints(proto.ints().begin(), proto.ints().end());
    case onnx::AttributeProto::FLOATS: return Reals(proto.floats().begin(), proto.floats().end());
    case onnx::AttributeProto::STRINGS: return Texts(proto.strings().begin(), proto.strings().end());
    case onnx::AttributeProto::TENSOR: return tensor_of(proto.t());
    default: reject("attribute " + quoted(proto.name()) + " is of a kind that is not admitted");
  }
}

void read_attributes(const onnx::NodeProto& proto, const Definition& definition, Node& node) {
  const std::string owner = text(definition.version);
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    const AttributeSpec* const spec = definition.attribute(attribute.name());
    if (!spec) reject(owner + " has no attribute " + quoted(attribute.name()));
    Attribute value = value_of(attribute);
    if (!attribute.ref_attr_name().empty() || value.index() != static_cast<std::size_t>(spec->kind))
      reject("attribute " + spec->name + " of " + owner + " is of another kind");
    if (!node.attributes.emplace(spec->name, std::move(value)).second)
      reject("attribute " + spec->name + " is there twice");
  }
  for (const AttributeSpec& spec : definition.attributes)
    if (spec.required && !node.attributes.contains(spec.name)) reject(owner + " requires the attribute " + spec.name);
}

// An extent that is not declared reads -1; a shape that is not declared reads as a scalar's.
TensorType declared_type(const onnx::ValueInfoProto& info) {
  if (!info.type().has_tensor_type()) reject("graph input " + quoted(info.name()) + " is no tensor");
  const onnx::TypeProto_Tensor& tensor = info.type().tensor_type();
  TensorType type{admitted_dtype(tensor.elem_type()), {}};
  if (tensor.shape().dim_size() > most_dimensions)
    reject("graph input " + quoted(info.name()) + " has too many dimensions");
  for (const onnx::TensorShapeProto_Dimension& dim : tensor.shape().dim())
    type.shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  return type;
}

void read_initializers(const onnx::GraphProto& graph, Served& served) {
  if (graph.sparse_initializer_size() > 0) reject("a sparse initializer");
  for (const onnx::TensorProto& proto : graph.initializer())
    if (!served.initializers.emplace(proto.name(), tensor_of(proto)).second)
      reject("initializer " + quoted(proto.name()) + " is there twice");
}

// The types of the graph inputs. One that has an initializer is a default (IR version 3) and is never asked for.
std::map<std::string, TensorType> read_graph_inputs(const onnx::GraphProto& graph, Served& served) {
  std::map<std::string, TensorType> types;
  for (const onnx::ValueInfoProto& info : graph.input()) {
    if (served.initializers.contains(info.name())) continue;
    if (!types.emplace(info.name(), declared_type(info)).second)
      reject("graph input " + quoted(info.name()) + " is there twice");
    served.graph_inputs.push_back(info.name());
  }
  return types;
}

void read_operands(const onnx::NodeProto& proto, const Definition& definition,
                   const std::map<std::string, TensorType>& declared, Served& served) {
  const std::vector<Parameter>& inputs = definition.inputs;
  const std::string owner = text(definition.version);
  const auto given = static_cast<std::size_t>(proto.input_size());
  if (given > inputs.size())
    reject(owner + " takes " + std::to_string(inputs.size()) + " inputs, given " + std::to_string(given));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = i < given ? proto.input(static_cast<int>(i)) : "";
    if (name.empty() && inputs[i].arity == Arity::required)
      reject("input " + inputs[i].name + " of " + owner + " is required");
    if (i >= given) break;
    served.operand_names.push_back(name);
    served.schema_names.push_back(inputs[i].name);
    if (name.empty()) {
      served.node.empty_input(inputs[i].name);
    } else if (const auto constant = served.initializers.find(name); constant != served.initializers.end()) {
      served.node.input(inputs[i].name, constant->second.type());
    } else if (const auto input = declared.find(name); input != declared.end()) {
      served.node.input(inputs[i].name, input->second);
    } else {
      reject("input " + inputs[i].name + " is " + quoted(name) + ", which the graph does not give");
    }
  }
}

void expect_nodes_with_outputs(const onnx::ModelProto& model) {
  const onnx::GraphProto& graph = model.graph();
  if (graph.node_size() == 0) reject("a model of 0 nodes");
  if (model.functions_size() > 0) reject("a model with functions of its own");
  // Every output of every node, in their order.
  std::vector<std::string> names;
  for (const onnx::NodeProto& node : graph.node())
    for (const std::string& name : node.output())
      if (!name.empty()) names.push_back(name);
  if (names.size() != static_cast<std::size_t>(graph.output_size()))
    reject("a model whose nodes have " + std::to_string(names.size()) + " outputs, of which the graph has " +
           std::to_string(graph.output_size()));
  for (int i = 0; i < graph.output_size(); ++i)
    if (graph.output(i).name() != names[static_cast<std::size_t>(i)])
      reject("output " + std::to_string(i) + " of the graph is not that of its node");
}

void read_outputs(const onnx::NodeProto& proto, const Definition& definition, Served& served) {
  const std::string owner = text(definition.version);
  if (static_cast<std::size_t>(proto.output_size()) > definition.outputs.size())
    reject(owner + " has " + std::to_string(definition.outputs.size()) + " outputs, asked for " +
           std::to_string(proto.output_size()));
  for (std::size_t i = 0; i < definition.outputs.size(); ++i) {
    const Parameter& output = definition.outputs[i];
    const std::string name = i < static_cast<std::size_t>(proto.output_size()) ? proto.output(static_cast<int>(i)) : "";
    if (name.empty() && output.arity == Arity::required)
      reject("output " + output.name + " of " + owner + " is required");
    if (name.empty()) continue;
    served.output_names.push_back(name);
    if (output.arity != Arity::required) served.node.output(output.name);
  }
}

Served serve(const onnx::ModelProto& model, int at) {
  const onnx::NodeProto& node = model.graph().node(at);
  Served served;
  served.opset = opset_of(model, domain_of(node.domain()));
  const Definition& definition = definition_of(node, served.opset);
  served.version = definition.version;
  read_attributes(node, definition, served.node);
  read_outputs(node, definition, served);
  read_initializers(model.graph(), served);
  read_operands(node, definition, read_graph_inputs(model.graph(), served), served);
  return served;
}

std::vector<Served> serve_all(const onnx::ModelProto& model) {
  expect_nodes_with_outputs(model);
  std::vector<Served> all;
  for (int i = 0; i < model.graph().node_size(); ++i) all.push_back(serve(model, i));
  return all;
}

}  // namespace

Result<std::vector<NodeName>> node_names(std::string_view bytes) {
  return as_result([&] {
    const auto model = message_of<onnx::ModelProto>(bytes, "ModelProto");
    std::map<std::string, std::int64_t> imports;
    for (const onnx::OperatorSetIdProto& each : model.opset_import())
      imports[domain_of(each.domain())] = each.version();
    std::vector<NodeName> names;
    for (const onnx::NodeProto& node : model.graph().node()) {
      const std::int64_t opset = imports[domain_of(node.domain())];
      names.push_back(
          {domain_of(node.domain()), node.op_type(), opset > 0 && opset < 1'000'000 ? static_cast<int>(opset) : 0});
    }
    return names;
  });
}

Result<std::vector<Served>> parse_nodes(std::string_view bytes) {
  return as_result([&] { return serve_all(message_of<onnx::ModelProto>(bytes, "ModelProto")); });
}

Result<Served> parse_model(std::string_view bytes) {
  Result<std::vector<Served>> all = parse_nodes(bytes);
  if (!all) return Error{all.error()};
  if (all->size() != 1) return Error{"a model of " + std::to_string(all->size()) + " nodes, expected one"};
  std::vector<Served> nodes = *std::move(all);
  return std::move(nodes.front());
}

}  // namespace assay
