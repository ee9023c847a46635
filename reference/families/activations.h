// SPDX-License-Identifier: Apache-2.0
// Activations: the functions that RNN, GRU, LSTM and FusedConv name.
#pragma once

#include "reference/functions.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace assay {

struct Activation {
  std::string_view name;
  double alpha, beta;  // where they are not stated
  bool has_alpha, has_beta;
  double (*of)(double x, double alpha, double beta);
};

inline constexpr Activation activations[] = {
    {"Relu", 0, 0, false, false, [](double x, double, double) { return x < 0 ? 0 : x; }},
    {"Tanh", 0, 0, false, false, [](double x, double, double) { return hyperbolic_tangent(x); }},
    {"Sigmoid", 0, 0, false, false, [](double x, double, double) { return logistic(x); }},
    {"Affine", 1, 0, true, true, [](double x, double alpha, double beta) { return alpha * x + beta; }},
    {"LeakyRelu", 0.01F, 0, true, false, [](double x, double alpha, double) { return x < 0 ? alpha * x : x; }},
    {"ThresholdedRelu", 1, 0, true, false, [](double x, double alpha, double) { return x < alpha ? 0 : x; }},
    {"ScaledTanh", 1, 1, true, true, [](double x, double a, double b) { return a * hyperbolic_tangent(b * x); }},
    {"HardSigmoid", 0.2F, 0.5, true, true,
     [](double x, double alpha, double beta) { return std::clamp(alpha * x + beta, 0.0, 1.0); }},
    {"Elu", 1, 0, true, false, [](double x, double a, double) { return x < 0 ? a * exponential_less_one(x) : x; }},
    {"Softsign", 0, 0, false, false, [](double x, double, double) { return x / (1 + std::abs(x)); }},
    {"Softplus", 0, 0, false, false, [](double x, double, double) { return softened(x); }}};

inline const Activation* activation_named(std::string_view name) {
  const auto found = std::ranges::find(activations, name, &Activation::name);
  return found == std::end(activations) ? nullptr : found;
}

}  // namespace assay
