// SPDX-License-Identifier: Apache-2.0
// ReduceSum (ai.onnx 1, 11, 13) - https://onnx.ai/onnx/operators/onnx__ReduceSum.html
// ReduceMean, ReduceProd, ReduceL1, ReduceL2, ReduceSumSquare (1, 11, 13, 18)
// ReduceLogSum, ReduceLogSumExp (1, 11, 13, 18, 28), ReduceMax, ReduceMin (1, 11, 12, 13, 18, 20)
//
//   reduced[k] = F of the group of all data[j] that stand at k on the axes that are kept
//
// axes lists those that are reduced; all are where it lists none, or none with noop_with_empty_axes. A reduced axis is
// left with one element, or dropped without keepdims. Integers wrap (N7), and are truncated (N6, N8).
#include "reference/families/moved.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace assay {
namespace {

Ints listed(const Call& call) { return call.states("axes") ? call.ints("axes") : Ints{}; }
bool reduces_none(const Call& call) {
  return call.definition().attribute("noop_with_empty_axes") && call.integer("noop_with_empty_axes") != 0;
}

// Tells of each axis whether it is reduced.
std::vector<bool> reduced_axes(const Call& call) {
  std::vector<bool> axes(call.shape("data").size(), listed(call).empty() && !reduces_none(call));
  for (const Int axis : listed(call)) axes[static_cast<std::size_t>(from_front(axis, call.rank("data")))] = true;
  return axes;
}

bool has_axes(const Call& call) {
  return std::ranges::all_of(listed(call), [&](Int axis) { return is_axis(axis, call.rank("data")); });
}

bool lists_each_once(const Call& call) {
  Ints axes = listed(call);
  for (Int& axis : axes) axis = from_front(axis, call.rank("data"));
  std::ranges::sort(axes);
  return std::ranges::adjacent_find(axes) == axes.end();
}

bool has_flags(const Call& call) {
  const auto is_flag = [&](const char* name) {
    return !call.definition().attribute(name) || call.integer(name) == 0 || call.integer(name) == 1;
  };
  return is_flag("keepdims") && is_flag("noop_with_empty_axes");
}

Shape reduced(const Call& call) {
  const std::vector<bool> is_reduced = reduced_axes(call);
  Shape shape;
  for (std::size_t axis = 0; axis < is_reduced.size(); ++axis)
    if (!is_reduced[axis])
      shape.push_back(call.shape("data")[axis]);
    else if (call.integer("keepdims") != 0)
      shape.push_back(1);
  return shape;
}

// Returns where the elements stand that differ from the first along these axes alone.
Ints places(const Shape& shape, std::vector<bool> axes) {
  const Ints steps = steps_of(shape);
  Ints all{0};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (!axes[axis]) continue;
    Ints longer;
    for (const Int place : all)
      for (Int i = 0; i < shape[axis]; ++i) longer.push_back(place + i * steps[axis]);
    all = std::move(longer);
  }
  return all;
}

// Returns the kernel whose elements are f of a group, in the order of memory.
template <class F>
Kernel of_groups(F f) {
  return [f](const Call& call, Inputs in) {
    Tensor y = Tensor::to_be_written({in[0]->dtype(), reduced(call)});
    std::vector<bool> axes = reduced_axes(call);
    const Ints members = places(in[0]->shape(), axes);
    axes.flip();
    const Ints groups = places(in[0]->shape(), axes);
    for_number(y.dtype(), [&]<class T>() {
      if constexpr (std::is_invocable_v<F, std::span<const T>>) {
        const T* const data = in[0]->as<T>().data();
        std::vector<T> group(members.size());
        std::ranges::transform(groups, y.as<T>().begin(), [&](Int first) {
          std::ranges::transform(members, group.begin(), [=](Int place) { return data[first + place]; });
          const T value = T(f(std::span<const T>(group)));
          return value == value ? value : T(std::numeric_limits<double>::quiet_NaN());
        });
      } else {
        throw BrokenPromise("an element type that the operator does not admit");
      }
    });
    return y;
  };
}

// What sums and products are computed in: integers modulo 2^64.
template <Number T>
using Total = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

template <Number T, class F>
Total<T> folded(std::span<const T> x, Total<T> start, F f) {
  for (const T each : x) start = f(start, static_cast<Total<T>>(each));
  return start;
}

template <Number T>
Total<T> sum(std::span<const T> x) {
  return folded(x, Total<T>{0}, std::plus());
}

template <Number T>
Total<T> sum_of_sizes(std::span<const T> x) {
  Total<T> total{0};
  for (const T each : x) total += each < T(0) ? 0 - static_cast<Total<T>>(each) : static_cast<Total<T>>(each);
  return total;
}

// In double, integers too.
template <Number T>
double sum_of_squares(std::span<const T> x) {
  double total = 0;
  for (const T each : x) total += static_cast<double>(each) * static_cast<double>(each);
  return total;
}

// Of integers as they are: more than 64 bits.
template <Number T>
using Whole = std::conditional_t<std::is_integral_v<T>, __int128, double>;

template <Number T>
Whole<T> whole_sum(std::span<const T> x) {
  Whole<T> total = 0;
  for (const T each : x) total += static_cast<Whole<T>>(each);
  return total;
}

template <Number T>
T mean(std::span<const T> x) {
  const auto n = static_cast<Whole<T>>(x.size());
  return std::is_integral_v<T> && x.empty() ? T(0) : T(whole_sum(x) / n);
}

template <Number T>
double log_of_sum_of_exponentials(std::span<const T> x) {
  double most = -std::numeric_limits<double>::infinity(), total = 0;
  for (const T each : x) most = std::max(most, static_cast<double>(each));
  if (std::isinf(most)) return sum(x) == sum(x) ? most : std::numeric_limits<double>::quiet_NaN();
  for (const T each : x) total += exponential(static_cast<double>(each) - most);
  return most + logarithm(total);
}

// A float is rounded, and an integer truncated; of what no integer of the type is, anything.
template <Number T>
T fitted(double x) {
  if constexpr (std::is_integral_v<T>) {
    const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    return x < beyond && x >= (std::is_signed_v<T> ? -beyond : 0) ? T(x) : T(0);
  } else {
    return T(x);
  }
}

// What is returned for a group without elements: less than any of the type or, for the smallest, more.
template <class T, bool is_largest>
T start() {
  constexpr double most = std::numeric_limits<double>::infinity();
  if constexpr (std::is_integral_v<T>)
    return is_largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  else
    return T(std::is_same_v<T, Bool> ? !is_largest : is_largest ? -most : most);
}

// Returns the first of the largest elements, or the smallest; NaN where there is one.
template <bool is_largest>
Kernel extreme() {
  return of_groups([]<class T>(std::span<const T> x) {
    T best = start<T, is_largest>();
    for (const T each : x)
      if (each != each || (is_largest ? best < each : each < best)) best = each;
    return best;
  });
}

void axes_as_input(Operator& op) {
  op.without("axes").parameter("axes", "i64", "axes", Arity::optional).attribute("noop_with_empty_axes", 0);
  op.settled("N2").require(
      "R3", "rank(axes) = 1", [](auto& c) { return !c.has("axes") || c.rank("axes") == 1; }, "M4");
  op.ruling("M4");
}

// clang-format off
using Rulings = std::initializer_list<const char*>;

Operator reducing(const char* name, Rulings rulings, Kernel kernel) {
  return Operator(name)
      .input("data", "T").output("reduced", "T").optional_ints("axes").attribute("keepdims", 1)
      .rulings({"A29", "N33", "N42"}).rulings(rulings)
      .require("R1", "axes are in [-rank(data), rank(data) - 1]", has_axes)
      .require("R2", "no axis is listed twice", lists_each_once, "N33")
      .require("R5", "keepdims and noop_with_empty_axes are 0 or 1", has_flags, "N42")
      .since(1).type("T", types::numeric_types_for_math_reduction()).rulings({"N1", "N2"})
      .since(11, "an axis may count from the end").settled("N1")
      .shaping(Shaping::reduced).infer(moved_to(reduced)).kernel(std::move(kernel));
}

Operator computing(const char* name, Rulings rulings, Kernel kernel) {
  return reducing(name, rulings, std::move(kernel))
      .since(13, "T admits bfloat16").type("T", types::numeric_types_for_math_reduction_ir4())
      .since(18, "axes is an input; noop_with_empty_axes").with(axes_as_input);
}

Operator logarithmic(const char* name, Rulings rulings, Kernel kernel) {
  return computing(name, rulings, std::move(kernel))
      .since(28, "T admits no integers").type("T", types::all_float_types_ir4()).settled("N8");
}

Operator choosing(const char* name, Kernel kernel) {
  const auto with_bytes = [](std::vector<DType> types) { return types::with(std::move(types), {DType::i8, DType::u8}); };
  return reducing(name, {"E1", "E2", "N3"}, std::move(kernel))
      .since(12, "T admits integers of 8 bits").type("T", with_bytes(types::numeric_types_for_math_reduction()))
      .since(13, "T admits bfloat16").type("T", with_bytes(types::numeric_types_for_math_reduction_ir4()))
      .since(18, "axes is an input; noop_with_empty_axes").with(axes_as_input)
      .since(20, "T admits bool")
      .type("T", with_bytes(types::numeric_types_for_math_reduction_ir4() | DType::boolean));
}

}  // namespace

Operator reduce_sum() {
  return reducing("ReduceSum", {"A26", "N7"}, of_groups([]<Number T>(std::span<const T> x) { return sum(x); }))
      .since(13, "axes is an input; noop_with_empty_axes; T admits bfloat16")
      .type("T", types::numeric_types_for_math_reduction_ir4()).with(axes_as_input);
}

Operator reduce_mean() {
  return computing("ReduceMean", {"A26", "A27", "N6", "N46"},
                   of_groups([]<Number T>(std::span<const T> x) { return mean(x); }));
}

Operator reduce_prod() {
  return computing("ReduceProd", {"A26", "N7"}, of_groups([]<Number T>(std::span<const T> x) {
    return folded(x, Total<T>{1}, std::multiplies()); }));
}

Operator reduce_l1() {
  return computing("ReduceL1", {"A26", "N7"},
                   of_groups([]<Number T>(std::span<const T> x) { return sum_of_sizes(x); }));
}

Operator reduce_l2() {
  return computing("ReduceL2", {"A26", "N8"}, of_groups([]<Number T>(std::span<const T> x) {
    return fitted<T>(std::sqrt(sum_of_squares(x))); })).ruling("N5");
}

Operator reduce_sum_square() {
  return computing("ReduceSumSquare", {"A26", "N7"}, of_groups([]<Number T>(std::span<const T> x) {
    return folded(x, Total<T>{0}, [](auto a, auto b) { return a + b * b; }); }));
}

Operator reduce_log_sum() {
  return logarithmic("ReduceLogSum", {"A26", "N8"}, of_groups([]<Number T>(std::span<const T> x) {
    return fitted<T>(logarithm(static_cast<double>(whole_sum(x)))); }));
}

Operator reduce_log_sum_exp() {
  return logarithmic("ReduceLogSumExp", {"A26", "N8", "N47"}, of_groups([]<Number T>(std::span<const T> x) {
    return fitted<T>(log_of_sum_of_exponentials(x)); }));
}

Operator reduce_max() { return choosing("ReduceMax", extreme<true>()); }
Operator reduce_min() { return choosing("ReduceMin", extreme<false>()); }
// clang-format on

}  // namespace assay
