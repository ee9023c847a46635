// SPDX-License-Identifier: Apache-2.0
// The elementary functions: an enclosure of each, and how far from it an implementation may land (elementwise 5.2).
#pragma once

#include "oracles/real.h"

#include <optional>
#include <span>
#include <string_view>

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
  swish,  // (alpha)
  pow,    // (exponent); x positive, or the exponent an integer
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

// How far f may be computed from f(x), |x| and |f(x)| no larger than the operands and the size given:
// B = k ulp(y) + a u sigma + m η, in the working format, about 2^-30 too large at most.
double bound(Function function, std::span<const double> x, double size, const Format& working);

}  // namespace assay::oracles
