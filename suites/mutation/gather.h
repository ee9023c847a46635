// SPDX-License-Identifier: Apache-2.0
// The gather engine of the implementations: list the taps of one output, then combine them. A third hand besides the
// kernels and the oracles, written from the clauses of Conv and AveragePool with index arithmetic of its own. Correct
// variants choose how the terms are combined; planted bugs deviate at one of the marked steps.
#pragma once

#include "reference/operator.h"
#include "reference/recipe.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay::mutation {

// What the node asks for, defaults filled in.
struct GatherRequest {
  bool pools = false;    // AveragePool; else Conv
  Shape x = {}, w = {};  // w is empty where the operator pools
  std::string auto_pad = "NOTSET";
  Ints kernel = {}, strides = {}, dilations = {}, pads = {};
  Int group = 1;
  bool ceil = false, counts_padding = false;

  std::size_t rank() const { return kernel.size(); }
  bool is_same() const { return auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER"; }
};
GatherRequest request_of(const Call& call);

// One spatial axis, resolved. All counts in cells.
struct GatherAxis {
  Int in = 0, kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0, out = 0;
  Int reach() const { return (kernel - 1) * dilation + 1; }  // of one window: the effective kernel
};

struct GatherPlan {
  bool pools = false, ceil = false, counts_padding = false;
  Int batch = 0, channels = 0, maps = 0, depth = 0, group = 1;  // depth: input channels per map
  std::vector<GatherAxis> sides = {};

  Shape output() const;
};
GatherPlan resolve(const GatherRequest& request);
// Over all axes: of their kernels, the taps of a window; of what goes in, the cells of a channel.
Int product_of(const GatherPlan& plan, Int GatherAxis::*member);
// The number of a tap in a kernel whose axes stand in the other order: k1 x k0 instead of k0 x k1.
Int transposed(const GatherPlan& plan, Int tap);

inline std::size_t at(Int index) { return static_cast<std::size_t>(index); }

// Which output is being computed.
struct Place {
  Int n = 0, m = 0;
  Shape window;  // one index per spatial axis
};

// The place of output `flat`, row-major in N x M x windows.
Place place_of(const GatherPlan& plan, Int flat);

// One tap of a window on one axis.
struct Point {
  enum class Where { inside, padding, overhang };
  Int tap = 0, cell = 0;
  Where where = Where::inside;
};
using Points = std::vector<Point>;
Point point(const GatherAxis& side, Int tap, Int cell);

// The terms of one output, as flat indices into the operands.
struct Gathered {
  struct Term {
    Int x = 0, w = 0;
  };
  std::vector<Term> terms = {};
  Int bias = 0;        // index into B
  int bias_times = 1;  // 0: left out
  Int divisor = 1;
  bool is_skipped = false;  // the output is left as it was: zero
};

// How the terms become one number.
struct Accumulation {
  enum class Order { sequential, reversed, pairwise, lanes, fused, shuffled };
  enum class Width { standard, wide, element, f16 };  // accumulator_t<T>; f64 or wider; T itself; Float16
  enum class Division { divide, reciprocal, f16_reciprocal };
  enum class Store { nearest, truncated, flushed, saturated, twice };  // twice: to f32 first
  Order order = Order::sequential;
  Width width = Width::standard;
  Division division = Division::divide;
  Store store = Store::nearest;
  bool rounds_before_bias = false, skips_nan = false;
  std::function<double(DType, double)> operand = {};  // how a stored value is read
};

// The steps at which a planted bug may deviate; an empty step is done right.
struct GatherDeviation {
  std::function<void(GatherRequest&)> request = {};
  std::function<void(const GatherRequest&, GatherPlan&)> plan = {};
  std::function<void(const GatherPlan&, const Place&, std::vector<Points>&)> rows = {};
  std::function<void(const GatherPlan&, const Place&, const std::vector<Points>&, Gathered&)> terms = {};
  Accumulation accumulation = {};
};

GatherPlan plan_of(const Call& call, const GatherDeviation& deviation = {});
// The taps of one output, per axis: all of them, padding and overhang included.
std::vector<Points> rows_of(const GatherPlan& plan, const Place& place);
Gathered gather(const GatherPlan& plan, const Place& place, const std::vector<Points>& rows);
// Gathers the terms of output `flat`, deviating where a planted bug does.
Gathered gathered_at(const GatherPlan& plan, std::size_t flat, const GatherDeviation& deviation);

Kernel gathering(GatherDeviation deviation);

// -- terms added up, every sum rounded to A

template <class A>
A by_halves(std::span<const A> terms) {
  if (terms.size() < 2) return terms.empty() ? A{} : terms[0];
  const std::size_t half = terms.size() / 2;
  return static_cast<A>(by_halves(terms.first(half)) + by_halves(terms.subspan(half)));
}

// `seed`: of an arbitrary order.
template <class A>
A added_up(Accumulation::Order order, std::vector<A> terms, std::uint64_t seed) {
  if (order == Accumulation::Order::lanes) {
    std::vector<A> lanes(8, A{});
    for (std::size_t i = 0; i < terms.size(); ++i) lanes[i % 8] = static_cast<A>(lanes[i % 8] + terms[i]);
    terms = std::move(lanes);
  }
  if (order == Accumulation::Order::pairwise || order == Accumulation::Order::lanes)
    return by_halves(std::span<const A>(terms));
  if (order == Accumulation::Order::reversed) std::ranges::reverse(terms);
  Generator generator(seed);
  for (std::size_t left = order == Accumulation::Order::shuffled ? terms.size() : 0; left > 1; --left)
    std::swap(terms[left - 1], terms[generator.below(left)]);
  A sum{};
  for (const A& term : terms) sum = static_cast<A>(sum + term);
  return sum;
}

}  // namespace assay::mutation
