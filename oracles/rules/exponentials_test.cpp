// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/exponentials.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

namespace assay::oracles {
namespace {

constexpr double u = 0x1p-24;

Exponentials line(std::initializer_list<double> logits) {
  std::vector<Scalar> x;
  for (const double each : logits) x.push_back(scalar_of(each));
  return Exponentials(std::move(x));
}

const Policy& named(DType type, std::string_view arithmetic) {
  for (const std::vector<Policy>* list : {&required_policies(type), &wider_policies(type)})
    for (const Policy& each : *list)
      if (each.arithmetic.text() == arithmetic) return each;
  throw BrokenPromise("no such policy");
}

bool is_about(double value, double wanted) { return std::abs(value / wanted - 1) < 1e-4; }

TEST_CASE("Exponentials: equal logits have equal shares, exactly where their number is a power of two",
          "[exponentials]") {
  const Real third = line({7, 7, 7}).share(1)->value(96);
  CHECK(Ratio{third.lower(), 1} < Ratio{{1, 0}, 3});
  CHECK(Ratio{{1, 0}, 3} < Ratio{third.upper(), 1});
  const Real half = line({-9, -9}).share(0)->value(96);
  CHECK(half.is_exact());
  CHECK(half.lower() == Dyadic::power_of_two(-1));
}

TEST_CASE("Exponentials: a logit of -inf has no share, no budget and no say in the others", "[exponentials]") {
  const Exponentials masked = line({0, -std::numeric_limits<double>::infinity(), 0});
  CHECK(masked.share(1)->value(96).is_exact());
  CHECK(masked.share(1)->value(96).lower().is_zero());
  CHECK(masked.share(2)->value(96).lower() == Dyadic::power_of_two(-1));
  for (const Policy& policy : required_policies(DType::f16)) {
    CHECK(masked.share(1)->error(policy) == 0);
    CHECK(masked.share(0)->error(policy) == line({0, 0}).share(0)->error(policy));
  }
}

TEST_CASE("Exponentials: the bound on a line of two zeros is that of the proof, step by step", "[exponentials]") {
  const Exponentials zeros = line({0, 0});
  // exp(0) within 4 ulp, 8u, and one rescaling 10u: t = 18u, of the sum 2t and one addition 2u: 38u, s/S = 19u; and
  // three roundings: (18u + 3u + 19u) / 2.
  CHECK(is_about(zeros.share(0)->error(required_policies(DType::f32)[0]), 20 * u));
  // Every node in f16: u = 2^-11. The difference loses η = 2^-24 at most; exp rounds, t = u_T + η/2 and what f32 loses;
  // the sum 2t and its rounding 2 u_T: s/S = 2 u_T and more; three roundings: (1 + 3 + 2) u_T / 2.
  const double of_half = zeros.share(0)->error(named(DType::f16, "every node of the body rounded to f16"));
  CHECK(of_half >= 3 * 0x1p-11);
  CHECK(of_half < 3.1 * 0x1p-11);
  // Truncating doubles what rounds, not the function: (8u + 20u + 6u + (56u + 4u) / 2) / 2.
  const double truncated =
      zeros.share(0)->error(named(DType::f32, "f32, any order, functions within their bounds, truncating"));
  CHECK(is_about(truncated, 32 * u));
  // Functions of 10 bits: 2^-10 in the numerator and in the sum, over 2 (1 - 2^-10).
  const double coarse = zeros.share(0)->error(named(DType::f32, "functions of 10 bits"));
  CHECK(coarse >= 0x1p-10 + 20 * u);
  CHECK(coarse < 1.0015 * 0x1p-10 + 20 * u);
}

TEST_CASE("Exponentials: no tolerance is narrower than what is asked for", "[exponentials]") {
  const Exponentials lines[] = {line({0, 1, 2, 3}), line({-80, 80, 3, 0}), line({1e-3}), line({5, 5, 5, -1000})};
  for (const Exponentials& each : lines)
    for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64})
      for (const Policy& wider : wider_policies(type)) {
        if (wider.is_unshifted) continue;  // its arguments are exact
        INFO(wider.arithmetic.text());
        CHECK(each.share(0)->error(wider) >= each.share(0)->error(required_policies(type)[0]));
      }
}

TEST_CASE("Exponentials: without the maximum exp leaves the format from 88 on and vanishes below -70, in f32",
          "[exponentials]") {
  const Policy& unshifted = named(DType::f32, "no maximum subtracted");
  CHECK_FALSE(line({80, 10}).share(0)->breaks_down(unshifted));
  CHECK(line({89, 10}).share(0)->breaks_down(unshifted));
  CHECK_FALSE(line({-70, -75}).share(0)->breaks_down(unshifted));
  CHECK(line({-75, -75}).share(0)->breaks_down(unshifted));
  for (const Policy& policy : required_policies(DType::f32))
    CHECK_FALSE(line({1e38, -1e38}).share(0)->breaks_down(policy));
}

TEST_CASE("Exponentials: an element carries its bound, and rounds as its value does", "[exponentials]") {
  const std::unique_ptr<Expression> share = line({1, 0}).share(0);
  const Element element = computed(*share, DType::f32);
  REQUIRE(element.kind == Kind::finite);
  // 1/(1 + 1/e) to 24 bits.
  CHECK(hexadecimal(rounded(element.value, format_of(DType::f32))) == "0x1.764d5p-1");
  CHECK(element.blur < Ratio{Dyadic::power_of_two(-60), 1});
  CHECK(Ratio{Dyadic::power_of_two(-21), 1} < element.required.budget);
  for (const Tolerance& wider : tolerances(*share, element, DType::f32, {}))
    CHECK((wider.vacuous || wider.range || element.blur <= wider.budget));
}

}  // namespace
}  // namespace assay::oracles
