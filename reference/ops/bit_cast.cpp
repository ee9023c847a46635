// SPDX-License-Identifier: Apache-2.0
// BitCast (ai.onnx 26) - https://onnx.ai/onnx/operators/onnx__BitCast.html
//
//   output[i] has the bits of input[i], in the type that `to` names
#include "reference/families/elementwise.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

bool keeps_width(const Call& call) {
  const std::optional<DType> type = type_named_by(call, "to");
  return !type || width_of(*type) == width_of(call.type("input").dtype);
}

}  // namespace

// clang-format off
Operator bit_cast() {
  return Operator("BitCast")
      .input("input", "T1").output_typed_by("to", "output", "T2")
      .require("to", "to is a type that the output may have", names_a_type)
      .require("width", "elements of input and output have as many bits", keeps_width)
      .ruling("E36")
      .since(26)
      .type("T1", types::without_strings(types::all_tensor_types_ir13())).type("T2", types::without_strings(types::all_tensor_types_ir13())).required_integer("to")
      .shaping(Shaping::one)
      .infer([](const Call& call) { return Types{TensorType{*type_named_by(call, "to"), call.shape("input")}}; })
      .kernel([](const Call& call, Inputs in) -> Values {
        Tensor output = Tensor::to_be_written({*type_named_by(call, "to"), in[0]->shape()});
        std::ranges::copy(in[0]->bytes(), output.bytes().begin());
        return output;
      });
}
// clang-format on

}  // namespace assay
