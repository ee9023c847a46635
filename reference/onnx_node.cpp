// SPDX-License-Identifier: Apache-2.0
#include "reference/onnx_node.h"

#include "reference/onnx_contrib.h"
#include "reference/onnx_io_message.h"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <map>
#include <utility>

namespace assay {
namespace {

using namespace messages;

int opset_of(const onnx::ModelProto& model, const std::string& domain) {
  for (const onnx::OperatorSetIdProto& import : model.opset_import())
    if (domain_of(import.domain()) == domain && std::in_range<int>(import.version()))
      return static_cast<int>(import.version());
  reject("the model imports no opset of the domain \"" + domain + "\"");
}

int since_version_of(const StatedNode& node) {
  register_contrib_schemas();
  const onnx::OpSchema* const schema = onnx::OpSchemaRegistry::Schema(node.op, node.opset, node.domain);
  return schema ? schema->SinceVersion() : node.opset;
}

StatedAttribute attribute_of(const onnx::AttributeProto& proto) {
  StatedAttribute attribute{proto.name(), {}};
  switch (proto.type()) {
    case onnx::AttributeProto::INT: attribute.value = Int{proto.i()}; break;
    case onnx::AttributeProto::FLOAT: attribute.value = proto.f(); break;
    case onnx::AttributeProto::STRING: attribute.value = proto.s(); break;
    case onnx::AttributeProto::INTS:
      attribute.value = std::vector<Int>(proto.ints().begin(), proto.ints().end());
      break;
    case onnx::AttributeProto::FLOATS:
      attribute.value = std::vector<float>(proto.floats().begin(), proto.floats().end());
      break;
    default: break;
  }
  return attribute;
}

void read_declared(const onnx::ValueInfoProto& info, StatedOperand& operand) {
  if (!info.type().has_tensor_type()) return;
  operand.data_type = info.type().tensor_type().elem_type();
  if (!info.type().tensor_type().has_shape()) return;
  Shape& shape = operand.shape.emplace();
  for (const onnx::TensorShapeProto_Dimension& dim : info.type().tensor_type().shape().dim())
    shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
}

// From IR version 4 on an initializer need not be a graph input; where it is one as well, nobody is asked for it.
struct Names {
  std::map<std::string, const onnx::TensorProto*> constants;
  std::map<std::string, std::pair<int, const onnx::ValueInfoProto*>> inputs;

  explicit Names(const onnx::GraphProto& graph) {
    for (const onnx::TensorProto& constant : graph.initializer()) constants.emplace(constant.name(), &constant);
    for (const onnx::ValueInfoProto& input : graph.input())
      if (!constants.contains(input.name()))
        inputs.emplace(input.name(), std::pair{static_cast<int>(inputs.size()), &input});
  }
};

StatedOperand operand_of(const std::string& name, const Names& names) {
  StatedOperand operand{.name = name, .graph_input = -1, .constant = {}, .data_type = 0, .shape = {}};
  if (name.empty()) return operand;
  if (const auto constant = names.constants.find(name); constant != names.constants.end()) {
    Result<Tensor> tensor = as_result([&] { return tensor_of(*constant->second); });
    if (!tensor) reject("the initializer " + name + ": " + tensor.error());
    operand.constant = *std::move(tensor);
  } else if (const auto input = names.inputs.find(name); input != names.inputs.end()) {
    operand.graph_input = input->second.first;
    read_declared(*input->second.second, operand);
  } else {
    reject("nothing in the graph gives the input " + name);
  }
  return operand;
}

StatedNode node_of(const onnx::ModelProto& model) {
  const onnx::NodeProto& proto = model.graph().node(0);
  StatedNode node;
  node.domain = domain_of(proto.domain());
  node.op = proto.op_type();
  node.opset = opset_of(model, node.domain);
  node.since_version = since_version_of(node);
  node.outputs = proto.output_size();
  for (const onnx::AttributeProto& attribute : proto.attribute()) node.attributes.push_back(attribute_of(attribute));
  const Names names(model.graph());
  for (const std::string& input : proto.input()) node.operands.push_back(operand_of(input, names));
  return node;
}

// An output of the graph is an output of the node, in its order, so that output numbers mean the same.
bool are_outputs_of_node(const onnx::GraphProto& graph) {
  if (graph.output_size() > graph.node(0).output_size()) return false;
  for (int i = 0; i < graph.output_size(); ++i)
    if (graph.output(i).name() != graph.node(0).output(i)) return false;
  return true;
}

}  // namespace

Result<StatedModel> stated_model(std::string_view bytes) {
  return as_result([&]() -> StatedModel {
    const auto model = message_of<onnx::ModelProto>(bytes, "ModelProto");
    if (model.graph().node_size() != 1)
      return {{}, "a graph of " + std::to_string(model.graph().node_size()) + " nodes, not of one"};
    if (!are_outputs_of_node(model.graph())) return {{}, "the outputs of the graph are not those of its node"};
    return {node_of(model), ""};
  });
}

std::string with_operator(std::string_view bytes, const std::string& op_type) {
  auto model = message_of<onnx::ModelProto>(bytes, "ModelProto");
  model.mutable_graph()->mutable_node(0)->set_op_type(op_type);
  return model.SerializeAsString();
}

}  // namespace assay
