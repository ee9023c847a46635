// SPDX-License-Identifier: Apache-2.0
// FunctionFilter: decides in double what the enclosure says of most values of an elementary function in f16, bf16 or
// f32, and leaves the rest undecided.
//
// The premise: exp, expm1, log, log1p, the trigonometric and hyperbolic functions, their inverses, erf and erfc of the
// C library come within 2^-46 |f(x)| of f(x) in double (glibc's manual states 2^-50 at most, musl and Apple's less than
// that). The formulas made of them are chosen so that no operand is cancelled; the worst they add is that of an
// exponential of a rounded argument, |z| 2^-52 with |z| < 745, so y' comes within 2^-40 |f(x)| of f(x), or within
// 2^-1000 where it underflows, or is infinite where |f(x)| > 2^200. A sample of each function is held against its
// enclosure before it is used, and the judge confirms one decision in a thousand.
//  nearest   where no midpoint lies in that interval
//  admitted  where the far end is within the budget, computed as the definition does from the near end
//  faithful  where the gap to the neighbour of `got` on the side of y holds both ends, or neither; or by the side that
//  y
//            is on of the nearest n: |sin x| < |x| < |tan x| and their like where n = x, Gelu and Swish above n = x/2
#pragma once

#include "oracles/exact/functions.h"
#include "oracles/filter/near_filter.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace assay::oracles {

// A function and the operands that follow its argument, as an operator computes it of every element.
struct FunctionCall {
  Function function;
  std::vector<double> operands;
};

class FunctionFilter {
 public:
  // Returns none of a type or a function that it does not serve. Throws BrokenPromise where the C library breaks the
  // premise.
  static std::optional<FunctionFilter> of(FunctionCall call, DType type);

  // Returns a double within the margin of f(x); NaN outside of the domain.
  double value(double x) const { return compute_(x, call_.operands.data()); }
  // Rates what came back for an x whose value that is. Infinite arguments and values at poles are never decided.
  Decided rate(double x, double value, double got) const {
    const NearFilter::Rounded nearest = nearest_to(value);
    if (got == nearest.number && nearest.is_certain && std::isfinite(x)) return {true, true, Level::L0, 0, 0, 0, true};
    return rate_off(x, value, got, nearest);
  }
  // Returns how many ulp L2 allows at x, about; NaN or infinite where the value is.
  double allowed_ulps(double x) const {
    const double size = std::abs(value(x));
    return std::isfinite(size) ? std::max(0.5, budget(x, size) / quantum(size)) : size;
  }
  // Returns the number of the type that is nearest.
  double rounded(double value) const { return nearest_to(value).number; }
  double quantum(double value) const { return near_.quantum(value); }

 private:
  using Compute = double (*)(double x, const double* operands);
  static constexpr double margin = 0x1p-40, least_margin = 0x1p-1000;

  NearFilter::Rounded nearest_to(double value) const {
    return near_.rounded(value, std::abs(value) * margin + least_margin);
  }

  FunctionFilter(FunctionCall call, Compute compute, DType type);
  Decided rate_off(double x, double value, double got, const NearFilter::Rounded& nearest) const;
  int side_of(double x, double number) const;
  double budget(double x, double size) const;

  FunctionCall call_;
  Compute compute_;
  NearFilter near_;
};

// Screens an output, element by element.
FilterResult screened(const FunctionFilter& filter, const Tensor& x, const Tensor& got, const FilterOptions& how);

}  // namespace assay::oracles
