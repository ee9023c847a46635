// SPDX-License-Identifier: Apache-2.0
// Dropout (ai.onnx 1, 6, 7, 10, 12, 13, 22) - https://onnx.ai/onnx/operators/onnx__Dropout.html
//
//   output = data, mask true everywhere                     in inference
//   output[i] = data[i] / (1 - ratio) where mask[i], else 0   in training: mask[i] holds with probability 1 - ratio
#include "reference/families/elementwise.h"
#include "reference/recipe.h"
#include "reference/type_lists.h"

#include <cmath>

namespace assay {
namespace {

// clang-format off
// In training by default (1), never (7), or where training_mode says so (12).
bool trains(const Call& call) {
  if (!call.definition().input("training_mode")) return call.definition().attribute("is_test") && call.integer("is_test") == 0;
  return call.states("training_mode") && call.integer("training_mode") != 0;
}

double ratio_of(const Call& call, Inputs in) {
  if (call.definition().attribute("ratio")) return call.real("ratio");
  if (in.size() < 2 || !in[1]) return 0.5;
  return for_value(in[1]->dtype(), [&]<class T>() { return static_cast<double>(in[1]->as<T>()[0]); });
}

template <class T>
void drop(const Call& call, Inputs in, Values& y) {
  Generator generator(call.states("seed") ? static_cast<std::uint64_t>(call.integer("seed")) : 0);
  const double ratio = ratio_of(call, in);
  for (std::size_t i = 0; trains(call) && i < in[0]->as<T>().size(); ++i) {
    const bool is_kept = std::ldexp(static_cast<double>(generator.next() >> 11), -53) >= ratio;
    const double scaled = static_cast<double>(in[0]->as<T>()[i]) / (1 - ratio);
    y[0]->template as<T>()[i] = T(is_kept ? scaled : 0.0);
    if (!y[1]) continue;
    if (y[1]->dtype() == DType::boolean) y[1]->template as<Bool>()[i] = Bool(is_kept ? 1.0 : 0.0);
    else y[1]->template as<T>()[i] = T(is_kept ? 1.0 : 0.0);
  }
}

Values dropped(const Call& call, Inputs in) {
  Values y{*in[0], std::nullopt};
  if (call.requests("mask")) {
    y[1] = Tensor({call.definition().type_of(call, *call.definition().output("mask")), in[0]->shape()});
    for_value(y[1]->dtype(), [&]<class T>() { std::ranges::fill(y[1]->as<T>(), T(1.0)); });
  }
  for_value(in[0]->dtype(), [&]<class T>() { drop<T>(call, in, y); });
  return y;
}

bool is_scalar(const Call& call, const char* input) { return !call.has(input) || call.rank(input) == 0; }
bool has_scalars(const Call& call) { return is_scalar(call, "ratio") && is_scalar(call, "training_mode"); }
bool has_a_ratio(const Call& call) {
  return !has_scalars(call) || !call.states("ratio") || (call.real("ratio") >= 0 && call.real("ratio") < 1);
}

}  // namespace

Operator dropout() {
  return Operator("Dropout")
      .input("data", "T").output("output", "T").output("mask", "T", Arity::optional)
      .rulings({"A29", "E1", "E2"})
      .since(1)
      .type("T", types::all_float_types()).attribute("is_test", 0).attribute("ratio", 0.5F).with(consumed_inputs)
      .require("unfilled", "no mask is asked for where is_test is not 0: it is not filled", [](auto& c) {
        return c.integer("is_test") == 0 || !c.requests("mask"); })
      .since(6, "consumed_inputs is gone")
      .with(without_consumed_inputs)
      .since(7, "is_test is gone: a model that runs is in inference")
      .without("is_test").without("unfilled").without("mask").output("mask", "T", Arity::optional).ruling("E43")
      .since(10, "mask is bool")
      .without("mask").output("mask", "T1", Arity::optional).type("T1", {DType::boolean})
      .since(12, "ratio and training_mode are inputs; mask is true in inference")
      .without("ratio").without("mask").without("T1").settled("E43").ruling("E44")
      .parameter("ratio", "T1", "ratio", Arity::optional).parameter("training_mode", "T2", "training_mode", Arity::optional)
      .output("mask", "T2", Arity::optional).type("T1", types::all_float_types()).type("T2", {DType::boolean}).optional_int("seed")
      .require("scalar", "ratio and training_mode are scalars", has_scalars)
      .require("ratio", "0 <= ratio < 1", has_a_ratio)
      .since(13, "bfloat16 is admitted")
      .type("T", types::all_float_types_ir4())
      .since(22, "float8 is admitted; an absent ratio is 0.5")
      .type("T", types::all_float_types_ir9()).type("T1", types::all_float_types_ir9()).settled("E44")
      .shaping(Shaping::one)
      .infer([](const Call& call) {
        Types types{TensorType(call.type("data")), std::nullopt};
        if (call.requests("mask")) types[1] = TensorType{call.definition().type_of(call, *call.definition().output("mask")), call.shape("data")};
        return types;
      })
      .kernel(dropped);
}
// clang-format on

}  // namespace assay
