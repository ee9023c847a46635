// SPDX-License-Identifier: Apache-2.0
#include "reference/convert.h"

#include <cctype>
#include <cfenv>
#include <cstdlib>
#include <regex>

namespace assay {

double odd_double(std::uint64_t magnitude) {
  const int lost = std::max(0, 64 - std::countl_zero(magnitude) - 53);
  const std::uint64_t kept = magnitude >> lost;
  return std::ldexp(static_cast<double>(kept << lost == magnitude ? kept : kept | 1), lost);
}

namespace {

// Towards zero, the last bit set where digits are lost.
double odd_double(const std::string& decimal) {
  const int before = std::fegetround();
  std::fesetround(FE_TOWARDZERO);
  std::feclearexcept(FE_INEXACT);
  const double value = std::strtod(decimal.c_str(), nullptr);
  const bool is_inexact = std::fetestexcept(FE_INEXACT) != 0;
  std::fesetround(before);
  return is_inexact ? std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | 1) : value;
}

}  // namespace

std::optional<double> number_in(const std::string& literal, bool is_to_be_rounded_again) {
  static const std::regex decimal(R"([+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)");
  std::string word = literal;
  for (char& letter : word) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  if (word == "NAN") return std::numeric_limits<double>::quiet_NaN();
  if (word == "INF" || word == "+INF") return std::numeric_limits<double>::infinity();
  if (word == "-INF") return -std::numeric_limits<double>::infinity();
  if (!std::regex_match(literal, decimal)) return std::nullopt;
  return is_to_be_rounded_again ? odd_double(literal) : std::strtod(literal.c_str(), nullptr);
}

}  // namespace assay
