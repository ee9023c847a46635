// SPDX-License-Identifier: Apache-2.0
// com.microsoft's products of matrices of integers -
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
//
// MatMulInteger16 (1)       Y = A * B                                                             modulo 2^32
// MatMulIntegerToFloat (1)  Y = (A - a_zero_point) * (B - b_zero_point) * a_scale * b_scale + bias
// DynamicQuantizeMatMul (1) the same, of A quantized as DynamicQuantizeLinear has it
// QGemm (1)                 Y = ((A' - a_zero_point) * (B' - b_zero_point) + C) * alpha * a_scale * b_scale
//                           of steps of y_scale, rounded, ties to even, from y_zero_point on where those are given
//
// Scales and zero points of B are one, or one for each column. The sums are exact integers.
#include "reference/families/moved.h"
#include "reference/families/products.h"
#include "reference/requantization.h"

namespace assay {
namespace {

Matrices matrices_of(const Call& c) {
  if (!c.definition().attribute("transA")) return Matrices::of(c.shape("A"), c.shape("B"));
  return Matrices::of(c.shape("A"), c.shape("B"), is_flagged(c, "transA"), is_flagged(c, "transB"));
}
Shape output_shape(const Call& c) { return matrices_of(c).shape; }

// Numbers that belong to columns, of which there may be one for all, or none given: each is `absent` then.
struct Columns {
  std::vector<double> values;
  Columns(const Tensor* from, double absent) : values{absent} {
    if (!from) return;
    values.clear();
    for_number(from->dtype(), [&]<class T>() {
      for (const T each : from->as<T>()) values.push_back(static_cast<double>(each));
    });
  }
  double of(Int column) const { return of_map(values, column); }
};

// Calls write(place, column, sum) for every element: the exact sum of (A - a_zero)(B - b_zero), which a double holds.
template <class Write>
void each_sum(const Call& call, std::span<const double> a, const Tensor& b, double a_zero, const Columns& b_zero,
              Write write) {
  const Matrices meet = matrices_of(call);
  const std::vector<Int> right = integers(b);
  const bool is_transposed = is_flagged(call, "transB");
  const auto column_at = [&](Int at) { return is_transposed ? at / meet.depth : at % meet.columns; };
  multiply<double>(
      meet, [&](Int at) { return a[static_cast<std::size_t>(at)] - a_zero; },
      [&](Int at) { return static_cast<double>(right[static_cast<std::size_t>(at)]) - b_zero.of(column_at(at)); },
      [&](Int first, std::span<const double> sums) {
        for (std::size_t j = 0; j < sums.size(); ++j)
          write(static_cast<std::size_t>(first) + j, static_cast<Int>(j), sums[j]);
      });
}

const Tensor* input(Inputs in, std::size_t place) { return in.size() > place ? in[place] : nullptr; }
std::vector<double> numbers(const Tensor& from) { return Columns(&from, 0).values; }

Tensor multiply_int16(const Call& call, Inputs in) {
  Tensor y = Tensor::to_be_written({DType::i32, output_shape(call)});
  const auto reads = [](std::span<const std::int16_t> from) {
    return [from](Int at) { return static_cast<std::uint64_t>(from[static_cast<std::size_t>(at)]); };
  };
  std::int32_t* const to = y.as<std::int32_t>().data();
  multiply<std::uint64_t>(matrices_of(call), reads(in[0]->as<std::int16_t>()), reads(in[1]->as<std::int16_t>()),
                          [&](Int first, std::span<const std::uint64_t> sums) {
                            std::ranges::transform(sums, to + first, finished<std::int32_t>);
                          });
  return y;
}

// What follows B: its scale and zero point and the bias, at those places.
struct Beside {
  Columns scale, zero, bias;
};
Tensor scaled(const Call& call, std::span<const double> a, const Tensor& b, double a_scale, double a_zero,
              const Beside& with) {
  Tensor y = Tensor::to_be_written({call.definition().requested_types(call).front().dtype, output_shape(call)});
  for_float(y.dtype(), [&]<class T>() {
    each_sum(call, a, b, a_zero, with.zero, [&](std::size_t at, Int column, double sum) {
      y.as<T>()[at] = T(sum * a_scale * with.scale.of(column) + with.bias.of(column));
    });
  });
  return y;
}

Tensor multiply_to_float(const Call& call, Inputs in) {
  return scaled(call, numbers(*in[0]), *in[1], Columns(in[2], 1).of(0), Columns(input(in, 4), 0).of(0),
                {Columns(in[3], 1), Columns(input(in, 5), 0), Columns(input(in, 6), 0)});
}

Tensor quantize_and_multiply(const Call& call, Inputs in) {
  const std::span<const float> a = in[0]->as<float>();
  float low = 0, high = 0;
  for (const float each : a) low = std::min(low, each), high = std::max(high, each);
  const float scale = (high - low) / 255;
  const auto steps = [scale](float value) { return std::rint(static_cast<double>(value / scale)); };
  const double zero = saturated<std::uint8_t>(between(steps(0 - low), 0, 255));
  std::vector<double> codes(a.size(), zero);
  if (scale != 0)
    std::ranges::transform(a, codes.begin(), [&](float each) { return between(steps(each) + zero, 0, 255); });
  return scaled(call, codes, *in[1], static_cast<double>(scale), zero,
                {Columns(in[2], 1), Columns(input(in, 3), 0), Columns(input(in, 4), 0)});
}

// How far it is in C to the next row and column of Y; 0 where the one there is is read again.
Int place_in(const Shape& c, Int row, Int column) {
  const Int columns = c.empty() ? 1 : c.back();
  return (c.size() > 1 && c[0] != 1 ? row * columns : 0) + (columns != 1 ? column : 0);
}

Tensor multiply_and_requantize(const Call& call, Inputs in) {
  const Tensor* const c = input(in, 6);
  const std::vector<double> added = c ? numbers(*c) : std::vector<double>{};
  const double a_scale = static_cast<double>(call.real("alpha")) * Columns(in[1], 1).of(0);
  const Columns b_scale(in[4], 1);
  const double y_scale = Columns(input(in, 7), 1).of(0), y_zero = Columns(input(in, 8), 0).of(0);
  Tensor y = Tensor::to_be_written(call.definition().requested_types(call).front());
  const Int columns = y.shape().back();
  each_sum(call, numbers(*in[0]), *in[3], Columns(in[2], 0).of(0), Columns(in[5], 0),
           [&](std::size_t at, Int column, double sum) {
             if (c)
               sum += added[static_cast<std::size_t>(place_in(c->shape(), static_cast<Int>(at) / columns, column))];
             const double by = b_scale.of(column);
             for_number(y.dtype(), [&]<class T>() {
               if constexpr (std::is_integral_v<T> && sizeof(T) == 1)
                 y.as<T>()[at] = saturated<T>(requantized(sum, a_scale, by, y_scale) + y_zero);
               else if constexpr (std::is_same_v<T, float>)
                 y.as<T>()[at] = static_cast<float>(sum * a_scale * by);
             });
           });
  return y;
}

Int columns_of(const Call& c) {
  if (c.rank("B") < 2) return 1;
  return c.shape("B")[static_cast<std::size_t>(c.rank("B")) - (is_flagged(c, "transB") ? 2 : 1)];
}
bool is_single(const Call& c, const char* input) {
  return !c.has(input) || c.shape(input).empty() || c.shape(input) == Shape{1};
}
bool is_per_column(const Call& c, const char* input) {
  return is_single(c, input) || c.shape(input) == Shape{columns_of(c)};
}
Constraint bias_fits() {
  return {"C5", "bias has one number for each column of B",
          [](const Call& c) { return !c.has("bias") || c.shape("bias") == Shape{columns_of(c)}; }, ""};
}

DType float_or_quantized(const Call& c) { return c.has("y_zero_point") ? c.type("y_zero_point").dtype : DType::f32; }

}  // namespace

// clang-format off
Operator matmul_integer16() {
  using enum DType;
  return Operator("MatMulInteger16", "com.microsoft")
      .input("A", "T1").input("B", "T2").output("Y", "T3")
      .with(matmul_constraints)
      .since(1)
          .type("T1", {i16}).type("T2", {i16}).type("T3", {i32}).rulings({"W7"})
      .shaping(Shaping::product).infer(moved_to(output_shape)).kernel(multiply_int16);
}

Operator matmul_integer_to_float() {
  using enum DType;
  return Operator("MatMulIntegerToFloat", "com.microsoft")
      .input("A", "T1").input("B", "T2").input("a_scale", "T3").input("b_scale", "T3")
      .input("a_zero_point", "T1", Arity::optional).input("b_zero_point", "T2", Arity::optional)
      .input("bias", "T3", Arity::optional).output("Y", "T3")
      .with(matmul_constraints)
      .require("C4", "a_scale and a_zero_point are one number, b_scale and b_zero_point one, or one for each column of B",
               [](auto& c) { return is_single(c, "a_scale") && is_single(c, "a_zero_point") && is_per_column(c, "b_scale") && is_per_column(c, "b_zero_point"); })
      .require(bias_fits())
      .since(1)
          .type("T1", {i8, u8}).type("T2", {i8, u8}).type("T3", {f16, f32})
      .shaping(Shaping::product).infer([](const Call& c) { return Types{TensorType{c.type("a_scale").dtype, output_shape(c)}}; })
      .kernel(multiply_to_float);
}

Operator dynamic_quantize_matmul() {
  using enum DType;
  return Operator("DynamicQuantizeMatMul", "com.microsoft")
      .input("A", "T1").input("B", "T2").input("b_scale", "T1").input("b_zero_point", "T2", Arity::optional)
      .input("bias", "T1", Arity::optional).output("Y", "T1")
      .with(matmul_constraints)
      .require("C4", "b_scale and b_zero_point are one number, or one for each column of B",
               [](auto& c) { return is_per_column(c, "b_scale") && is_per_column(c, "b_zero_point"); })
      .require(bias_fits())
      .since(1)
          .type("T1", {f32}).type("T2", {i8, u8}).rulings({"W49"})
      .shaping(Shaping::product).infer(moved_to(output_shape)).kernel(quantize_and_multiply);
}

Operator qgemm() {
  using enum DType;
  return Operator("QGemm", "com.microsoft")
      .input("A", "TA").input("a_scale", "T").input("a_zero_point", "TA")
      .input("B", "TB").input("b_scale", "T").input("b_zero_point", "TB")
      .input("C", "TC", Arity::optional).input("y_scale", "T", Arity::optional).input("y_zero_point", "TYZ", Arity::optional)
      .output("Y", "TY")
      .attribute("alpha", 1.0F).attribute("transA", 0).attribute("transB", 0)
      .with(gemm_constraints)
      .require("C4", "a_scale and a_zero_point are one number, as are y_scale and y_zero_point",
               [](auto& c) { return is_single(c, "a_scale") && is_single(c, "a_zero_point") && is_single(c, "y_scale") && is_single(c, "y_zero_point"); })
      .require("C5", "b_scale and b_zero_point are one number, or one for each column of B', and of one shape",
               [](auto& c) { return is_per_column(c, "b_scale") && c.shape("b_scale") == c.shape("b_zero_point"); })
      .require("C6", "y_scale and y_zero_point are given together", [](auto& c) { return c.has("y_scale") == c.has("y_zero_point"); })
      .since(1)
          .type("T", {f32}).type("TA", {i8, u8}).type("TB", {i8, u8}).type("TC", {i32}).type("TYZ", {i8, u8}).type("TY", {f32, i8, u8})
      .shaping(Shaping::product).typed(float_or_quantized).infer(moved_to(output_shape))
      .kernel(multiply_and_requantize);
}
// clang-format on

}  // namespace assay
