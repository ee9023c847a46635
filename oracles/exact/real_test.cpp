// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/real.h"

#include <catch2/catch.hpp>

namespace assay::oracles {
namespace {

Ratio third() { return {{1, 0}, 3}; }

TEST_CASE("Real: fractions come back, exactly where they have few bits and between two ends where not", "[real]") {
  const Dyadic value{-12'345'678'901, -70};
  const Real exact(Ratio{value, 1}, 96);
  CHECK(exact.is_exact());
  CHECK(exact.lower() == value);
  CHECK(exact.upper() == value);
  CHECK(exact.is_negative());
  const Real inexact(third(), 96);
  CHECK_FALSE(inexact.is_exact());
  CHECK(Ratio{inexact.lower(), 1} < third());
  CHECK(third() < Ratio{inexact.upper(), 1});
  CHECK(inexact.upper() - inexact.lower() == Dyadic::power_of_two(-97));
  CHECK(inexact.size() == 0x1.5555555555556p-2);
}

TEST_CASE("Real: arithmetic encloses, and a quotient by what may be zero is not bounded", "[real]") {
  const Real a(third(), 96), one(1, 96);
  CHECK((a + a + a).lower() <= Dyadic{1, 0});
  CHECK(Dyadic{1, 0} <= (a + a + a).upper());
  CHECK((one / a).lower() <= Dyadic{3, 0});
  CHECK((a * a - one).is_negative());
  CHECK((-a).is_negative());
  CHECK_FALSE((one / (a - a)).is_bounded());
}

TEST_CASE("Real: ends beyond every format are brought near it, outward", "[real]") {
  const Real tiny(Ratio{Dyadic::power_of_two(-5000), 1}, 96);
  CHECK(tiny.lower().is_zero());
  CHECK(tiny.upper() == Dyadic::power_of_two(-1200));
  CHECK((-tiny).lower() == -Dyadic::power_of_two(-1200));
  CHECK((-tiny).upper().is_zero());
}

TEST_CASE("Stand-in: it rounds as the number does, in every direction and format", "[real]") {
  // 1 + 2^-24 is the midpoint of two neighbours of f32: the number lies 2^-200 beyond it, or below.
  for (const int sign : {1, -1}) {
    const Dyadic midpoint{(1 << 24) + 1, -24}, off{sign, -200};
    const Ratio exact = Ratio{midpoint + off, 1} + Ratio{{sign, -220}, 3};
    const auto found = stand_in([&](int bits) { return Real(exact, bits); }, format_of(DType::f32));
    REQUIRE(found);
    CHECK(hexadecimal(rounded(found->value, format_of(DType::f32))) == (sign > 0 ? "0x1.000002p+0" : "0x1p+0"));
    CHECK(abs(found->value - exact) <= found->off);
  }
}

TEST_CASE("Stand-in: what no 1,536 bits decide has none", "[real]") {
  const auto unsure = [&](int bits) { return Real(Ratio{{1, 0}, 3}, bits) * Real(3, bits); };
  CHECK_FALSE(stand_in(unsure, format_of(DType::f32)));
}

TEST_CASE("Stand-in: an exact number is its own", "[real]") {
  const auto found = stand_in([](int bits) { return Real(Ratio{{3, -2}, 1}, bits); }, format_of(DType::f16));
  REQUIRE(found);
  CHECK(found->value == Ratio{{3, -2}, 1});
  CHECK(found->off.is_zero());
}

}  // namespace
}  // namespace assay::oracles
