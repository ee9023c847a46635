// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss (ai.onnx 12, 13, 22) -
// https://onnx.ai/onnx/operators/onnx__NegativeLogLikelihoodLoss.html
// SoftmaxCrossEntropyLoss (ai.onnx 12, 13) - https://onnx.ai/onnx/operators/onnx__SoftmaxCrossEntropyLoss.html
//
//   loss[n, d] = -input[n, c, d] * weight[c]   with c = target[n, d]; 0 where that is ignore_index
//
// none: every loss; sum: all of them; mean: their sum over that of the weights, 1 each where there are none, of what is
// not ignored (N9). SoftmaxCrossEntropyLoss takes log_prob for the input:
//
//   log_prob[n, c, d] = scores[n, c, d] - log of the sum over all k of exp(scores[n, k, d])
#include "reference/families/elementwise.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <limits>

namespace assay {
namespace {

const std::string& name_of(const Call& call, std::size_t input) { return call.definition().inputs[input].name; }
const Shape& scores(const Call& call) { return call.shape(name_of(call, 0)); }
const Shape& targets(const Call& call) { return call.shape(name_of(call, 1)); }

bool is_ignored(const Call& call, Int target) {
  return call.states("ignore_index") && target == call.integer("ignore_index");
}

bool fit(const Call& call) {
  Shape shape = scores(call);
  if (shape.size() < 2) return false;
  shape.erase(shape.begin() + 1);
  return shape == targets(call);
}

bool has_a_weight_per_class(const Call& call) {
  const std::string& weight = name_of(call, 2);
  return !fit(call) || !call.has(weight) || call.shape(weight) == Shape{scores(call)[1]};
}

bool names_classes(const Call& call) {
  if (!fit(call)) return true;
  return std::ranges::all_of(call.ints(name_of(call, 1)), [&](Int target) {
    return is_ignored(call, target) || (target >= 0 && target < scores(call)[1]);
  });
}

// x less the logarithm of the sum of exp(x) over the classes.
Tensor log_softmax(const Tensor& x) {
  Tensor y = Tensor::to_be_written(x.type());
  const Int classes = x.shape()[1], area = volume(std::span(x.shape()).subspan(2));
  for (Int line = 0; classes > 0 && line < x.elements() / classes; ++line) {
    const auto place = [&](Int c) { return (line / area * classes + c) * area + line % area; };
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (Int c = 0; c < classes; ++c) most = std::max(most, number_at(x, place(c)));
    for (Int c = 0; c < classes; ++c) sum += exponential(number_at(x, place(c)) - most);
    for (Int c = 0; c < classes; ++c) put_number(y, place(c), number_at(x, place(c)) - most - logarithm(sum));
  }
  return y;
}

void write_losses(Tensor& y, const Call& call, Inputs in, const Tensor& log_prob) {
  const Ints target = call.ints(name_of(call, 1));
  const Int classes = scores(call)[1], area = volume(std::span(scores(call)).subspan(2));
  const std::string reduction = call.text("reduction");
  double sum = 0, weights = 0;
  for (Int i = 0; i < std::ssize(target); ++i) {
    const Int c = target[static_cast<std::size_t>(i)];
    double loss = 0;
    if (!is_ignored(call, c)) {
      const double weight = in.size() > 2 && in[2] ? number_at(*in[2], c) : 1;
      loss = -number_at(log_prob, (i / area * classes + c) * area + i % area) * weight;
      weights += weight;
    }
    sum += loss;
    if (reduction == "none") put_number(y, i, loss);
  }
  if (reduction != "none") put_number(y, 0, reduction == "sum" ? sum : sum / weights);
}

Values losses(const Call& call, Inputs in) {
  Values y = outputs_of(call);
  if (y.size() == 1) {
    write_losses(*y[0], call, in, *in[0]);
  } else {
    Tensor log_prob = log_softmax(*in[0]);
    write_losses(*y[0], call, in, log_prob);
    if (y[1]) y[1] = std::move(log_prob);
  }
  return y;
}

Types inferred(const Call& call) {
  const DType type = call.type(name_of(call, 0)).dtype;
  Types types{TensorType{type, call.text("reduction") == "none" ? targets(call) : Shape{}}};
  if (const auto& outputs = call.definition().outputs; outputs.size() > 1)
    types.push_back(call.requests(outputs[1].name) ? std::optional(TensorType{type, scores(call)}) : std::nullopt);
  return types;
}

// clang-format off
void of_classes(Operator& op) {
  op.type("T", types::all_float_types()).type("Tind", {DType::i32, DType::i64}).rulings({"A29", "N9"})
      .optional_int("ignore_index").word("reduction", {"mean", "none", "sum"}, "K2")
      .require("K1", "every target is a class, or ignore_index", names_classes)
      .require("K3", "there is a weight for each class", has_a_weight_per_class)
      .require("K4", "there are classes along axis 1, and a target for what stands along the others", fit)
      .shaping(Shaping::reduced).infer(inferred).kernel(losses);
}

}  // namespace

Operator negative_log_likelihood_loss() {
  return Operator("NegativeLogLikelihoodLoss")
      .input("input", "T").parameter("target", "Tind", "target").input("weight", "T", Arity::optional)
      .output("loss", "T").with(of_classes)
      .since(12)
      .since(13, "the text, by its meaning the same")
      .since(22, "T admits bfloat16").type("T", types::all_float_types_ir4());
}

Operator softmax_cross_entropy_loss() {
  return Operator("SoftmaxCrossEntropyLoss")
      .input("scores", "T").parameter("labels", "Tind", "labels").input("weights", "T", Arity::optional)
      .output("output", "T").output("log_prob", "T", Arity::optional).with(of_classes).rulings({"N25", "N26"})
      .since(12)
      .since(13, "T admits bfloat16").type("T", types::all_float_types_ir4());
}
// clang-format on

}  // namespace assay
