// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear (ai.onnx 10, 13, 19, 21, 23, 24, 25, 28) - https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html
// DequantizeLinear (the same) - https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html
//
//   y[i] = saturate(round(x[i] / y_scale[g(i)]) + y_zero_point[g(i)])       ties to even (A16)
//   y[i] = (x[i] - x_zero_point[g(i)]) * x_scale[g(i)]
//
// where g(i) is the one scale there is, that of the element along the axis, or that of its block on the axis.
#include "reference/convert.h"
#include "reference/operator.h"
#include "reference/requantization.h"

namespace assay {
namespace {

const std::string& name_of(const Call& c, std::size_t input) { return c.definition().inputs[input].name; }
const Shape& x_shape(const Call& c) { return c.shape(name_of(c, 0)); }
Types as_x(const Call& c) {
  return {TensorType{c.definition().type_of(c, c.definition().outputs.front()), x_shape(c)}};
}
const Shape& scale_shape(const Call& c) { return c.shape(name_of(c, 1)); }
Int stated(const Call& c, const char* attribute) {
  return c.definition().attribute(attribute) ? c.integer(attribute) : 0;
}

// Which of the three a scale is, in this order.
bool is_blocked(const Call& c) {
  return stated(c, "block_size") > 0 && !scale_shape(c).empty() && scale_shape(c).size() == x_shape(c).size();
}
bool is_single(const Call& c) { return scale_shape(c).empty() || (!is_blocked(c) && scale_shape(c) == Shape{1}); }
bool is_along_axis(const Call& c) { return !is_blocked(c) && !is_single(c) && scale_shape(c).size() == 1; }

std::optional<std::size_t> axis_of(const Call& c) {
  const Int rank = std::ssize(x_shape(c)), axis = stated(c, "axis");
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

// Finds the scale of an element: of the block of its place along the axis.
struct Granularity {
  Int inner = 1, extent = 1, block = 1, scales = 1;
  bool is_repeated = true;  // the scales are the same before and after the axis

  static Granularity of(const Call& c) {
    if (is_single(c)) return {};
    const std::size_t axis = *axis_of(c);
    Granularity out{1, x_shape(c)[axis], 1, x_shape(c)[axis], !is_blocked(c)};
    for (std::size_t i = axis + 1; i < x_shape(c).size(); ++i) out.inner *= x_shape(c)[i];
    if (is_blocked(c)) out.block = stated(c, "block_size"), out.scales = scale_shape(c)[axis];
    return out;
  }
  std::size_t operator()(Int at) const {
    const Int along = at / inner % extent / block;
    return static_cast<std::size_t>(is_repeated ? (scales == 1 ? 0 : along)
                                                : (at / inner / extent * scales + along) * inner + at % inner);
  }
};

// The scales and zero points of a call, as numbers.
struct Parameters {
  Tensor scale, zero;
  Granularity granularity;

  Parameters(const Call& call, Inputs in) : scale(converted(*in[1], DType::f64)), granularity(Granularity::of(call)) {
    if (in.size() > 2 && in[2]) zero = converted(*in[2], DType::f64);
  }
  double scale_of(Int at) const { return scale.as<double>()[granularity(at)]; }
  double zero_of(Int at) const { return zero.elements() == 0 ? 0 : zero.as<double>()[granularity(at)]; }
};

// The type that the quotient is rounded to: the one stated, that of the scale or, where that has no arithmetic, that of
// x, of integers f32 (W36).
DType precision_of(const Call& c) {
  if (c.definition().attribute("precision"))
    if (const std::optional<DType> stated = type_named_by(c, "precision")) return *stated;
  for (const std::size_t input : {std::size_t{1}, std::size_t{0}})
    if (const DType type = c.type(name_of(c, input)).dtype; is_float(type) && !is_small(type)) return type;
  return DType::f32;
}

// A double holds a quotient of two numbers of any narrower type as exactly as it takes to round it once more.
double divided(double x, double scale, DType precision) {
  return for_float(precision, [&]<class D>() {
    return static_cast<double>(D(static_cast<double>(D(x)) / static_cast<double>(D(scale))));
  });
}

Values quantize(const Call& call, Inputs in) {
  const Parameters with(call, in);
  const Tensor numbers = converted(*in[0], DType::f64);
  const std::span<const double> x = numbers.as<double>();
  const DType precision = precision_of(call);
  Tensor y =
      Tensor::to_be_written({call.definition().type_of(call, call.definition().outputs.front()), numbers.shape()});
  for_value(y.dtype(), [&]<class T>() {
    const std::span<T> to = y.as<T>();
    const bool saturates = !call.definition().attribute("saturate") || call.integer("saturate") != 0;
    for (Int i = 0; i < y.elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double q = divided(x[at], with.scale_of(i), precision), zero = with.zero_of(i);
      if constexpr ((std::is_integral_v<T> && sizeof(T) <= 2) || SmallWhole<T>)
        to[at] = saturated<T>(between(std::rint(q), -1e9, 1e9) + zero);
      else if constexpr (Small<T> && !std::is_same_v<T, Float8E8M0>)
        to[at] = T(q + zero, saturates);
    }
  });
  return y;
}

Values dequantize(const Call& call, Inputs in) {
  const Parameters with(call, in);
  const Tensor numbers = converted(*in[0], DType::f64);
  const std::span<const double> x = numbers.as<double>();
  Tensor y =
      Tensor::to_be_written({call.definition().type_of(call, call.definition().outputs.front()), numbers.shape()});
  for_float(y.dtype(), [&]<class T>() {
    const std::span<T> to = y.as<T>();
    for (Int i = 0; i < y.elements(); ++i)
      to[static_cast<std::size_t>(i)] =
          static_cast<T>((x[static_cast<std::size_t>(i)] - with.zero_of(i)) * with.scale_of(i));
  });
  return y;
}

bool names_a_type(const Call& c, const char* attribute, const std::vector<DType>& types) {
  const std::optional<DType> type = type_named_by(c, attribute);
  return stated(c, attribute) == 0 || (type && std::ranges::count(types, *type) == 1);
}
bool names_its_output(const Call& c) {
  return names_a_type(c, "output_dtype", c.definition().types_of(c.definition().outputs.front().type));
}

bool is_in_blocks(const Call& c) {
  const std::optional<std::size_t> axis = axis_of(c);
  if (!is_blocked(c) || !axis) return true;
  const Int block = stated(c, "block_size");
  Shape blocks = x_shape(c);
  blocks[*axis] = blocks[*axis] / block + (blocks[*axis] % block == 0 ? 0 : 1);
  return scale_shape(c) == blocks;
}

void one_scale(Operator& op) {
  op.require("C1", "the scale is one value", is_single)
      .require("C2", "the zero point has the shape of the scale, or both are one value", [](auto& c) {
        if (!c.has(name_of(c, 2)) || c.shape(name_of(c, 2)) == scale_shape(c)) return true;
        return is_single(c) && (c.shape(name_of(c, 2)).empty() || c.shape(name_of(c, 2)) == Shape{1});
      });
}

void along_axis(Operator& op) {
  op.without("C1")
      .require("C1", "the scale is one value, or as many as the axis is long",
               [](auto& c) { return is_single(c) || is_blocked(c) || is_along_axis(c); })
      .require("C3", "where it is used, axis lies in [-r, r-1]",
               [](auto& c) { return is_single(c) || x_shape(c).size() == 1 || axis_of(c); })
      .require("C4", "where it is used and x has one axis, axis is 0 or -1",
               [](auto& c) { return is_single(c) || x_shape(c).size() != 1 || axis_of(c); })
      .require("C5", "a list of scales is as long as the axis", [](auto& c) {
        return !is_along_axis(c) || !axis_of(c) || scale_shape(c)[0] == x_shape(c)[*axis_of(c)];
      });
}

void in_blocks(Operator& op) {
  op.require("C6", "a scale for each block has the shape of x, on the axis divided by block_size and rounded up",
             is_in_blocks)
      .require("C7", "block_size is not negative", [](auto& c) { return stated(c, "block_size") >= 0; })
      .attribute("block_size", 0)
      .ruling("W44");
}

const std::vector<DType> floats8{DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz};
std::vector<DType> operator|(std::vector<DType> types, const std::vector<DType>& more) {
  types.insert(types.end(), more.begin(), more.end());
  return types;
}

}  // namespace

// clang-format off
Operator quantize_linear() {
  using enum DType;
  const std::vector<DType> to10{u8, i8}, to19 = to10 | floats8, to21 = to19 | std::vector{u16, i16, u4, i4},
                           to23 = to21 | std::vector{f4e2m1}, to25 = to23 | std::vector{u2, i2};
  return Operator("QuantizeLinear")
      .input("x", "T1").input("y_scale", "tensor(float)").input("y_zero_point", "T2", Arity::optional).output("y", "T2")
      .with(one_scale)
      .rulings({"A16", "A29", "W35", "W36", "W42", "W62"})
      .since(10)
          .type("T1", {f32, i32}).type("T2", to10).type("tensor(float)", {f32})
      .since(13, "scales along an axis")
          .attribute("axis", 1).with(along_axis)
      .since(19, "the scale has the type of x; float8 is admitted, and saturates or not")
          .input("y_scale", "T1").type("T1", {f32, f16, bf16, i32}).type("T2", to19).without("tensor(float)")
          .attribute("saturate", 1).rulings({"E29", "W38", "W41"})
      .since(21, "scales of blocks; output_dtype; integers of 16 and 4 bits are admitted")
          .with(in_blocks).lifted("C4", "W43").ruling("W43")
          .output_typed_by("output_dtype", "y", "T2").type("T2", to21).attribute("output_dtype", 0)
          .require("C8", "output_dtype is a type that y may have", names_its_output)
          .require("C9", "output_dtype is the type of y_zero_point",
                   [](auto& c) {
                     return stated(c, "output_dtype") == 0 || !c.has("y_zero_point") || !names_its_output(c) ||
                            *type_named_by(c, "output_dtype") == c.type("y_zero_point").dtype;
                   })
      .since(23, "the scale has a type of its own; precision; float4 is admitted")
          .input("y_scale", "T2").input("y_zero_point", "T3", Arity::optional).output_typed_by("output_dtype", "y", "T3")
          .type("T2", {f32, f16, bf16, i32}).type("T3", to23).attribute("precision", 0).ruling("E30")
          .require("C10", "precision is a float type",
                   [](auto& c) { return names_a_type(c, "precision", {f32, f16, bf16, f64}); })
      .since(24, "T2 admits float8e8m0")
          .type("T2", {f32, f16, bf16, i32, f8e8m0})
      .since(25, "T3 admits integers of 2 bits")
          .type("T3", to25)
      .since(28, "T3 admits floats of 6 bits")
          .type("T3", to25 | std::vector{f6e2m3, f6e3m2})
      .shaping(Shaping::one).infer(as_x).kernel(quantize);
}

Operator dequantize_linear() {
  using enum DType;
  const std::vector<DType> from10{u8, i8, i32}, from19 = from10 | floats8, from21 = from19 | std::vector{u16, i16, u4, i4},
                           from23 = from21 | std::vector{f4e2m1}, from25 = from23 | std::vector{u2, i2};
  return Operator("DequantizeLinear")
      .input("x", "T").input("x_scale", "tensor(float)").input("x_zero_point", "T", Arity::optional)
      .output("y", "tensor(float)")
      .with(one_scale)
      .rulings({"A29", "W42", "W47"})
      .since(10)
          .type("T", from10).type("tensor(float)", {f32})
      .since(13, "scales along an axis")
          .attribute("axis", 1).with(along_axis)
      .since(19, "the scale decides the type of y; float8 is admitted")
          .input("x", "T1").input("x_scale", "T2").input("x_zero_point", "T1", Arity::optional).output("y", "T2")
          .without("T").without("tensor(float)").type("T1", from19).type("T2", {f32, f16, bf16})
          .lifted("C4", "W43").rulings({"W41", "W43"})
      .since(21, "scales of blocks; integers of 16 and 4 bits are admitted")
          .with(in_blocks).lifted("C4", "").settled("W43").type("T1", from21)
      .since(23, "output_dtype, which decides the precision of the product; float4 is admitted")
          .output_typed_by("output_dtype", "y", "T3").type("T1", from23).type("T3", {f32, f16, bf16})
          .attribute("output_dtype", 0).ruling("W45")
          .require("C8", "output_dtype is a type that y may have", names_its_output)
      .since(24, "T2 admits float8e8m0")
          .type("T2", {f32, f16, bf16, f8e8m0})
          .require("C9", "with a scale of float8e8m0 output_dtype is stated",
                   [](auto& c) { return c.type("x_scale").dtype != f8e8m0 || stated(c, "output_dtype") != 0; })
      .since(25, "T1 admits integers of 2 bits")
          .type("T1", from25)
      .since(28, "T1 admits floats of 6 bits")
          .type("T1", from25 | std::vector{f6e2m3, f6e3m2})
      .shaping(Shaping::one).infer(as_x).kernel(dequantize);
}
// clang-format on

}  // namespace assay
