// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/exact.h"

#include "oracles/exact/bins.h"
#include "reference/recipe.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace assay;
using namespace assay::oracles;

namespace {

Ratio exactly(double value) {
  Tensor t({DType::f64, {1}});
  t.as<double>()[0] = value;
  return {scalar(t, 0).value(), 1};
}

double as_double(const Scalar& s) {
  if (s.is == Scalar::Class::nan) return std::numeric_limits<double>::quiet_NaN();
  if (s.is == Scalar::Class::infinite)
    return s.negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  return s.as_double();
}

double random_double(Generator& random, int range) {
  const double significand = static_cast<double>((random.next() >> 11) | 1) * (random.next() & 1 ? 1 : -1);
  return std::ldexp(significand, static_cast<int>(random.below(2 * static_cast<std::uint64_t>(range))) - range - 53);
}

}  // namespace

TEST_CASE("Rounding an exact double into f32 is what the processor does, subnormals and overflow included", "[exact]") {
  Generator random(7);
  for (int i = 0; i < 50000; ++i) {
    const double value = random_double(random, 160);
    REQUIRE(as_double(rounded(exactly(value), format_of(DType::f32))) ==
            static_cast<double>(static_cast<float>(value)));
  }
  CHECK(rounded(exactly(0x1.ffffffp+127), format_of(DType::f32)).is == Scalar::Class::infinite);
  CHECK(as_double(rounded(exactly(0x1.fffffefffffffp+127), format_of(DType::f32))) == 0x1.fffffep+127);
}

TEST_CASE("Rounding an exact double into f16 and bf16 agrees with the narrowing of the number types", "[exact]") {
  Generator random(8);
  for (int i = 0; i < 50000; ++i) {
    const double value = random_double(random, 30);
    REQUIRE(as_double(rounded(exactly(value), format_of(DType::f16))) == static_cast<double>(Float16(value)));
    REQUIRE(as_double(rounded(exactly(value), format_of(DType::bf16))) == static_cast<double>(BFloat16(value)));
  }
}

TEST_CASE("A quotient is rounded once: the nearest double is the one division gives", "[exact]") {
  Generator random(9);
  for (int i = 0; i < 20000; ++i) {
    const double a = random_double(random, 20);
    const Int n = static_cast<Int>(1 + random.below(1000));
    const Ratio quotient{exactly(a).numerator, Integer(n)};
    REQUIRE(as_double(rounded(quotient, format_of(DType::f64))) == a / static_cast<double>(n));
  }
}

TEST_CASE("A value of one machine word is rounded as the same value over a denominator is", "[exact]") {
  Generator random(15);
  for (int i = 0; i < 20000; ++i) {
    // Few bits, so that ties and exact values occur; exponents that pass the bottom and the top of f16.
    const std::uint64_t magnitude = random.next() >> random.below(64);
    const Integer mantissa = random.next() & 1 ? Integer(magnitude) : Integer(-Integer(magnitude));
    const int exponent = static_cast<int>(random.below(200)) - 140;
    for (const DType dtype : {DType::f16, DType::f32})
      for (const Rounding rounding : {Rounding::nearest_even, Rounding::down, Rounding::up}) {
        const Scalar word = rounded({{mantissa, exponent}, 1}, format_of(dtype), rounding);
        const Scalar fraction = rounded({{mantissa * 3, exponent}, 3}, format_of(dtype), rounding);
        REQUIRE(hexadecimal(word) == hexadecimal(fraction));
      }
  }
}

TEST_CASE("Directed roundings enclose the value, one ulp apart or equal", "[exact]") {
  Generator random(10);
  for (int i = 0; i < 20000; ++i) {
    const double value = random_double(random, 160);
    const double down = as_double(rounded(exactly(value), format_of(DType::f32), Rounding::down));
    const double up = as_double(rounded(exactly(value), format_of(DType::f32), Rounding::up));
    REQUIRE((down <= value && value <= up));
    const float low = static_cast<float>(down);
    REQUIRE((down == up || std::nextafter(low, std::numeric_limits<float>::infinity()) == static_cast<float>(up)));
  }
}

TEST_CASE("Ties go to even, near ties do not", "[exact]") {
  const Ratio tie{Dyadic{(1 << 11) + 1, -11}, 1};  // 1 + 2^-11: halfway between 1 and 1 + 2^-10 in f16
  CHECK(as_double(rounded(tie, format_of(DType::f16))) == 1);
  const Ratio above = tie + Ratio{Dyadic::power_of_two(-300), 1};
  CHECK(as_double(rounded(above, format_of(DType::f16))) == 1 + 0x1p-10);
  const Ratio smallest_tie{Dyadic::power_of_two(-25), 1};
  CHECK(rounded(smallest_tie, format_of(DType::f16)).is_zero());
  CHECK(as_double(rounded(smallest_tie + Ratio{Dyadic::power_of_two(-400), 1}, format_of(DType::f16))) == 0x1p-24);
}

TEST_CASE("Sums, products and order of dyadic numbers are those of the integers they are", "[exact]") {
  Generator random(11);
  for (int i = 0; i < 5000; ++i) {
    const Int a = static_cast<Int>(random.below(2000)) - 1000, b = static_cast<Int>(random.below(2000)) - 1000;
    const int e = static_cast<int>(random.below(40)), f = static_cast<int>(random.below(40));
    const Integer x = Integer(a) << static_cast<unsigned>(e), y = Integer(b) << static_cast<unsigned>(f);
    const Dyadic p{a, e}, q{b, f};
    REQUIRE(p + q == Dyadic{x + y, 0});
    REQUIRE(p - q == Dyadic{x - y, 0});
    REQUIRE(p * q == Dyadic{x * y, 0});
    REQUIRE((p < q) == (x < y));
    REQUIRE(abs(p) == Dyadic{x < 0 ? Integer(-x) : x, 0});
    Dyadic sum = p;
    sum += q;
    REQUIRE(sum == p + q);
  }
}

TEST_CASE("The order of two dyadic numbers is the sign of their difference, however far apart they lie", "[exact]") {
  Generator random(16);
  const auto draw = [&] {
    Integer mantissa = Integer(random.next() >> random.below(64)) << static_cast<unsigned>(random.below(200));
    mantissa += random.below(3);
    return Dyadic{random.next() & 1 ? mantissa : Integer(-mantissa), static_cast<int>(random.below(300)) - 150};
  };
  for (int i = 0; i < 20000; ++i) {
    const Dyadic a = draw(), b = random.below(4) == 0 ? Dyadic{a.mantissa * 2, a.exponent - 1} : draw();
    const int sign = (a - b).mantissa.sign();
    REQUIRE((a < b) == (sign < 0));
    REQUIRE((a == b) == (sign == 0));
    REQUIRE((a > b) == (sign > 0));
  }
}

TEST_CASE("The bins hold the exact sum: the same as the sum by definition, over the whole range of f64 products",
          "[exact][bins]") {
  Generator random(12);
  for (int trial = 0; trial < 300; ++trial) {
    Bins bins;
    Dyadic definition;
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t a = random.next() >> 11, b = random.next() >> (11 + random.below(50));
      const int exponent = static_cast<int>(random.below(4000)) - 2148;
      const bool negative = random.next() & 1;
      const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
      bins.add(product, exponent, negative);
      Integer whole = Integer(a) * b;
      definition += Dyadic{negative ? Integer(-whole) : whole, exponent};
    }
    REQUIRE(bins.sum() == definition);
  }
}

TEST_CASE("Numbers print as hexadecimal floats that read back", "[exact]") {
  const auto text_of = [](double value) { return hexadecimal(rounded(exactly(value), format_of(DType::f64))); };
  CHECK(text_of(1) == "0x1p+0");
  CHECK(text_of(-3) == "-0x1.8p+1");
  CHECK(text_of(0) == "0x0p+0");
  CHECK(text_of(5e-324) == "0x1p-1074");
  CHECK(text_of(0x1.23456789abcdfp-3) == "0x1.23456789abcdfp-3");
  Generator random(13);
  for (int i = 0; i < 2000; ++i) {
    const double value = random_double(random, 900);
    REQUIRE(std::strtod(text_of(value).c_str(), nullptr) == value);
  }
}

TEST_CASE("Numbers are told in decimal, beside what is written", "[exact]") {
  CHECK(decimal("0x1.4p+1", DType::f32) == "2.5");
  CHECK(decimal("-0x1.99999ap-4", DType::f32) == "-0.100000001");
  CHECK(decimal("0x1.999999999999ap-4", DType::f64) == "0.1");
  for (const char* word : {"nan", "-inf", "nan or 0", "7", "-128"}) CHECK(decimal(word, DType::f32) == word);
  CHECK(readable("0x1.4p+1", DType::f32) == "2.5 (0x1.4p+1)");
  CHECK(readable("nan", DType::f32) == "nan");
}

TEST_CASE("A fraction that is told reads back, about", "[exact]") {
  const auto told = [](Integer numerator, int exponent, Integer denominator) {
    return approximate(text(Ratio{{std::move(numerator), exponent}, std::move(denominator)})).value();
  };
  CHECK(told(7, 0, 2) == 3.5);
  CHECK(told(-1, -130, 1) == -0x1p-130);
  CHECK(told(0, 0, 3) == 0);
  CHECK(told(Integer(1) << 900, -900, 1) == 1);
  for (const char* word : {"", "0x", "3.5", "[1, 2]", "0x1/0x0", "0x1/", "nan"})
    CHECK_FALSE(approximate(std::string(word)));
}

TEST_CASE("An approximation is within 2^-50 of the exact value", "[exact]") {
  Generator random(14);
  for (int i = 0; i < 5000; ++i) {
    const double value = random_double(random, 300);
    REQUIRE(std::abs(approximate(exactly(value)) - value) <= std::abs(value) * 0x1p-50);
  }
  CHECK(approximate({Dyadic{1, 0}, 3}) == Approx(1.0 / 3).epsilon(1e-15));
}
