// SPDX-License-Identifier: Apache-2.0
// Det (ai.onnx 11, 22) - https://onnx.ai/onnx/operators/onnx__Det.html
//
//   Y[b…] = the determinant of the matrix X[b…,:,:]; 1 of a matrix of no elements
//
// by elimination, the largest of a column being the pivot.
#include "reference/families/moved.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

Shape batches(const Call& call) {
  Shape shape = call.shape("X");
  shape.resize(shape.size() - 2);
  return shape;
}

template <class A>
A determinant(std::vector<A> a, std::size_t n) {
  A product = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    if (pivot != k) {
      std::swap_ranges(&a[k * n], &a[k * n] + n, &a[pivot * n]);
      product = -product;
    }
    product *= a[k * n + k];
    if (a[k * n + k] == 0) continue;
    for (std::size_t i = k + 1; i < n; ++i) {
      const A times = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k + 1; j < n; ++j) a[i * n + j] -= times * a[k * n + j];
    }
  }
  return product;
}

Values compute(const Call& call, Inputs in) {
  Tensor y({in[0]->dtype(), batches(call)});
  const std::size_t n = static_cast<std::size_t>(in[0]->shape().back());
  for_float(y.dtype(), [&]<class T>() {
    const std::span<const T> x = in[0]->as<T>();
    for (std::size_t at = 0; T & each : y.as<T>()) {
      std::vector<accumulator_t<T>> matrix;
      for (const T value : x.subspan(at, n * n)) matrix.push_back(static_cast<accumulator_t<T>>(value));
      each = written<T>(determinant(std::move(matrix), n));
      at += n * n;
    }
  });
  return y;
}

bool is_of_squares(const Call& c) {
  const Int rank = c.rank("X");
  return rank >= 2 && c.dim("X", rank - 1) == c.dim("X", rank - 2);
}

}  // namespace

// clang-format off
Operator det() {
  using enum DType;
  return Operator("Det")
      .input("X", "T").output("Y", "T")
      .require("DT1", "rank(X) >= 2, the last two axes of one extent", is_of_squares)
      .since(11)
          .type("T", {f16, f32, f64}).rulings({"A29", "W60"})
      .since(22, "T admits bfloat16")
          .type("T", {bf16, f16, f32, f64})
      .shaping(Shaping::reduced).infer(moved_to(batches)).kernel(compute);
}
// clang-format on

}  // namespace assay
