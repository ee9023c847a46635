// SPDX-License-Identifier: Apache-2.0
// QLinearConv (ai.onnx 10) - https://onnx.ai/onnx/operators/onnx__QLinearConv.html
//
//   a[n,m,o] = B[m] + sum over c, k of (x - x_zero_point) * (w - w_zero_point[m])       exact integers
//   y[n,m,o] = saturate(round(a * x_scale * w_scale[m] / y_scale) + y_zero_point)       ties to even (A16)
//
// over the taps of Conv. A tap that falls outside x stands for the value 0, that is for x_zero_point.
#include "reference/convolution.h"
#include "reference/engine.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

Call conv_of(const Call& call) { return as_conv(call, "x", "w", "B"); }
Shape output_shape(const Call& call) { return Convolution(conv_of(call)).output_shape(); }

// An 8-bit tensor as integers; the scalar or per-map parameter at map m.
std::vector<Int> integers(const Tensor& tensor) {
  const auto widen = [](auto span) { return std::vector<Int>(span.begin(), span.end()); };
  if (tensor.dtype() == DType::u8) return widen(tensor.as<std::uint8_t>());
  if (tensor.dtype() == DType::i8) return widen(tensor.as<std::int8_t>());
  return widen(tensor.as<std::int32_t>());
}

template <class List>
auto of_map(const List& list, Int m) {
  return list[list.size() == 1 ? 0 : static_cast<std::size_t>(m)];
}

struct Scales {
  std::span<const float> x, w, y;
};

constexpr double between(double value, double least, double most) {  // the least for a NaN
  const double low = value > least ? value : least;
  return low < most ? low : most;
}

// In steps of y, before its zero point; rint rounds ties to even in the default rounding mode. Where the scales leave
// no number, the least.
inline double requantized(double sum, double x_scale, double w_scale, double y_scale) {
  return std::rint(between(sum * x_scale * w_scale / y_scale, -1e9, 1e9));
}

template <class T>
T saturated(double value) {
  return static_cast<T>(
      static_cast<std::int32_t>(between(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())));
}

Tensor compute(const Call& call, std::span<const Tensor* const> in) {
  const Convolution conv(conv_of(call));
  const std::vector<Int> x = integers(*in[0]), w = integers(*in[3]);
  const std::vector<Int> bias =
      in.size() > 8 && in[8] ? integers(*in[8]) : std::vector<Int>(static_cast<std::size_t>(conv.maps), 0);
  const Int x_zero = integers(*in[2])[0], y_zero = integers(*in[7])[0];
  const std::vector<Int> w_zero = integers(*in[5]);
  const Scales scale{in[1]->as<float>(), in[4]->as<float>(), in[6]->as<float>()};

  Tensor y({call.type("y_zero_point").dtype, conv.output_shape()});
  conv.for_each_output([&](Int n, Int m, const Shape& o, Int at) {
    Int sum = bias[static_cast<std::size_t>(m)];
    conv.for_each_tap(n, m, o, [&](Int from, Int with) {
      sum += (x[static_cast<std::size_t>(from)] - x_zero) * (w[static_cast<std::size_t>(with)] - of_map(w_zero, m));
    });
    const double value =
        requantized(static_cast<double>(sum), scale.x[0], of_map(scale.w, m), scale.y[0]) + static_cast<double>(y_zero);
    if (y.dtype() == DType::u8)
      y.as<std::uint8_t>()[static_cast<std::size_t>(at)] = saturated<std::uint8_t>(value);
    else
      y.as<std::int8_t>()[static_cast<std::size_t>(at)] = saturated<std::int8_t>(value);
  });
  return y;
}

// --- The same through the engine. Integer sums are the same in any order, so channel c goes with channel c + half. ---

constexpr double largest_term = 255.0 * 255.0;

template <class F>
auto for_byte(DType dtype, F&& f) {
  return dtype == DType::u8 ? f.template operator()<std::uint8_t>() : f.template operator()<std::int8_t>();
}

// to[i] = {even[i] - zero, odd[i] - zero}; the odd ones end at `odds`, beyond stand zeros.
template <class T>
void pair_up(const T* even, const T* odd, Int odds, Int count, std::int16_t zero, engine::Pair* to) {
  for (Int i = 0; i < odds; ++i)
    to[i] = {static_cast<std::int16_t>(even[i] - zero), static_cast<std::int16_t>(odd[i] - zero)};
  for (Int i = odds; i < count; ++i) to[i] = {static_cast<std::int16_t>(even[i] - zero), 0};
}
ASSAY_EVERY_WIDTH void pairs(const std::uint8_t* even, const std::uint8_t* odd, Int odds, Int count, std::int16_t zero,
                             engine::Pair* to) {
  pair_up(even, odd, odds, count, zero, to);
}
ASSAY_EVERY_WIDTH void pairs(const std::int8_t* even, const std::int8_t* odd, Int odds, Int count, std::int16_t zero,
                             engine::Pair* to) {
  pair_up(even, odd, odds, count, zero, to);
}

std::vector<engine::Pair> paired_weights(const Convolution& conv, const Tensor& w, const std::vector<Int>& zero) {
  const Int taps = conv.window.taps(), all = conv.depth * taps, half = (conv.depth + 1) / 2 * taps;
  std::vector<engine::Pair> paired(static_cast<std::size_t>(conv.maps * half));
  for_byte(w.dtype(), [&]<class T>() {
    const T* const from = w.as<T>().data();
    for (Int m = 0; m < conv.maps; ++m)
      pairs(from + m * all, from + m * all + half, all - half, half, static_cast<std::int16_t>(of_map(zero, m)),
            paired.data() + m * half);
  });
  return paired;
}

struct Requantization {
  double bias, x_scale, w_scale, y_scale, zero;
};

template <class T>
void requantize(std::span<const std::int32_t> sums, const Requantization& by, T* y) {
  const Requantization r = by;
  for (std::size_t i = 0; i < sums.size(); ++i)
    y[i] = saturated<T>(requantized(static_cast<double>(sums[i]) + r.bias, r.x_scale, r.w_scale, r.y_scale) + r.zero);
}
ASSAY_EVERY_WIDTH void requantize_row(std::span<const std::int32_t> sums, const Requantization& by, std::uint8_t* y) {
  requantize(sums, by, y);
}
ASSAY_EVERY_WIDTH void requantize_row(std::span<const std::int32_t> sums, const Requantization& by, std::int8_t* y) {
  requantize(sums, by, y);
}

Tensor compute_fast(const Call& call, std::span<const Tensor* const> in, int threads) {
  const Convolution conv(conv_of(call));
  const engine::Extent extent{conv.batch, conv.group, conv.maps / conv.group, (conv.depth + 1) / 2};
  const double terms = static_cast<double>(conv.depth) * static_cast<double>(conv.window.taps());
  if (!engine::pays(conv.window, extent) || (terms + 1) * largest_term > std::numeric_limits<std::int32_t>::max())
    return compute(call, in);

  engine::Plan plan = engine::plan(conv.window, extent);
  if (plan.packing == engine::Plan::Packing::in_place) plan.packing = engine::Plan::Packing::planes;
  const auto x_zero = static_cast<std::int16_t>(integers(*in[2])[0]);
  const std::vector<engine::Pair> weights = paired_weights(conv, *in[3], integers(*in[5]));
  const std::vector<Int> bias = in.size() > 8 && in[8] ? integers(*in[8]) : std::vector<Int>{0};
  const Requantization each{0, in[1]->as<float>()[0], 0, in[6]->as<float>()[0],
                            static_cast<double>(integers(*in[7])[0])};
  const Int x_plane = volume(conv.window.input()), y_plane = volume(conv.window.output());
  Tensor y({call.type("y_zero_point").dtype, conv.output_shape()});

  engine::Task<engine::Pair> task{.plan = plan, .weights = weights};
  task.pack = [&](const engine::Piece& piece, engine::Pair* to, Int pitch) {
    for_byte(in[0]->dtype(), [&]<class T>() {
      const Int first = piece.image * conv.channels + piece.group * conv.depth;
      const T* const x = in[0]->as<T>().data() + first * x_plane;
      engine::pack(plan, conv.window, piece, to, pitch, [&, half = extent.depth](Int c, Int cell) {
        const bool has_odd = c + half < conv.depth;
        return engine::Pair{static_cast<std::int16_t>(x[c * x_plane + cell] - x_zero),
                            static_cast<std::int16_t>(has_odd ? x[(c + half) * x_plane + cell] - x_zero : 0)};
      });
    });
  };
  task.finish = [&](Int n, Int m, Int window, std::span<const std::int32_t> sums) {
    Requantization by = each;
    by.bias = static_cast<double>(of_map(bias, m));
    by.w_scale = of_map(in[4]->as<float>(), m);
    const Int at = (n * conv.maps + m) * y_plane + window;
    for_byte(y.dtype(), [&]<class T>() { requantize_row(sums, by, y.as<T>().data() + at); });
  };
  engine::run(task, threads);
  return y;
}

bool is_single(const Call& c, const char* input) { return c.shape(input).empty() || c.shape(input) == Shape{1}; }

// One value, or one per map (A18).
bool is_per_map(const Call& c, const char* input) {
  return is_single(c, input) || c.rank("w") < 1 || c.shape(input) == Shape{c.dim("w", 0)};
}

}  // namespace

// clang-format off
const Operator& qlinear_conv() {
  using enum DType;
  static const Operator op = Operator("QLinearConv")
      .input("x", "T1").input("x_scale", "tensor(float)").input("x_zero_point", "T1")
      .input("w", "T2").input("w_scale", "tensor(float)").input("w_zero_point", "T2")
      .input("y_scale", "tensor(float)").input("y_zero_point", "T3").input("B", "T4", Arity::optional)
      .output("y", "T3")
      .attribute("auto_pad", "NOTSET").attribute("dilations", ones).attribute("group", 1)
      .attribute("kernel_shape", extents_of("w")).attribute("pads", zeros).attribute("strides", ones)

      .with([](Operator& self) { convolution_constraints(self, conv_of); })
      .require("Q1", "x_scale and x_zero_point hold one value",
               [](auto& c) { return is_single(c, "x_scale") && is_single(c, "x_zero_point"); })
      .require("Q2", "w_scale and w_zero_point hold one value, or one per map",
               [](auto& c) { return is_per_map(c, "w_scale") && is_per_map(c, "w_zero_point"); })
      .require("Q3", "y_scale and y_zero_point hold one value",
               [](auto& c) { return is_single(c, "y_scale") && is_single(c, "y_zero_point"); })

      .since(10)
          .type("T1", {i8, u8}).type("T2", {i8, u8}).type("T3", {i8, u8}).type("T4", {i32})
          .type("tensor(float)", {f32})
          .rulings({"A2", "A3", "A4", "A5", "A6", "A12", "A13", "A15", "A16", "A17", "A18", "A31", "A32"})

      .shape(output_shape)
      .kernel(compute)
      .fast(compute_fast);
  return op;
}
// clang-format on

}  // namespace assay
