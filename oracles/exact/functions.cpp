// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/functions.h"

#include "oracles/exact/real_ends.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace assay::oracles {
namespace {

using Operand = std::span<const Real>;

// -- enclosures

template <int (*f)(mpfi_ptr, mpfi_srcptr)>
Real whole(const Real& x) {
  return made(x.bits(), [&](mpfi_t out) { f(out, x.ends().value); });
}
template <int (*f)(mpfi_ptr, mpfi_srcptr)>
Real by_interval(Operand x) {
  return whole<f>(x[0]);
}

using Directed = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

// Of a function that rises everywhere, and of one that falls: MPFR rounds its values at the ends as it is told.
template <Directed f>
Real rising(const Real& x) {
  return made(x.bits(), [&](mpfi_t out) {
    f(&out->left, x.ends().left(), MPFR_RNDD);
    f(&out->right, x.ends().right(), MPFR_RNDU);
  });
}
template <Directed f>
Real falling(const Real& x) {
  return made(x.bits(), [&](mpfi_t out) {
    f(&out->left, x.ends().right(), MPFR_RNDD);
    f(&out->right, x.ends().left(), MPFR_RNDU);
  });
}

Real number(Int value, const Real& like) { return {value, like.bits()}; }
Real half(const Real& x) { return x * Real(Ratio{Dyadic::power_of_two(-1), 1}, x.bits()); }
Real abs(const Real& x) { return whole<mpfi_abs>(x); }
// Of an exact argument the upper end is the neighbour of the lower one, at half the price.
Real exp(const Real& x) {
  if (!x.is_exact()) return whole<mpfi_exp>(x);
  return made(x.bits(), [&](mpfi_t out) {
    const bool is_inexact = mpfr_exp(&out->left, x.ends().left(), MPFR_RNDD) != 0;
    mpfr_set(&out->right, &out->left, MPFR_RNDU);
    if (is_inexact) mpfr_nextabove(&out->right);
  });
}
Real pi(const Real& like) {
  return made(like.bits(), [](mpfi_t out) { mpfi_const_pi(out); });
}

// 1/(1 + e^-x): x stands once, so nothing is lost.
Real sigmoid(const Real& x) { return number(1, x) / (number(1, x) + exp(-x)); }
// log(1 + e^x) = x + log(1 + e^-x).
Real softplus(const Real& x) { return x.is_positive() ? x + whole<mpfi_log1p>(exp(-x)) : whole<mpfi_log1p>(exp(x)); }

// x/2 (1 + erf(x/√2)) = x/2 erfc(-x/√2), which keeps its digits where x is negative.
Real gelu(Operand x) { return half(x[0]) * falling<mpfr_erfc>(-x[0] / square_root(number(2, x[0]))); }

// x/2 (1 + tanh z) = x sigmoid(2z), z = √(2/π) (x + 0.044715 x^3), with the constant the decimal fraction itself.
Real gelu_tanh(Operand x) {
  const Real& v = x[0];
  const Real cubic = v + v * v * v * Real(Ratio{{44'715, 0}, 1'000'000}, v.bits());
  return v * sigmoid(number(2, v) * square_root(number(2, v) / pi(v)) * cubic);
}

// Of exact operands; both ends are roundings of the one value, or its continuous hull over an argument above 0.
Real pow(Operand x) {
  if (!x[0].is_exact() || !x[1].is_exact()) return exp(x[1] * whole<mpfi_log>(x[0]));
  return made(std::max(x[0].bits(), x[1].bits()), [&](mpfi_t out) {
    mpfr_pow(&out->left, x[0].ends().left(), x[1].ends().left(), MPFR_RNDD);
    mpfr_pow(&out->right, x[0].ends().left(), x[1].ends().left(), MPFR_RNDU);
  });
}

bool is_below_zero(const Real& x) { return mpfr_sgn(x.ends().left()) < 0; }
Real expm1(const Real& x) { return whole<mpfi_expm1>(x); }

// -- bounds

constexpr FunctionTolerance copied = no_tolerance;

using Sizes = std::span<const double>;

// |x| of an exponential: beyond it there is nothing but 0 and infinity.
double reach(double x) { return std::min(std::abs(x), 1100.0); }

template <int k>
FunctionTolerance relative(Sizes, double) {
  return {k};
}
template <int k, int a>
FunctionTolerance with_unit(Sizes, double) {
  return {k, a, 1};
}
template <int k, int a>
FunctionTolerance with_argument(Sizes x, double) {
  return {k, a, std::abs(x[0])};
}

struct Row {
  Function function;
  std::string_view name;
  Real (*enclosed)(Operand);
  FunctionTolerance (*tolerance)(Sizes x, double size);
};

// Elementwise 5.2, in the order of the enumeration.
constexpr Row table[] = {
    {Function::exp, "exp", [](Operand x) { return exp(x[0]); },
     [](Sizes x, double) { return FunctionTolerance{4 + reach(x[0]) / 8}; }},
    {Function::log, "log", by_interval<mpfi_log>, relative<4>},
    {Function::sin, "sin", by_interval<mpfi_sin>, with_unit<4, 8>},
    {Function::cos, "cos", by_interval<mpfi_cos>, with_unit<4, 8>},
    {Function::tan, "tan", by_interval<mpfi_tan>,
     [](Sizes, double y) {
       return FunctionTolerance{6, 8, 1 + y * y};
     }},
    {Function::asin, "asin", by_interval<mpfi_asin>, relative<8>},
    {Function::acos, "acos", by_interval<mpfi_acos>, relative<8>},
    {Function::atan, "atan", by_interval<mpfi_atan>, relative<8>},
    {Function::sinh, "sinh", by_interval<mpfi_sinh>,
     [](Sizes x, double) { return FunctionTolerance{8 + reach(x[0])}; }},
    {Function::cosh, "cosh", by_interval<mpfi_cosh>,
     [](Sizes x, double) { return FunctionTolerance{8 + reach(x[0])}; }},
    {Function::tanh, "tanh", by_interval<mpfi_tanh>, relative<16>},
    {Function::asinh, "asinh", by_interval<mpfi_asinh>, relative<8>},
    {Function::acosh, "acosh", by_interval<mpfi_acosh>, relative<8>},
    {Function::atanh, "atanh", by_interval<mpfi_atanh>, relative<8>},
    {Function::erf, "erf", [](Operand x) { return rising<mpfr_erf>(x[0]); }, with_unit<16, 16>},
    {Function::sigmoid, "sigmoid", [](Operand x) { return sigmoid(x[0]); }, with_unit<8, 16>},
    {Function::softplus, "softplus", [](Operand x) { return softplus(x[0]); }, with_unit<8, 16>},
    {Function::softsign, "softsign", [](Operand x) { return x[0] / (number(1, x[0]) + abs(x[0])); }, relative<3>},
    {Function::elu, "elu", [](Operand x) { return is_below_zero(x[0]) ? x[1] * expm1(x[0]) : x[0]; },
     [](Sizes x, double) {
       return x[0] < 0 ? FunctionTolerance{8, 6, std::abs(x[1])} : copied;
     }},
    {Function::celu, "celu", [](Operand x) { return is_below_zero(x[0]) ? x[1] * expm1(x[0] / x[1]) : x[0]; },
     [](Sizes x, double) {
       // The body takes alpha (x / alpha) where x >= 0: what that loses where x / alpha is subnormal alpha makes
       // larger.
       int exponent;
       const double alpha = std::abs(x[1]), lost = std::max(1.0, alpha);
       const bool is_power = std::abs(std::frexp(alpha, &exponent)) == 0.5;
       if (x[0] >= 0)
         return is_power ? FunctionTolerance{0, 0, 0, alpha > 1 ? alpha : 0} : FunctionTolerance{2, 0, 0, lost};
       return FunctionTolerance{8 + (x[1] < 0 ? std::abs(x[0] / x[1]) : 0), 6, alpha, 128 * lost};
     }},
    {Function::selu, "selu", [](Operand x) { return x[2] * (is_below_zero(x[0]) ? x[1] * expm1(x[0]) : x[0]); },
     [](Sizes x, double) {
       return x[0] > 0 ? FunctionTolerance{2, 0, 0, 1} : FunctionTolerance{8, 6, std::abs(x[1] * x[2])};
     }},
    {Function::gelu, "gelu", gelu, with_argument<8, 16>},
    {Function::gelu_tanh, "gelu by tanh", gelu_tanh, with_argument<8, 16>},
    {Function::mish, "mish", [](Operand x) { return x[0] * whole<mpfi_tanh>(softplus(x[0])); }, with_argument<8, 16>},
    {Function::swish, "swish", [](Operand x) { return x[0] * sigmoid(x[1] * x[0]); }, with_argument<8, 16>},
    {Function::swiglu, "swiglu", [](Operand x) { return x[0] * sigmoid(x[1] * x[0]) * x[2]; },
     [](Sizes x, double) {
       return FunctionTolerance{9, 16, std::abs(x[0] * x[2]), 128 * std::clamp(std::abs(x[2]), 1.0, 0x1p1016)};
     }},
    {Function::pow, "pow", pow, relative<16>},
};
static_assert(std::size(table) == functions);

const Row& row_of(Function function) {
  const Row& row = table[static_cast<std::size_t>(function)];
  expects(row.function == function, "the table of functions is out of order");
  return row;
}

// -- edges

constexpr double inf = std::numeric_limits<double>::infinity(), undefined = std::numeric_limits<double>::quiet_NaN();

// Where a function is defined, and its limits at the infinities; `has_poles`: the ends of the domain are.
struct Edges {
  Function function;
  double least = -inf, most = inf, at_minus_infinity = undefined, at_infinity = undefined;
  bool has_poles = false;
};

constexpr Edges edges[] = {
    {Function::exp, -inf, inf, 0, inf},
    {Function::log, 0, inf, undefined, inf, true},
    {Function::sin},
    {Function::cos},
    {Function::tan},
    {Function::asin, -1, 1},
    {Function::acos, -1, 1},
    {Function::sinh, -inf, inf, -inf, inf},
    {Function::cosh, -inf, inf, inf, inf},
    {Function::tanh, -inf, inf, -1, 1},
    {Function::asinh, -inf, inf, -inf, inf},
    {Function::acosh, 1, inf, undefined, inf},
    {Function::atanh, -1, 1, undefined, undefined, true},
    {Function::erf, -inf, inf, -1, 1},
    {Function::sigmoid, -inf, inf, 0, 1},
    {Function::softplus, -inf, inf, 0, inf},
};

std::optional<double> special_of(const Edges& f, const Scalar& x) {
  if (x.is == Scalar::Class::nan) return undefined;
  if (x.is == Scalar::Class::infinite) return x.negative ? f.at_minus_infinity : f.at_infinity;
  const auto is_below = [](const Dyadic& a, double b) { return std::isfinite(b) && a < scalar_of(b).value(); };
  const Dyadic value = x.value();
  if (is_below(value, f.least) || is_below(-value, -f.most)) return undefined;
  if (f.has_poles && value == scalar_of(f.least).value()) return -inf;
  if (f.has_poles && std::isfinite(f.most) && value == scalar_of(f.most).value()) return inf;
  return std::nullopt;
}

// What is computed here in double, with a few roundings of relative size 2^-53 and maybe one that underflows.
double raised(double value) { return value * (1 + 0x1p-40) + 0x1p-1074; }

}  // namespace

std::string_view name(Function function) { return row_of(function).name; }

Real enclosed(Function function, std::span<const Real> x) { return row_of(function).enclosed(x); }

std::optional<Scalar> special(Function function, const Scalar& x) {
  const auto f = std::ranges::find(edges, function, &Edges::function);
  if (f == std::end(edges)) return std::nullopt;
  const std::optional<double> value = special_of(*f, x);
  return value ? std::optional(scalar_of(*value)) : std::nullopt;
}

std::pair<double, double> range(Function function) {
  constexpr double pi = std::numbers::pi;
  switch (function) {
    case Function::exp:
    case Function::acosh:
    case Function::softplus: return {0, inf};
    case Function::cosh: return {1, inf};
    case Function::sin:
    case Function::cos:
    case Function::tanh:
    case Function::erf:
    case Function::softsign: return {-1, 1};
    case Function::asin:
    case Function::atan: return {-pi / 2, pi / 2};
    case Function::acos: return {0, pi};
    case Function::sigmoid: return {0, 1};
    default: return {-inf, inf};
  }
}

FunctionTolerance tolerance(Function function, std::span<const double> x, double size) {
  return row_of(function).tolerance(x, size);
}

double bound(Function function, std::span<const double> x, double size, const Format& working) {
  return bound(tolerance(function, x, size), size, working);
}

// 2^exponent; normal ones without a call, since this is evaluated for every output that is not nearest.
static double power(int exponent) {
  if (exponent < -1022) return std::ldexp(1.0, exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

double bound(const FunctionTolerance& b, double size, const Format& working) {
  if (b == no_tolerance) return 0;
  const int own = static_cast<int>(std::bit_cast<std::uint64_t>(size) >> 52 & 0x7ff) - 1023;
  const int exponent = size > 0 && std::isfinite(size) ? std::max(own, working.min_exponent)
                                                       : (size > 0 ? working.max_exponent : working.min_exponent);
  return raised(b.k * power(exponent - working.precision + 1) + b.a * (b.sigma * power(working.unit_exponent())) +
                b.m * power(working.smallest_exponent()));
}

double crudeness(Function function, std::span<const double> x, double size) {
  constexpr double all_of_a_wave = 16'416;  // 2^13 times 2.004
  switch (function) {
    case Function::exp:
    case Function::cosh:
    case Function::softsign:
    case Function::pow: return 0;
    case Function::log: return 0.5 <= x[0] && x[0] <= 2 ? 1 : 0;
    case Function::sin:
    case Function::cos: return std::abs(x[0]) <= 1024 ? 4 + std::abs(x[0]) / 128 : all_of_a_wave;
    case Function::tan: return std::abs(x[0]) <= 1024 ? 8 * (1 + size * size) : inf;
    case Function::elu:
    case Function::celu: return std::abs(x[1]);
    case Function::selu: return std::abs(x[1] * x[2]);
    case Function::gelu:
    case Function::gelu_tanh:
    case Function::mish:
    case Function::swish: return std::abs(x[0]);
    case Function::swiglu: return std::abs(x[0] * x[2]);
    default: return 1;
  }
}

}  // namespace assay::oracles
