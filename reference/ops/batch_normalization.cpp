// SPDX-License-Identifier: Apache-2.0
// BatchNormalization (ai.onnx 1, 6, 7, 9, 14, 15) - https://onnx.ai/onnx/operators/onnx__BatchNormalization.html
//
//   Y = (X - mean) / sqrt(var + epsilon) * scale + B   for each channel; in training of the statistics of X, and
//   running = given * momentum + statistic of X * (1 - momentum)   mean and population variance, over all axes but 1
//
// With spatial = 0 (7) every place of every channel has parameters of its own, and statistics over the batch alone.
#include "reference/families/elementwise.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

// In training by default (1), where statistics are asked for (7), or where training_mode says so (14).
bool trains(const Call& call) {
  const Definition& definition = call.definition();
  if (definition.attribute("training_mode")) return call.integer("training_mode") != 0;
  if (definition.attribute("is_test")) return call.integer("is_test") == 0;
  return call.requests(definition.outputs[1].name);
}

bool is_spatial(const Call& call) { return !call.definition().attribute("spatial") || call.integer("spatial") != 0; }

// One parameter for each: the channels, or all places in them.
Shape parameters(const Call& call) {
  const Shape& x = call.shape("X");
  if (x.size() < 2) return {1};
  return is_spatial(call) ? Shape{x[1]} : Shape(x.begin() + 1, x.end());
}

Values normalized(const Call& call, Inputs in) {
  Values y = outputs_of(call);
  const Int count = volume(parameters(call)), elements = in[0]->elements();
  const Int batch = call.shape("X").empty() ? 1 : call.shape("X")[0], item = batch > 0 ? elements / batch : 0;
  const Int area = count > 0 ? item / count : 0;
  const double epsilon = call.real("epsilon"), momentum = call.real("momentum");
  for (Int k = 0; k < count; ++k) {
    const auto for_each = [&](auto f) {
      for (Int n = 0; n < batch; ++n)
        for (Int i = 0; i < area; ++i) f(n * item + k * area + i);
    };
    double mean = number_at(*in[3], k), variance = number_at(*in[4], k);
    if (trains(call)) {
      const auto size = static_cast<double>(batch * area);
      const double given_mean = mean, given_variance = variance;
      mean = variance = 0;
      for_each([&](Int at) { mean += number_at(*in[0], at) / size; });
      for_each([&](Int at) { variance += std::pow(number_at(*in[0], at) - mean, 2) / size; });
      const double statistics[] = {given_mean * momentum + mean * (1 - momentum),
                                   given_variance * momentum + variance * (1 - momentum), mean, variance};
      for (std::size_t output = 1; output < y.size(); ++output)
        if (y[output]) put_number(*y[output], k, statistics[output - 1]);
    }
    const double deviation = std::sqrt(variance + epsilon), scale = number_at(*in[1], k), b = number_at(*in[2], k);
    for_each([&](Int at) { put_number(*y[0], at, (number_at(*in[0], at) - mean) / deviation * scale + b); });
  }
  return y;
}

bool has_parameters(const Call& call) {
  const std::vector<Parameter>& inputs = call.definition().inputs;
  return std::all_of(inputs.begin() + 1, inputs.end(),
                     [&](const Parameter& each) { return call.shape(each.name) == parameters(call); });
}

bool requests_all_or_none(const Call& call) {
  const std::vector<Parameter>& outputs = call.definition().outputs;
  const auto requested = std::count_if(outputs.begin() + 1, outputs.end(),
                                       [&](const Parameter& each) { return call.requests(each.name); });
  return requested == (trains(call) ? std::ssize(outputs) - 1 : 0);
}

Types inferred(const Call& call) {
  const Definition& definition = call.definition();
  Types types{TensorType(call.type("X"))};
  for (std::size_t k = 1; k < definition.outputs.size(); ++k)
    types.push_back(call.requests(definition.outputs[k].name)
                        ? std::optional(TensorType{definition.type_of(call, definition.outputs[k]), parameters(call)})
                        : std::nullopt);
  return types;
}

// clang-format off
}  // namespace

Operator batch_normalization() {
  return Operator("BatchNormalization")
      .input("X", "T").input("scale", "T").input("B", "T").output("Y", "T")
      .attribute("epsilon", 1e-5F).attribute("momentum", 0.9F).rulings({"A29"})
      .require("B2", "scale, B, mean and var have one element per channel", has_parameters)
      .require("Z4", "epsilon is not negative", [](auto& c) { return c.real("epsilon") >= 0; })
      .since(1)
      .input("mean", "T").input("var", "T").type("T", types::all_float_types())
      .output("mean", "T", Arity::optional).output("var", "T", Arity::optional)
      .output("saved_mean", "T", Arity::optional).output("saved_var", "T", Arity::optional)
      .required_ints("consumed_inputs").attribute("is_test", 0).attribute("spatial", 1).rulings({"N11", "N13", "N72"})
      .require("B1", "every statistic is asked for in training, and none otherwise", requests_all_or_none, "N13")
      .require("B3", "rank(X) = 4", [](auto& c) { return c.rank("X") == 4; })
      .require("B4", "spatial is 1", [](auto& c) { return c.integer("spatial") == 1; })
      .since(6, "any number of spatial axes; consumed_inputs is gone").without("consumed_inputs").without("B3")
      .require("B3", "rank(X) >= 2", [](auto& c) { return c.rank("X") >= 2; })
      .since(7, "is_test is gone: statistics are asked for in training; with spatial = 0 every place has parameters")
      .without("is_test").without("B1").without("B4").settled("N13")
      .require("B1", "every statistic is asked for, or none", requests_all_or_none)
      .require("B4", "spatial is 0 or 1", [](auto& c) { return c.integer("spatial") == 0 || c.integer("spatial") == 1; })
      .since(9, "spatial is gone; X may be a list, of one channel").without("spatial").without("B4").without("B3")
      .require("B3", "rank(X) >= 1", [](auto& c) { return c.rank("X") >= 1; })
      .since(14, "training_mode; mean and var may be of another type; the variance is that of the population; bfloat16")
      .without("mean").without("var").without("saved_mean").without("saved_var").settled("N11").settled("N72")
      .without("B1").require("B1", "every statistic is asked for in training, and none otherwise", requests_all_or_none)
      .input("input_mean", "U").input("input_var", "U").attribute("training_mode", 0)
      .output("running_mean", "U", Arity::optional).output("running_var", "U", Arity::optional)
      .type("T", types::all_float_types_ir4()).type("U", types::all_float_types_ir4())
      .since(15, "scale and B may be of another type")
      .input("scale", "T1").input("B", "T1").input("input_mean", "T2").input("input_var", "T2")
      .output("running_mean", "T2", Arity::optional).output("running_var", "T2", Arity::optional).without("U")
      .type("T1", types::all_float_types_ir4()).type("T2", types::all_float_types_ir4())
      .shaping(Shaping::normalized).infer(inferred).kernel(normalized);
}
// clang-format on

}  // namespace assay
