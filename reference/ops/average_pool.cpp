// SPDX-License-Identifier: Apache-2.0
// AveragePool (ai.onnx 1, 7, 10, 11, 19, 22) - https://onnx.ai/onnx/operators/onnx__AveragePool.html
// GlobalAveragePool (1, 22), whose one window is the plane
//
//   Y[n,c,o] = (sum over k of X[n, c, o*stride + k*dilation - pad]) / count
//
// over the taps that fall inside X. count is the number of those taps, or with count_include_pad the number that fall
// inside X or its padding. The overhang that ceil_mode reaches beyond the padding never counts.
#include "reference/families/windows.h"
#include "reference/fast/kernels.h"
#include "reference/operator.h"
#include "reference/window.h"

#include <limits>

namespace assay {
namespace {

// Terms are added in tap order, then divided once. A window without any cell is 0 / 0 = NaN (A9).
template <class T>
void average(const Call& call, std::span<const T> x, std::span<T> y) {
  const Window window = Window::of(call);
  const bool count_padding = call.definition().attribute("count_include_pad") && call.integer("count_include_pad") != 0;
  const Shape kernel = window.kernel(), out = window.output();
  const Int planes = call.dim("X", 0) * call.dim("X", 1), x_plane = volume(window.input());

  for (Int plane = 0, at = 0; plane < planes; ++plane)
    for_each_position(out, [&](const Shape& o, Int) {
      accumulator_t<T> sum = 0;
      Int count = 0;
      for_each_position(kernel, [&](const Shape& k, Int) {
        const std::optional<Int> cell = window.cell(o, k);
        if (cell) sum += static_cast<accumulator_t<T>>(x[plane * x_plane + *cell]);
        if (cell || (count_padding && window.is_padded(o, k))) ++count;
      });
      y[at++] = written<T>(count ? sum / static_cast<accumulator_t<T>>(count)
                                 : std::numeric_limits<accumulator_t<T>>::quiet_NaN());
    });
}

Tensor compute(const Call& call, std::span<const Tensor* const> in) {
  Tensor y({call.type("X").dtype, pooled_shape(call)});
  for_float(y.dtype(), [&]<class T>() { average<T>(call, in[0]->as<T>(), y.as<T>()); });
  return y;
}

}  // namespace

// clang-format off
Operator average_pool() {
  using enum DType;
  return Operator("AveragePool")
      .with(pool_parameters)

      .since(1)
          .type("T", {f16, f32, f64})
          .rulings({"A1", "A3", "A4", "A5", "A6", "A9", "A12", "A15", "A26", "A27", "A28", "A29", "A31"})
      .since(7, "count_include_pad")
          .attribute("count_include_pad", 0)
      .since(10, "ceil_mode")
          .attribute("ceil_mode", 0)
          .rulings({"A7", "A8"})
      .since(11, "SAME_* is ceil(in / stride); strides default to 1")
          .settled("A1")
          .rulings({"A10", "A11"})
      .since(19, "dilations; the floor formulas are corrected")
          .attribute("dilations", ones)
          .settled("A10").settled("A11")
          .rulings({"A2", "A30"})
      .since(22, "T admits bfloat16; a window that would start in the end padding is ignored")
          .type("T", {bf16, f16, f32, f64})
          .ruling("A8", {"drop-one", "drop-all"}, "'Ignored' excludes keeping one; drop-all is the plural's letter.")

      .shaping(Shaping::window)
      .shape(pooled_shape)
      .kernel(compute)
      .fast(fast::average_pool);
}

Operator global_average_pool() {
  using enum DType;
  return Operator("GlobalAveragePool")
      .with(global_pool_parameters)
      .since(1)
          .type("T", {f16, f32, f64}).rulings({"A9", "A26", "A27", "A28"})
      .since(22, "T admits bfloat16")
          .type("T", {bf16, f16, f32, f64})
      .shaping(Shaping::window).shape(pooled_shape).kernel(compute).fast(fast::average_pool);
}
// clang-format on

}  // namespace assay
