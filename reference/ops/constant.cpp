// SPDX-License-Identifier: Apache-2.0
// Constant (ai.onnx 1, 9, 11, 12, 13, 19, 21, 23, 24, 25) - https://onnx.ai/onnx/operators/onnx__Constant.html
// ConstantOfShape (ai.onnx 9, 20, 21, 23, 24, 25) - https://onnx.ai/onnx/operators/onnx__ConstantOfShape.html
//
//   Constant:         output is what the one attribute says: a tensor, a scalar or a list, which may be empty
//   ConstantOfShape:  output has the shape that input lists; each element is the one of value, 0 of float32 without it
//
// A sparse_value is not yet admitted.
#include "reference/families/elementwise.h"
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

Values repeat(const Call& call, Inputs) {
  const TensorType type = *call.definition().infer(call).front();
  if (!call.states("value")) return Tensor(type);
  Tensor y = Tensor::to_be_written(type);
  const Tensor value = call.tensor("value");
  for_type(y.dtype(), [&]<class T>() { std::ranges::fill(y.as<T>(), value.as<T>()[0]); });
  return y;
}

Tensor stated_by(const Call& call) { return tensor_of(call.node().attributes.begin()->second); }
DType type_stated(const Call& call) { return call.node().attributes.empty() ? DType::f32 : stated_by(call).dtype(); }

void other_kinds(Operator& op) {
  using enum AttributeSpec::Kind;
  op.optional_attribute("value_float", real)
      .optional_attribute("value_floats", reals)
      .optional_attribute("value_int", integer)
      .optional_attribute("value_ints", ints)
      .optional_attribute("value_string", text)
      .optional_attribute("value_strings", texts);
}

}  // namespace

// clang-format off
Operator constant() {
  using namespace types;
  return Operator("Constant")
      .output_typed_by("value", "output", "T").rulings({"A29", "E1"})
      .require("C2", "value is of a type of T", names_a_type)
      .since(1).type("T", all_float_types()).required_attribute("value", AttributeSpec::Kind::tensor)
      .since(9, "T admits every type").type("T", all_tensor_types())
      .since(11, "sparse_value").optional_attribute("value", AttributeSpec::Kind::tensor)
          .require("C1", "one attribute says what the value is", [](auto& c) { return c.node().attributes.size() == 1; })
      .since(12, "floats, integers, strings and lists of them").with(other_kinds)
      .since(13, "T admits bfloat16").type("T", all_tensor_types_ir4())
      .since(19, "T admits float8").type("T", all_tensor_types_ir9())
      .with(small_types)
      .shaping(Shaping::moved).typed(type_stated).infer([](const Call& c) { return Types{stated_by(c).type()}; })
      .kernel([](const Call& c, Inputs) { return Values(stated_by(c)); });
}

Operator constant_of_shape() {
  using namespace types;
  return Operator("ConstantOfShape")
      .parameter("input", "T1", "input").output_typed_by("value", "output", "T2")
      .optional_attribute("value", AttributeSpec::Kind::tensor).type("T1", {DType::i64}).rulings({"A29", "E1", "M66"})
      .require("C1", "no entry of input is negative", [](auto& c) {
        return std::ranges::none_of(c.ints("input"), [](Int entry) { return entry < 0; }); })
      .require("C2", "value has one element", [](auto& c) {
        return !c.states("value") || c.tensor("value").elements() == 1; })
      .require("C3", "value is of a type of T2", names_a_type)
      .require("C4", "rank(input) = 1", [](auto& c) { return c.rank("input") == 1; })
      .since(9).type("T2", all_numeric_types() | DType::boolean)
      .since(20, "T2 admits bfloat16 and float8").type("T2", without_strings(all_tensor_types_ir9()))
      .since(21, "T2 admits integers of 4 bits").type("T2", without_strings(all_tensor_types_ir10()))
      .since(23, "T2 admits floats of 4 bits").type("T2", without_strings(all_tensor_types_ir11()))
      .since(24, "T2 admits powers of two of 8 bits").type("T2", without_strings(all_tensor_types_ir12()))
      .since(25, "T2 admits integers of 2 bits").type("T2", without_strings(all_tensor_types_ir13()))
      .shaping(Shaping::moved).typed([](const Call& c) { return c.states("value") ? c.tensor("value").dtype() : DType::f32; })
      .infer(moved_to([](const Call& c) { return c.ints("input"); })).kernel(repeat);
}
// clang-format on

}  // namespace assay
