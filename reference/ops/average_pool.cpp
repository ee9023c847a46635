// SPDX-License-Identifier: Apache-2.0
// AveragePool (ai.onnx 1, 7, 10, 11, 19, 22) - https://onnx.ai/onnx/operators/onnx__AveragePool.html
//
//   Y[n,c,o] = (sum over k of X[n, c, o*stride + k*dilation - pad]) / count
//
// over the taps that fall inside X. count is the number of those taps, or with count_include_pad the number that fall
// inside X or its padding. The overhang that ceil_mode reaches beyond the padding never counts.
#include "reference/engine.h"
#include "reference/families/windows.h"
#include "reference/operator.h"
#include "reference/window.h"

#include <algorithm>
#include <limits>
#include <map>

namespace assay {
namespace {

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

// The rows of windows along the last axis: what the taps of each window read, as cells from where the row begins, in
// their order, and by what their sum is divided. Rows that look alike share it.
template <class A>
struct Row {
  std::vector<Ints> before, after;  // per window some of whose taps fall outside, on both sides of the others
  Ints between;                     // of the first window whose taps along that axis all fall inside
  Int inside = 0;                   // and how many there are
  std::vector<A> divisor;
};
template <class A>
struct Rows {
  struct Place {
    Int first;  // where the row begins
    const Row<A>* look;
    Int alike = 1;  // rows from here on that look alike, one pitch apart
  };
  std::map<std::pair<Ints, Int>, Row<A>> looks;  // by the rows of cells inside and the number of those that count
  std::vector<Place> all;
  Int pitch = 0;
};

template <class A>
Row<A> row_of(const Axis& last, const Ints& counts, const Ints& starts, Int outer_count) {
  const Int reach = (last.kernel - 1) * last.dilation - last.begin;
  const Int first = std::clamp<Int>(ceil_div(last.begin, last.stride), 0, last.out);
  const Int end = std::clamp<Int>(floor_div(last.in - 1 - reach, last.stride) + 1, first, last.out);
  const auto cells_of = [&](Int window) {
    Ints cells;
    for (const Int start : starts)
      for (Int tap = 0; tap < last.kernel; ++tap)
        if (const Int cell = last.cell(window, tap); last.is_inside(cell)) cells.push_back(start + cell);
    return cells;
  };
  Row<A> row;
  for (Int window = 0; window < first; ++window) row.before.push_back(cells_of(window));
  for (Int window = end; window < last.out; ++window) row.after.push_back(cells_of(window));
  row.inside = end - first;
  if (row.inside > 0) row.between = cells_of(first);
  for (const Int count : counts) row.divisor.push_back(static_cast<A>(outer_count * count));
  return row;
}

template <class A>
Rows<A> rows_of(const Window& window, bool count_padding) {
  Rows<A> rows;
  const Axis& last = window.axes.back();
  const Window outer{{window.axes.begin(), window.axes.end() - 1}};
  std::vector<Ints> counts;
  for (const Axis& axis : window.axes) counts.push_back(counted(axis, count_padding));
  for_each_position(outer.output(), [&](const Shape& o, Int) {
    Ints starts;
    for_each_position(outer.kernel(), [&](const Shape& k, Int) {
      if (const std::optional<Int> row = outer.cell(o, k)) starts.push_back(*row * last.in);
    });
    Int count = 1;
    for (std::size_t a = 0; a < o.size(); ++a) count *= counts[a][static_cast<std::size_t>(o[a])];
    const Int first = starts.empty() ? 0 : starts.front();
    for (Int& start : starts) start -= first;
    auto look = rows.looks.find({starts, count});
    if (look == rows.looks.end())
      look = rows.looks.emplace(std::pair(starts, count), row_of<A>(last, counts.back(), starts, count)).first;
    rows.all.push_back({first, &look->second});
  });
  if (!outer.axes.empty()) rows.pitch = outer.axes.back().stride * last.in;
  for (std::size_t row = rows.all.size(); row-- > 1;) {
    typename Rows<A>::Place& place = rows.all[row - 1];
    const typename Rows<A>::Place& next = rows.all[row];
    if (place.look == next.look && next.first - place.first == rows.pitch) place.alike = next.alike + 1;
  }
  return rows;
}

// Rows whose cells stay in the first cache while both borders and what lies between are worked out.
constexpr Int rows_at_once = 16;

// The window of the same place in `rows` rows: their sums do not wait for each other.
template <Int rows, class A>
void average_windows(const Ints& cells, A divisor, const A* x, Int x_pitch, A* y, Int y_pitch) {
  A sums[rows] = {};
  for (const Int cell : cells)
    for (Int r = 0; r < rows; ++r) sums[r] += x[r * x_pitch + cell];
  for (Int r = 0; r < rows; ++r) y[r * y_pitch] = written<A>(sums[r] / divisor);
}

// The windows of `count` rows that look alike.
template <class A>
void average_rows(const Row<A>& row, Int count, Int stride, const A* x, Int x_pitch, A* y) {
  const auto width = static_cast<Int>(row.divisor.size());
  const auto average_each = [&](const std::vector<Ints>& windows, Int at) {
    for (const Ints& cells : windows) {
      const A divisor = row.divisor[static_cast<std::size_t>(at)];
      Int r = 0;
      for (; r + 4 <= count; r += 4)
        average_windows<4>(cells, divisor, x + r * x_pitch, x_pitch, y + r * width + at, width);
      for (; r < count; ++r) average_windows<1>(cells, divisor, x + r * x_pitch, x_pitch, y + r * width + at, width);
      ++at;
    }
  };
  const auto before = static_cast<Int>(row.before.size());
  average_each(row.before, 0);
  engine::average({x, row.between, stride,
                   std::span(row.divisor).subspan(row.before.size(), static_cast<std::size_t>(row.inside)), y + before,
                   count, x_pitch, width});
  average_each(row.after, before + row.inside);
}

// The same row by row, rows that look alike at once, and through the engine where no tap along the row falls outside. A
// window without any cell gives 0 / 0.
template <class T>
void average_fast(const Call& call, std::span<const T> x, std::span<T> y, int threads) {
  using A = accumulator_t<T>;
  const Window window = Window::of(call);
  const Int planes = call.dim("X", 0) * call.dim("X", 1), x_plane = volume(window.input());
  if (!engine::pays(window, {planes, 1, 1, 1})) return average(call, x, y);
  const bool count_padding = call.definition().attribute("count_include_pad") && call.integer("count_include_pad") != 0;
  const Rows<A> rows = rows_of<A>(window, count_padding);
  std::vector<A> room;
  const std::span<const A> cells = engine::lanes(x, room);

  const Axis& last = window.axes.back();
  const auto row_count = static_cast<Int>(rows.all.size());
  const double additions = static_cast<double>(y.size()) * static_cast<double>(window.taps());
  engine::divide(planes * row_count, additions, threads, [&](Int begin, Int end) {
    std::vector<A> averages;
    for (Int item = begin, count = 0; item < end; item += count) {
      const auto& place = rows.all[static_cast<std::size_t>(item % row_count)];
      count = std::min({place.alike, end - item, rows_at_once});
      const A* const from = cells.data() + item / row_count * x_plane + place.first;
      const std::span<T> to =
          y.subspan(static_cast<std::size_t>(item * last.out), static_cast<std::size_t>(count * last.out));
      if constexpr (std::is_same_v<T, A>) {
        average_rows(*place.look, count, last.stride, from, rows.pitch, to.data());
      } else {
        averages.resize(to.size());
        average_rows(*place.look, count, last.stride, from, rows.pitch, averages.data());
        engine::write(averages, to);
      }
    }
  });
}

Tensor compute(const Call& call, std::span<const Tensor* const> in) {
  Tensor y({call.type("X").dtype, pooled_shape(call)});
  for_float(y.dtype(), [&]<class T>() { average<T>(call, in[0]->as<T>(), y.as<T>()); });
  return y;
}

Tensor compute_fast(const Call& call, std::span<const Tensor* const> in, int threads) {
  Tensor y = Tensor::to_be_written({call.type("X").dtype, pooled_shape(call)});
  for_float(y.dtype(), [&]<class T>() { average_fast<T>(call, in[0]->as<T>(), y.as<T>(), threads); });
  return y;
}

}  // namespace

// clang-format off
const Operator& average_pool() {
  using enum DType;
  static const Operator op = Operator("AveragePool")
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
      .fast(compute_fast);
  return op;
}
// clang-format on

}  // namespace assay
