// SPDX-License-Identifier: Apache-2.0
// MatMul (ai.onnx 1, 9, 13) - https://onnx.ai/onnx/operators/onnx__MatMul.html
// MatMulInteger (10), of numbers less their zero points
// QLinearMatMul (10, 21), of the same by their scales: y = saturate(round(Y * a_scale * b_scale / y_scale) +
// y_zero_point)
//
//   Y[…,m,n] = sum over k of  A[…,m,k] * B[…,k,n]
//
// as numpy.matmul has it: axes before the last two are broadcast, a vector is one row of A or one column of B.
#include "reference/convert.h"
#include "reference/families/moved.h"
#include "reference/families/products.h"
#include "reference/fast/kernels.h"
#include "reference/requantization.h"

namespace assay {
namespace {

// A and B are called so, or a and b.
const std::string& a_of(const Call& c) { return c.definition().inputs.front().name; }
std::string b_of(const Call& c) { return c.definition().input("b") ? "b" : "B"; }
const Shape& a_shape(const Call& c) { return c.shape(a_of(c)); }
const Shape& b_shape(const Call& c) { return c.shape(b_of(c)); }
Shape output_shape(const Call& call) { return Matrices::of(a_shape(call), b_shape(call)).shape; }

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

// Reads numbers that belong to rows or columns, of which there may be one for all.
struct Beside {
  Tensor values;
  explicit Beside(const Tensor& from) : values(converted(from, DType::f64)) {}
  double of(Int at) const {
    return std::as_const(values).as<double>()[values.elements() == 1 ? 0 : static_cast<std::size_t>(at)];
  }
};

Tensor compute_quantized(const Call& call, Inputs in) {
  const Matrices meet = Matrices::of(a_shape(call), b_shape(call));
  const Beside a(*in[0]), a_scale(*in[1]), a_zero(*in[2]), b(*in[3]), b_scale(*in[4]), b_zero(*in[5]), y_scale(*in[6]),
      y_zero(*in[7]);
  Tensor y = Tensor::to_be_written({in[7]->dtype(), meet.shape});
  const Int depth = meet.depth, columns = meet.columns;
  // Without a depth the sums are 0, whatever scales them.
  const auto row = [=](Int at) { return depth == 0 ? 0 : at / depth; };
  const auto column = [=](Int at) { return depth == 0 ? 0 : at / (depth * columns) * columns + at % columns; };
  const auto write = [&](Int first, std::span<const double> sums) {
    if (sums.empty()) return;
    const auto number = static_cast<std::size_t>(first / (meet.rows * columns));
    const double left = a_scale.of(row(meet.a[number] + first / columns % meet.rows * meet.a_row));
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const double right = b_scale.of(column(meet.b[number] + static_cast<Int>(j) * meet.b_column));
      const auto at = static_cast<std::size_t>(first) + j;
      for_value(y.dtype(), [&]<class T>() {
        if constexpr (std::is_integral_v<T> && sizeof(T) == 1)
          y.as<T>()[at] = saturated<T>(requantized(sums[j], left, right, y_scale.of(0)) + y_zero.of(0));
        else if constexpr (Small<T>)
          y.as<T>()[at] = T(sums[j] * left * right / y_scale.of(0) + y_zero.of(0));
      });
    }
  };
  multiply<double>(
      meet, [&](Int at) { return a.values.as<double>()[static_cast<std::size_t>(at)] - a_zero.of(row(at)); },
      [&](Int at) { return b.values.as<double>()[static_cast<std::size_t>(at)] - b_zero.of(column(at)); }, write);
  return y;
}

// One zero point, or one for each row of A or column of B: a vector of those of one matrix, else with an axis of 1.
bool zero_point_fits(const Call& c, const char* zero_point, const char* of, bool is_per_row) {
  if (!c.has(zero_point) || (volume(c.shape(zero_point)) == 1 && c.rank(zero_point) <= 1)) return true;
  Shape shape = c.shape(of);
  if (shape.size() < 2) return false;
  if (shape.size() == 2) return c.shape(zero_point) == Shape{is_per_row ? shape[0] : shape[1]};
  (is_per_row ? shape.back() : shape[shape.size() - 2]) = 1;
  return c.shape(zero_point) == shape;
}

}  // namespace

// clang-format off
Operator matmul() {
  using enum DType;
  return Operator("MatMul")
      .input("A", "T").input("B", "T").output("Y", "T")
      .with(matmul_constraints)
      .rulings({"A26", "A29", "W21"})
      .since(1)
          .type("T", {f16, f32, f64})
      .since(9, "T admits integers")
          .type("T", {f16, f32, f64, u32, u64, i32, i64}).rulings({"W20"})
      .since(13, "T admits bfloat16")
          .type("T", {bf16, f16, f32, f64, u32, u64, i32, i64})
      .shaping(Shaping::product).infer(moved_to(output_shape)).kernel(compute).fast(fast::matmul);
}

Operator matmul_integer() {
  using enum DType;
  return Operator("MatMulInteger")
      .input("A", "T1").input("B", "T2")
      .input("a_zero_point", "T1", Arity::optional).input("b_zero_point", "T2", Arity::optional).output("Y", "T3")
      .with(matmul_constraints)
      .require("C4", "a_zero_point is one number, or one for each row of A",
               [](auto& c) { return zero_point_fits(c, "a_zero_point", "A", true); })
      .require("C5", "b_zero_point is one number, or one for each column of B",
               [](auto& c) { return zero_point_fits(c, "b_zero_point", "B", false); })
      .rulings({"W7", "W21", "W29"})
      .since(10)
          .type("T1", {i8, u8}).type("T2", {i8, u8}).type("T3", {i32})
      .shaping(Shaping::product).infer(moved_to(output_shape)).kernel(compute_integers).fast(fast::matmul_integer);
}

Operator qlinear_matmul() {
  using enum DType;
  const std::vector<DType> codes{i8, u8, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz};
  const auto is_one = [](const Call& c, const char* input) { return zero_point_fits(c, input, "a", true) && volume(c.shape(input)) == 1; };
  return Operator("QLinearMatMul")
      .input("a", "T1").input("a_scale", "tensor(float)").input("a_zero_point", "T1")
      .input("b", "T2").input("b_scale", "tensor(float)").input("b_zero_point", "T2")
      .input("y_scale", "tensor(float)").input("y_zero_point", "T3").output("y", "T3")
      .with(matmul_constraints)
      .require("C4", "a_scale and a_zero_point are one number, or one for each row of a",
               [](auto& c) { return zero_point_fits(c, "a_scale", "a", true) && zero_point_fits(c, "a_zero_point", "a", true); })
      .require("C5", "b_scale and b_zero_point are one number, or one for each column of b",
               [](auto& c) { return zero_point_fits(c, "b_scale", "b", false) && zero_point_fits(c, "b_zero_point", "b", false); })
      .require("C6", "y_scale and y_zero_point are one number",
               [=](auto& c) { return is_one(c, "y_scale") && is_one(c, "y_zero_point"); })
      .rulings({"A16", "A18", "W21", "W30"})
      .since(10)
          .type("T1", {i8, u8}).type("T2", {i8, u8}).type("T3", {i8, u8}).type("tensor(float)", {f32})
      .since(21, "scales have a type of their own; float8 is admitted")
          .input("a_scale", "TS").input("b_scale", "TS").input("y_scale", "TS").without("tensor(float)")
          .type("TS", {f32, f16, bf16}).type("T1", codes).type("T2", codes).type("T3", codes).rulings({"W31", "W32"})
      .shaping(Shaping::product).infer([](const Call& c) { return Types{TensorType{c.type("y_zero_point").dtype, output_shape(c)}}; })
      .kernel(compute_quantized);
}
// clang-format on

}  // namespace assay
