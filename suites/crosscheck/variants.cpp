// SPDX-License-Identifier: Apache-2.0
// Winograd F(2,3) per axis: y = A^T [ (G w) . (B^T d) ], two outputs from four cells with four products instead of six:
//
//   B^T d = d0 - d2, d1 + d2, d2 - d1, d1 - d3      G w = w0, (w0 + w1 + w2) / 2, (w0 - w1 + w2) / 2, w2
//   y0 = m0 + m1 + m2                               y1 = m1 - m2 - m3
#include "suites/crosscheck/variants.h"

#include "suites/crosscheck/gather.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::crosscheck {
namespace {

using oracles::Level;
using Order = Manner::Order;
using Width = Manner::Width;
using Division = Manner::Division;

struct Entry {
  Variant variant;
  Manner manner;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"sequential", Level::L2, "terms in (channel, tap) order, then the bias"}, {}},
      {{"reversed", Level::L2, "the bias last term first"}, {.order = Order::reversed}},
      {{"pairwise", Level::L2, "a balanced tree of additions"}, {.order = Order::pairwise}},
      {{"f64", Level::L2, "a wider accumulator, one rounding"}, {.width = Width::wide}},
      {{"reciprocal", Level::L2, "AveragePool times the rounded 1/N; Conv in eight lanes, the bias in the first"},
       {.order = Order::lanes, .division = Division::reciprocal}},
      {{"fma", Level::L2, "fused multiply-add in sequence"}, {.order = Order::fused}},
      {{"shuffled", Level::L2, "terms in an arbitrary order"}, {.order = Order::shuffled}},
      {{"winograd", Level::widest, "F(2,3) where every kernel extent is 3, stride and dilation 1; else sequential"},
       {}},
      {{"f16-accumulate", Level::L3, "every operation of float16 and bfloat16 in the element type; else sequential"},
       {.width = Width::element}},
  };
  return all;
}

// A matrix applied along one axis of a box whose extents are all `from`; that axis becomes the number of rows.
using Matrix = std::vector<std::vector<int>>;

template <class A>
std::vector<A> along(const std::vector<A>& box, Int outer, Int inner, const Matrix& matrix) {
  const Int from = static_cast<Int>(matrix[0].size()), to = static_cast<Int>(matrix.size());
  std::vector<A> result(static_cast<std::size_t>(outer * to * inner), A{});
  for (Int o = 0; o < outer; ++o)
    for (Int row = 0; row < to; ++row)
      for (Int i = 0; i < inner; ++i) {
        A& sum = result[static_cast<std::size_t>((o * to + row) * inner + i)];
        for (Int column = 0; column < from; ++column) {
          const int factor = matrix[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
          if (factor) sum += static_cast<A>(factor) * box[static_cast<std::size_t>((o * from + column) * inner + i)];
        }
      }
  return result;
}

// The matrix along each of `rank` axes in turn.
template <class A>
std::vector<A> transformed(std::vector<A> box, std::size_t rank, const Matrix& matrix) {
  const Int from = static_cast<Int>(matrix[0].size()), to = static_cast<Int>(matrix.size());
  for (std::size_t axis = 0; axis < rank; ++axis) {
    Int outer = 1, inner = 1;
    for (std::size_t i = 0; i < axis; ++i) outer *= to;
    for (std::size_t i = axis + 1; i < rank; ++i) inner *= from;
    box = along(box, outer, inner, matrix);
  }
  return box;
}

template <class A>
std::vector<A> weights(std::vector<A> w, std::size_t rank) {
  static const Matrix twice = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
  std::vector<A> result = transformed(std::move(w), rank, twice);
  for (A& value : result) value *= rank == 1 ? A{0.5} : A{0.25};
  return result;
}

template <class A>
std::vector<A> cells(std::vector<A> d, std::size_t rank) {
  static const Matrix matrix = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
  return transformed(std::move(d), rank, matrix);
}

template <class A>
std::vector<A> outputs(std::vector<A> m, std::size_t rank) {
  static const Matrix matrix = {{1, 1, 1, 0}, {0, 1, -1, -1}};
  return transformed(std::move(m), rank, matrix);
}

// The tile of four cells per axis that holds this output; a cell outside the input is zero.
template <class T, class A>
std::vector<A> tile(const Plan& plan, const Place& place, Int channel, std::span<const T> x) {
  std::vector<Int> index{place.n * plan.channels + channel};  // flat, or -1 outside
  for (std::size_t axis = 0; axis < plan.sides.size(); ++axis) {
    const Side& side = plan.sides[axis];
    const Int first = place.window[axis] / 2 * 2 - side.begin;
    std::vector<Int> longer;
    for (const Int base : index)
      for (Int cell = first; cell < first + 4; ++cell)
        longer.push_back(base >= 0 && 0 <= cell && cell < side.in ? base * side.in + cell : -1);
    index = std::move(longer);
  }
  std::vector<A> values;
  for (const Int flat : index) values.push_back(flat < 0 ? A{} : static_cast<A>(x[static_cast<std::size_t>(flat)]));
  return values;
}

template <class T>
T winograd_output(const Plan& plan, const Place& place, std::span<const Tensor* const> inputs) {
  using A = accumulator_t<T>;
  const std::size_t rank = plan.sides.size();
  const std::span<const T> w = inputs[1]->as<T>();
  const std::size_t taps = rank == 1 ? 3 : 9;
  std::vector<A> sum(rank == 1 ? 4 : 16, A{});
  for (Int c = 0; c < plan.depth; ++c) {
    const Int channel = place.m / (plan.maps / plan.group) * plan.depth + c;
    const auto kernel = w.subspan(static_cast<std::size_t>(place.m * plan.depth + c) * taps, taps);
    std::vector<A> u;
    for (const T value : kernel) u.push_back(static_cast<A>(value));
    u = weights(std::move(u), rank);
    const std::vector<A> v = cells(tile<T, A>(plan, place, channel, inputs[0]->as<T>()), rank);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += u[i] * v[i];
  }
  std::size_t pick = 0;
  for (const Int o : place.window) pick = pick * 2 + static_cast<std::size_t>(o % 2);
  const A bias =
      inputs.size() > 2 && inputs[2] ? static_cast<A>(inputs[2]->as<T>()[static_cast<std::size_t>(place.m)]) : A{};
  return static_cast<T>(outputs(std::move(sum), rank)[pick] + bias);
}

bool fits_winograd(const Plan& plan) {
  return !plan.pools && plan.sides.size() <= 2 &&
         std::all_of(plan.sides.begin(), plan.sides.end(),
                     [](const Side& side) { return side.kernel == 3 && side.stride == 1 && side.dilation == 1; });
}

// A tile mixes cells that an output does not read, so one infinity would spread: such data takes the plain road.
bool is_finite(const Tensor* tensor) {
  if (!tensor) return true;
  return for_float(tensor->dtype(), [&]<class T>() {
    const std::span<const T> values = tensor->as<T>();
    return std::all_of(values.begin(), values.end(), [](T v) { return std::isfinite(static_cast<double>(v)); });
  });
}

Tensor winograd(const Call& call, std::span<const Tensor* const> inputs) {
  const Plan plan = plan_of(call);
  if (!fits_winograd(plan) || !std::all_of(inputs.begin(), inputs.end(), is_finite)) return gathering({})(call, inputs);
  Tensor y({call.type("X").dtype, plan.output()});
  for_float(y.dtype(), [&]<class T>() {
    const std::span<T> out = y.as<T>();
    for (std::size_t flat = 0; flat < out.size(); ++flat)
      out[flat] = winograd_output<T>(plan, place_of(plan, static_cast<Int>(flat)), inputs);
  });
  return y;
}

}  // namespace

std::span<const Variant> variants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> list;
    for (const Entry& entry : entries()) list.push_back(entry.variant);
    return list;
  }();
  return all;
}

std::optional<Kernel> variant(std::string_view name, const OpVersion& version) {
  if (!version.domain.empty() || (version.name != "Conv" && version.name != "AveragePool")) return std::nullopt;
  if (name == "winograd") return winograd;
  for (const Entry& entry : entries())
    if (entry.variant.name == name) return gathering({.manner = entry.manner});
  return std::nullopt;
}

}  // namespace assay::crosscheck
