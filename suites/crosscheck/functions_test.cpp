// SPDX-License-Identifier: Apache-2.0
// The kernels' functions against enclosures of another hand.
#include "oracles/exact/functions.h"

#include "reference/functions.h"
#include "reference/recipe.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

double error_in_ulps(double x) {
  using namespace oracles;
  const Real exact = enclosed(Function::exp, std::array{Real(Ratio{scalar_of(x).value(), 1}, 128)});
  const double got = exponential(x);
  const Ratio off = oracles::abs(Ratio{scalar_of(got).value() - exact.lower(), 1});
  const int exponent = std::max(std::ilogb(got), -1022);
  return approximate(off * Dyadic::power_of_two(52 - exponent));
}

TEST_CASE("Functions of kernels: e^x is within 1 ulp over its whole range", "[functions]") {
  Generator draw(20261123);
  double worst = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double share = static_cast<double>(draw.next() >> 11) * 0x1p-53;
    const double x = i % 4 == 0   ? share * 2 - 1
                     : i % 4 == 1 ? std::ldexp(share - 0.5, -(i % 60))
                                  : share * 1454 - 744.9;
    worst = std::max(worst, error_in_ulps(x));
  }
  CHECK(worst < 1);
}

TEST_CASE("Functions of kernels: e^x at its ends", "[functions]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(exponential(0) == 1);
  CHECK(exponential(-infinity) == 0);
  CHECK(exponential(infinity) == infinity);
  CHECK(exponential(710) == infinity);
  CHECK(exponential(-746) == 0);
  CHECK(exponential(-745) == 0x1p-1074);
  CHECK(std::isnan(exponential(std::nan(""))));
}

// One function of kernels, the same of the oracle, and where it is tested.
struct Pair {
  oracles::Function function;
  double (*kernel)(double);
  double least, most;
};

const std::vector<Pair>& pairs() {
  using enum oracles::Function;
  static const std::vector<Pair> all{{log, logarithm, 0, 0x1p1023},
                                     {sin, sine, -0x1p1023, 0x1p1023},
                                     {cos, cosine, -0x1p1023, 0x1p1023},
                                     {tan, tangent, -0x1p1023, 0x1p1023},
                                     {asin, arc_sine, -1, 1},
                                     {acos, arc_cosine, -1, 1},
                                     {atan, arc_tangent, -0x1p1023, 0x1p1023},
                                     {sinh, hyperbolic_sine, -710, 710},
                                     {cosh, hyperbolic_cosine, -710, 710},
                                     {tanh, hyperbolic_tangent, -40, 40},
                                     {asinh, inverse_hyperbolic_sine, -0x1p1023, 0x1p1023},
                                     {acosh, inverse_hyperbolic_cosine, 1, 0x1p1023},
                                     {atanh, inverse_hyperbolic_tangent, -1, 1},
                                     {erf, error_function, -7, 7}};
  return all;
}

double error_of(const Pair& pair, double x) {
  using namespace oracles;
  const Real exact = enclosed(pair.function, std::array{Real(Ratio{scalar_of(x).value(), 1}, 160)});
  const double got = pair.kernel(x);
  if (!exact.is_bounded() || !std::isfinite(got)) return std::numeric_limits<double>::infinity();
  const Ratio off = oracles::abs(Ratio{scalar_of(got).value() - exact.lower(), 1});
  const int exponent = got == 0 ? -1022 : std::max(std::ilogb(got), -1022);
  return approximate(off * Dyadic::power_of_two(52 - exponent));
}

TEST_CASE("Functions of kernels: each is within 0.51 ulp, near 0, near 1, near multiples of a quarter turn and far out",
          "[functions]") {
  Generator draw(20261124);
  for (const Pair& pair : pairs()) {
    double worst = 0, where = 0;
    for (int i = 0; i < 2'000; ++i) {
      const double share = static_cast<double>(draw.next() >> 11) * 0x1p-53, sign = i % 2 == 0 ? 1 : -1;
      const double quarters = std::ldexp(1.5707963267948966 * std::floor(share * 1000), i % 500);
      const double x = i % 5 == 0   ? sign * std::ldexp(1 + share, static_cast<int>(draw.below(2000)) - 1000)
                       : i % 5 == 1 ? sign * (1 + std::ldexp(share - 0.5, -(i % 50)))
                       : i % 5 == 2 ? sign * std::ldexp(1 + share, static_cast<int>(draw.below(80)) - 60)
                       : i % 5 == 3 ? sign * quarters
                                    : sign * share * 8;
      if (x <= pair.least || x >= pair.most) continue;
      const double error = error_of(pair, x);
      if (error > worst) where = x;
      worst = std::max(worst, error);
    }
    INFO(oracles::name(pair.function) << " of " << oracles::hexadecimal(oracles::scalar_of(where)));
    CHECK(worst < 0.51);
  }
}

TEST_CASE("Functions of kernels: domains, poles and limits are those of the oracle", "[functions]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const Pair& pair : pairs())
    for (const double x : {0.0, 1.0, -1.0, 1.25, -1.25, 0.75, infinity, -infinity, std::nan("")}) {
      const std::optional<oracles::Scalar> special = oracles::special(pair.function, oracles::scalar_of(x));
      if (!special) continue;
      INFO(oracles::name(pair.function) << " of " << x);
      CHECK(oracles::hexadecimal(oracles::scalar_of(pair.kernel(x))) == oracles::hexadecimal(*special));
    }
  CHECK(arc_sine(1) == 0x1.921fb54442d18p+0);
  CHECK(arc_cosine(-1) == 0x1.921fb54442d18p+1);
  CHECK(arc_tangent(-infinity) == -0x1.921fb54442d18p+0);
  CHECK(exponential_less_one(-infinity) == -1);
  CHECK(exponential_less_one(0x1p-60) == 0x1p-60);
  CHECK(logarithm_of_one_more(-1) == -infinity);
  CHECK(logarithm_of_one_more(0x1p-60) == 0x1p-60);
}

}  // namespace
}  // namespace assay
