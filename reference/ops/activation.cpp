// SPDX-License-Identifier: Apache-2.0
// Softplus, Softsign (ai.onnx 1, 22), Mish (18, 22), Swish (24), Elu, Selu, HardSigmoid (1, 6, 22), Celu (12, 28),
// ThresholdedRelu (10, 22), HardSwish (14, 22), Gelu (20) - https://onnx.ai/onnx/operators/onnx__Elu.html
//
//   Softplus log(1 + e^x)    Softsign x / (1 + |x|)    Mish x tanh(log(1 + e^x))    Swish x / (1 + e^(-alpha x))
//   Elu alpha (e^x - 1) where x < 0, else x            Selu gamma (alpha e^x - alpha) where x <= 0, else gamma x
//   Celu max(0, x) + min(0, alpha (e^(x/alpha) - 1))   ThresholdedRelu x where x > alpha, else 0
//   HardSigmoid max(0, min(1, alpha x + beta))         HardSwish x max(0, min(1, x/6 + 1/2))
//   Gelu x/2 (1 + erf(x / sqrt 2)); approximate = tanh: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
#include "reference/families/elementwise.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

#include <cmath>

namespace assay {
namespace {

// clang-format off
Operator floats(const char* name, const char* input = "X", const char* output = "Y") {
  return Operator(name).input(input, "T").output(output, "T").type("T", types::all_float_types())
      .rulings({"A29", "E1"}).shaping(Shaping::one).shape(same_as(input));
}
void bfloat16_from_22(Operator& op) { op.since(22, "T admits bfloat16").type("T", types::all_float_types_ir4()); }
void hinted_before_6(Operator& op) {
  op.since(1).with(consumed_inputs).since(6, "consumed_inputs is gone").with(without_consumed_inputs);
}

double clamped(double x) { return x > 1 ? 1 : x < 0 ? 0 : x; }  // NaN stays

}  // namespace

Operator softplus() { return floats("Softplus").since(1).with(bfloat16_from_22).kernel(each_in_double(softened)); }

Operator softsign() {
  return floats("Softsign", "input", "output").ruling("E50")
      .since(1).with(bfloat16_from_22)
      .kernel(each_in_double([](double x) { return x / (1 + std::abs(x)); }));
}

Operator mish() {
  return floats("Mish").ruling("E50")
      .since(18).with(bfloat16_from_22)
      .kernel(each_in_double([](double x) { return x * hyperbolic_tangent(softened(x)); }));
}

Operator swish() {
  return floats("Swish").attribute("alpha", 1.0F).rulings({"E38", "E50"})
      .since(24).type("T", types::all_float_types_ir4())
      .kernel(each_in_double([](const Call& call) {
        return [alpha = double{call.real("alpha")}](double x) { return x * logistic(alpha * x); };
      }));
}

Operator gelu() {
  return floats("Gelu").word("approximate", {"none", "tanh"}, "approx").rulings({"E50", "E52"})
      .since(20).type("T", types::all_float_types_ir4())
      .kernel(each_in_double([](const Call& call) {
        return [by_tanh = call.text("approximate") == "tanh"](double x) {
          constexpr double root_of_half = 0x1.6a09e667f3bcdp-1, root_of_2_by_pi = 0x1.9884533d43651p-1;
          const double gate = by_tanh ? hyperbolic_tangent(root_of_2_by_pi * (x + 0.044715 * x * x * x))
                                      : error_function(root_of_half * x);
          return x / 2 * (1 + gate);
        };
      }));
}

Operator elu() {
  return floats("Elu").attribute("alpha", 1.0F).ruling("E38")
      .with(hinted_before_6).with(bfloat16_from_22)
      .kernel(each_in_double([](const Call& call) {
        return [alpha = double{call.real("alpha")}](double x) { return x < 0 ? alpha * exponential_less_one(x) : x; };
      }));
}

Operator selu() {
  return floats("Selu").attribute("alpha", 1.6732F).attribute("gamma", 1.0507F).ruling("E38")
      .with(hinted_before_6)
      .attribute("alpha", 1.67326319217681884765625F).attribute("gamma", 1.05070102214813232421875F)
      .with(bfloat16_from_22)
      .kernel(each_in_double([](const Call& call) {
        return [alpha = double{call.real("alpha")}, gamma = double{call.real("gamma")}](double x) {
          return gamma * (x <= 0 ? alpha * exponential_less_one(x) : x);
        };
      }));
}

Operator celu() {
  return floats("Celu").attribute("alpha", 1.0F).rulings({"E38", "E39"})
      .ruling("E41", {"nan", "zero"})
      .since(12).type("T", {DType::f32}).ruling("E54")
      .since(28, "T admits every float").type("T", types::all_float_types_ir4()).settled("E54")
      .kernel(each_in_double([](const Call& call) {
        return [alpha = double{call.real("alpha")}](double x) {
          return x >= 0 ? x : alpha * exponential_less_one(x / alpha);
        };
      }));
}

Operator thresholded_relu() {
  return floats("ThresholdedRelu").attribute("alpha", 1.0F).rulings({"E2", "E38", "E40"})
      .since(10).with(bfloat16_from_22)
      .kernel(each_in_double([](const Call& call) {
        return [alpha = double{call.real("alpha")}](double x) { return x > alpha ? x : 0; };
      }));
}

Operator hard_sigmoid() {
  return floats("HardSigmoid").attribute("alpha", 0.2F).attribute("beta", 0.5F)
      .rulings({"E38", "E41"}).with(hinted_before_6).with(bfloat16_from_22)
      .kernel(each_in_double([](const Call& call) {
        return [alpha = double{call.real("alpha")}, beta = double{call.real("beta")}](double x) {
          return clamped(alpha * x + beta);
        };
      }));
}

Operator hard_swish() {
  return floats("HardSwish").rulings({"E37", "E50"})
      .since(14).with(bfloat16_from_22)
      .kernel(each_in_double([](double x) { return x * clamped(x / 6 + 0.5); }));
}

// clang-format on
}  // namespace assay
