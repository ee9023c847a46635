// SPDX-License-Identifier: Apache-2.0
// Enclosures against other formulas at more bits, and e^x against its series in fractions, which no library computed.
#include "oracles/exact/functions.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace assay::oracles {
namespace {

using enum Function;

Ratio fraction(double value) { return {scalar_of(value).value(), 1}; }
Real real(double value, int bits) { return {fraction(value), bits}; }
Real f(Function function, const Real& x) { return enclosed(function, std::array{x}); }
Real f(Function function, const Real& x, const Real& y) { return enclosed(function, std::array{x, y}); }

bool overlap(const Real& a, const Real& b) { return a.lower() <= b.upper() && b.lower() <= a.upper(); }
// Wider than a share of its size, or than that itself around 0.
bool is_narrow(const Real& a, int bits) {
  const Dyadic size = std::max(abs(a.lower()), abs(a.upper()));
  return a.upper() - a.lower() <= (size.is_zero() ? Dyadic::power_of_two(0) : size) * Dyadic::power_of_two(-bits);
}

// e^x between two fractions, |x| <= 1: 60 terms of the series, and twice the first that is left out.
std::pair<Ratio, Ratio> series(double x) {
  Ratio sum{{1, 0}, 1}, term{{1, 0}, 1};
  for (Int n = 1; n <= 60; ++n) {
    term = term * scalar_of(x).value();
    term.denominator *= n;
    sum = sum + term;
  }
  const Ratio rest = abs(term);
  return {sum - rest, sum + rest};
}

const std::vector<double> arguments{0x1p-60, 0x1.8p-20, 0.001, 0.25, 0.3, 0.5, 0.75, 0.9, 0.999};
const std::vector<double> larger{1.5, 2, 3.14159, 10, 20.25, 35};

// The function by another formula, over e^x, log and erf alone.
struct Identity {
  Function function;
  Real (*formula)(const Real& x);
  bool takes_large = true, takes_small = true, takes_negative = true;
};

Real one(const Real& x) { return {1, x.bits()}; }
Real two(const Real& x) { return {2, x.bits()}; }
Real root(const Real& x) { return f(exp, f(log, x) / two(x)); }
Real e(const Real& x) { return f(exp, x); }

const std::vector<Identity>& identities() {
  static const std::vector<Identity> all{
      {sinh, [](const Real& x) { return (e(x) - e(-x)) / two(x); }},
      {cosh, [](const Real& x) { return (e(x) + e(-x)) / two(x); }},
      {tanh, [](const Real& x) { return one(x) - two(x) / (e(two(x) * x) + one(x)); }},
      {asinh, [](const Real& x) { return f(log, x + root(x * x + one(x))); }, true, true, false},
      {acosh, [](const Real& x) { return f(log, x + root(x * x - one(x))); }, true, false, false},
      {atanh, [](const Real& x) { return f(log, (one(x) + x) / (one(x) - x)) / two(x); }, false},
      {sigmoid, [](const Real& x) { return e(x) / (one(x) + e(x)); }},
      {softplus, [](const Real& x) { return f(log, one(x) + e(x)); }},
      {softsign, [](const Real& x) { return one(x) - one(x) / (one(x) + x); }, true, true, false},
      {tan, [](const Real& x) { return f(sin, x) / f(cos, x); }},
      {cos, [](const Real& x) { return one(x) - two(x) * f(sin, x / two(x)) * f(sin, x / two(x)); }},
      {asin, [](const Real& x) { return f(atan, x / root(one(x) - x * x)); }, false, true, false},
      {acos, [](const Real& x) { return two(x) * f(atan, root((one(x) - x) / (one(x) + x))); }, false},
      {gelu, [](const Real& x) { return x / two(x) * (one(x) + f(erf, x / root(two(x)))); }},
      {mish, [](const Real& x) { return x * (one(x) - two(x) / ((one(x) + e(x)) * (one(x) + e(x)) + one(x))); }},
  };
  return all;
}

void check(const Identity& identity, double x) {
  INFO(name(identity.function) << " of " << x);
  const Real ours = f(identity.function, real(x, 96)), other = identity.formula(real(x, 1000));
  CHECK(overlap(ours, other));
  CHECK(is_narrow(ours, 75));
}

TEST_CASE("Functions: e^x lies where its series in exact fractions puts it", "[functions]") {
  for (const double size : arguments)
    for (const double x : {size, -size}) {
      const auto [lower, upper] = series(x);
      const Real ours = f(exp, real(x, 256));
      INFO(x);
      CHECK(Ratio{ours.lower(), 1} <= upper);
      CHECK(lower <= Ratio{ours.upper(), 1});
      CHECK(is_narrow(ours, 250));
    }
}

TEST_CASE("Functions: log undoes e^x, sin and cos meet Pythagoras, atan undoes tan, erf has its series",
          "[functions]") {
  for (const double x : arguments) {
    const Real at = real(x, 500);
    INFO(x);
    CHECK(overlap(f(log, f(exp, at)), real(x, 96)));
    CHECK(overlap(f(sin, at) * f(sin, at) + f(cos, at) * f(cos, at), one(at)));
    CHECK(overlap(f(atan, f(tan, at)), real(x, 96)));
    // 2/√π sum of (-1)^n x^(2n+1) / (n! (2n+1)), π as 4 atan 1.
    Real power = at, sum = at;
    for (Int n = 1; n < 90; ++n) {
      power = -power * at * at / Real(n, 500);
      sum = sum + power / Real(2 * n + 1, 500);
    }
    CHECK(overlap(f(erf, real(x, 96)), two(at) / root(Real(4, 500) * f(atan, one(at))) * sum));
  }
}

TEST_CASE("Functions: every other one agrees with another formula at 1,000 bits", "[functions]") {
  for (const Identity& each : identities())
    for (const std::vector<double>* some : {&arguments, &larger})
      for (const double x : *some) {
        if (some == &arguments ? !each.takes_small : !each.takes_large) continue;
        check(each, x);
        if (each.takes_negative) check(each, -x);
      }
}

TEST_CASE("Functions: those with parameters are what their formulas say", "[functions]") {
  const Real x = real(-1.25, 200), alpha = real(0.75, 200), gamma = real(1.5, 200);
  CHECK(overlap(f(elu, x, alpha), alpha * (e(x) - one(x))));
  CHECK(overlap(f(celu, x, alpha), alpha * (e(x / alpha) - one(x))));
  CHECK(overlap(enclosed(selu, std::array{x, alpha, gamma}), gamma * alpha * (e(x) - one(x))));
  CHECK(overlap(f(swish, x, alpha), x / (one(x) + e(-alpha * x))));
  CHECK(overlap(f(pow, real(3.7, 200), x), e(x * f(log, real(3.7, 200)))));
  CHECK(f(pow, real(-3, 96), real(3, 96)).is_exact());
  CHECK(f(pow, real(-3, 96), real(3, 96)).lower() == Dyadic{-27, 0});
  CHECK(f(pow, real(6.25, 96), real(0.5, 96)).lower() == scalar_of(2.5).value());
  // √(2/π) (1 + 0.044715) = 0.8335709..., tanh of that 0.6823839..., so y = 0.8411919...
  CHECK(approximate(Ratio{f(gelu_tanh, real(1, 96)).lower(), 1}) == Approx(0.8411919906).epsilon(1e-9));
}

TEST_CASE("Functions: saturated values are told from the number they approach at the first precision", "[functions]") {
  const auto rounds = [](Function function, double x, Rounding rounding) {
    const auto at = [=](int bits) { return f(function, real(x, bits)); };
    return rounded(stand_in(at, format_of(DType::f32)).value().value, format_of(DType::f32), rounding);
  };
  for (const Function each : {tanh, erf, sigmoid})
    for (const double x : {40.0, 200.0, 1e30}) {
      INFO(name(each) << " of " << x);
      CHECK(hexadecimal(rounds(each, x, Rounding::nearest_even)) == "0x1p+0");
      CHECK(hexadecimal(rounds(each, x, Rounding::down)) == "0x1.fffffep-1");
      CHECK(hexadecimal(rounds(each, x, Rounding::up)) == "0x1p+0");
    }
  CHECK(hexadecimal(rounds(exp, 0x1p-149, Rounding::up)) == "0x1.000002p+0");
  CHECK(hexadecimal(rounds(exp, -1e30, Rounding::up)) == "0x1p-149");
  CHECK(hexadecimal(rounds(sin, 0x1p-100, Rounding::down)) == "0x1.fffffep-101");
  CHECK(hexadecimal(rounds(exp, 0, Rounding::up)) == "0x1p+0");
}

TEST_CASE("Functions: the hardest logarithm of f64 lies above a number of the format, by 2^-65 of its last bit",
          "[functions]") {
  // Lefèvre and Muller, Worst cases for correct rounding of the elementary functions in double precision (2001):
  // 111010110.0100011110011110101110100111110010010111000 1 0^65 1….
  const Real x(fraction(std::ldexp(0x1.62a88613629b6p0, 678)), 96);
  const auto at = [&](int bits) { return f(log, Real(Ratio{x.lower(), 1}, bits)); };
  const Ratio found = stand_in(at, format_of(DType::f64)).value().value;
  CHECK(hexadecimal(rounded(found, format_of(DType::f64))) == "0x1.d6479eba7c971p+8");
  CHECK(hexadecimal(rounded(found, format_of(DType::f64), Rounding::down)) == "0x1.d6479eba7c971p+8");
  CHECK(hexadecimal(rounded(found, format_of(DType::f64), Rounding::up)) == "0x1.d6479eba7c972p+8");
  const Dyadic number = scalar_of(0x1.d6479eba7c971p+8).value();
  CHECK(number < at(192).lower());
  CHECK(at(192).upper() - number < Dyadic::power_of_two(8 - 52 - 64));
}

TEST_CASE("Functions: domains, poles and limits", "[functions]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto said = [](Function function, double x) {
    const std::optional<Scalar> value = special(function, scalar_of(x));
    return value ? hexadecimal(*value) : "a number";
  };
  CHECK(said(log, 0) == "-inf");
  CHECK(said(log, -0x1p-149) == "nan");
  CHECK(said(log, 0x1p-149) == "a number");
  CHECK(said(atanh, 1) == "inf");
  CHECK(said(atanh, -1) == "-inf");
  CHECK(said(atanh, 0x1.000002p0) == "nan");
  CHECK(said(asin, 1) == "a number");
  CHECK(said(acos, -0x1.000002p0) == "nan");
  CHECK(said(acosh, 0x1.fffffep-1) == "nan");
  CHECK(said(acosh, 1) == "a number");
  CHECK(said(exp, -infinity) == "0x0p+0");
  CHECK(said(exp, 1e30) == "a number");
  CHECK(said(cosh, -infinity) == "inf");
  CHECK(said(sinh, -infinity) == "-inf");
  CHECK(said(tan, infinity) == "nan");
  CHECK(said(erf, -infinity) == "-0x1p+0");
  CHECK(said(sigmoid, -infinity) == "0x0p+0");
  CHECK(said(softplus, infinity) == "inf");
  for (const Function each : {exp, log, sin, tanh, sigmoid}) CHECK(said(each, std::nan("")) == "nan");
  // Values at the ends of a domain are exact, or enclosed.
  CHECK(f(acosh, real(1, 96)).is_exact());
  CHECK(f(asin, real(0, 96)).is_exact());
  CHECK(overlap(f(asin, real(1, 96)) * two(real(1, 96)), f(acos, real(-1, 96))));
}

TEST_CASE("Functions: the bounds are the rows of the table", "[functions]") {
  const Format& single = format_of(DType::f32);
  const double eta = 128 * 0x1p-149;
  const auto is = [](double got, double wanted) { return got >= wanted && got <= wanted * (1 + 1e-9); };
  CHECK(is(bound(exp, std::array{16.0}, 1, single), 6 * 0x1p-23 + eta));
  CHECK(is(bound(log, std::array{16.0}, 2.77, single), 4 * 0x1p-22 + eta));
  CHECK(is(bound(sigmoid, std::array{0.0}, 0.5, single), 8 * 0x1p-24 + 16 * 0x1p-24 + eta));
  CHECK(is(bound(gelu, std::array{-3.0}, 0, single), 8 * 0x1p-149 + 48 * 0x1p-24 + eta));
  CHECK(bound(elu, std::array{1.0, 1.0}, 1, single) < 0x1p-1073);
  CHECK(is(bound(celu, std::array{1.0, 3.0}, 1, single), 2 * 0x1p-23 + 0x1p-149));
  CHECK(bound(celu, std::array{1.0, 0.5}, 1, single) < 0x1p-1073);
}

TEST_CASE("Functions: a value about 2^1200 is beyond every format, as larger ones are", "[functions]") {
  for (const double x : {831.0, 831.7, 831.8, 832.0, 832.4, 832.5, 833.0, 1e9}) {
    const Ratio argument = ratio(scalar_of(x));
    const auto at = [&](int bits) { return enclosed(Function::exp, std::array{Real(argument, bits)}); };
    for (const DType type : {DType::bf16, DType::f64}) {
      INFO(x << " " << name(type));
      const std::optional<StandIn> value = stand_in(at, format_of(type));
      REQUIRE(value);
      CHECK(rounded(value->value, format_of(type)).is == Scalar::Class::infinite);
    }
  }
}

}  // namespace
}  // namespace assay::oracles
