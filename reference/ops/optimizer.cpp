// SPDX-License-Identifier: Apache-2.0
// Momentum, Adagrad, Adam (ai.onnx.preview.training 1) -
// https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_Momentum.html
//
//   G' = norm_coefficient X + G in all of them, elementwise; T iterations were done before.
//
//   Momentum  V' = alpha V + (T > 0 ? beta : 1) G',  X' = X - R V' or, nesterov, X - R (G' + alpha V')
//   Adagrad   H' = H + G'^2,  X' = X - R / (1 + T decay_factor) G' / (sqrt(H') + epsilon)
//   Adam      V' = alpha V + (1 - alpha) G',  H' = beta H + (1 - beta) G'^2,
//             X' = (1 - norm_coefficient_post)(X - r V' / (sqrt(H') + epsilon))
//             with r = R sqrt(1 - beta^T) / (1 - alpha^T), or R where T is 0
//
// The inputs are every X, then every G, V and H; so are the outputs.
#include "reference/families/elementwise.h"
#include "reference/functions.h"

#include <cmath>

namespace assay {
namespace {

Int given(const Call& call) {
  Int count = 0;
  for (const Parameter& input : call.definition().inputs) count += input.type == "T3" && call.has(input.name) ? 1 : 0;
  return count;
}
std::string input_name(Int at) { return "inputs_" + std::to_string(at); }

// As many tensors of each kind, and outputs of all but the gradients.
auto has_sets_of(Int kinds) {
  return [kinds](const Call& call) {
    const Int count = given(call);
    return count % kinds == 0 && std::ssize(call.requested_outputs()) == count / kinds * (kinds - 1);
  };
}
auto has_equal_shapes(Int kinds) {
  return [kinds](const Call& call) {
    const Int count = given(call);
    for (Int at = 0; count % kinds == 0 && at < count; ++at)
      if (call.shape(input_name(at)) != call.shape(input_name(at % (count / kinds)))) return false;
    return true;
  };
}
bool has_one_of_each(const Call& call) { return volume(call.shape("R")) == 1 && volume(call.shape("T")) == 1; }

Inference as_given(Int kinds) {
  return [kinds](const Call& call) {
    const Int tensors = given(call) / kinds;
    Types types;
    for (Int at = 0; at < kinds * tensors; ++at)
      if (at / tensors != 1) types.emplace_back(call.type(input_name(at)));  // of a gradient there is no output
    types.resize(call.definition().outputs.size());
    return types;
  };
}

// One element of every kind but the gradients, in the order of the outputs.
struct Step {
  double rate, iterations;
  std::vector<double> element;  // X, G, V, H
};
using Update = std::vector<double> (*)(const Call&, const Step&);

Kernel updating(Int kinds, Update update) {
  return [=](const Call& call, Inputs in) {
    Values y = outputs_of(call);
    const auto tensors = static_cast<std::size_t>(given(call) / kinds);
    Step step{number_at(*in[0], 0), number_at(*in[1], 0), std::vector<double>(static_cast<std::size_t>(kinds))};
    for (std::size_t tensor = 0; tensor < tensors; ++tensor)
      for (Int i = 0; i < in[2 + tensor]->elements(); ++i) {
        for (std::size_t kind = 0; kind < step.element.size(); ++kind)
          step.element[kind] = number_at(*in[2 + kind * tensors + tensor], i);
        const std::vector<double> updated = update(call, step);
        for (std::size_t kind = 0; kind < updated.size(); ++kind)
          put_number(*y[kind * tensors + tensor], i, updated[kind]);
      }
    return y;
  };
}

double regularized(const Call& call, const Step& step) {
  return double{call.real("norm_coefficient")} * step.element[0] + step.element[1];
}

std::vector<double> momentum_update(const Call& call, const Step& step) {
  const double alpha = call.real("alpha"), g = regularized(call, step);
  const double v = alpha * step.element[2] + (step.iterations > 0 ? double{call.real("beta")} : 1) * g;
  const bool is_nesterov = call.text("mode") == "nesterov";
  return {step.element[0] - step.rate * (is_nesterov ? g + alpha * v : v), v};
}

std::vector<double> adagrad_update(const Call& call, const Step& step) {
  const double g = regularized(call, step), h = step.element[2] + g * g;
  const double rate = step.rate / (1 + step.iterations * double{call.real("decay_factor")});
  return {step.element[0] - rate * g / (std::sqrt(h) + double{call.real("epsilon")}), h};
}

std::vector<double> adam_update(const Call& call, const Step& step) {
  const double alpha = call.real("alpha"), beta = call.real("beta"), g = regularized(call, step);
  const double v = alpha * step.element[2] + (1 - alpha) * g, h = beta * step.element[3] + (1 - beta) * g * g;
  const double t = step.iterations;
  const double rate = t > 0 ? step.rate * std::sqrt(1 - power(beta, t)) / (1 - power(alpha, t)) : step.rate;
  const double x = step.element[0] - rate * v / (std::sqrt(h) + double{call.real("epsilon")});
  return {(1 - double{call.real("norm_coefficient_post")}) * x, v, h};
}

// clang-format off
Operator optimizer(const char* name, int kinds, Update update) {
  using enum DType;
  Operator op(name, "ai.onnx.preview.training");
  op.input("R", "T1").input("T", "T2").variadic("inputs", "T3")
      .type("T1", {f32, f64}).type("T2", {i64}).type("T3", {f32, f64}).rulings({"A29", "M4"})
      .require("O1", "there are as many tensors of each kind, and outputs for all but the gradients", has_sets_of(kinds))
      .require("O2", "what belongs together has one shape", has_equal_shapes(kinds))
      .require("O4", "R and T are scalars", [](auto& c) {
        return !has_one_of_each(c) || (c.rank("R") == 0 && c.rank("T") == 0); }, "M4")
      .require("O5", "R and T have one element each", has_one_of_each)
      .shaping(Shaping::normalized).infer(as_given(kinds)).kernel(updating(kinds, update));
  for (int i = 0; i < 8 / kinds * (kinds - 1); ++i)
    op.output("outputs_" + std::to_string(i), "T3", i == 0 ? Arity::required : Arity::repeated);
  return op;
}

}  // namespace

Operator momentum() {
  return optimizer("Momentum", 3, momentum_update)
      .required_attribute("alpha", AttributeSpec::Kind::real).required_attribute("beta", AttributeSpec::Kind::real)
      .required_attribute("norm_coefficient", AttributeSpec::Kind::real)
      .required_word("mode", {"nesterov", "standard"}, "O3").since(1);
}

Operator adagrad() {
  return optimizer("Adagrad", 3, adagrad_update)
      .attribute("decay_factor", 0.0F).attribute("epsilon", 1e-6F).attribute("norm_coefficient", 0.0F).since(1);
}

Operator adam() {
  return optimizer("Adam", 4, adam_update)
      .attribute("alpha", 0.9F).attribute("beta", 0.999F).attribute("epsilon", 1e-6F)
      .attribute("norm_coefficient", 0.0F).attribute("norm_coefficient_post", 0.0F).since(1);
}
// clang-format on

}  // namespace assay
