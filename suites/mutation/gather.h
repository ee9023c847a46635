// SPDX-License-Identifier: Apache-2.0
// The gather engine of the pupils: list the taps of one output, then combine them. A third hand besides the kernels and
// the oracles, written from the clauses of Conv and AveragePool with index arithmetic of its own. Correct variants
// choose how the terms are combined; planted bugs deviate at one of the marked steps.
#pragma once

#include "reference/operator.h"

#include <functional>
#include <string>
#include <vector>

namespace assay::mutation {

// What the node asks for, defaults filled in.
struct Request {
  bool pools = false;    // AveragePool; else Conv
  Shape x = {}, w = {};  // w is empty where the operator pools
  std::string auto_pad = "NOTSET";
  Ints kernel = {}, strides = {}, dilations = {}, pads = {};
  Int group = 1;
  bool ceil = false, counts_padding = false;

  std::size_t rank() const { return kernel.size(); }
  bool is_same() const { return auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER"; }
};
Request request_of(const Call& call);

// One spatial axis, resolved. All counts in cells.
struct Side {
  Int in = 0, kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0, out = 0;
  Int reach() const { return (kernel - 1) * dilation + 1; }  // of one window: the effective kernel
};

struct Plan {
  bool pools = false, ceil = false, counts_padding = false;
  Int batch = 0, channels = 0, maps = 0, depth = 0, group = 1;  // depth: input channels per map
  std::vector<Side> sides = {};

  Shape output() const;
};
Plan resolve(const Request& request);
// Over all axes: of their kernels, the taps of a window; of what goes in, the cells of a channel.
Int product_of(const Plan& plan, Int Side::*member);
// The number of a tap in a kernel whose axes stand in the other order: k1 x k0 instead of k0 x k1.
Int transposed(const Plan& plan, Int tap);

inline std::size_t at(Int index) { return static_cast<std::size_t>(index); }

// Which output is being computed.
struct Place {
  Int n = 0, m = 0;
  Shape window;  // one index per spatial axis
};

// The place of output `flat`, row-major in N x M x windows.
Place place_of(const Plan& plan, Int flat);

// One tap of a window on one axis.
struct Point {
  enum class Where { inside, padding, overhang };
  Int tap = 0, cell = 0;
  Where where = Where::inside;
};
using Row = std::vector<Point>;
Point point(const Side& side, Int tap, Int cell);

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
struct Manner {
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
  std::function<void(Request&)> request = {};
  std::function<void(const Request&, Plan&)> plan = {};
  std::function<void(const Plan&, const Place&, std::vector<Row>&)> rows = {};
  std::function<void(const Plan&, const Place&, const std::vector<Row>&, Gathered&)> terms = {};
  Manner manner = {};
};

Plan plan_of(const Call& call, const GatherDeviation& deviation = {});
// The taps of one output, per axis: all of them, padding and overhang included.
std::vector<Row> rows_of(const Plan& plan, const Place& place);
Gathered gather(const Plan& plan, const Place& place, const std::vector<Row>& rows);
// Gathers the terms of output `flat`, deviating where a planted bug does.
Gathered gathered_at(const Plan& plan, std::size_t flat, const GatherDeviation& deviation);

Kernel gathering(GatherDeviation deviation);

}  // namespace assay::mutation
