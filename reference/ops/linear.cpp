// SPDX-License-Identifier: Apache-2.0
// LinearRegressor (ai.onnx.ml 1) - https://onnx.ai/onnx/operators/onnx_aionnxml_LinearRegressor.html
// LinearClassifier (ai.onnx.ml 1) - https://onnx.ai/onnx/operators/onnx_aionnxml_LinearClassifier.html
//
//   score[n, k] = intercepts[k] + sum over j of  X[n, j] * coefficients[k * F + j]
//
// The regressor returns the scores, transformed; the classifier the label of the largest, and the scores. Of two labels
// with one row of coefficients the second has that score and the first its opposite.
#include "reference/families/elementwise.h"
#include "reference/families/scores.h"

namespace assay {
namespace {

using enum DType;
using enum AttributeSpec::Kind;

Int features(const Call& call) { return call.rank("X") == 0 ? 0 : call.shape("X").back(); }
Int batch(const Call& call) { return call.rank("X") == 1 ? 1 : call.dim("X", 0); }
Int rows_of_coefficients(const Call& call) { return std::ssize(call.reals("coefficients")) / features(call); }

Row scores(const Call& call, const Tensor& x, Int n) {
  const Reals weights = call.reals("coefficients");
  Row all;
  for (Int k = 0, at = 0; k < rows_of_coefficients(call); ++k) {
    double sum = call.states("intercepts") ? call.reals("intercepts")[static_cast<std::size_t>(k)] : 0.0F;
    for (Int j = 0; j < features(call); ++j)
      sum += number_at(x, n * features(call) + j) * static_cast<double>(weights[static_cast<std::size_t>(at++)]);
    all.push_back(sum);
  }
  return all;
}

Values regress(const Call& call, Inputs in) {
  Tensor y({f32, {batch(call), call.integer("targets")}});
  for (Int n = 0; n < batch(call); ++n) {
    Row row = scores(call, *in[0], n);
    transform(call.text("post_transform"), row);
    put(y, n, row);
  }
  return y;
}

Int labels(const Call& call) { return count_labels(call, "classlabels_ints"); }

Types classified_types(const Call& call) {
  return {TensorType{type_of_label(call), {batch(call)}}, TensorType{f32, {batch(call), labels(call)}}};
}

Values classify(const Call& call, Inputs in) {
  Values out = outputs_of(call);
  for (Int n = 0; n < batch(call); ++n) {
    Row row = scores(call, *in[0], n);
    if (row.size() == 1 && labels(call) == 2) row = {-row[0], row[0]};
    put_label(*out[0], n, row, call, "classlabels_ints");
    transform(call.text("post_transform"), row);
    put(*out[1], n, row);
  }
  return out;
}

// -- constraints, which hold where features are none

bool has_rows(const Call& call, Int rows) {
  return features(call) == 0 || std::ssize(call.reals("coefficients")) == rows * features(call);
}
bool has_targets(const Call& call) {
  return !call.states("coefficients") ? false : call.integer("targets") < 1 || has_rows(call, call.integer("targets"));
}
bool has_one_kind(const Call& call) { return has_labels(call, "classlabels_ints"); }
bool has_classes(const Call& call) {
  return !has_one_kind(call) || (labels(call) > 1 && has_rows(call, labels(call))) ||
         (labels(call) == 2 && has_rows(call, 1));
}
bool has_intercepts(const Call& call, bool is_sound) {
  return !is_sound || features(call) == 0 || !call.states("intercepts") ||
         std::ssize(call.reals("intercepts")) == rows_of_coefficients(call);
}

}  // namespace

// clang-format off
Operator linear_regressor() {
  return Operator("LinearRegressor", "ai.onnx.ml")
      .input("X", "T").output("Y", "f32").type("T", {f32, f64, i64, i32})
      .optional_attribute("coefficients", reals).optional_attribute("intercepts", reals).attribute("targets", 1)
      .word("post_transform", post_transforms(), "LR1")
      .rulings({"A29", "G38", "G52", "G53"})
      .require("LR2", "targets >= 1", [](auto& c) { return c.integer("targets") >= 1; })
      .require("LR3", "X is [N, F], F >= 1", [](auto& c) { return c.rank("X") == 2 && c.dim("X", 1) > 0; })
      .require("LR4", "there are F coefficients for each target", has_targets)
      .require("LR5", "there is one of the intercepts for each target, or none",
               [](auto& c) { return has_intercepts(c, c.states("coefficients") && has_targets(c)); })
      .since(1)
      .shaping(Shaping::normalized)
      .shape([](const Call& c) { return Shape{batch(c), c.integer("targets")}; }).kernel(regress);
}

Operator linear_classifier() {
  return Operator("LinearClassifier", "ai.onnx.ml")
      .input("X", "T1").output("Y", "T2").output("Z", "f32").type("T1", {f32, f64, i64, i32}).type("T2", {string, i64})
      .optional_ints("classlabels_ints").optional_attribute("classlabels_strings", texts)
      .required_attribute("coefficients", reals).optional_attribute("intercepts", reals).attribute("multi_class", 0)
      .word("post_transform", post_transforms(), "LC1")
      .rulings({"A29", "G34", "G38", "G52", "G53", "G54"})
      .require("LC2", "labels of one kind are there", has_one_kind)
      .require("LC3", "X is [N, F] or [F], F >= 1",
               [](auto& c) { return (c.rank("X") == 1 || c.rank("X") == 2) && features(c) > 0; })
      .require("LC4", "there are F coefficients for each label, or for the second of two", has_classes)
      .require("LC5", "there is one of the intercepts for each row of coefficients, or none",
               [](auto& c) { return has_intercepts(c, has_one_kind(c) && has_classes(c)); })
      .require("LC6", "multi_class is 0 or 1",
               [](auto& c) { return c.integer("multi_class") == 0 || c.integer("multi_class") == 1; })
      .since(1)
      .shaping(Shaping::normalized).typed(type_of_label).infer(classified_types).kernel(classify);
}
// clang-format on

}  // namespace assay
