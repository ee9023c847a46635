// SPDX-License-Identifier: Apache-2.0
// SVMRegressor (ai.onnx.ml 1) - https://onnx.ai/onnx/operators/onnx_aionnxml_SVMRegressor.html
//
//   Y[n] = rho + sum over i of  coefficients[i] * K(X[n], support_vectors[i])
//
// K(x, s) is x s, (gamma x s + coef0)^degree, exp(-gamma |x - s|^2) or tanh(gamma x s + coef0). Without support vectors
// it is X[n] times the coefficients. Of one class Y is 1 above 0, else -1.
#include "reference/families/elementwise.h"
#include "reference/families/scores.h"

#include <cmath>

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
// clang-format on

}  // namespace assay
