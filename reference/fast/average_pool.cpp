// SPDX-License-Identifier: Apache-2.0
// AveragePool through the engine: rows of windows that look alike are averaged together.
#include "reference/families/windows.h"
#include "reference/fast/engine.h"
#include "reference/fast/kernels.h"
#include "reference/window.h"

#include <algorithm>
#include <map>

namespace assay::fast {
namespace {

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

// Averages row by row, rows that look alike at once, and through the engine where no tap along the row falls outside. A
// window without any cell gives 0 / 0.
template <class T>
void average(const Call& call, const Window& window, std::span<const T> x, std::span<T> y, int threads) {
  using A = accumulator_t<T>;
  const Int planes = call.dim("X", 0) * call.dim("X", 1), x_plane = volume(window.input());
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

}  // namespace

Tensor average_pool(const Call& call, Inputs in, int threads) {
  const Window window = Window::of(call);
  if (window.axes.empty() || !engine::pays(window, {call.dim("X", 0) * call.dim("X", 1), 1, 1, 1}))
    return call.definition().kernel(call, in).only();
  Tensor y = Tensor::to_be_written({call.type("X").dtype, pooled_shape(call)});
  for_float(y.dtype(), [&]<class T>() { average<T>(call, window, in[0]->as<T>(), y.as<T>(), threads); });
  return y;
}

}  // namespace assay::fast
