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
// How a type of eight bits or less is rounded to; none is admitted where there are no such attributes.
Narrowing narrowing_of(const Call& call) {
  const auto has = [&](std::string_view attribute) { return call.definition().attribute(attribute) != nullptr; };
  using enum Float8E8M0::Rounding;
  const std::string mode = has("round_mode") ? call.text("round_mode") : "up";
  return {!has("saturate") || call.integer("saturate") != 0, mode == "up" ? up : mode == "down" ? down : nearest};
}

// Admits types for what is cast and for what it is cast to.
std::function<void(Operator&)> admitting(const std::vector<DType>& types) {
  return [types](Operator& op) { op.type("T1", types).type("T2", types); };
}

// What both gain from version 19 on.
void since_19(Operator& op) {
  op.since(19, "float8 is admitted, and saturates or not").with(admitting(types::all_tensor_types_ir9())).ruling("E29").attribute("saturate", 1)
    .since(21, "integers of 4 bits are admitted").with(admitting(types::all_tensor_types_ir10()))
    .since(23, "floats of 4 bits are admitted").with(admitting(types::all_tensor_types_ir11())).ruling("E30")
    .since(24, "float8e8m0 is admitted, rounded as round_mode says; an infinity becomes the largest FNUZ")
    .with(admitting(types::all_tensor_types_ir12())).ruling("E31").settled("E29").word("round_mode", {"up", "down", "nearest"}, "round")
    .with([](Operator& o) { if (o.name() == "CastLike") o.ruling("E53"); })
    .since(25, "integers of 2 bits are admitted").with(admitting(types::all_tensor_types_ir13()));
}

}  // namespace

Operator cast() {
  return Operator("Cast")
      .input("input", "T1").output_typed_by("to", "output", "T2")
      .require("to", "to is a type that the output may have", names_a_type)
      .rulings({"A29", "E1", "E2", "E23", "E24", "E27", "E28"})
      .since(1).with(admitting(types::without_strings(types::all_tensor_types()))).required_text("to")
      .since(6, "`to` is a number").required_integer("to")
      .since(9, "strings are admitted").with(admitting(types::all_tensor_types())).rulings({"E32", "E33"})
      .since(13, "bfloat16 is admitted; the text says what is cast to what")
      .with(admitting(types::all_tensor_types_ir4())).settled("E27").settled("E28")
      .with(since_19)
      .since(28, "floats of 6 bits are admitted").with(admitting(types::all_tensor_types_ir14()))
      .shaping(Shaping::one)
      .infer([](const Call& call) { return Types{TensorType{*type_named_by(call, "to"), call.shape("input")}}; })
      .kernel([](const Call& call, Inputs in) { return Values{converted(*in[0], *type_named_by(call, "to"), narrowing_of(call))}; });
}

Operator cast_like() {
  return Operator("CastLike")
      .input("input", "T1").input("target_type", "T2").output("output", "T2")
      .rulings({"A29", "E1", "E2", "E23", "E24", "E32", "E33"})
      .since(15).with(admitting(types::all_tensor_types_ir4()))
      .with(since_19)
      .shaping(Shaping::one)
      .infer([](const Call& call) { return Types{TensorType{call.type("target_type").dtype, call.shape("input")}}; })
      .kernel([](const Call& call, Inputs in) { return Values{converted(*in[0], in[1]->dtype(), narrowing_of(call))}; });
}
// clang-format on

}  // namespace assay
