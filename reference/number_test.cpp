// SPDX-License-Identifier: Apache-2.0
#include "reference/number.h"

#include "reference/convert.h"

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

// The codes of numbers, in order of their values; ml_dtypes is the other hand that the Python module is tested with.
template <class T>
void check_small(std::initializer_list<std::pair<double, unsigned>> known, double largest) {
  for (const auto& [value, code] : known) {
    CHECK(T(value).bits == code);
    CHECK(static_cast<double>(T(value)) == value);
  }
  CHECK(static_cast<double>(T(1e30)) == largest);
  for (unsigned code = 0; code < 1u << T::width; ++code) {
    T element;
    element.bits = static_cast<std::uint8_t>(code);
    const double value = element;
    if (std::isfinite(value)) REQUIRE((T(value).bits == code || value == 0));
  }
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

TEST_CASE("A float narrows without a branch to the bits that the definition gives", "[number]") {
  // Every upper half, with lower halves at, beside and far from the middle between two numbers.
  for (std::uint32_t upper = 0; upper < 65536; ++upper)
    for (const std::uint32_t lower : {0u, 1u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float wide = std::bit_cast<float>(upper << 16 | lower);
      REQUIRE(narrow_bits<Float16::Format>(wide) == Float16(static_cast<double>(wide)).bits);
      REQUIRE(narrow_bits<BFloat16::Format>(wide) == BFloat16(static_cast<double>(wide)).bits);
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

TEST_CASE("Floats of eight bits or less: codes of the formats' documents, and every code comes back", "[number]") {
  check_small<Float8E4M3FN>({{448, 0x7e}, {0x1p-9, 0x01}, {0x1p-6, 0x08}, {-1, 0xb8}}, 448);
  check_small<Float8E4M3FNUZ>({{240, 0x7f}, {0x1p-10, 0x01}, {0x1p-7, 0x08}, {-1, 0xc0}}, 240);
  check_small<Float8E5M2>({{57344, 0x7b}, {0x1p-16, 0x01}, {0x1p-14, 0x04}, {-1, 0xbc}}, 57344);
  check_small<Float8E5M2FNUZ>({{57344, 0x7f}, {0x1p-17, 0x01}, {0x1p-15, 0x04}, {-1, 0xc0}}, 57344);
  check_small<Float4E2M1>({{6, 0x7}, {0.5, 0x1}, {1, 0x2}, {-1.5, 0xb}}, 6);
  check_small<Float6E2M3>({{7.5, 0x1f}, {0.125, 0x01}, {1, 0x08}, {-1, 0x28}}, 7.5);
  check_small<Float6E3M2>({{28, 0x1f}, {0.0625, 0x01}, {0.25, 0x04}, {-1, 0x2c}}, 28);
  check_small<Float8E8M0>({{0x1p127, 0xfe}, {0x1p-127, 0x00}, {1, 0x7f}, {2, 0x80}}, 0x1p100);
}

TEST_CASE("Floats of eight bits: ties, and what lies beyond the largest number, by the tables of Cast", "[number]") {
  const auto bits = [](auto value) { return static_cast<unsigned>(value.bits); };
  CHECK(bits(Float8E4M3FN(464, false)) == 0x7e);  // a tie, to the even 448
  CHECK(bits(Float8E4M3FN(464.1, false)) == 0x7f);
  CHECK(bits(Float8E4M3FN(464.1, true)) == 0x7e);
  CHECK(bits(Float8E5M2(61439, false)) == 0x7b);
  CHECK(bits(Float8E5M2(61440, false)) == 0x7c);  // a tie, to the even, which is infinity
  CHECK(bits(Float8E5M2(-61440, false)) == 0xfc);
  CHECK(bits(Float8E4M3FNUZ(248, false)) == 0x80);
  CHECK(bits(Float8E4M3FNUZ(-0.0)) == 0);
  CHECK(bits(Float8E5M2FNUZ(61440, true)) == 0x7f);
  CHECK(bits(Float4E2M1(5)) == 0x6);
  CHECK(bits(Float4E2M1(0.25)) == 0);
  using enum Float8E8M0::Rounding;
  CHECK(bits(Float8E8M0(3, up, true)) == 0x81);
  CHECK(bits(Float8E8M0(3, down, true)) == 0x80);
  CHECK(bits(Float8E8M0(3, nearest, true)) == 0x81);
  CHECK(bits(Float8E8M0(0, up, true)) == 0);
  CHECK(bits(Float8E8M0(0, up, false)) == 0xff);
  CHECK(static_cast<double>(Int4::of(200)) == -8);
  CHECK(static_cast<double>(UInt2::of(-1)) == 3);
}
