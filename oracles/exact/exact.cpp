// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/exact.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <limits>
#include <sstream>

namespace assay::oracles {
namespace {

namespace mp = boost::multiprecision;

// Both mantissas over the smaller exponent.
struct Aligned {
  Integer a, b;
  int exponent;
};

Aligned aligned(const Dyadic& a, const Dyadic& b) {
  if (a.is_zero()) return {0, b.mantissa, b.exponent};
  if (b.is_zero()) return {a.mantissa, 0, a.exponent};
  const int exponent = std::min(a.exponent, b.exponent);
  return {a.mantissa << static_cast<unsigned>(a.exponent - exponent),
          b.mantissa << static_cast<unsigned>(b.exponent - exponent), exponent};
}

int top_bit(const Integer& positive) { return static_cast<int>(mp::msb(positive)); }

// floor(log2 |value|) of a value that is not zero.
int top_bit_of(const Dyadic& value) {
  const auto& backend = value.mantissa.backend();
  const mp::limb_type leading = backend.limbs()[backend.size() - 1];
  constexpr int limb_bits = std::numeric_limits<mp::limb_type>::digits;
  return static_cast<int>(backend.size() - 1) * limb_bits + static_cast<int>(std::bit_width(leading)) - 1 +
         value.exponent;
}

// floor(log2(numerator / denominator)) of positive integers.
int floor_log2(const Integer& numerator, const Integer& denominator) {
  if (denominator == 1) return top_bit(numerator);
  const int guess = top_bit(numerator) - top_bit(denominator);
  const Integer left = guess < 0 ? Integer(numerator << static_cast<unsigned>(-guess)) : numerator;
  const Integer right = guess > 0 ? Integer(denominator << static_cast<unsigned>(guess)) : denominator;
  return left < right ? guess - 1 : guess;
}

// A positive number cut into its whole part, below 2^64, and the order of the rest against a half.
struct Cut {
  std::uint64_t whole;
  int half;
  bool is_exact;
};

// Of numerator / denominator * 2^shift.
Cut cut_long(Integer numerator, Integer denominator, int shift) {
  if (shift >= 0)
    numerator <<= static_cast<unsigned>(shift);
  else
    denominator <<= static_cast<unsigned>(-shift);
  Integer quotient, rest;
  mp::divide_qr(numerator, denominator, quotient, rest);
  return {static_cast<std::uint64_t>(quotient), Integer(rest * 2).compare(denominator), rest == 0};
}

// Of value * 2^shift. Nothing below 2^64 is left of 2^-66 or less.
Cut cut_short(std::uint64_t value, int shift) {
  if (shift >= 0) return {value << shift, -1, true};
  const int drop = std::min(-shift, 66);
  const unsigned __int128 wide = value, one = 1;
  const unsigned __int128 rest = wide & ((one << drop) - 1), half = one << (drop - 1);
  return {static_cast<std::uint64_t>(wide >> drop), rest < half ? -1 : rest > half ? 1 : 0, rest == 0};
}

Scalar finite(bool negative, std::uint64_t significand, int exponent) {
  Scalar out;
  out.negative = negative;
  if (significand == 0) return out;
  const int zeros = std::countr_zero(significand);
  out.significand = significand >> zeros;
  out.exponent = exponent + zeros;
  return out;
}

Scalar overflowed(bool negative, const Format& format, Rounding rounding) {
  const bool to_infinity = rounding == Rounding::nearest_even || (rounding == Rounding::up) != negative;
  if (!to_infinity)
    return finite(negative, (std::uint64_t{1} << format.precision) - 1, format.max_exponent - format.precision + 1);
  Scalar out;
  out.is = Scalar::Class::infinite;
  out.negative = negative;
  return out;
}

Scalar from_double(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = bits >> 63;
  const int biased = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (biased == 0x7ff) {
    Scalar out;
    out.is = fraction ? Scalar::Class::nan : Scalar::Class::infinite;
    out.negative = negative;
    return out;
  }
  return finite(negative, biased ? fraction | (std::uint64_t{1} << 52) : fraction, (biased ? biased : 1) - 1075);
}

std::string hex(const Integer& value) {
  const std::string digits = mp::abs(value).str(0, std::ios::hex | std::ios::showbase);
  return value < 0 ? "-" + digits : digits;
}

// A string in quotes, what is no plain letter of it as \xNN, and of a long one no more than its beginning.
std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 80;
  std::ostringstream out;
  out << '"' << std::hex << std::setfill('0');
  for (const char letter : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < ' ' || byte > '~' || letter == '"' || letter == '\\')
      out << "\\x" << std::setw(2) << int{byte};
    else
      out << letter;
  }
  out << (text.size() > most ? "…\"" : "\"");
  return out.str();
}

}  // namespace

Dyadic operator+(const Dyadic& a, const Dyadic& b) {
  Dyadic sum = a;
  return sum += b;
}
Dyadic operator-(const Dyadic& a) { return {-a.mantissa, a.exponent}; }
Dyadic operator-(const Dyadic& a, const Dyadic& b) {
  Dyadic difference = -b;
  return difference += a;
}
Dyadic operator*(const Dyadic& a, const Dyadic& b) { return {a.mantissa * b.mantissa, a.exponent + b.exponent}; }

Dyadic& operator+=(Dyadic& a, const Dyadic& b) {
  if (b.is_zero()) return a;
  if (a.is_zero()) return a = b;
  if (a.exponent > b.exponent) {
    a.mantissa <<= static_cast<unsigned>(a.exponent - b.exponent);
    a.exponent = b.exponent;
  }
  if (a.exponent == b.exponent)
    a.mantissa += b.mantissa;
  else
    a.mantissa += b.mantissa << static_cast<unsigned>(b.exponent - a.exponent);
  return a;
}

Dyadic abs(Dyadic a) {
  if (a.mantissa < 0) a.mantissa = -a.mantissa;
  return a;
}

// By sign, then by the leading bit; only within one binade are the mantissas laid side by side.
std::strong_ordering operator<=>(const Dyadic& a, const Dyadic& b) {
  const int sign = a.mantissa.sign();
  if (sign != b.mantissa.sign() || sign == 0) return sign <=> b.mantissa.sign();
  const int a_top = top_bit_of(a), b_top = top_bit_of(b);
  if (a_top != b_top) return sign > 0 ? a_top <=> b_top : b_top <=> a_top;
  const Aligned s = aligned(a, b);
  return s.a.compare(s.b) <=> 0;
}

Ratio operator+(const Ratio& a, const Ratio& b) {
  if (a.denominator == b.denominator) return {a.numerator + b.numerator, a.denominator};
  return {a.numerator * Dyadic{b.denominator, 0} + b.numerator * Dyadic{a.denominator, 0},
          a.denominator * b.denominator};
}
Ratio operator-(const Ratio& a, const Ratio& b) { return a + Ratio{-b.numerator, b.denominator}; }
Ratio operator*(const Ratio& a, const Dyadic& b) { return {a.numerator * b, a.denominator}; }
Ratio abs(Ratio a) { return {abs(std::move(a.numerator)), a.denominator}; }

std::strong_ordering operator<=>(const Ratio& a, const Ratio& b) {
  if (a.denominator == b.denominator) return a.numerator <=> b.numerator;
  return a.numerator * Dyadic{b.denominator, 0} <=> b.numerator * Dyadic{a.denominator, 0};
}

std::string text(const Ratio& value) {
  std::string out = hex(value.numerator.mantissa);
  if (value.denominator != 1) out += "/" + hex(value.denominator);
  if (value.numerator.exponent != 0 && !value.is_zero()) out += " * 2^" + std::to_string(value.numerator.exponent);
  return out;
}

std::optional<double> approximate(const std::string& written) {
  const std::string text = written.substr(0, written.find(" ± "));
  const std::size_t power = std::min(text.find(" * 2^"), text.size());
  const std::size_t slash = std::min(text.find('/'), power);
  const auto whole = [](std::string digits) -> std::optional<Integer> {
    const bool is_negative = digits.starts_with('-');
    digits.erase(0, is_negative ? 1 : 0);
    if (!digits.starts_with("0x") || digits.size() < 3 ||
        digits.find_first_not_of("0123456789abcdef", 2) != std::string::npos)
      return std::nullopt;
    const Integer value(digits);
    return is_negative ? Integer(-value) : value;
  };
  const auto numerator = whole(text.substr(0, slash));
  const auto denominator = slash < power ? whole(text.substr(slash + 1, power - slash - 1)) : Integer(1);
  if (!numerator || !denominator || *denominator == 0) return std::nullopt;
  const int exponent = power < text.size() ? std::atoi(text.c_str() + power + 5) : 0;
  return approximate(Ratio{{*numerator, exponent}, *denominator});
}

double approximate(const Ratio& value) {
  if (value.is_zero()) return 0;
  const Integer magnitude = mp::abs(value.numerator.mantissa);
  const int down = top_bit(magnitude) - 62, divide = top_bit(value.denominator) - 62;
  const auto leading = [](const Integer& of, int drop) {
    return static_cast<double>(static_cast<std::uint64_t>(drop > 0 ? Integer(of >> static_cast<unsigned>(drop)) : of));
  };
  const double quotient = leading(magnitude, down) / leading(value.denominator, divide);
  const double scaled = std::ldexp(quotient, value.numerator.exponent + std::max(down, 0) - std::max(divide, 0));
  return value.numerator.mantissa < 0 ? -scaled : scaled;
}

Dyadic Format::overflow_threshold() const {
  // Half an ulp above the largest finite value: (2^(p+1) - 1) * 2^(emax - p).
  return {(Integer(1) << static_cast<unsigned>(precision + 1)) - 1, max_exponent - precision};
}

const Format& format_of(DType dtype) {
  static const Format half{11, -14, 15}, brain{8, -126, 127}, single{24, -126, 127}, wide{53, -1022, 1023};
  static const Format e4m3{4, -6, 8}, e4m3_uz{4, -7, 7}, e5m2{3, -14, 15}, e5m2_uz{3, -15, 15}, scale{1, -127, 127};
  static const Format e2m1{2, 0, 2}, e2m3{4, 0, 2}, e3m2{3, -2, 4};
  switch (dtype) {
    case DType::f16: return half;
    case DType::bf16: return brain;
    case DType::f64: return wide;
    case DType::f8e4m3fn: return e4m3;
    case DType::f8e4m3fnuz: return e4m3_uz;
    case DType::f8e5m2: return e5m2;
    case DType::f8e5m2fnuz: return e5m2_uz;
    case DType::f8e8m0: return scale;
    case DType::f4e2m1: return e2m1;
    case DType::f6e2m3: return e2m3;
    case DType::f6e3m2: return e3m2;
    default: expects(dtype == DType::f32, "not a float format"); return single;
  }
}

bool Scalar::is_subnormal(const Format& format) const {
  if (!is_finite() || significand == 0) return false;
  return exponent + static_cast<int>(std::bit_width(significand)) - 1 < format.min_exponent;
}

double Scalar::as_double() const {
  const auto whole = static_cast<double>(significand);
  const bool is_normal = exponent > -1022 && exponent < 900;  // then a product rounds as little
  const double magnitude = is_normal ? whole * two_to(exponent) : std::ldexp(whole, exponent);
  return negative && significand != 0 ? -magnitude : magnitude;
}

Int Scalar::as_integer() const {
  const std::uint64_t magnitude = significand << exponent;
  return static_cast<Int>(negative ? 0 - magnitude : magnitude);
}

Scalar scalar(Int value) {
  const bool negative = value < 0;
  return finite(negative, negative ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value), 0);
}

Scalar scalar_of_unsigned(std::uint64_t value) { return finite(false, value, 0); }

Scalar scalar_of(double value) { return from_double(value); }

Scalar scalar(const std::string& text) { return {Scalar::Class::text, false, 0, 0, &text}; }

Scalar scalar(const Tensor& tensor, Int index) {
  const auto at = static_cast<std::size_t>(index);
  if (tensor.dtype() == DType::string) return scalar(tensor.as<std::string>()[at]);
  return for_value(tensor.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, std::uint64_t>)
      return scalar_of_unsigned(tensor.as<T>()[at]);
    else if constexpr (std::is_integral_v<T>)
      return scalar(Int{tensor.as<T>()[at]});
    else if constexpr (std::is_same_v<T, Bool>)
      return scalar(Int{tensor.as<T>()[at].byte});
    else
      return from_double(static_cast<double>(tensor.as<T>()[at]));
  });
}

Scalar nan() { return {Scalar::Class::nan, false, 0, 0}; }
Scalar infinity(bool negative) { return {Scalar::Class::infinite, negative, 0, 0}; }
bool is_infinite(const Scalar& x) { return x.is == Scalar::Class::infinite; }
Ratio ratio(const Scalar& value) { return {value.value(), 1}; }

Scalar negated(Scalar x) {
  x.negative = !x.negative;
  return x;
}

Integer truncated(const Ratio& value) {
  const auto& [mantissa, exponent] = value.numerator;
  if (exponent >= 0) return (mantissa << exponent) / value.denominator;
  return mantissa / (value.denominator << -exponent);
}

Scalar rounded(const Ratio& value, const Format& format, Rounding rounding) {
  if (value.is_zero()) return {};
  const bool negative = value.numerator.mantissa < 0;
  const Integer numerator = mp::abs(value.numerator.mantissa);
  const int leading = floor_log2(numerator, value.denominator) + value.numerator.exponent;
  const int unit = std::max(leading - format.precision + 1, format.smallest_exponent());
  const int shift = value.numerator.exponent - unit;
  const bool is_short = value.denominator == 1 && top_bit(numerator) < 64;
  const Cut cut = is_short ? cut_short(static_cast<std::uint64_t>(numerator), shift)
                           : cut_long(numerator, value.denominator, shift);
  std::uint64_t significand = cut.whole;
  const bool away = rounding == Rounding::nearest_even ? cut.half > 0 || (cut.half == 0 && (significand & 1))
                                                       : !cut.is_exact && (rounding == Rounding::up) != negative;
  if (away) ++significand;
  if (significand != 0 && unit + static_cast<int>(std::bit_width(significand)) - 1 > format.max_exponent)
    return overflowed(negative, format, rounding);
  Scalar out = finite(negative, significand, unit);
  if (significand == 0) out.negative = false;
  return out;
}

std::string hexadecimal(const Scalar& value) {
  const std::string sign = value.negative ? "-" : "";
  if (value.is == Scalar::Class::nan) return "nan";
  if (value.is == Scalar::Class::infinite) return sign + "inf";
  const std::uint64_t magnitude = value.significand;
  if (magnitude == 0) return sign + "0x0p+0";
  const int bits = static_cast<int>(std::bit_width(magnitude)) - 1;
  std::string fraction;
  const std::uint64_t left = bits ? magnitude << (64 - bits) : 0;
  for (int digit = 0; digit * 4 < bits; ++digit) fraction += "0123456789abcdef"[(left >> (60 - 4 * digit)) & 15];
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  const int exponent = value.exponent + bits;
  return sign + "0x1" + (fraction.empty() ? "" : "." + fraction) + "p" + (exponent < 0 ? "-" : "+") +
         std::to_string(std::abs(exponent));
}

std::string written(const Scalar& value, DType dtype) {
  if (value.is == Scalar::Class::text) return in_quotes(*value.text);
  if (is_float(dtype)) return hexadecimal(value);
  const Dyadic whole = value.value();
  return Integer(whole.mantissa << static_cast<unsigned>(whole.exponent)).str();
}

std::string decimal(const std::string& written, DType dtype) {
  if (written.starts_with('"') || written.find("0x") == std::string::npos) return written;
  const int most = dtype == DType::f64 ? 17 : 9;
  const double value = std::strtod(written.c_str(), nullptr);
  std::array<char, 40> buffer{};
  for (int digits = 1; digits <= most; ++digits) {
    std::snprintf(buffer.data(), buffer.size(), "%.*g", digits, value);
    if (std::strtod(buffer.data(), nullptr) == value) break;
  }
  return buffer.data();
}

std::string readable(const std::string& written, DType dtype) {
  const std::string digits = decimal(written, dtype);
  return digits == written ? written : digits + " (" + written + ")";
}

}  // namespace assay::oracles
