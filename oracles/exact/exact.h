// SPDX-License-Identifier: Apache-2.0
// Exact real arithmetic over Boost.Multiprecision integers: the definition every verdict rests on. Floating-point
// operands are integers times powers of two, so sums and products are exact; quotients stay fractions.
#pragma once

#include "reference/tensor.h"

#include <boost/multiprecision/cpp_int.hpp>

#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace assay::oracles {

// Unbounded; the first 1024 bits live inside the object.
using Integer = boost::multiprecision::number<
    boost::multiprecision::cpp_int_backend<1024, 0, boost::multiprecision::signed_magnitude,
                                           boost::multiprecision::unchecked,
                                           std::allocator<boost::multiprecision::limb_type>>,
    boost::multiprecision::et_off>;

// Returns 2^exponent; 0 or infinity beyond what double has.
inline double two_to(int exponent) {
  if (exponent < -1022 || exponent > 1024) return std::ldexp(1.0, exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// mantissa * 2^exponent.
struct Dyadic {
  Integer mantissa = 0;
  int exponent = 0;

  static Dyadic power_of_two(int exponent) { return {1, exponent}; }
  bool is_zero() const { return mantissa == 0; }
};
Dyadic operator+(const Dyadic& a, const Dyadic& b);
Dyadic operator-(const Dyadic& a, const Dyadic& b);
Dyadic operator*(const Dyadic& a, const Dyadic& b);
Dyadic operator-(const Dyadic& a);
Dyadic& operator+=(Dyadic& a, const Dyadic& b);
Dyadic abs(Dyadic a);
std::strong_ordering operator<=>(const Dyadic& a, const Dyadic& b);
inline bool operator==(const Dyadic& a, const Dyadic& b) { return (a <=> b) == 0; }

// numerator / denominator, denominator > 0. Not reduced.
struct Ratio {
  Dyadic numerator;
  Integer denominator = 1;

  bool is_zero() const { return numerator.is_zero(); }
};
Ratio operator+(const Ratio& a, const Ratio& b);
Ratio operator-(const Ratio& a, const Ratio& b);
Ratio operator*(const Ratio& a, const Dyadic& b);
Ratio abs(Ratio a);
std::strong_ordering operator<=>(const Ratio& a, const Ratio& b);
inline bool operator==(const Ratio& a, const Ratio& b) { return (a <=> b) == 0; }

// "-0x1b/0x3 * 2^-5": exact, for certificates.
std::string text(const Ratio& value);
// What that says, about; none of other words.
std::optional<double> approximate(const std::string& text);
// About 2^-50 relative error, deterministic; for information only, never for a decision.
double approximate(const Ratio& value);

// A binary floating-point format.
struct Format {
  int precision;     // p: bits of the significand, the hidden one included
  int min_exponent;  // of the smallest normal, 2^min_exponent = λ
  int max_exponent;  // of the largest binade

  int unit_exponent() const { return -precision; }                        // u = 2^-p
  int smallest_exponent() const { return min_exponent - precision + 1; }  // η = 2^…
  Dyadic overflow_threshold() const;  // Ω: from here on rounding to nearest gives infinity
};
// Returns the format of a float type. It tells nothing of what eight bits or less have instead of infinities: the
// largest value of float8e4m3fn is 448, and 480 of this format is its NaN.
const Format& format_of(DType dtype);

// An element of a tensor, taken apart: ±significand * 2^exponent, the significand odd or zero, where finite.
struct Scalar {
  enum class Class { finite, infinite, nan, text };
  Class is = Class::finite;
  bool negative = false;  // also of zeros and infinities
  std::uint64_t significand = 0;
  int exponent = 0;
  const std::string* text = nullptr;  // of a string: where the tensor holds it

  bool is_finite() const { return is == Class::finite; }
  bool is_zero() const { return is == Class::finite && significand == 0; }
  bool is_subnormal(const Format& format) const;  // zero is not
  Dyadic value() const { return {negative ? -Integer(significand) : Integer(significand), exponent}; }
  double as_double() const;  // of a finite value; exact where it has 53 bits at most
  Int as_integer() const;    // of an integer of any type, wrapped where it does not fit
};
Scalar scalar(const Tensor& tensor, Int index);  // of any type; integers too are taken apart
Scalar scalar(const std::string& text);          // which has to outlive it
Scalar scalar(Int value);
Scalar scalar_of_unsigned(std::uint64_t value);
Scalar scalar_of(double value);
Scalar nan();
Scalar infinity(bool negative = false);
bool is_infinite(const Scalar& x);
inline bool is_nan(const Scalar& x) { return x.is == Scalar::Class::nan; }
Scalar negated(Scalar x);
Ratio ratio(const Scalar& value);  // of a finite one
// Towards zero.
Integer truncated(const Ratio& value);

enum class Rounding { nearest_even, down, up };
// The value rounded once into a format: the significand in units of 2^exponent. Zero is +0.
// Overflow gives infinity, or the largest finite value where the direction says so.
Scalar rounded(const Ratio& value, const Format& format, Rounding rounding = Rounding::nearest_even);
// "0x1.8p+0", "nan", "-inf".
std::string hexadecimal(const Scalar& value);
// As a value of the type: hexadecimal floats, decimal integers, strings in quotes.
std::string written(const Scalar& value, DType dtype);
// What is written, in decimal: "2.5", "0.100000001", as many digits as tell values of the type apart. Words ("nan or
// 0") and integers stay.
std::string decimal(const std::string& written, DType dtype);
// The same with what is written beside it: "2.5 (0x1.4p+1)".
std::string readable(const std::string& written, DType dtype);

}  // namespace assay::oracles
