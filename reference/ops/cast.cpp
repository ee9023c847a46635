// SPDX-License-Identifier: Apache-2.0
// Cast (ai.onnx 1, 6, 9, 13, 19, 21, 23, 24, 25, 28), CastLike (15, 19, 21, 23, 24, 25) -
// https://onnx.ai/onnx/operators/onnx__Cast.html
//
//   output[i] = input[i] in the type that `to` names, or that target_type has (convert.h)
#include "reference/convert.h"
#include "reference/families/elementwise.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

// clang-format off
Values cast_to(DType type, const Tensor& input) {
  Tensor output = Tensor::to_be_written({type, input.shape()});
  for_type(input.dtype(), [&]<class From>() {
    for_number(type, [&]<class To>() {
      std::ranges::transform(input.as<From>(), output.as<To>().begin(), converted<To, From>);
    });
  });
  return output;
}

bool names_a_type(const Call& call) {
  const Parameter& output = call.definition().outputs.front();
  const std::optional<DType> type = type_named_by(call, output.typed_by);
  return type && std::ranges::count(call.definition().types_of(output.type), *type) == 1;
}

// What both gain from version 19 on.
void since_19(Operator& op) {
  op.since(19, "float8 is admitted, and saturates or not")
    .attribute("saturate", 1)
    .since(21, "integers of 4 bits are admitted")
    .since(23, "floats of 4 bits are admitted")
    .since(24, "float8e8m0 is admitted, rounded as round_mode says")
    .word("round_mode", {"up", "down", "nearest"}, "round")
    .since(25, "integers of 2 bits are admitted");
}

// The types that are admitted, of what is cast and of what it is cast to; strings are cast from, not yet to.
void since_13(Operator& op) { op.type("T1", types::all_tensor_types_ir4() | DType::string).type("T2", types::all_tensor_types_ir4()); }

}  // namespace

Operator cast() {
  return Operator("Cast")
      .input("input", "T1").output_typed_by("to", "output", "T2")
      .require("to", "to is a type that the output may have", names_a_type)
      .rulings({"A29", "E1", "E2", "E23", "E24"})
      .since(1)
      .type("T1", types::all_tensor_types()).type("T2", types::all_tensor_types()).required_text("to")
      .rulings({"E27", "E28"})
      .since(6, "`to` is a number")
      .required_integer("to")
      .since(9, "strings are admitted")
      .type("T1", types::all_tensor_types() | DType::string).ruling("E32")
      .since(13, "bfloat16 is admitted; the text says what is cast to what")
      .with(since_13).settled("E27").settled("E28")
      .with(since_19)
      .since(28, "floats of 6 bits are admitted")
      .shaping(Shaping::one)
      .infer([](const Call& call) { return Types{TensorType{*type_named_by(call, "to"), call.shape("input")}}; })
      .kernel([](const Call& call, Inputs in) { return cast_to(*type_named_by(call, "to"), *in[0]); });
}

Operator cast_like() {
  return Operator("CastLike")
      .input("input", "T1").input("target_type", "T2").output("output", "T2")
      .rulings({"A29", "E1", "E2", "E23", "E24", "E32"})
      .since(15)
      .with(since_13)
      .with(since_19)
      .shaping(Shaping::one)
      .infer([](const Call& call) { return Types{TensorType{call.type("target_type").dtype, call.shape("input")}}; })
      .kernel([](const Call&, Inputs in) { return cast_to(in[1]->dtype(), *in[0]); });
}
// clang-format on

}  // namespace assay
