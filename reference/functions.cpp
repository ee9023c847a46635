// SPDX-License-Identifier: Apache-2.0
#include "reference/functions.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay {

// x = k ln 2 + r with |r| <= ln 2 / 2: e^x = 2^k (1 + r + r^2/2! + … + r^14/14!), whose first term left out is below
// 2^-62. k times the upper part of ln 2, 33 bits, is exact.
double exponential(double x) {
  if (x != x) return x;
  if (x > 709.8) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0;
  constexpr double upper = 0x1.62e42feep-1, lower = 0x1.a39ef35793c76p-33, per_ln_2 = 0x1.71547652b82fep0;
  const double k = std::floor(x * per_ln_2 + 0.5), high = x - k * upper, low = k * lower, r = high - low;
  double sum = 0;
  for (int i = 14; i > 1; --i) sum = (sum + 1) * r / i;
  // What r lost when it was rounded, and 1 last of all.
  const double lost = (high - r) - low;
  return std::ldexp(1 + (r + (sum * r + lost)), static_cast<int>(k));
}

namespace {

// Wide: the unevaluated sum of two doubles, about 104 bits, by additions and multiplications alone (Dekker 1971). No
// sum, product or quotient here overflows where its operands are between 2^-900 and 2^900, or 0.
struct Wide {
  double high = 0, low = 0;

  Wide() = default;
  constexpr Wide(double value) : high(value) {}
  constexpr Wide(double upper, double lower) : high(upper), low(lower) {}
  double rounded() const { return high + low; }
};

// a + b, |a| >= |b| or a = 0.
Wide ordered_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
Wide exact_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
Wide exact_product(double a, double b) {
  const auto upper = [](double x) {
    const double scaled = x * 0x8000001p0;
    return scaled - (scaled - x);
  };
  const double product = a * b, a_upper = upper(a), b_upper = upper(b), a_lower = a - a_upper, b_lower = b - b_upper;
  return {product, ((a_upper * b_upper - product) + a_upper * b_lower + a_lower * b_upper) + a_lower * b_lower};
}

Wide operator-(const Wide& a) { return {-a.high, -a.low}; }
Wide operator+(const Wide& a, const Wide& b) {
  const Wide high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
  const Wide sum = ordered_sum(high.high, high.low + low.high);
  return ordered_sum(sum.high, sum.low + low.low);
}
Wide operator-(const Wide& a, const Wide& b) { return a + -b; }
Wide operator*(const Wide& a, const Wide& b) {
  const Wide product = exact_product(a.high, b.high);
  return ordered_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}
Wide operator/(const Wide& a, const Wide& b) {
  const double first = a.high / b.high;
  const Wide rest = a - b * Wide(first);
  const double second = rest.high / b.high;
  const Wide last = rest - b * Wide(second);
  return ordered_sum(first, second) + Wide(last.high / b.high);
}
// Of a number that is not negative.
Wide root(const Wide& a) {
  if (a.high <= 0) return 0.0;
  const double first = std::sqrt(a.high);  // IEEE 754 rounds it correctly
  const Wide rest = a - exact_product(first, first);
  return ordered_sum(first, rest.high / (2 * first));
}
Wide scaled(const Wide& a, int exponent) { return {std::ldexp(a.high, exponent), std::ldexp(a.low, exponent)}; }

constexpr double infinity = std::numeric_limits<double>::infinity(),
                 undefined = std::numeric_limits<double>::quiet_NaN();
constexpr Wide log_2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}, half_pi{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54},
    two_by_root_pi{0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};

bool is_infinite(double x) { return x == infinity || x == -infinity; }
bool is_tiny(double x) { return std::abs(x) < 0x1p-300; }  // an odd function is its argument there, but for x^3

// The sum of `first`, first * next(1), first * next(1) * next(2) … until a term is no part of it any more.
template <class F>
Wide series(const Wide& first, F&& next) {
  Wide sum = first, term = first;
  for (int i = 1; i < 200 && std::abs(term.high) > std::abs(sum.high) * 0x1p-108; ++i) {
    term = term * next(i);
    sum = sum + term;
  }
  return sum;
}

// x + x^3/3 + x^5/5 …, or with alternating signs: artanh x, arctan x.
Wide odd_series(const Wide& x, double sign) {
  const Wide square = x * x * Wide(sign);
  Wide sum = x, power = x;
  for (int i = 3; i < 200 && std::abs(power.high) > std::abs(sum.high) * 0x1p-108; i += 2) {
    power = power * square;
    sum = sum + power / Wide(i);
  }
  return sum;
}

// e^x = 2^k (1 + less_one), |x| below 800: r = (x - k ln 2) / 2^6, whose e^r - 1 is squared up again.
struct Power {
  Wide less_one;
  int k = 0;
  Wide value() const { return scaled(less_one + Wide(1), k); }
};
Power power_of_e(const Wide& x) {
  Power out;
  out.k = static_cast<int>(std::floor(x.high / log_2.high + 0.5));
  const Wide r = scaled(x - log_2 * Wide(out.k), -6);
  out.less_one = series(r, [&](int i) { return r / Wide(i + 1); });
  for (int i = 0; i < 6; ++i) out.less_one = out.less_one * (out.less_one + Wide(2));
  return out;
}

Wide less_one(const Wide& x) {
  const Power power = power_of_e(x);
  return power.k == 0 ? power.less_one : power.value() - Wide(1);
}

// log(1 + t), t > -1: 2 artanh(t / (2 + t)), where 1 + t is between the roots of 1/2 and 2, else by its power of two.
Wide log_of_one_more(const Wide& t) {
  if (-0.29 < t.high && t.high < 0.41) return scaled(odd_series(t / (t + Wide(2)), 1), 1);
  Wide x = t + Wide(1);
  int k = std::ilogb(x.high);
  if (std::ldexp(x.high, -k) > 1.41) ++k;
  x = scaled(x, -k) - Wide(1);
  return scaled(odd_series(x / (x + Wide(2)), 1), 1) + log_2 * Wide(k);
}

Wide log_of(double x) {
  const int k = std::ilogb(x);
  return log_of_one_more(Wide(std::ldexp(x, -k)) - Wide(1)) + log_2 * Wide(k);
}

// Half of the angle three times: tan(a/2) = tan a / (1 + root(1 + tan^2 a)).
Wide arc_tangent_of(Wide x) {
  const bool is_inverse = std::abs(x.high) > 1;
  if (is_inverse) x = Wide(1) / x;
  for (int i = 0; i < 3; ++i) x = x / (root(x * x + Wide(1)) + Wide(1));
  const Wide angle = scaled(odd_series(x, -1), 3);
  if (!is_inverse) return angle;
  return x.high < 0 ? -half_pi - angle : half_pi - angle;
}

// x = (4n + quadrant) π/2 + rest, |rest| <= π/4. x times 2/π, of which 1,280 bits suffice for any double, without the
// multiples of 4: a product of the 53 bits of x with the 320 that matter (Payne and Hanek 1983).
struct Turned {
  int quadrant = 0;
  Wide rest;
};
Turned turned(double x) {
  static constexpr std::array<std::uint64_t, 20> two_by_pi{
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
      0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
      0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
  if (std::abs(x) < 0.785) return {0, x};
  // |x| = m 2^e, m of 53 bits; bit i of 2/π, from 1 on, weighs 2^-i, and in the product 2^(e - i) m.
  const int e = std::ilogb(x) - 52;
  const auto m = static_cast<std::uint64_t>(std::ldexp(std::abs(x), -e));
  const int first = std::max(1, e - 1), word = (first - 1) / 64;  // bits before weigh multiples of 4
  std::array<std::uint64_t, 6> product{};                         // the least word last
  unsigned __int128 carry = 0;
  for (std::size_t i = 6; i-- > 1;) {
    const std::size_t at = static_cast<std::size_t>(word) + i - 1;
    carry += static_cast<unsigned __int128>(m) * (at < two_by_pi.size() ? two_by_pi[at] : 0);
    product[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  product[0] = static_cast<std::uint64_t>(carry);
  const int whole = 64 + e - 64 * word;  // so many bits stand before the point; of them the last two count
  const auto bits = [&](int from) {      // 64 of them, from the one `from` places behind the point
    const int at = whole + from;
    if (at <= -64) return std::uint64_t{0};
    if (at < 0) return product[0] >> -at;
    const auto i = static_cast<std::size_t>(at / 64);
    const std::uint64_t high = i < 6 ? product[i] : 0, low = i + 1 < 6 ? product[i + 1] : 0;
    return at % 64 == 0 ? high : high << (at % 64) | low >> (64 - at % 64);
  };
  Turned out;
  out.quadrant = static_cast<int>(bits(-2) >> 62);
  const bool is_upper = bits(0) >> 63;
  // The fraction, or what it lacks of 1, in words of 32 bits that a double holds exactly.
  Wide fraction;
  for (int i = 6; i-- > 0;) {
    const std::uint64_t word_of_32 = (is_upper ? ~bits(32 * i) : bits(32 * i)) >> 32;
    fraction = fraction + Wide(std::ldexp(static_cast<double>(word_of_32), -32 * (i + 1)));
  }
  if (is_upper) ++out.quadrant;
  out.rest = (is_upper ? -fraction : fraction) * half_pi;
  if (x < 0) {
    out.quadrant = -out.quadrant;
    out.rest = -out.rest;
  }
  out.quadrant &= 3;
  return out;
}

Wide sine_of(const Wide& x) {
  const Wide square = -x * x;
  return series(x, [&](int i) { return square / Wide((2 * i) * (2 * i + 1)); });
}
Wide cosine_of(const Wide& x) {
  const Wide square = -x * x;
  return series(Wide(1), [&](int i) { return square / Wide((2 * i - 1) * (2 * i)); });
}

// sin(x + quarters π/2).
Wide wave(const Turned& x, int quarters) {
  const int quadrant = (x.quadrant + quarters) & 3;
  const Wide value = quadrant % 2 == 0 ? sine_of(x.rest) : cosine_of(x.rest);
  return quadrant < 2 ? value : -value;
}

}  // namespace

double exponential_less_one(double x) {
  if (x != x || x == infinity || is_tiny(x)) return x;
  if (x > 709.8) return infinity;
  if (x < -50) return -1;
  const Power power = power_of_e(x);
  if (power.k < 1000) return less_one(x).rounded();
  return std::ldexp((power.less_one + Wide(1)).rounded(), power.k);
}

double logarithm(double x) {
  if (x != x || x == infinity) return x;
  if (x <= 0) return x < 0 ? undefined : -infinity;
  return log_of(x).rounded();
}

double logarithm_of_one_more(double x) {
  if (x != x || x == infinity || is_tiny(x)) return x;
  if (x <= -1) return x < -1 ? undefined : -infinity;
  return x < 0x1p200 ? log_of_one_more(x).rounded() : log_of(x).rounded();
}

double sine(double x) {
  if (x != x || is_tiny(x)) return x;
  return is_infinite(x) ? undefined : wave(turned(x), 0).rounded();
}
double cosine(double x) {
  if (x != x || is_infinite(x)) return x - x;
  return is_tiny(x) ? 1 : wave(turned(x), 1).rounded();
}
double tangent(double x) {
  if (x != x || is_tiny(x)) return x;
  if (is_infinite(x)) return undefined;
  const Turned at = turned(x);
  return (wave(at, 0) / wave(at, 1)).rounded();
}

double arc_sine(double x) {
  if (x != x || is_tiny(x)) return x;
  if (std::abs(x) > 1) return undefined;
  if (std::abs(x) == 1) return x * half_pi.high;
  return arc_tangent_of(Wide(x) / root((Wide(1) - Wide(x)) * (Wide(1) + Wide(x)))).rounded();
}
double arc_cosine(double x) {
  if (x != x) return x;
  if (std::abs(x) > 1) return undefined;
  if (x == -1) return 2 * half_pi.high;
  return scaled(arc_tangent_of(root((Wide(1) - Wide(x)) / (Wide(1) + Wide(x)))), 1).rounded();
}
double arc_tangent(double x) {
  if (x != x || is_tiny(x)) return x;
  if (std::abs(x) > 0x1p200) return x < 0 ? -half_pi.high : half_pi.high;
  return arc_tangent_of(x).rounded();
}

double hyperbolic_sine(double x) {
  if (x != x || is_infinite(x) || is_tiny(x)) return x;
  if (std::abs(x) > 711) return x * infinity;
  if (std::abs(x) > 40) {
    const Power power = power_of_e(std::abs(x));
    return std::ldexp(std::copysign((power.less_one + Wide(1)).rounded(), x), power.k - 1);
  }
  const Wide grown = less_one(x);
  return scaled(grown + grown / (grown + Wide(1)), -1).rounded();
}
double hyperbolic_cosine(double x) {
  if (x != x) return x;
  if (std::abs(x) > 711) return infinity;
  const Power power = power_of_e(std::abs(x));
  if (std::abs(x) > 40) return std::ldexp((power.less_one + Wide(1)).rounded(), power.k - 1);
  return scaled(power.value() + Wide(1) / power.value(), -1).rounded();
}
double hyperbolic_tangent(double x) {
  if (x != x || is_tiny(x)) return x;
  if (std::abs(x) > 25) return x < 0 ? -1 : 1;
  const Wide grown = less_one(2 * x);
  return (grown / (grown + Wide(2))).rounded();
}

double inverse_hyperbolic_sine(double x) {
  if (x != x || is_infinite(x) || is_tiny(x)) return x;
  const Wide size = std::abs(x);
  const Wide value = size.high > 0x1p60 ? log_of(size.high) + log_2
                                        : log_of_one_more(size + size * size / (root(size * size + Wide(1)) + Wide(1)));
  return std::copysign(value.rounded(), x);
}
double inverse_hyperbolic_cosine(double x) {
  if (x != x || x == infinity) return x;
  if (x < 1) return undefined;
  if (x > 0x1p60) return (log_of(x) + log_2).rounded();
  const Wide more = Wide(x) - Wide(1);
  return log_of_one_more(more + root(more * (more + Wide(2)))).rounded();
}
double inverse_hyperbolic_tangent(double x) {
  if (x != x || is_tiny(x)) return x;
  if (std::abs(x) >= 1) return std::abs(x) > 1 ? undefined : x * infinity;
  const Wide size = std::abs(x);
  return std::copysign(scaled(log_of_one_more(scaled(size, 1) / (Wide(1) - size)), -1).rounded(), x);
}

// 2/√π e^(-x²) (x + 2x³/3 + 4x⁵/15 + …), whose terms are all of one sign.
double error_function(double x) {
  if (x != x) return x;
  if (std::abs(x) > 6) return x < 0 ? -1 : 1;
  if (is_tiny(x)) return std::ldexp((two_by_root_pi * Wide(std::ldexp(x, 600))).rounded(), -600);
  const Wide square = Wide(x) * Wide(x);
  const Wide sum = series(Wide(x), [&](int i) { return scaled(square, 1) / Wide(2 * i + 1); });
  return (two_by_root_pi * power_of_e(-square).value() * sum).rounded();
}

double power(double x, double y) {
  if (x == 1 || y == 0) return 1;
  if (x != x || y != y) return x + y;
  const double size = std::abs(x);
  if (is_infinite(y)) return size == 1 ? 1 : (size > 1) == (y > 0) ? infinity : 0;
  const bool is_odd = std::fmod(y, 2) == 1 || std::fmod(y, 2) == -1;
  const double sign = std::signbit(x) && is_odd ? -1 : 1;
  if (size == 0 || size == infinity) return sign * ((size == 0) == (y < 0) ? infinity : 0);
  if (x < 0 && y != std::floor(y)) return undefined;
  if (std::abs(y) < 0x1p-600) return 1;
  const Wide log = log_of(size);
  if (std::abs(y) > 0x1p80 || std::abs(y * log.high) > 800)  // of what is not 1, and so at least 2^-53 off
    return sign * ((log.high > 0) == (y > 0) ? infinity : 0);
  const Power raised = power_of_e(log * Wide(y));
  return sign * std::ldexp((raised.less_one + Wide(1)).rounded(), raised.k);
}

double logistic(double x) { return 1 / (1 + exponential(-x)); }

double softened(double x) { return (x > 0 ? x : 0) + logarithm_of_one_more(exponential(x > 0 ? -x : x)); }

}  // namespace assay
