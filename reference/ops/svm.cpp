// SPDX-License-Identifier: Apache-2.0
// SVMRegressor (ai.onnx.ml 1) - https://onnx.ai/onnx/operators/onnx_aionnxml_SVMRegressor.html
//
//   Y[n] = rho + sum over i of  coefficients[i] * K(X[n], support_vectors[i])
//
// K(x, s) is x s, (gamma x s + coef0)^degree, exp(-gamma |x - s|^2) or tanh(gamma x s + coef0). Without support vectors
// it is X[n] times the coefficients. Of one class Y is 1 above 0, else -1.
//
// SVMClassifier (ai.onnx.ml 1) - https://onnx.ai/onnx/operators/onnx_aionnxml_SVMClassifier.html
//
//   score[i, j] = rho[i, j] + sum over the vectors v of label i of  coefficients[j - 1, v] * K(X[n], v)
//                           + sum over the vectors v of label j of  coefficients[i, v] * K(X[n], v)
//
// of each two labels i < j is a vote for i above 0, else for j. Y is the first label of most votes and Z the scores, of
// two labels -score and score; with prob_a and prob_b Z are probabilities of the labels, coupled of those of i against
// j, 1 / (1 + exp(prob_a score + prob_b)). Without support vectors Z[n, k] is rho plus X[n] times row k of the
// coefficients, and Y the label of the largest.
#include "reference/families/elementwise.h"
#include "reference/families/scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay {
namespace {

using enum DType;
using enum AttributeSpec::Kind;

Int features(const Call& call) { return call.dim("X", 1); }
Int supports(const Call& call) { return call.integer("n_supports"); }
Int length(const Call& call, const std::string& list) { return call.states(list) ? std::ssize(call.reals(list)) : 0; }

// K of two vectors.
struct KernelFunction {
  std::string type;
  double gamma = 0, coef0 = 0, degree = 0;

  explicit KernelFunction(const Call& call) : type(call.text("kernel_type")) {
    if (!call.states("kernel_params")) return;
    const Reals all = call.reals("kernel_params");
    gamma = all[0], coef0 = all[1], degree = all[2];
  }

  // Compares a row of X with the entries of a list from one on.
  double operator()(const Tensor& x, Int row, const Reals& list, Int from) const {
    double dot = 0, squares = 0;
    const Int many = x.shape()[1];
    for (Int j = 0; j < many; ++j) {
      const double own = number_at(x, row * many + j),
                   other = static_cast<double>(list[static_cast<std::size_t>(from + j)]);
      dot += own * other;
      squares += (own - other) * (own - other);
    }
    const double moved = gamma * dot + coef0;
    if (type == "LINEAR") return dot;
    if (type == "POLY") return std::pow(moved, degree);
    return type == "RBF" ? std::exp(-gamma * squares) : std::tanh(moved);
  }
};

Values regress(const Call& call, Inputs in) {
  Tensor y({f32, {call.dim("X", 0), 1}});
  const KernelFunction k(call);
  const Int many = supports(call);
  const Reals weights = call.reals("coefficients"), vectors = many > 0 ? call.reals("support_vectors") : Reals();
  for (Int n = 0; n < call.dim("X", 0); ++n) {
    double sum = static_cast<double>(call.reals("rho")[0]);
    if (many == 0) sum += k(*in[0], n, weights, 0);  // LINEAR, as SR9 has it
    for (Int i = 0; i < many; ++i)
      sum += static_cast<double>(weights[static_cast<std::size_t>(i)]) * k(*in[0], n, vectors, i * features(call));
    if (call.integer("one_class") != 0) sum = sum > 0 ? 1 : -1;
    Row row{sum};
    transform(call.text("post_transform"), row);
    put(y, n, row);
  }
  return y;
}

Int labels(const Call& call) { return count_labels(call, "classlabels_ints"); }
Int pairs(const Call& call) { return labels(call) * (labels(call) - 1) / 2; }
bool has_vectors(const Call& call) { return call.states("vectors_per_class"); }

// Scores each label by a row of coefficients.
Row score_labels(const Call& call, const Tensor& x, Int n, const KernelFunction& k) {
  const Reals weights = call.reals("coefficients"), rho = call.reals("rho");
  Row all;
  for (Int label = 0; label < labels(call); ++label)
    all.push_back(static_cast<double>(rho[0]) + k(x, n, weights, label * features(call)));
  return all;
}

// Scores each two labels, and adds to their votes.
Row score_pairs(const Call& call, const Tensor& x, Int n, const KernelFunction& k, Row& votes) {
  const Reals weights = call.reals("coefficients"), vectors = call.reals("support_vectors"), rho = call.reals("rho");
  const Ints many = call.ints("vectors_per_class");
  Row kernels, all;
  for (Int from = 0; from < std::ssize(vectors); from += features(call)) kernels.push_back(k(x, n, vectors, from));
  const auto sum_of = [&](std::size_t label, std::size_t row) {
    double sum = 0;
    const auto first = static_cast<std::size_t>(std::accumulate(many.data(), many.data() + label, Int{0}));
    for (std::size_t v = first; v < first + static_cast<std::size_t>(many[label]); ++v)
      sum += static_cast<double>(weights[row * kernels.size() + v]) * kernels[v];
    return sum;
  };
  for (std::size_t i = 0; i < votes.size(); ++i)
    for (std::size_t j = i + 1; j < votes.size(); ++j) {
      all.push_back(static_cast<double>(rho[all.size()]) + sum_of(i, j - 1) + sum_of(j, i));
      votes[all.back() > 0 ? i : j] += 1;
    }
  return all;
}

// Finds the probabilities p of labels that r[j, i] p[i] = r[i, j] p[j] of pairs misses least, from equal ones on (Wu,
// Lin and Weng 2004, the second method).
Row couple(const Call& call, const Row& scores) {
  const Reals a = call.reals("prob_a"), b = call.reals("prob_b");
  const auto many = static_cast<std::size_t>(labels(call));
  std::vector<Row> r(many, Row(many)), q = r;
  for (std::size_t i = 0, at = 0; i < many; ++i)
    for (std::size_t j = i + 1; j < many; ++j, ++at) {
      const double moved = static_cast<double>(a[at]) * scores[at] + static_cast<double>(b[at]);
      r[i][j] = std::clamp(1 / (1 + std::exp(moved)), 1e-7, 1 - 1e-7);
      r[j][i] = 1 - r[i][j];
    }
  for (std::size_t i = 0; i < many; ++i)
    for (std::size_t j = 0; j < many; ++j) {
      if (i != j) q[i][j] = -r[j][i] * r[i][j];
      q[i][i] += r[j][i] * r[j][i];
    }
  Row p(many, 1 / static_cast<double>(many));
  for (std::size_t step = 0; step < 200 * many; ++step) {
    Row gradient;
    for (const Row& each : q) gradient.push_back(std::inner_product(each.begin(), each.end(), p.begin(), 0.0));
    const std::size_t t = step % many;
    p[t] += (std::inner_product(p.begin(), p.end(), gradient.begin(), 0.0) - gradient[t]) / q[t][t];
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& each : p) each /= sum;
  }
  return p;
}

Types classified_types(const Call& call) {
  const bool has_pairs = has_vectors(call) && !call.states("prob_a") && labels(call) > 2;
  return {TensorType{type_of_label(call), {call.dim("X", 0)}},
          TensorType{f32, {call.dim("X", 0), has_pairs ? pairs(call) : labels(call)}}};
}

Values classify(const Call& call, Inputs in) {
  Values out = outputs_of(call);
  const KernelFunction k(call);
  for (Int n = 0; n < call.dim("X", 0); ++n) {
    Row votes(static_cast<std::size_t>(labels(call)));
    Row row = has_vectors(call) ? score_pairs(call, *in[0], n, k, votes) : votes = score_labels(call, *in[0], n, k);
    if (call.states("prob_a"))
      row = couple(call, row);
    else if (row.size() == 1)
      row = {-row[0], row[0]};
    put_label(*out[0], n, votes, call, "classlabels_ints");
    transform(call.text("post_transform"), row);
    put(*out[1], n, row);
  }
  return out;
}

// -- constraints

bool is_matrix(const Call& call) { return call.rank("X") == 2 && features(call) > 0; }
bool has_supports(const Call& call) {
  const Int many = supports(call);
  if (!is_matrix(call) || many < 0) return true;
  return length(call, "coefficients") == (many == 0 ? features(call) : many) &&
         length(call, "support_vectors") == many * features(call);
}
bool has_parameters(const Call& call) {
  return length(call, "kernel_params") == 3 || (!call.states("kernel_params") && call.text("kernel_type") == "LINEAR");
}
bool has_classes(const Call& call) { return has_labels(call, "classlabels_ints") && labels(call) > 1; }
bool counts_vectors(const Call& call) {
  if (!has_vectors(call) || !has_classes(call)) return true;
  const Ints many = call.ints("vectors_per_class");
  const auto is_sound = [most = length(call, "support_vectors")](Int each) { return each >= 0 && each <= most; };
  return std::ssize(many) == labels(call) && std::ranges::all_of(many, is_sound) && std::ranges::max(many) > 0;
}
bool has_rows(const Call& call) {
  if (!is_matrix(call) || !has_classes(call) || !counts_vectors(call)) return true;
  const Ints many = has_vectors(call) ? call.ints("vectors_per_class") : Ints();
  const Int all = std::accumulate(many.begin(), many.end(), Int{0});
  return length(call, "support_vectors") == all * features(call) &&
         length(call, "coefficients") == (all == 0 ? labels(call) * features(call) : (labels(call) - 1) * all);
}
bool has_offsets(const Call& call) {
  return !has_classes(call) || length(call, "rho") == (has_vectors(call) ? pairs(call) : 1);
}
bool has_probabilities(const Call& call) {
  if (!has_classes(call) || (!call.states("prob_a") && !call.states("prob_b"))) return true;
  return has_vectors(call) && length(call, "prob_a") == pairs(call) && length(call, "prob_b") == pairs(call);
}

}  // namespace

// clang-format off
Operator svm_regressor() {
  return Operator("SVMRegressor", "ai.onnx.ml")
      .input("X", "T").output("Y", "f32").type("T", {f32, f64, i64, i32})
      .optional_attribute("coefficients", reals).optional_attribute("rho", reals)
      .optional_attribute("support_vectors", reals).attribute("n_supports", 0)
      .word("kernel_type", {"LINEAR", "POLY", "RBF", "SIGMOID"}, "SR1").optional_attribute("kernel_params", reals)
      .attribute("one_class", 0).word("post_transform", post_transforms(), "SR2")
      .rulings({"A29", "G38", "G52", "G53", "G75", "G76"})
      .require("SR3", "X is [N, F], F >= 1", is_matrix)
      .require("SR4", "n_supports >= 0", [](auto& c) { return supports(c) >= 0; })
      .require("SR5", "there are coefficients and support vectors for each support, or F coefficients", has_supports)
      .require("SR6", "rho is one number", [](auto& c) { return length(c, "rho") == 1; })
      .require("SR7", "kernel_params are three, or none of LINEAR", has_parameters)
      .require("SR8", "one_class is 0 or 1",
               [](auto& c) { return c.integer("one_class") == 0 || c.integer("one_class") == 1; })
      .require("SR9", "kernel_type is LINEAR without support vectors",
               [](auto& c) { return supports(c) != 0 || c.text("kernel_type") == "LINEAR"; })
      .since(1)
      .shaping(Shaping::normalized).shape([](const Call& c) { return Shape{c.dim("X", 0), 1}; }).kernel(regress);
}

Operator svm_classifier() {
  return Operator("SVMClassifier", "ai.onnx.ml")
      .input("X", "T1").output("Y", "T2").output("Z", "f32").type("T1", {f32, f64, i64, i32}).type("T2", {string, i64})
      .optional_ints("classlabels_ints").optional_attribute("classlabels_strings", texts)
      .optional_attribute("coefficients", reals).optional_attribute("rho", reals)
      .optional_attribute("support_vectors", reals).optional_ints("vectors_per_class")
      .word("kernel_type", {"LINEAR", "POLY", "RBF", "SIGMOID"}, "SV1").optional_attribute("kernel_params", reals)
      .optional_attribute("prob_a", reals).optional_attribute("prob_b", reals)
      .word("post_transform", post_transforms(), "SV2")
      .rulings({"A29", "G36", "G38", "G52", "G53", "G54", "G76", "G77", "G78"})
      .require("SV3", "X is [N, F], F >= 1", is_matrix)
      .require("SV4", "two labels or more of one kind are there", has_classes)
      .require("SV5", "vectors_per_class counts, for each label, some of the support vectors", counts_vectors)
      .require("SV6", "each support vector has a coefficient for each other label, or each label has F", has_rows)
      .require("SV7", "rho is one number for each two labels, or one without support vectors", has_offsets)
      .require("SV8", "kernel_params are three, or none of LINEAR", has_parameters)
      .require("SV9", "prob_a and prob_b are one number for each two labels that have support vectors, or none",
               has_probabilities)
      .require("SV10", "kernel_type is LINEAR without support vectors",
               [](auto& c) { return has_vectors(c) || c.text("kernel_type") == "LINEAR"; })
      .since(1)
      .shaping(Shaping::normalized).typed(type_of_label).infer(classified_types).kernel(classify);
}
// clang-format on

}  // namespace assay
