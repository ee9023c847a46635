// SPDX-License-Identifier: Apache-2.0
// The exact answer of MaxPool, GlobalMaxPool and NhwcMaxPool: of the taps of a window inside X the largest, and where
// it stands. Where a tap is NaN the largest of the others is as right (W9); of a window of NaN alone, or of nothing,
// all that is low (W10).
#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"

#include <algorithm>

namespace assay::oracles {
namespace {

bool has_nan(std::span<const ExactTap> taps) {
  return std::ranges::any_of(taps, [](const ExactTap& tap) { return is_nan(tap.value); });
}

// The largest number, none where there is no number.
const Scalar* maximum(const WindowPoint& p) {
  const ExactTap* most = nullptr;
  for (const ExactTap& tap : p.taps)
    if (!is_nan(tap.value) && (!most || is_less(most->value, tap.value))) most = &tap;
  return most ? &most->value : nullptr;
}

Element largest(const WindowPoint& p) {
  const Scalar* const most = maximum(p);
  const Scalar lowest = lowest_of(p.dtype);
  if (!most) return is_float(p.dtype) ? one_of("W10", {infinity(true), lowest, nan()}) : exactly(lowest, p.dtype);
  const bool is_low = most->is == Scalar::Class::infinite && most->negative;
  const Scalar& best = is_low && p.reads("W10", "lowest") ? lowest : *most;
  return has_nan(p.taps) ? one_of("W9", {nan(), best}) : exactly(best, p.dtype);
}

// Row-major, or column by column: within its plane or, as another reading has it, within the whole tensor (W12).
Scalar named(const WindowPoint& p, Int cell) {
  if (p.call.integer("storage_order") == 0) return scalar(cell);
  const Shape at = position(p.x, cell);
  const std::size_t first = p.reads("W12", "whole-tensor") ? 0 : 2;
  Int place = 0, stride = 1;
  for (std::size_t axis = first; axis < at.size(); stride *= p.x[axis++]) place += at[axis] * stride;
  return scalar(first == 0 ? place : (at[0] * p.x[1] + at[1]) * stride + place);
}

// Tells whether a tap differs from the largest and would not where subnormals are flushed.
bool ties_if_flushed(const WindowPoint& p, const Scalar& most) {
  const DType type = p.call.type("X").dtype;
  const auto vanishes = [&](const Scalar& value) {
    return value.is_zero() || (is_float(type) && value.is_subnormal(format_of(type)));
  };
  return vanishes(most) && std::ranges::any_of(p.taps, [&](const ExactTap& tap) {
           return vanishes(tap.value) && is_less(tap.value, most);
         });
}

Element where(const WindowPoint& p) {
  const Scalar* const most = maximum(p);
  if (p.taps.empty()) return unscored("no tap is inside X");
  if (most && ties_if_flushed(p, *most)) return unscored("flushed subnormals tie");
  std::vector<Scalar> places;
  for (const ExactTap& tap : p.taps)
    if (is_nan(tap.value) || !is_less(tap.value, *most)) places.push_back(named(p, tap.at));
  const bool is_unordered = has_nan(p.taps);
  if (is_unordered || p.reads("W11", "any")) return one_of(is_unordered ? "W9" : "W11", places);
  return exactly(p.reads("W11", "last") ? places.back() : places.front(), DType::i64);
}

}  // namespace

Oracle max_pool() { return over_windows({largest, where}); }
Oracle global_max_pool() { return over_windows({largest}); }
Oracle nhwc_max_pool() { return over_windows({largest}); }

}  // namespace assay::oracles
