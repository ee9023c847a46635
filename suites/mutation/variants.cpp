// SPDX-License-Identifier: Apache-2.0
// Winograd F(m,3) per axis: y = A^T [ (G w) . (B^T d) ], m outputs from m + 2 cells with m + 2 products instead of 3m.
#include "suites/mutation/variants.h"

#include "suites/mutation/family.h"
#include "suites/mutation/gather.h"

#include <algorithm>

namespace assay::mutation {
namespace {

using oracles::Level;
using Order = Accumulation::Order;
using Width = Accumulation::Width;
using Division = Accumulation::Division;

struct Entry {
  Variant variant;
  Accumulation accumulation;
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
      {{"winograd-4", Level::widest, "the same with F(4,3)"}, {}},
      {{"f16-accumulate", Level::L3, "every operation of float16 and bfloat16 in the element type; else sequential"},
       {.width = Width::element}},
  };
  return all;
}

// A matrix, applied along one axis of a box whose extents are all its number of columns; that extent becomes its number
// of rows.
using Matrix = std::vector<std::vector<double>>;

struct Winograd {
  Int outputs = 2;               // m: per axis and tile
  Matrix output, weight, input;  // A^T, G, B^T
  Int tile() const { return outputs + 2; }
};

// F(2,3) at the points 0, 1, -1 and F(4,3) at 0, 1, -1, 2, -2 (Lavin and Gray, arXiv 1509.09308).
const Winograd& winograd_with(Int outputs) {
  static const Winograd two{2,
                            {{1, 1, 1, 0}, {0, 1, -1, -1}},
                            {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
                            {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}}};
  constexpr double sixth = 1.0 / 6, twelfth = 1.0 / 12, half_twelfth = 1.0 / 24;
  static const Winograd four{4,
                             {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
                             {{0.25, 0, 0},
                              {-sixth, -sixth, -sixth},
                              {-sixth, sixth, -sixth},
                              {half_twelfth, twelfth, sixth},
                              {half_twelfth, -twelfth, sixth},
                              {0, 0, 1}},
                             {{4, 0, -5, 0, 1, 0},
                              {0, -4, -4, 1, 1, 0},
                              {0, 4, -4, -1, 1, 0},
                              {0, -2, -1, 2, 1, 0},
                              {0, 2, -1, -2, 1, 0},
                              {0, 4, 0, -5, 0, 1}}};
  return outputs == 2 ? two : four;
}

template <class A>
std::vector<A> along(const std::vector<A>& box, Int outer, Int inner, const Matrix& matrix) {
  const Int from = static_cast<Int>(matrix[0].size()), to = static_cast<Int>(matrix.size());
  std::vector<A> result(static_cast<std::size_t>(outer * to * inner), A{});
  for (Int o = 0; o < outer; ++o)
    for (Int row = 0; row < to; ++row)
      for (Int i = 0; i < inner; ++i) {
        A& sum = result[static_cast<std::size_t>((o * to + row) * inner + i)];
        for (Int column = 0; column < from; ++column) {
          const A factor = static_cast<A>(matrix[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)]);
          if (factor != 0) sum += factor * box[static_cast<std::size_t>((o * from + column) * inner + i)];
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

// The tile of cells that holds this output; a cell outside the input is zero.
template <class T, class A>
std::vector<A> tile(const Winograd& way, const GatherPlan& plan, const Place& place, Int channel,
                    std::span<const T> x) {
  std::vector<Int> index{place.n * plan.channels + channel};  // flat, or -1 outside
  for (std::size_t axis = 0; axis < plan.sides.size(); ++axis) {
    const GatherAxis& side = plan.sides[axis];
    const Int first = place.window[axis] / way.outputs * way.outputs - side.begin;
    std::vector<Int> longer;
    for (const Int base : index)
      for (Int cell = first; cell < first + way.tile(); ++cell)
        longer.push_back(base >= 0 && 0 <= cell && cell < side.in ? base * side.in + cell : -1);
    index = std::move(longer);
  }
  std::vector<A> values;
  for (const Int flat : index) values.push_back(flat < 0 ? A{} : static_cast<A>(x[static_cast<std::size_t>(flat)]));
  return values;
}

template <class T>
T winograd_output(const Winograd& way, const GatherPlan& plan, const Place& place,
                  std::span<const Tensor* const> inputs) {
  using A = accumulator_t<T>;
  const std::size_t rank = plan.sides.size();
  const std::span<const T> w = inputs[1]->as<T>();
  const std::size_t taps = rank == 1 ? 3 : 9;
  std::vector<A> sum(static_cast<std::size_t>(rank == 1 ? way.tile() : way.tile() * way.tile()), A{});
  for (Int c = 0; c < plan.depth; ++c) {
    const Int channel = place.m / (plan.maps / plan.group) * plan.depth + c;
    const auto kernel = w.subspan(static_cast<std::size_t>(place.m * plan.depth + c) * taps, taps);
    std::vector<A> u;
    for (const T value : kernel) u.push_back(static_cast<A>(value));
    u = transformed(std::move(u), rank, way.weight);
    const std::vector<A> v = transformed(tile<T, A>(way, plan, place, channel, inputs[0]->as<T>()), rank, way.input);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += u[i] * v[i];
  }
  std::size_t pick = 0;
  for (const Int o : place.window)
    pick = pick * static_cast<std::size_t>(way.outputs) + static_cast<std::size_t>(o % way.outputs);
  const A bias =
      inputs.size() > 2 && inputs[2] ? static_cast<A>(inputs[2]->as<T>()[static_cast<std::size_t>(place.m)]) : A{};
  return static_cast<T>(transformed(std::move(sum), rank, way.output)[pick] + bias);
}

bool fits_winograd(const GatherPlan& plan) {
  return !plan.pools && plan.sides.size() <= 2 &&
         std::all_of(plan.sides.begin(), plan.sides.end(),
                     [](const GatherAxis& side) { return side.kernel == 3 && side.stride == 1 && side.dilation == 1; });
}

Kernel winograd(Int outputs) {
  return [outputs](const Call& call, Inputs inputs) -> Values {
    const GatherPlan plan = plan_of(call);
    if (!fits_winograd(plan)) return gathering({})(call, inputs);
    Tensor y({call.type("X").dtype, plan.output()});
    for_float(y.dtype(), [&]<class T>() {
      const std::span<T> out = y.as<T>();
      for (std::size_t flat = 0; flat < out.size(); ++flat)
        out[flat] = winograd_output<T>(winograd_with(outputs), plan, place_of(plan, static_cast<Int>(flat)), inputs);
    });
    return y;
  };
}

}  // namespace

std::span<const Variant> gathered_variants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> list;
    for (const Entry& entry : entries()) list.push_back(entry.variant);
    return list;
  }();
  return all;
}

// Operators share a name where they share the idea.
std::span<const Variant> variants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> list(gathered_variants().begin(), gathered_variants().end());
    for (const OpVersion& version : family())
      for (const VariantKernel& way : variants_of(version))
        if (std::ranges::find(list, way.variant.name, &Variant::name) == list.end()) list.push_back(way.variant);
    return list;
  }();
  return all;
}

std::optional<Kernel> variant(std::string_view name, const OpVersion& version) {
  for (const VariantKernel& way : variants_of(version))
    if (way.variant.name == name) return way.kernel;
  if (!version.domain.empty() || (version.name != "Conv" && version.name != "AveragePool")) return std::nullopt;
  if (name == "winograd") return winograd(2);
  if (name == "winograd-4") return winograd(4);
  for (const Entry& entry : entries())
    if (entry.variant.name == name) return gathering({.accumulation = entry.accumulation});
  return std::nullopt;
}

}  // namespace assay::mutation
