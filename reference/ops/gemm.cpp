// SPDX-License-Identifier: Apache-2.0
// Gemm (ai.onnx 1, 6, 7, 9, 11, 13) - https://onnx.ai/onnx/operators/onnx__Gemm.html
//
//   Y[m,n] = alpha * (sum over k of  A'[m,k] * B'[k,n]) + beta * C[m,n]
//
// A' and B' are A and B, transposed where transA and transB say so. C has the shape of Y, or is broadcast to it.
#include "reference/families/moved.h"
#include "reference/families/products.h"

#include <cmath>

namespace assay {
namespace {

Matrices matrices_of(const Call& c) {
  return Matrices::of(c.shape("A"), c.shape("B"), c.integer("transA") != 0, c.integer("transB") != 0);
}

// How far it is in C to the next row and column of Y; 0 where the one there is is read again.
struct Steps {
  Int row = 0, column = 0;
};

Steps steps_in(const Shape& c) {
  if (c.empty()) return {};
  const Int columns = c.back();
  return {c.size() > 1 && c[0] != 1 ? columns : 0, columns != 1 ? 1 : 0};
}

// A factor as what is summed up is multiplied by it: whole numbers modulo 2^64, of fractions what is before the point
// (W24).
template <class A>
A factor(float value) {
  if constexpr (std::is_floating_point_v<A>) {
    return value;
  } else {
    const double rest = std::isfinite(value) ? std::fmod(std::trunc(static_cast<double>(value)), 0x1p64) : 0;
    return rest < 0 ? 0 - static_cast<A>(-rest) : static_cast<A>(rest);
  }
}

// A C that beta makes nothing of is not read (W22).
template <class T>
void combine(const Call& call, Inputs in, std::span<T> y) {
  using A = product_t<T>;
  const Matrices meet = matrices_of(call);
  const A alpha = factor<A>(call.real("alpha")), beta = factor<A>(call.real("beta"));
  const bool adds = in.size() > 2 && in[2] && call.real("beta") != 0;
  const std::span<const T> c = adds ? in[2]->as<T>() : std::span<const T>();
  const Steps steps = adds ? steps_in(in[2]->shape()) : Steps();
  const auto reads = [](std::span<const T> from) {
    return [from](Int at) { return static_cast<A>(from[static_cast<std::size_t>(at)]); };
  };
  multiply<A>(meet, reads(in[0]->as<T>()), reads(in[1]->as<T>()), [&](Int first, std::span<const A> sums) {
    Int at = meet.columns == 0 ? 0 : first / meet.columns * steps.row;
    for (const A sum : sums) {
      A value = alpha * sum;
      if (adds) value += beta * static_cast<A>(c[static_cast<std::size_t>(at)]);
      y[static_cast<std::size_t>(first++)] = finished<T>(value);
      at += steps.column;
    }
  });
}

Tensor compute(const Call& call, Inputs in) {
  Tensor y = Tensor::to_be_written({in[0]->dtype(), matrices_of(call).shape});
  for_number(y.dtype(), [&]<class T>() { combine<T>(call, in, y.as<T>()); });
  return y;
}

bool are_matrices(const Call& c) { return c.rank("A") == 2 && c.rank("B") == 2; }

bool is_of_shape(const Call& c) { return !are_matrices(c) || c.shape("C") == matrices_of(c).shape; }

}  // namespace

// clang-format off
Operator gemm() {
  using enum DType;
  return Operator("Gemm")
      .input("A", "T").input("B", "T").input("C", "T").output("Y", "T")
      .attribute("alpha", 1.0F).attribute("beta", 1.0F).attribute("transA", 0).attribute("transB", 0)
      .with(gemm_constraints)
      .rulings({"A26", "A29", "W22"})
      .since(1)
          .type("T", {f16, f32, f64}).attribute("broadcast", 0).rulings({"W23"})
          .require("C4", "C has the shape of Y where broadcast is 0",
                   [](auto& c) { return c.integer("broadcast") != 0 || !c_is_broadcast(c) || is_of_shape(c); })
      .since(6, "the text is rewritten")
      .since(7, "C is broadcast wherever it can be")
          .without("broadcast").without("C4").settled("W23")
      .since(9, "T admits integers")
          .type("T", {f16, f32, f64, u32, u64, i32, i64}).rulings({"W20", "W24"})
      .since(11, "C may be left out")
          .input("C", "T", Arity::optional)
      .since(13, "T admits bfloat16")
          .type("T", {bf16, f16, f32, f64, u32, u64, i32, i64})
      .shaping(Shaping::product).infer(moved_to([](const Call& c) { return matrices_of(c).shape; })).kernel(compute);
}
// clang-format on

}  // namespace assay
