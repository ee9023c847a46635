// SPDX-License-Identifier: Apache-2.0
// MatMul (ai.onnx 1, 9, 13) - https://onnx.ai/onnx/operators/onnx__MatMul.html
// MatMulInteger (10), of numbers less their zero points
//
//   Y[…,m,n] = sum over k of  A[…,m,k] * B[…,k,n]
//
// as numpy.matmul has it: axes before the last two are broadcast, a vector is one row of A or one column of B.
#include "reference/families/moved.h"
#include "reference/families/products.h"

namespace assay {
namespace {

Shape output_shape(const Call& call) { return Matrices::of(call.shape("A"), call.shape("B")).shape; }

Tensor compute(const Call& call, Inputs in) {
  const Matrices meet = Matrices::of(call.shape("A"), call.shape("B"));
  Tensor y = Tensor::to_be_written({in[0]->dtype(), meet.shape});
  for_number(y.dtype(), [&]<class T>() {
    using A = product_t<T>;
    const auto reads = [](std::span<const T> from) {
      return [from](Int at) { return static_cast<A>(from[static_cast<std::size_t>(at)]); };
    };
    T* const to = y.as<T>().data();
    multiply<A>(meet, reads(in[0]->as<T>()), reads(in[1]->as<T>()),
                [&](Int first, std::span<const A> sums) { std::ranges::transform(sums, to + first, finished<T>); });
  });
  return y;
}

// Reads 8-bit integers less their zero points, as signed ones that wrap into unsigned sums: `zero_of` says which.
template <class F>
auto less_zero_points(const Tensor& from, const Tensor* zeros, F zero_of) {
  const auto number = [](const Tensor& tensor, Int at) {
    const auto i = static_cast<std::size_t>(at);
    return tensor.dtype() == DType::u8 ? Int{tensor.as<std::uint8_t>()[i]} : Int{tensor.as<std::int8_t>()[i]};
  };
  return [&from, zeros, zero_of, number](Int at) {
    const Int zero = zeros ? number(*zeros, zeros->elements() == 1 ? 0 : zero_of(at)) : 0;
    return static_cast<std::uint64_t>(number(from, at) - zero);
  };
}

Tensor compute_integers(const Call& call, Inputs in) {
  const Matrices meet = Matrices::of(call.shape("A"), call.shape("B"));
  Tensor y = Tensor::to_be_written({DType::i32, meet.shape});
  std::int32_t* const to = y.as<std::int32_t>().data();
  const Int depth = meet.depth, columns = meet.columns, matrix = std::max<Int>(1, depth * columns);
  const auto row = [depth](Int at) { return at / depth; };
  const auto column = [=](Int at) { return at / matrix * columns + at % columns; };
  multiply<std::uint64_t>(meet, less_zero_points(*in[0], in.size() > 2 ? in[2] : nullptr, row),
                          less_zero_points(*in[1], in.size() > 3 ? in[3] : nullptr, column),
                          [&](Int first, std::span<const std::uint64_t> sums) {
                            std::ranges::transform(sums, to + first, finished<std::int32_t>);
                          });
  return y;
}

bool has_matrices(const Call& c) { return c.rank("A") >= 1 && c.rank("B") >= 1; }

// One zero point, or one for each row of A or column of B: a vector of those of one matrix, else with an axis of 1.
bool zero_point_fits(const Call& c, const char* zero_point, const char* of, bool is_per_row) {
  if (!c.has(zero_point) || (volume(c.shape(zero_point)) == 1 && c.rank(zero_point) <= 1)) return true;
  Shape shape = c.shape(of);
  if (shape.size() < 2) return false;
  if (shape.size() == 2) return c.shape(zero_point) == Shape{is_per_row ? shape[0] : shape[1]};
  (is_per_row ? shape.back() : shape[shape.size() - 2]) = 1;
  return c.shape(zero_point) == shape;
}

void matrix_parameters(Operator& op) {
  op.require("C1", "neither A nor B is a scalar", has_matrices)
      .require("C2", "the columns of A are as many as the rows of B",
               [](auto& c) {
                 return !has_matrices(c) || inner_extent_of_a(c.shape("A")) == inner_extent_of_b(c.shape("B"));
               })
      .require("C3", "the axes of A and B before the last two can be broadcast",
               [](auto& c) { return batches_meet(c.shape("A"), c.shape("B")); });
}

}  // namespace

// clang-format off
Operator matmul() {
  using enum DType;
  return Operator("MatMul")
      .input("A", "T").input("B", "T").output("Y", "T")
      .with(matrix_parameters)
      .rulings({"A26", "A29", "W21"})
      .since(1)
          .type("T", {f16, f32, f64})
      .since(9, "T admits integers")
          .type("T", {f16, f32, f64, u32, u64, i32, i64}).rulings({"W20"})
      .since(13, "T admits bfloat16")
          .type("T", {bf16, f16, f32, f64, u32, u64, i32, i64})
      .shaping(Shaping::product).infer(moved_to(output_shape)).kernel(compute);
}

Operator matmul_integer() {
  using enum DType;
  return Operator("MatMulInteger")
      .input("A", "T1").input("B", "T2")
      .input("a_zero_point", "T1", Arity::optional).input("b_zero_point", "T2", Arity::optional).output("Y", "T3")
      .with(matrix_parameters)
      .require("C4", "a_zero_point is one number, or one for each row of A",
               [](auto& c) { return zero_point_fits(c, "a_zero_point", "A", true); })
      .require("C5", "b_zero_point is one number, or one for each column of B",
               [](auto& c) { return zero_point_fits(c, "b_zero_point", "B", false); })
      .rulings({"W7", "W21", "W29"})
      .since(10)
          .type("T1", {i8, u8}).type("T2", {i8, u8}).type("T3", {i32})
      .shaping(Shaping::product).infer(moved_to(output_shape)).kernel(compute_integers);
}
// clang-format on

}  // namespace assay
