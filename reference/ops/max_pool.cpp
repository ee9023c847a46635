// SPDX-License-Identifier: Apache-2.0
// MaxPool (ai.onnx 1, 8, 10, 11, 12, 22) - https://onnx.ai/onnx/operators/onnx__MaxPool.html
// GlobalMaxPool (1, 22), whose one window is the plane
// com.microsoft NhwcMaxPool (1), whose channels stand last
//
//   Y[n,c,o]       = max over k of X[n, c, o*stride + k*dilation - pad]
//   Indices[n,c,o] = where in X the first of the largest stands: (n*C + c) * plane + its place in the plane
//
// over the taps that fall inside X. With storage_order = 1 the places of a plane are counted column by column.
#include "reference/families/windows.h"

#include <limits>

namespace assay {
namespace {

// Counts the cells of X before this one where the first spatial axis is the fastest.
Int by_columns(const Shape& x, Int cell) {
  const Int plane = volume(std::span(x).subspan(2)), inside = cell % plane;
  Int place = 0, stride = plane, rest = inside;
  for (std::size_t axis = x.size(); axis-- > 2; rest /= x[axis]) place += rest % x[axis] * (stride /= x[axis]);
  return cell - inside + place;
}

// A NaN is larger than any number (W9); a window without a tap is the lowest of its type, at -1 (W10).
const auto largest = []<class T>(const Call& call, std::span<const Tapped<T>> taps, Int& index) {
  const Tapped<T>* best = nullptr;
  for (const Tapped<T>& tap : taps)
    if (!best || tap.value > best->value || (tap.value != tap.value && best->value == best->value)) best = &tap;
  if (best)
    index = call.definition().output("Indices") && call.integer("storage_order") == 1
                ? by_columns(call.shape("X"), best->at)
                : best->at;
  if constexpr (std::is_integral_v<T>)
    return best ? best->value : std::numeric_limits<T>::min();
  else
    return best ? best->value : T(-std::numeric_limits<double>::infinity());
};

}  // namespace

// clang-format off
Operator max_pool() {
  using enum DType;
  return Operator("MaxPool")
      .with(pool_parameters)
      .since(1)
          .type("T", {f16, f32, f64})
          .rulings({"A1", "A3", "A4", "A5", "A6", "A12", "A15", "A29", "A31", "W9", "W10"})
      .since(8, "Indices and storage_order")
          .output("Indices", "I", Arity::optional).type("I", {i64}).attribute("storage_order", 0)
          .require("C2", "storage_order is 0 or 1",
                   [](auto& c) { return c.integer("storage_order") == 0 || c.integer("storage_order") == 1; })
          .rulings({"W11", "W12"})
      .since(10, "ceil_mode and dilations")
          .attribute("ceil_mode", 0).attribute("dilations", ones).rulings({"A2", "A7", "A8"})
      .since(11, "the defaults of strides and dilations are stated")
      .since(12, "SAME_* is ceil(in / stride); T admits int8 and uint8")
          .type("T", {f16, f32, f64, i8, u8}).settled("A1")
      .since(22, "T admits bfloat16; a window that would start in the end padding is ignored")
          .type("T", {bf16, f16, f32, f64, i8, u8})
          .ruling("A8", {"drop-one", "drop-all"}, "'Ignored' excludes keeping one; drop-all is the plural's letter.")
      .shaping(Shaping::window).infer(pooled).kernel(over_windows(largest));
}

Operator global_max_pool() {
  using enum DType;
  return Operator("GlobalMaxPool")
      .with(global_pool_parameters)
      .since(1)
          .type("T", {f16, f32, f64}).rulings({"W9", "W10"})
      .since(22, "T admits bfloat16")
          .type("T", {bf16, f16, f32, f64})
      .shaping(Shaping::window).infer(pooled).kernel(over_windows(largest));
}

Operator nhwc_max_pool() {
  using enum DType;
  return Operator("NhwcMaxPool", "com.microsoft")
      .with(pool_parameters)
      .attribute("ceil_mode", 0).attribute("dilations", ones)
      .since(1)
          .type("T", {i8, u8}).rulings({"A2", "A3", "A4", "A5", "A6", "A7", "A8", "A12", "A15", "A31", "W10"})
      .shaping(Shaping::window).infer(pooled).kernel(over_windows(largest));
}
// clang-format on

}  // namespace assay
