// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/function_lanes.h"

#include "oracles/filter/clones.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace assay::oracles {
namespace {

constexpr double margin = 0x1p-40, least_margin = 0x1p-1000;  // those of FunctionFilter
constexpr double infinity = std::numeric_limits<double>::infinity(), largest = std::numeric_limits<double>::max();

ASSAY_WIDE void read_floats(const float* from, double* into, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) into[i] = static_cast<double>(from[i]);
}

void read(const Tensor& from, std::size_t first, double* into, std::size_t count) {
  if (from.dtype() == DType::f32) return read_floats(from.as<float>().data() + first, into, count);
  for_float(from.dtype(), [&]<class T>() {
    for (std::size_t i = 0; i < count; ++i) into[i] = static_cast<double>(from.as<T>()[first + i]);
  });
}

// What the marks of a block depend on, beside its elements.
struct Measure {
  double half_ulp, smallest_normal, overflow, lower, upper;
};

// `value` and `got` begin with the element before the first.
ASSAY_WIDE std::int64_t mark(const Measure& by, const double* x, const double* value, const double* got,
                             std::int64_t* marks, std::size_t count) {
  std::int64_t any = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double v = value[i + 1], g = got[i + 1], size = std::abs(v);
    const double binade = std::bit_cast<double>(std::bit_cast<std::uint64_t>(v) & 0x7ff0'0000'0000'0000U);
    const double half = (binade < by.smallest_normal ? by.smallest_normal : binade) * by.half_ulp;
    const double rise = v - value[i], change = g - got[i];
    const bool is_near = std::abs(v - g) + (size * margin + least_margin) < half;
    // An infinite value is beyond every type unless it is a pole: these are at 0 and ±1.
    const bool is_beyond =
        (size >= by.overflow) & (g == std::copysign(infinity, v)) & ((size <= largest) | (std::abs(x[i]) > 1));
    const bool is_sure = (is_near | is_beyond) & (std::abs(x[i]) <= largest);
    const bool is_outside = (v == v) & ((g < by.lower) | (by.upper < g));
    const bool is_out_of_order = (std::abs(rise) > size * 0x1.8p-38) & (rise * change < 0);
    marks[i] =
        (is_sure ? 0 : Lanes::unsure) | (is_outside ? Lanes::outside : 0) | (is_out_of_order ? Lanes::out_of_order : 0);
    any |= marks[i];
  }
  return any;
}

// What is left of an argument after whole quarter turns, and how many these were.
struct Turned {
  double r;
  unsigned quarters;  // mod 4
};

// 64 zeros, then the bits of 2/pi.
constexpr std::uint64_t two_per_pi[] = {0, 0xa2f9'836e'4e44'1529U, 0xfc27'57d1'f534'ddc0U, 0xdb62'9599'3c43'9041U,
                                        0xfe51'63ab'debb'c561U};

Turned turned(double x) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double size = std::abs(x);
  if (size <= 0.75) return {x, 0};
  if (!(size <= largest)) return {nan, 0};
  using Wide = unsigned __int128;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(size);
  const std::uint64_t m = ((bits & 0xf'ffff'ffff'ffffU) | std::uint64_t{1} << 52) >> 29;
  const auto first = static_cast<std::size_t>((bits >> 52) - 1023 - 23 + 62);  // the bit of weight 2 in 2^e 2/pi
  const auto word = [&](std::size_t i) {
    const std::size_t at = first / 64 + i, shift = first % 64;
    return shift == 0 ? two_per_pi[at] : two_per_pi[at] << shift | two_per_pi[at + 1] >> (64 - shift);
  };
  const Wide turns = m * (Wide{word(0)} << 64 | word(1));  // in quarters of 2^126
  const auto quarters = static_cast<unsigned>((turns + (Wide{1} << 125)) >> 126);
  const Wide rest = turns - (Wide{quarters} << 126);  // below 0 in two's complement
  const double left = static_cast<double>(static_cast<std::int64_t>(rest >> 64)) * 0x1p-62 +
                      static_cast<double>(static_cast<std::uint64_t>(rest)) * 0x1p-126;
  const double r = std::abs(left) < 0x1p-40 ? nan : left * 0x1.921fb54442d18p+0;
  return x < 0 ? Turned{-r, (4 - quarters) & 3U} : Turned{r, quarters & 3U};
}

ASSAY_WIDE void circular_of(Function function, const double* r, const double* quarters, double* value,
                            std::size_t count) {
  const double ahead = function == Function::cos ? 1 : 0;  // cos is sin a quarter later
  const bool is_tan = function == Function::tan;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = r[i], s = x * x;
    double sine = -1.0 / 1'307'674'368'000;
    sine = sine * s + 1.0 / 6'227'020'800;
    sine = sine * s - 1.0 / 39'916'800;
    sine = sine * s + 1.0 / 362'880;
    sine = sine * s - 1.0 / 5'040;
    sine = sine * s + 1.0 / 120;
    sine = sine * s - 1.0 / 6;
    sine = x + x * (s * sine);
    double cosine = 1.0 / 20'922'789'888'000;
    cosine = cosine * s - 1.0 / 87'178'291'200;
    cosine = cosine * s + 1.0 / 479'001'600;
    cosine = cosine * s - 1.0 / 3'628'800;
    cosine = cosine * s + 1.0 / 40'320;
    cosine = cosine * s - 1.0 / 720;
    cosine = cosine * s + 1.0 / 24;
    cosine = cosine * s - 0.5;
    cosine = 1 + cosine * s;
    const double turn = quarters[i] + ahead;  // 0 to 4
    const bool is_odd = (turn == 1) | (turn == 3), is_back = (turn == 2) | (turn == 3);
    const double over = is_odd ? cosine : sine, under = is_odd ? -sine : cosine;
    value[i] = is_tan ? over / under : is_back ? -over : over;
  }
}

}  // namespace

ASSAY_WIDE void exponentials(const double* x, double* value, std::size_t count) {
  constexpr double shift = 0x1.8p52, per_ln2 = 0x1.71547652b82fep0, ln2_high = 0x1.62e42feep-1;
  constexpr double ln2_low = 0x1.a39ef35793c76p-33;
  for (std::size_t i = 0; i < count; ++i) {
    double bounded = 700 < x[i] ? 700 : x[i];  // NaN stays
    bounded = bounded < -700 ? -700 : bounded;
    const double shifted = bounded * per_ln2 + shift, k = shifted - shift;
    const double r = (bounded - k * ln2_high) - k * ln2_low;
    double sum = 1.0 / 479'001'600;
    sum = sum * r + 1.0 / 39'916'800;
    sum = sum * r + 1.0 / 3'628'800;
    sum = sum * r + 1.0 / 362'880;
    sum = sum * r + 1.0 / 40'320;
    sum = sum * r + 1.0 / 5'040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1;
    sum = sum * r + 1;
    // The last bits of `shifted` are k.
    const std::uint64_t power = (std::bit_cast<std::uint64_t>(shifted) << 52) + (std::uint64_t{1023} << 52);
    value[i] = sum * std::bit_cast<double>(power);
  }
}

void circular(Function function, const double* x, double* value, std::size_t count) {
  std::array<double, Lanes::most> r, quarters;
  for (std::size_t i = 0; i < count; ++i) {
    const Turned each = turned(x[i]);
    r[i] = each.r;
    quarters[i] = each.quarters;
  }
  circular_of(function, r.data(), quarters.data(), value, count);
}

Lanes::Lanes(const FunctionFilter& filter, Function function, DType type)
    : filter_(filter),
      function_(function),
      format_(format_of(type)),
      lower_(filter.rounded(range(function).first)),
      upper_(filter.rounded(range(function).second)) {
  value_.fill(std::numeric_limits<double>::quiet_NaN());  // what nothing is compared with
  got_ = value_;
}

void Lanes::compute(std::size_t count) {
  double* const value = value_.data() + 1;
  if (function_ == Function::exp) return exponentials(x_.data(), value, count);
  const bool is_circular = function_ == Function::sin || function_ == Function::cos || function_ == Function::tan;
  if (is_circular) circular(function_, x_.data(), value, count);
  for (std::size_t i = 0; i < count; ++i)
    if (!is_circular || std::isnan(value[i])) value[i] = filter_.value(x_[i]);
}

bool Lanes::look(const Tensor& arguments, const Tensor& outputs, std::size_t first, std::size_t count) {
  value_[0] = value_[most];  // every block but the last one is full
  got_[0] = got_[most];
  read(arguments, first, x_.data(), count);
  read(outputs, first, got_.data() + 1, count);
  compute(count);
  const Measure measure{std::ldexp(1.0, -format_.precision), std::ldexp(1.0, format_.min_exponent),
                        std::ldexp(1.0, format_.max_exponent + 1), lower_, upper_};
  return mark(measure, x_.data(), value_.data(), got_.data(), marks_.data(), count) != 0;
}

}  // namespace assay::oracles
