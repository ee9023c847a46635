// SPDX-License-Identifier: Apache-2.0
//   Conv:         Y[n,m,o] = B[m] + sum over c, k of  X[n, g*depth + c, o*s - begin + k*d] * W[m,c,k],  g = m / (M/G)
//   AveragePool:  Y[n,c,o] = sum of the taps inside / how many count
// A tap outside X contributes no term. Divisor: the taps inside, or with count_include_pad those inside or in padding;
// a tap past the end padding (overhang, from ceil_mode) never counts.
#include "suites/mutation/gather.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::mutation {
namespace {

Int down(Int a, Int b) { return a / b - (a % b < 0 ? 1 : 0); }
Int up(Int a, Int b) { return a / b + (a % b > 0 ? 1 : 0); }

Int integer(const Call& call, const char* name) { return call.definition().attribute(name) ? call.integer(name) : 0; }

// A list that is left out, empty, or unknown to this version is all `value`.
Ints list(const Call& call, const char* name, std::size_t count, Int value) {
  Ints stated = call.states(name) ? call.ints(name) : Ints{};
  return stated.empty() ? Ints(count, value) : stated;
}

// The padding of SAME: just enough for ceil(in / stride) windows, never negative (A3), the odd cell at the end for
// UPPER and at the beginning for LOWER.
void pad_same(GatherAxis& side, bool upper) {
  side.out = up(side.in, side.stride);
  const Int total = std::max<Int>(0, (side.out - 1) * side.stride + side.reach() - side.in);
  side.begin = upper ? total / 2 : total - total / 2;
  side.end = total - side.begin;
}

// How many windows; ceil_mode drops the one that would start at or past the end padding (A8: at most one).
Int windows(const GatherAxis& side, bool ceil) {
  const Int room = side.in + side.begin + side.end - side.reach();
  if (!ceil) return down(room, side.stride) + 1;
  const Int out = up(room, side.stride) + 1;
  return (out - 1) * side.stride >= side.in + side.begin ? out - 1 : out;
}

template <class A>
using Real = std::conditional_t<std::is_floating_point_v<A>, A, double>;

// The values one output is made of, widened exactly.
struct Values {
  bool pools = false;
  std::vector<double> x = {}, w = {};
  std::optional<double> bias = std::nullopt;
  int bias_times = 1;
  Int divisor = 1;
  std::uint64_t seed = 0;
};

template <class A>
A times(double x, double w) {
  return static_cast<A>(static_cast<A>(x) * static_cast<A>(w));
}
template <class A>
A fused(const Values& values) {
  Real<A> sum = 0;
  for (std::size_t i = 0; i < values.x.size(); ++i)
    sum = values.pools ? sum + static_cast<Real<A>>(values.x[i])
                       : std::fma(static_cast<Real<A>>(values.x[i]), static_cast<Real<A>>(values.w[i]), sum);
  return static_cast<A>(sum);
}

template <class A>
std::vector<A> products(const Values& values) {
  std::vector<A> terms;
  terms.reserve(values.x.size() + 1);
  for (std::size_t i = 0; i < values.x.size(); ++i)
    terms.push_back(values.pools ? static_cast<A>(values.x[i]) : times<A>(values.x[i], values.w[i]));
  return terms;
}

// The sum over the terms, the bias included where it has a place in the order.
template <class A>
A sum(Accumulation::Order order, const Values& values) {
  std::vector<A> terms = order == Accumulation::Order::fused ? std::vector<A>{fused<A>(values)} : products<A>(values);
  const bool bias_first = order == Accumulation::Order::lanes || order == Accumulation::Order::reversed;
  for (int i = 0; i < (values.bias ? values.bias_times : 0); ++i)
    terms.insert(bias_first ? terms.begin() : terms.end(), static_cast<A>(*values.bias));
  return added_up(order, std::move(terms), values.seed);
}

template <class A>
A divided(Accumulation::Division division, A total, Int divisor) {
  const Real<A> n = static_cast<Real<A>>(divisor);
  switch (division) {
    case Accumulation::Division::reciprocal: return static_cast<A>(total * static_cast<A>(1 / n));
    case Accumulation::Division::f16_reciprocal:
      return static_cast<A>(total * static_cast<Real<A>>(Float16(1 / static_cast<double>(divisor))));
    default: return static_cast<A>(total / n);
  }
}

template <class T>
T nudged_towards_zero(T value) {
  if constexpr (sizeof(T) == 2) --value.bits;
  return value;
}

template <class T>
double smallest_normal() {
  if constexpr (std::is_same_v<T, Float16>) return 0x1p-14;
  return std::is_same_v<T, double> ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
}

template <class T>
T largest() {
  if constexpr (std::is_same_v<T, Float16>)
    return Float16(65504.0);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return BFloat16(0x1.fep+127);
  else
    return std::numeric_limits<T>::max();
}

template <class T, class A>
T stored(Accumulation::Store store, A value) {
  const T rounded = static_cast<T>(value);
  const double got = static_cast<double>(rounded);
  switch (store) {
    case Accumulation::Store::truncated:
      if (std::isinf(got)) return rounded;
      return std::abs(got) > std::abs(static_cast<double>(value)) ? nudged_towards_zero(rounded) : rounded;
    case Accumulation::Store::flushed: return std::abs(got) < smallest_normal<T>() ? T{} : rounded;
    case Accumulation::Store::saturated:
      if (!std::isinf(got)) return rounded;
      return got > 0 ? largest<T>() : static_cast<T>(-static_cast<double>(largest<T>()));
    case Accumulation::Store::twice:
      if constexpr (sizeof(T) == 2) return static_cast<T>(static_cast<double>(static_cast<float>(value)));
      return rounded;
    default: return rounded;
  }
}

template <class T, class A>
T combined(const Accumulation& accumulation, Values values) {
  if (accumulation.rounds_before_bias && values.bias) {
    const double bias = *std::exchange(values.bias, std::nullopt);
    const double before = static_cast<double>(static_cast<T>(sum<A>(accumulation.order, values)));
    return static_cast<T>(static_cast<A>(before) + static_cast<A>(bias));
  }
  const A total = sum<A>(accumulation.order, values);
  return stored<T>(accumulation.store, values.pools ? divided(accumulation.division, total, values.divisor) : total);
}

template <class T>
T combined(const Accumulation& accumulation, Values values) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;
  constexpr bool is_narrow = sizeof(T) == 2;
  switch (accumulation.width) {
    case Accumulation::Width::wide: return combined<T, Wide>(accumulation, std::move(values));
    case Accumulation::Width::f16: return combined<T, Float16>(accumulation, std::move(values));
    case Accumulation::Width::element:
      if constexpr (is_narrow) return combined<T, T>(accumulation, std::move(values));
      [[fallthrough]];
    default: return combined<T, accumulator_t<T>>(accumulation, std::move(values));
  }
}

// A backend that takes NaN for its own mark of padding: the tap is lost, and does not count.
void drop_nan(Values& values) {
  std::vector<double> x, w;
  for (std::size_t i = 0; i < values.x.size(); ++i) {
    const double weight = values.pools ? 1 : values.w[i];
    if (std::isnan(values.x[i] * weight)) {
      --values.divisor;
      continue;
    }
    x.push_back(values.x[i]);
    w.push_back(weight);
  }
  values.x = std::move(x);
  values.w = std::move(w);
}

template <class T>
Values values_of(const GatherPlan& plan, const Gathered& gathered, const Accumulation& accumulation,
                 std::span<const Tensor* const> inputs) {
  const auto read = [&](const Tensor& tensor, Int index) {
    const double value = static_cast<double>(tensor.as<T>()[at(index)]);
    return accumulation.operand ? accumulation.operand(tensor.dtype(), value) : value;
  };
  Values values{.pools = plan.pools, .bias_times = gathered.bias_times, .divisor = gathered.divisor};
  values.seed = gathered.terms.size() + 1;
  for (const Gathered::Term& term : gathered.terms) {
    values.x.push_back(read(*inputs[0], term.x));
    if (!plan.pools) values.w.push_back(read(*inputs[1], term.w));
    values.seed = values.seed * 31 + static_cast<std::uint64_t>(term.x);
  }
  if (inputs.size() > 2 && inputs[2]) values.bias = read(*inputs[2], gathered.bias);
  if (accumulation.skips_nan) drop_nan(values);
  return values;
}

template <class T>
void compute(const GatherDeviation& deviation, const GatherPlan& plan, std::span<const Tensor* const> inputs,
             std::span<T> y) {
  for (std::size_t flat = 0; flat < y.size(); ++flat) {
    const Gathered gathered = gathered_at(plan, flat, deviation);
    if (gathered.is_skipped) continue;
    y[flat] = combined<T>(deviation.accumulation, values_of<T>(plan, gathered, deviation.accumulation, inputs));
  }
}

}  // namespace

GatherRequest request_of(const Call& call) {
  GatherRequest request{.pools = call.definition().input("W") == nullptr, .x = call.shape("X")};
  const std::size_t rank = request.x.size() - 2;
  if (!request.pools) request.w = call.shape("W");
  request.kernel = request.pools ? call.ints("kernel_shape") : Ints(request.w.begin() + 2, request.w.end());
  request.auto_pad = call.text("auto_pad");
  request.strides = list(call, "strides", rank, 1);
  request.dilations = list(call, "dilations", rank, 1);
  request.pads = list(call, "pads", 2 * rank, 0);
  if (!request.pools) request.group = call.integer("group");
  request.ceil = integer(call, "ceil_mode") != 0;
  request.counts_padding = integer(call, "count_include_pad") != 0;
  return request;
}

Int product_of(const GatherPlan& plan, Int GatherAxis::*member) {
  Int product = 1;
  for (const GatherAxis& side : plan.sides) product *= side.*member;
  return product;
}

Int transposed(const GatherPlan& plan, Int tap) {
  Int number = 0;
  for (std::size_t axis = plan.sides.size(); axis-- > 0; tap /= plan.sides[axis].kernel)
    number = number * plan.sides[axis].kernel + tap % plan.sides[axis].kernel;
  return number;
}

GatherPlan resolve(const GatherRequest& request) {
  GatherPlan plan{.pools = request.pools, .ceil = request.ceil, .counts_padding = request.counts_padding};
  plan.batch = request.x[0];
  plan.channels = request.x[1];
  plan.maps = request.pools ? plan.channels : request.w[0];
  plan.depth = request.pools ? 1 : request.w[1];
  plan.group = request.group;
  for (std::size_t axis = 0; axis < request.rank(); ++axis) {
    GatherAxis side{request.x[axis + 2], request.kernel[axis], request.strides[axis], request.dilations[axis]};
    if (request.is_same()) {
      pad_same(side, request.auto_pad == "SAME_UPPER");
    } else {
      if (request.auto_pad == "NOTSET") {
        side.begin = request.pads[axis];
        side.end = request.pads[axis + request.rank()];
      }
      side.out = windows(side, request.ceil);
    }
    plan.sides.push_back(side);
  }
  return plan;
}

Shape GatherPlan::output() const {
  Shape shape{batch, maps};
  for (const GatherAxis& side : sides) shape.push_back(std::max<Int>(0, side.out));
  return shape;
}

GatherPlan plan_of(const Call& call, const GatherDeviation& deviation) {
  GatherRequest request = request_of(call);
  if (deviation.request) deviation.request(request);
  GatherPlan plan = resolve(request);
  if (deviation.plan) deviation.plan(request, plan);
  return plan;
}

Place place_of(const GatherPlan& plan, Int flat) {
  Place place{.window = Shape(plan.sides.size(), 0)};
  for (std::size_t axis = plan.sides.size(); axis-- > 0;) {
    place.window[axis] = flat % plan.sides[axis].out;
    flat /= plan.sides[axis].out;
  }
  place.m = flat % plan.maps;
  place.n = flat / plan.maps;
  return place;
}

Point point(const GatherAxis& side, Int tap, Int cell) {
  using enum Point::Where;
  if (0 <= cell && cell < side.in) return {tap, cell, inside};
  return {tap, cell, cell < side.in + side.end ? padding : overhang};
}

std::vector<Points> rows_of(const GatherPlan& plan, const Place& place) {
  std::vector<Points> rows;
  for (std::size_t axis = 0; axis < plan.sides.size(); ++axis) {
    const GatherAxis& side = plan.sides[axis];
    Points row;
    for (Int tap = 0; tap < side.kernel; ++tap)
      row.push_back(point(side, tap, place.window[axis] * side.stride - side.begin + tap * side.dilation));
    rows.push_back(std::move(row));
  }
  return rows;
}

Gathered gather(const GatherPlan& plan, const Place& place, const std::vector<Points>& rows) {
  // Offsets (cell, tap) of the taps inside, over the product of the axes.
  std::vector<Gathered::Term> spots{{0, 0}};
  Int divisor = 1;
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    std::vector<Gathered::Term> longer;
    for (const Gathered::Term& spot : spots)
      for (const Point& p : rows[axis])
        if (p.where == Point::Where::inside)
          longer.push_back({spot.x * plan.sides[axis].in + p.cell, spot.w * plan.sides[axis].kernel + p.tap});
    spots = std::move(longer);
    divisor *= std::count_if(rows[axis].begin(), rows[axis].end(), [&](const Point& p) {
      return p.where == Point::Where::inside || (plan.counts_padding && p.where == Point::Where::padding);
    });
  }
  const Int cells = product_of(plan, &GatherAxis::in), taps = product_of(plan, &GatherAxis::kernel);
  const Int first = plan.pools ? place.m : place.m / (plan.maps / plan.group) * plan.depth;
  Gathered gathered{.bias = place.m, .divisor = divisor};
  for (Int c = 0; c < plan.depth; ++c)
    for (const Gathered::Term& spot : spots)
      gathered.terms.push_back(
          {(place.n * plan.channels + first + c) * cells + spot.x, (place.m * plan.depth + c) * taps + spot.w});
  return gathered;
}

Gathered gathered_at(const GatherPlan& plan, std::size_t flat, const GatherDeviation& deviation) {
  const Place place = place_of(plan, static_cast<Int>(flat));
  std::vector<Points> rows = rows_of(plan, place);
  if (deviation.rows) deviation.rows(plan, place, rows);
  Gathered gathered = gather(plan, place, rows);
  if (deviation.terms) deviation.terms(plan, place, rows, gathered);
  return gathered;
}

Kernel gathering(GatherDeviation deviation) {
  return [deviation = std::move(deviation)](const Call& call, std::span<const Tensor* const> inputs) {
    const GatherPlan plan = plan_of(call, deviation);
    Tensor y({call.type("X").dtype, plan.output()});
    for_float(y.dtype(), [&]<class T>() { compute<T>(deviation, plan, inputs, y.as<T>()); });
    return y;
  };
}

}  // namespace assay::mutation
