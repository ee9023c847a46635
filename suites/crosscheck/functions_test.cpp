// SPDX-License-Identifier: Apache-2.0
// The kernels' functions against enclosures of another hand.
#include "oracles/functions.h"

#include "reference/functions.h"
#include "reference/recipe.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <limits>

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

}  // namespace
}  // namespace assay
