// SPDX-License-Identifier: Apache-2.0
// Support vector machines a third time: the products of a row with every support are made first.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <cmath>

namespace assay::mutation {
namespace {

enum Defect {
  none,
  forgets_offset,
  subtracts_offset,
  transposes_supports,
  exchanges_parameters,
  forgets_gamma,
  forgets_square,
  ignores_transform,
  returns_sum,
  weighs_by_first
};

double power_of(double base, double degree) {
  double all = 1;
  for (int i = 0; i < static_cast<int>(degree); ++i) all *= base;
  return all;
}

Kernel separating(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    const Int rows = call.dim("X", 0), width = call.dim("X", 1), supports = call.integer("n_supports");
    const Reals weights = call.reals("coefficients"), vectors = supports == 0 ? weights : call.reals("support_vectors");
    Reals parameters = call.states("kernel_params") ? call.reals("kernel_params") : Reals{1, 0, 1};
    if (defect == exchanges_parameters) std::swap(parameters[0], parameters[1]);
    if (defect == forgets_gamma) parameters[0] = 1;
    const std::string kernel = call.text("kernel_type"), post = call.text("post_transform");
    Tensor y({DType::f32, {rows, 1}});
    for (Int n = 0; n < rows; ++n) {
      double sum = 0;
      for (Int i = std::max<Int>(1, supports); i-- > 0;) {
        double dot = 0, own = 0, other = 0;
        for (Int j = 0; j < width; ++j) {
          const double x = number_at(*in[0], n * width + j);
          const Int at = defect == transposes_supports ? j * std::max<Int>(1, supports) + i : i * width + j;
          const auto s = static_cast<double>(vectors[static_cast<std::size_t>(at)]);
          dot += x * s;
          own += x * x;
          other += s * s;
        }
        const double apart = own + other - 2 * dot, gamma = static_cast<double>(parameters[0]);
        const double moved = gamma * dot + static_cast<double>(parameters[1]);
        double value = dot;
        if (kernel == "POLY") value = power_of(moved, static_cast<double>(parameters[2]));
        if (kernel == "RBF") value = std::exp(-gamma * (defect == forgets_square ? std::sqrt(std::abs(apart)) : apart));
        if (kernel == "SIGMOID") value = std::tanh(moved);
        const auto weight = static_cast<double>(weights[defect == weighs_by_first ? 0 : static_cast<std::size_t>(i)]);
        sum += supports == 0 ? value : weight * value;
      }
      const auto rho = static_cast<double>(call.reals("rho")[0]);
      if (defect != forgets_offset) sum += defect == subtracts_offset ? -rho : rho;
      if (call.integer("one_class") == 1 && defect != returns_sum) sum = sum > 0 ? 1 : -1;
      if (defect != ignores_transform) {
        if (post == "LOGISTIC") sum = (1 + std::tanh(sum / 2)) / 2;
        if (post == "SOFTMAX" || (post == "SOFTMAX_ZERO" && sum != 0)) sum = 1;
        if (post == "PROBIT") sum = 0;
      }
      put_number(y, n, sum);
    }
    return y;
  };
}

}  // namespace

std::vector<VariantKernel> machine_variants(const std::string& op) {
  if (op != "SVMRegressor") return {};
  return {variant_of("sequential", "one row after the other", separating(none))};
}

std::vector<Bug> machine_bugs(const std::string& op) {
  if (op != "SVMRegressor") return {};
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, separating(defect));
  };
  return {bug("forgets-offset", "rho is not added", forgets_offset),
          bug("subtracts-offset", "rho is taken off", subtracts_offset),
          bug("transposes-supports", "the entries of a feature are contiguous", transposes_supports),
          bug("exchanges-parameters", "gamma and coef0 change places", exchanges_parameters),
          bug("forgets-gamma", "gamma is 1", forgets_gamma),
          bug("forgets-square", "RBF takes the distance, not its square", forgets_square),
          bug("ignores-transform", "the sum is not transformed", ignores_transform),
          bug("returns-sum", "of one class the sum is returned", returns_sum),
          bug("weighs-by-first", "every support has the first coefficient", weighs_by_first)};
}

}  // namespace assay::mutation
