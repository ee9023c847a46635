// SPDX-License-Identifier: Apache-2.0
// What the ONNX package itself says: its checker, its shape inference and its registry.
#include "reference/onnx_contrib.h"
#include "reference/onnx_io.h"
#include "reference/onnx_io_message.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>

namespace assay {
namespace {

using namespace messages;

Inferred from_output(const onnx::TypeProto& type) {
  Inferred inferred;
  if (!type.has_tensor_type()) return inferred;
  if (type.tensor_type().elem_type() != onnx::TensorProto::UNDEFINED)
    inferred.dtype = admitted_dtype(type.tensor_type().elem_type());
  if (!type.tensor_type().has_shape()) return inferred;
  std::vector<std::optional<Int>>& shape = inferred.shape.emplace();
  for (const onnx::TensorShapeProto_Dimension& dim : type.tensor_type().shape().dim())
    shape.push_back(dim.has_dim_value() ? std::optional<Int>(dim.dim_value()) : std::nullopt);
  return inferred;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

// The declared shape of the output is taken away first: inference has to say it by itself.
Inferred infer(std::string_view bytes) {
  register_contrib_schemas();
  try {
    auto model = message_of<onnx::ModelProto>(bytes, "ModelProto");
    onnx::checker::check_model(model);
    for (onnx::ValueInfoProto& output : *model.mutable_graph()->mutable_output()) output.clear_type();
    onnx::shape_inference::InferShapes(
        model, onnx::OpSchemaRegistry::Instance(),
        onnx::ShapeInferenceOptions(/*check_type=*/true, /*strict_mode=*/1, /*data_prop=*/true));
    if (model.graph().output_size() == 0) return {.error = "the graph has no output", .dtype = {}, .shape = {}};
    return from_output(model.graph().output(0).type());
  } catch (const BrokenPromise&) {
    throw;
  } catch (const std::exception& error) {
    return {.error = first_line(error.what()), .dtype = {}, .shape = {}};
  }
}

std::vector<Registered> registered_operators() {
  std::vector<Registered> all;
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history())
    if (schema.domain() != "com.microsoft")  // which onnx_contrib.cpp registers
      all.push_back({{schema.domain(), schema.Name(), schema.SinceVersion()}, schema.Deprecated()});
  std::ranges::sort(all, {}, &Registered::version);
  return all;
}

}  // namespace assay
