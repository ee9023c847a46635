// SPDX-License-Identifier: Apache-2.0
// NearFilter: decides what is certain of an element in f16, bf16 or f32 whose exact value y is known to lie within some
// distance of a double v, and leaves the rest undecided.
//  nearest   where no midpoint lies in [v - off, v + off]; off <= 2^-30 |v|, so that no binade is left by more than a
//            fraction of an ulp of the smaller one
//  admitted  (L2) where the far end is within the budget
//  faithful  where the gap to the neighbour of `got` on the side of v holds both ends; where it holds one of them only,
//            nothing is decided
#pragma once

#include "oracles/exact/expression.h"
#include "oracles/filter/filter.h"
#include "reference/tensor.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

namespace assay::oracles {

// Decided: tells what is certain of one element.
struct Decided {
  bool is_decided = false;  // it is right, at this level
  bool is_nearest = false;  // RN_T(y)
  Level level = Level::L0;
  double ulp = 0, q = 0, share = 0;  // as Deviation has them, to 2^-12 of them or 2^-15 ulp
  bool is_sharp = false;             // it is known how `ulp` compares with whole numbers
};

class NearFilter {
 public:
  // Tells whether the filter serves a type.
  static bool serves(DType type) { return type == DType::f16 || type == DType::bf16 || type == DType::f32; }
  explicit NearFilter(DType type)
      : format_(&format_of(type)),
        overflow_(std::ldexp(1.0, format_->max_exponent + 1)),
        smallest_normal_(std::ldexp(1.0, format_->min_exponent)) {}

  struct Rounded {
    double number;
    bool is_certain;  // of whatever lies within `off`
  };
  // Adding 1.5 2^52 quanta and taking them off again rounds to a whole number of them, ties to even.
  Rounded rounded(double value, double off) const {
    const double size = std::abs(value), here = quantum(value), shift = 0x1.8p52 * here;
    if (!(size < overflow_))
      return {std::copysign(std::numeric_limits<double>::infinity(), value), std::isfinite(value)};
    const double near = (value + shift) - shift;
    const bool is_certain = std::abs(value - near) + off < here / 2;
    if (std::abs(near) < overflow_) return {near, is_certain};
    return {std::copysign(std::numeric_limits<double>::infinity(), value), is_certain};
  }
  // Returns the distance of numbers of the type around one.
  double quantum(double value) const {
    const int exponent =
        std::max(static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) - 1023, format_->min_exponent);
    return two_to(exponent - format_->precision + 1);
  }
  // Returns the distance of `got` to its neighbour on the side of a value.
  double gap_towards(double got, double value) const;

  // Rates what came back, of an element that may miss y by `budget`.
  Decided rate(const Near& y, double got, double budget) const;

 private:
  const Format* format_;
  double overflow_, smallest_normal_;  // the first power of two that is no number of the type
};

// DecidedElement: adds what rounding its value gives.
struct DecidedElement {
  Decided rated;
  double nearest = 0;
};
// Screens `count` elements, of which rate(i) says what is certain.
FilterResult screened(Int count, const std::function<DecidedElement(Int)>& rate, const FilterOptions& how);

// Screens an output whose elements are expressions, as `computed` has them; null of those that are none. None where the
// type or the first expression is not served.
std::optional<FilterResult> screened(const std::function<std::shared_ptr<const Expression>(Int)>& element,
                                     const Tensor& got, const FilterOptions& how);
inline constexpr Int least_screened = 64;  // what is smaller costs less by the definition than the filter's own test

}  // namespace assay::oracles
