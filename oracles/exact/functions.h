// SPDX-License-Identifier: Apache-2.0
// The elementary functions: an enclosure of each, and how far from it an implementation may land (elementwise 5.2).
#pragma once

#include "oracles/exact/real.h"

#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace assay::oracles {

// The operands in brackets follow the argument x.
enum class Function {
  exp,
  log,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  sigmoid,
  softplus,
  softsign,
  elu,        // (alpha)
  celu,       // (alpha)
  selu,       // (alpha, gamma)
  gelu,       // by erf
  gelu_tanh,  // by tanh
  mish,
  swish,   // (alpha)
  swiglu,  // (alpha, the other factor)
  pow,     // (exponent); x positive, or the exponent an integer
};
inline constexpr int functions = static_cast<int>(Function::pow) + 1;

std::string_view name(Function function);

// Encloses f(x) to about so many bits as the operands have; they lie inside the domain. Exact operands whose value is a
// fraction of no more bits than that give it exactly.
Real enclosed(Function function, std::span<const Real> x);

// Returns what the text, or the limit, says of NaN, infinities, poles and arguments outside of the domain, of the
// elementary functions from exp to softplus; none where the value is a number that has to be enclosed. That of
// atan(±inf) is ±π/2.
std::optional<Scalar> special(Function function, const Scalar& x);

// Returns the least and the largest value of a function, or infinities; of those with further operands always.
std::pair<double, double> range(Function function);

// How far y may be missed: by k ulp(y) + a u sigma + m η, in the format that is computed in.
struct FunctionTolerance {
  double k = 0, a = 0, sigma = 0, m = 128;
  bool operator==(const FunctionTolerance&) const = default;
};
inline constexpr FunctionTolerance no_tolerance{0, 0, 0, 0};
// That of a function, |x| and |f(x)| no larger than the operands and the size given.
FunctionTolerance tolerance(Function function, std::span<const double> x, double size);
// The same as a number, of |y| no larger than the size; about 2^-30 too large at most.
double bound(const FunctionTolerance& tolerance, double size, const Format& working);
double bound(Function function, std::span<const double> x, double size, const Format& working);
// The sigma of approximations of 10 bits, whose absolute part is 2^-13 sigma (5.3); infinite where any number may come.
double crudeness(Function function, std::span<const double> x, double size);

}  // namespace assay::oracles
