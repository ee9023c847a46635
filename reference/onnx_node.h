// SPDX-License-Identifier: Apache-2.0
// StatedNode: the only node of a model as it is written, of any operator, for backends that do not read ONNX. Nothing
// is checked against a definition and no default is filled in; Served (onnx_io.h) is for our own kernels.
#pragma once

#include "reference/tensor.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay {

struct StatedAttribute {
  std::string name;
  // None of these (a graph, a tensor, strings): monostate.
  std::variant<std::monostate, Int, float, std::string, std::vector<Int>, std::vector<float>> value;
};

struct StatedOperand {
  std::string name;      // in the graph; "" where it is left out
  int graph_input = -1;  // among those without an initializer
  std::optional<Tensor> constant;
  // Of a graph input, as declared: TensorProto.DataType, or 0; no shape, or -1 for an extent that is left open.
  int data_type = 0;
  std::optional<Shape> shape;
};

struct StatedNode {
  std::string domain, op;  // domain "" for ai.onnx
  int since_version = 0;   // as ONNX's registry has it; the opset where the registry does not know the operator
  int opset = 0;
  std::vector<StatedAttribute> attributes;
  std::vector<StatedOperand> operands;
  int outputs = 0;  // of the node
};

struct StatedModel {
  std::optional<StatedNode> node;  // none: the graph is not one node, as `because` says
  std::string because;
};

// An error where the bytes are no model.
Result<StatedModel> stated_model(std::string_view model);

// Makes the node of a model of ours one of another operator, which nobody knows, to see what a worker says of it.
std::string with_operator(std::string_view model, const std::string& op_type);

}  // namespace assay
