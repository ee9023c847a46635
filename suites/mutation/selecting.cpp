// SPDX-License-Identifier: Apache-2.0
// MaxPool by the windows of the gather engine: its correct ways, and the planted bugs of any window.
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::mutation {
namespace {

using oracles::Level;

struct Selection {
  bool takes_last = false;        // of ties
  bool propagates_nan = false;    // else a comparison with NaN is false
  bool skips_nan = false;         // unless there is nothing else
  bool begins_with_last = false;  // the taps from the last to the first
  bool widens = false;            // f16 and bf16 are compared in f32
  bool begins_at_lowest = false;  // what is not larger than the lowest number is never seen
  bool numbers_tensor = false;    // storage_order = 1 counts the whole tensor column by column
  bool pads_with_zeros = false;
};

Int by_columns(const Shape& shape, Int flat, std::size_t first) {
  Shape at(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; flat /= shape[axis]) at[axis] = flat % shape[axis];
  Int place = 0, stride = 1;
  for (std::size_t axis = first; axis < at.size(); ++axis) {
    place += at[axis] * stride;
    stride *= shape[axis];
  }
  return first == 0 ? place : (at[0] * shape[1] + at[1]) * stride + place;
}

template <class T>
constexpr T lowest(bool is_number) {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::min();
  else {
    const int precision = sizeof(T) == 8 ? 53 : sizeof(T) == 4 ? 24 : std::is_same_v<T, Float16> ? 11 : 8;
    const int exponent = sizeof(T) == 8 ? 1023 : std::is_same_v<T, Float16> ? 15 : 127;
    const double number = -std::ldexp(2 - std::ldexp(1.0, 1 - precision), exponent);
    return T(is_number ? number : -std::numeric_limits<double>::infinity());
  }
}

template <class T>
void select(const GatherDeviation& deviation, const Selection& how, const Call& call, std::span<const T> x,
            std::span<T> y, std::span<Int> indices) {
  const GatherPlan plan = plan_of(call, deviation);
  const Shape& shape = call.shape("X");
  const bool is_column_major = call.definition().attribute("storage_order") && call.integer("storage_order") == 1;
  for (std::size_t flat = 0; flat < y.size(); ++flat) {
    Gathered gathered = gathered_at(plan, flat, deviation);
    T best = lowest<T>(how.begins_at_lowest);
    Int where = how.begins_at_lowest && !gathered.terms.empty() ? gathered.terms.front().x : -1;
    const auto is_more = [&](T a, T b) {
      if constexpr (is_narrow<T>)
        if (how.widens) return static_cast<float>(static_cast<double>(a)) > static_cast<float>(static_cast<double>(b));
      return a > b;
    };
    if (how.begins_with_last) std::ranges::reverse(gathered.terms);
    for (const Gathered::Term& term : gathered.terms) {
      const T value = x[static_cast<std::size_t>(term.x)];
      const bool is_first = where < 0 && !how.begins_at_lowest;
      const bool is_nan = how.propagates_nan && value != value;
      const bool replaces_nan = how.skips_nan && best != best;
      const bool is_tie_to_take = (how.takes_last || how.begins_with_last) && value == best;
      if (!(is_first || is_more(value, best) || is_nan || replaces_nan || is_tie_to_take)) continue;
      best = value;
      where = term.x;
      if (is_nan) break;
    }
    const auto taps = static_cast<std::size_t>(volume(call.ints("kernel_shape")));
    if (how.pads_with_zeros && gathered.terms.size() < taps && !(best > T(0))) best = T(0);
    if (gathered.is_skipped) best = T(0);
    y[flat] = best;
    if (indices.empty()) continue;
    indices[flat] = where >= 0 && is_column_major ? by_columns(shape, where, how.numbers_tensor ? 0 : 2) : where;
  }
}

}  // namespace

static Kernel selecting(GatherDeviation deviation, Selection how) {
  return [deviation = std::move(deviation), how](const Call& call, Inputs in) {
    const Shape shape = plan_of(call, deviation).output();
    Values out;
    out.emplace_back(TensorType{call.type("X").dtype, shape});
    if (call.requests("Indices")) out.emplace_back(TensorType{DType::i64, shape});
    const std::span<Int> indices = out.size() > 1 ? out[1]->as<Int>() : std::span<Int>();
    for_number(call.type("X").dtype,
               [&]<class T>() { select<T>(deviation, how, call, in[0]->as<T>(), out[0]->as<T>(), indices); });
    return out;
  };
}

Kernel selecting(GatherDeviation deviation) { return selecting(std::move(deviation), Selection{}); }

std::vector<Bug> selecting_bugs() {
  return {{{"maxpool-pads-with-zeros", "MaxPool", "a zero in the padding may be the largest"},
           selecting({}, {.pads_with_zeros = true})}};
}

std::vector<VariantKernel> selecting_variants() {
  return {
      {{"sequential", Level::L2, "one tap after the other"}, selecting({})},
      {{"propagates-nan", Level::L2, "a NaN among the taps is the largest"}, selecting({}, {.propagates_nan = true})},
      {{"skips-nan-taps", Level::L2, "a NaN among the taps is looked at only where there is nothing else"},
       selecting({}, {.skips_nan = true})},
      {{"begins-with-last-tap", Level::L2, "from the last tap to the first, of several that are the largest the first"},
       selecting({}, {.begins_with_last = true})},
      {{"in-f32", Level::L2, "f16 and bf16 are computed in f32"}, selecting({}, {.widens = true})},
      {{"keeps-last-of-ties", Level::L2, "of several that are the largest the last", "W11", "last"},
       selecting({}, {.takes_last = true})},
      {{"begins-at-lowest", Level::L2, "the largest begins at the lowest number", "W10", "lowest"},
       selecting({}, {.begins_at_lowest = true})},
      {{"numbers-tensor", Level::L2, "storage_order = 1 numbers the whole tensor", "W12", "whole-tensor"},
       selecting({}, {.numbers_tensor = true})}};
}

}  // namespace assay::mutation
