// SPDX-License-Identifier: Apache-2.0
// LpPool (ai.onnx 1, 2, 11, 18, 22) - https://onnx.ai/onnx/operators/onnx__LpPool.html
// GlobalLpPool (1, 2, 22), whose one window is the plane
//
//   Y[n,c,o] = (sum over k of |X[n, c, o*stride + k*dilation - pad]|^p)^(1/p)
//
// over the taps that fall inside X; of none 0. Neither padding nor overhang adds anything (W14).
#include "reference/families/windows.h"
#include "reference/functions.h"

#include <cmath>

namespace assay {
namespace {

double power_of(const Call& call) {
  const bool is_real = call.definition().attribute("p")->kind == AttributeSpec::Kind::real;
  return is_real ? static_cast<double>(call.real("p")) : static_cast<double>(call.integer("p"));
}

const auto norm = []<class T>(const Call& call, std::span<const Tapped<T>> taps, Int&) -> T {
  if constexpr (std::is_integral_v<T>) {
    throw BrokenPromise("a norm of integers");
  } else {
    const double p = power_of(call);
    double sum = 0;
    for (const Tapped<T>& tap : taps) {
      const double size = std::fabs(static_cast<double>(tap.value));
      sum += p == 1 ? size : p == 2 ? size * size : power(size, p);
    }
    return T(p == 1 ? sum : p == 2 ? std::sqrt(sum) : power(sum, 1 / p));
  }
};

// What every norm takes and demands, of a real p before the second version and a whole one from it on.
void real_power(Operator& op) {
  op.attribute("p", 2.0F).require("P1", "p > 0 (W15)", [](const Call& c) { return power_of(c) > 0; });
  op.rulings({"A26", "A28", "W14", "W15"});
}
void whole_power(Operator& op) {
  op.without("p").without("P1").attribute("p", 2).require("P1", "p >= 1 (W15)",
                                                          [](const Call& c) { return power_of(c) >= 1; });
}

}  // namespace

// clang-format off
Operator lp_pool() {
  using enum DType;
  return Operator("LpPool")
      .with(pool_parameters)
      .since(1)
          .type("T", {f16, f32, f64}).with(real_power)
          .rulings({"A1", "A3", "A4", "A5", "A6", "A12", "A15", "A29", "A31"})
      .since(2, "p is an integer; kernel_shape is required")
          .with(whole_power)
      .since(11, "SAME_* is ceil(in / stride); strides default to 1")
          .settled("A1")
      .since(18, "ceil_mode and dilations")
          .attribute("ceil_mode", 0).attribute("dilations", ones).rulings({"A2", "A7", "A8"})
      .since(22, "T admits bfloat16")
          .type("T", {bf16, f16, f32, f64})
      .shaping(Shaping::window).infer(pooled).kernel(over_windows(norm));
}

Operator global_lp_pool() {
  using enum DType;
  return Operator("GlobalLpPool")
      .with(global_pool_parameters)
      .since(1)
          .type("T", {f16, f32, f64}).with(real_power)
      .since(2, "p is an integer")
          .with(whole_power)
      .since(22, "T admits bfloat16")
          .type("T", {bf16, f16, f32, f64})
      .shaping(Shaping::window).infer(pooled).kernel(over_windows(norm));
}
// clang-format on

}  // namespace assay
