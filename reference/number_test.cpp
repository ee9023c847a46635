// SPDX-License-Identifier: Apache-2.0
#include "reference/number.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace assay;

namespace {

// IEEE 754 3.4, from the definition: fields to value by std::ldexp.
double half_by_definition(unsigned bits) {
  const int exponent = static_cast<int>((bits >> 10) & 31), fraction = static_cast<int>(bits & 1023);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

}  // namespace

TEST_CASE("Float16: all 65,536 patterns widen to the value IEEE 754 gives them and narrow back", "[number]") {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const double wide = half, want = half_by_definition(bits);
    if (std::isnan(want)) {
      REQUIRE(std::isnan(wide));
      REQUIRE(std::isnan(static_cast<double>(Float16(wide))));
      continue;
    }
    REQUIRE(wide == want);
    REQUIRE(Float16(wide).bits == bits);
  }
}

TEST_CASE("BFloat16: every pattern is the upper half of a float", "[number]") {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    BFloat16 brain;
    brain.bits = static_cast<std::uint16_t>(bits);
    const double wide = brain, want = std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
    if (std::isnan(want)) {
      REQUIRE(std::isnan(wide));
      continue;
    }
    REQUIRE(wide == want);
    REQUIRE(BFloat16(wide).bits == bits);
  }
}

TEST_CASE("Float16: the point halfway between two neighbours goes to the even one, and a hair beyond it to the nearer",
          "[number]") {
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const double low = half_by_definition(bits), high = half_by_definition(bits + 1), middle = (low + high) / 2;
    REQUIRE(Float16(middle).bits == (bits % 2 ? bits + 1 : bits));
    REQUIRE(Float16(std::nextafter(middle, 1e9)).bits == bits + 1);
    REQUIRE(Float16(std::nextafter(middle, -1e9)).bits == bits);
    REQUIRE(Float16(-middle).bits == (0x8000 | (bits % 2 ? bits + 1 : bits)));
  }
}

TEST_CASE("Float16 overflows from 65520 on, BFloat16 from half an ulp above its largest value", "[number]") {
  CHECK(Float16(65519.99).bits == 0x7bff);
  CHECK(Float16(65520.0).bits == 0x7c00);
  CHECK(Float16(-65520.0).bits == 0xfc00);
  const double largest = std::ldexp(255, 120), half_ulp = std::ldexp(1, 119);
  CHECK(BFloat16(std::nextafter(largest + half_ulp, 0)).bits == 0x7f7f);
  CHECK(BFloat16(largest + half_ulp).bits == 0x7f80);
}

TEST_CASE("Narrowing rounds once: values that round wrongly through float come out right", "[number]") {
  // numerics 3.3: 1 + 2^-11 + 2^-30 lies above the tie; through float it would become the tie.
  CHECK(Float16(1 + 0x1p-11 + 0x1p-30).bits == Float16(1 + 0x1p-10).bits);
  CHECK(BFloat16(1 + 0x1p-8 + 0x1p-40).bits == BFloat16(1 + 0x1p-7).bits);
  CHECK(Float16(0x1p-25 + 0x1p-60).bits == 1);
  CHECK(Float16(0x1p-25).bits == 0);
  CHECK(Float16(5e-324).bits == 0);
}
