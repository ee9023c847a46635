// SPDX-License-Identifier: Apache-2.0
// AveragePool (ai.onnx 1, 7, 10, 11, 19, 22) - https://onnx.ai/onnx/operators/onnx__AveragePool.html
//
//   Y[n,c,o] = (sum over k of X[n, c, o*stride + k*dilation - pad]) / count
//
// over the taps that fall inside X. count is the number of those taps, or with count_include_pad the number that fall
// inside X or its padding. The overhang that ceil_mode reaches beyond the padding never counts.
#include "reference/engine.h"
#include "reference/operator.h"
#include "reference/window.h"

#include <limits>

namespace assay {
namespace {

Shape output_shape(const Call& call) {
  Shape y = Window::of(call).output();
  y.insert(y.begin(), {call.dim("X", 0), call.dim("X", 1)});
  return y;
}

bool is_padded(const Window& window, const Shape& o, const Shape& k) {
  for (std::size_t i = 0; i < k.size(); ++i)
    if (!window.axes[i].is_padded(window.axes[i].cell(o[i], k[i]))) return false;
  return true;
}

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
        if (cell || (count_padding && is_padded(window, o, k))) ++count;
      });
      y[at++] = written<T>(count ? sum / static_cast<accumulator_t<T>>(count)
                                 : std::numeric_limits<accumulator_t<T>>::quiet_NaN());
    });
}

// Per axis and window, the taps that count; the count of a window is their product over the axes.
Ints counted(const Axis& axis, bool count_padding) {
  Ints counts;
  for (Int o = 0; o < axis.out; ++o) {
    const auto counts_here = [&](Int tap) {
      const Int cell = axis.cell(o, tap);
      return axis.is_inside(cell) || (count_padding && axis.is_padded(cell));
    };
    Int& count = counts.emplace_back(0);
    for (Int tap = 0; tap < axis.kernel; ++tap) count += counts_here(tap) ? 1 : 0;
  }
  return counts;
}

template <class A>
std::vector<A> divisors(const Window& window, bool count_padding) {
  Ints all{1};
  for (const Axis& axis : window.axes) {
    const Ints counts = counted(axis, count_padding);
    Ints finer;
    for (const Int outer : all)
      for (const Int count : counts) finer.push_back(outer * count);
    all = std::move(finer);
  }
  return {all.begin(), all.end()};
}

// The same through the engine: a convolution of every channel by itself with weights of 1, whose products are exact. A
// window without any cell gives 0 / 0.
template <class T>
void average_fast(const Call& call, std::span<const T> x, std::span<T> y, int threads) {
  using A = accumulator_t<T>;
  const Window window = Window::of(call);
  const engine::Extent extent{call.dim("X", 0), call.dim("X", 1), 1, 1};
  if (!engine::pays(window, extent)) return average(call, x, y);
  const bool count_padding = call.definition().attribute("count_include_pad") && call.integer("count_include_pad") != 0;
  const engine::Plan plan = engine::plan(window, extent);
  const Int x_plane = volume(window.input()), y_plane = volume(window.output());
  const std::vector<A> ones(static_cast<std::size_t>(extent.group * plan.taps), A{1});
  const std::vector<A> divisor = divisors<A>(window, count_padding);
  std::vector<A> room;
  const std::span<const A> cells = engine::lanes(x, room);

  engine::Task<A> task{.plan = plan, .weights = ones};
  task.data = [&](const engine::Piece& piece) {
    return cells.data() + (piece.image * extent.group + piece.group) * x_plane;
  };
  task.pack = [&](const engine::Piece& piece, A* to, Int pitch) {
    engine::pack(plan, window, piece, to, pitch, task.data(piece));
  };
  task.finish = [&](Int n, Int c, Int first, std::span<const A> sums) {
    engine::write_quotients(sums, std::span(divisor).subspan(static_cast<std::size_t>(first), sums.size()),
                            y.subspan(static_cast<std::size_t>((n * extent.group + c) * y_plane + first), sums.size()));
  };
  engine::run(task, threads);
}

Tensor compute(const Call& call, std::span<const Tensor* const> in) {
  Tensor y({call.type("X").dtype, output_shape(call)});
  for_float(y.dtype(), [&]<class T>() { average<T>(call, in[0]->as<T>(), y.as<T>()); });
  return y;
}

Tensor compute_fast(const Call& call, std::span<const Tensor* const> in, int threads) {
  Tensor y({call.type("X").dtype, output_shape(call)});
  for_float(y.dtype(), [&]<class T>() { average_fast<T>(call, in[0]->as<T>(), y.as<T>(), threads); });
  return y;
}

}  // namespace

// clang-format off
const Operator& average_pool() {
  using enum DType;
  static const Operator op = Operator("AveragePool")
      .input("X", "T").output("Y", "T")
      .attribute("auto_pad", "NOTSET").required_ints("kernel_shape")
      .attribute("pads", zeros).attribute("strides", ones)

      .require("C1", "rank(X) >= 3: at least one spatial axis", [](auto& c) { return c.rank("X") >= 3; })
      .with(window_constraints)

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

      .shape(output_shape)
      .kernel(compute)
      .fast(compute_fast);
  return op;
}
// clang-format on

}  // namespace assay
