// SPDX-License-Identifier: Apache-2.0
// com.microsoft FusedConv 1 - https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
//
//   Y = activation(Conv(X, W, B) + Z)
//
// Z, of the shape of Y, may be left out, and so may the activation. activation_params are alpha of LeakyRelu, alpha and
// beta of HardSigmoid, the least and the largest number of Clip; the others take none.
#include "reference/convolution.h"
#include "reference/families/activations.h"
#include "reference/families/elementwise.h"

namespace assay {
namespace {

Call conv_of(const Call& call) { return as_conv(call, "X", "W", "B"); }
Shape output_shape(const Call& call) { return Convolution(conv_of(call)).output_shape(); }

Reals parameters(const Call& call) {
  return call.states("activation_params") ? call.reals("activation_params") : Reals{};
}

std::size_t parameters_taken(const Call& call) {
  const std::string name = call.states("activation") ? call.text("activation") : "";
  if (name == "Clip" || name == "HardSigmoid") return 2;
  return name == "LeakyRelu" ? 1 : 0;
}

// Returns the function of one number; the number itself where there is no activation.
std::function<double(double)> activation_of(const Call& call) {
  if (!call.states("activation")) return [](double z) { return z; };
  Reals p = parameters(call);
  p.resize(2);
  const double first = static_cast<double>(p[0]), second = static_cast<double>(p[1]);
  if (call.text("activation") == "Clip") return [=](double z) { return z < first ? first : z > second ? second : z; };
  return [=, of = activation_named(call.text("activation"))->of](double z) { return of(z, first, second); };
}

// Sums of f16 are computed in f32, and rounded once.
Tensor compute(const Call& call, Inputs in) {
  const DType type = call.type("X").dtype, wide = type == DType::f16 ? DType::f32 : type;
  Node conv = conv_of(call).node();
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < 3 && i < in.size() && in[i]; ++i) {
    operands.emplace_back(TensorType{wide, in[i]->shape()});
    for (Int at = 0; at < in[i]->elements(); ++at) put_number(operands[i], at, number_at(*in[i], at));
    conv.inputs.at(i == 0 ? "X" : i == 1 ? "W" : "B").type.dtype = wide;
  }
  const Tensor* const inputs[] = {&operands[0], &operands[1], operands.size() > 2 ? &operands[2] : nullptr};
  const Tensor sums = conv_definition().kernel(Call(conv_definition(), std::move(conv)), inputs).only();
  const Tensor* const added = in.size() > 3 ? in[3] : nullptr;
  const std::function<double(double)> activation = activation_of(call);
  Tensor y({type, sums.shape()});
  for (Int at = 0; at < y.elements(); ++at)
    put_number(y, at, activation(number_at(sums, at) + (added ? number_at(*added, at) : 0)));
  return y;
}

bool parameters_fit(const Call& c) {
  const Reals p = parameters(c);
  if (p.size() != parameters_taken(c)) return false;
  return !c.states("activation") || c.text("activation") != "Clip" || p[0] <= p[1];
}

bool matches_output(const Call& c) {
  if (!c.has("Z")) return true;
  const Call conv = conv_of(c);
  return !conv_definition().violated(conv).empty() || c.shape("Z") == Convolution(conv).output_shape();
}

}  // namespace

// clang-format off
Operator fused_conv() {
  using enum DType;
  return Operator("FusedConv", "com.microsoft")
      .input("X", "T").input("W", "T").input("B", "T", Arity::optional).input("Z", "T", Arity::optional).output("Y", "T")
      .attribute("auto_pad", "NOTSET").attribute("dilations", ones).attribute("group", 1)
      .attribute("kernel_shape", extents_of("W")).attribute("pads", zeros).attribute("strides", ones)
      .optional_word("activation", {"Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid"}, "F1")
      .optional_attribute("activation_params", AttributeSpec::Kind::reals)

      .with([](Operator& self) { convolution_constraints(self, conv_of); })
      .require("F2", "activation_params are as many as the activation takes, those of Clip in order", parameters_fit)
      .require("F3", "Z has the shape of Y", matches_output)

      .since(1)
          .type("T", {f16, f32, f64})
          .rulings({"A2", "A3", "A4", "A5", "A6", "A12", "A13", "A14", "A15", "A26", "A29", "A31"})

      .shaping(Shaping::window).shape(output_shape).kernel(compute);
}
// clang-format on

}  // namespace assay
