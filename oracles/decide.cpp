// SPDX-License-Identifier: Apache-2.0
#include "oracles/decide.h"

#include "oracles/clones.h"
#include "oracles/pair.h"

#include <bit>
#include <cmath>

namespace assay::oracles {
namespace {

constexpr std::uint64_t exponent_bits = std::uint64_t{0x7ff} << 52, fraction_bits = (std::uint64_t{1} << 52) - 1;
constexpr std::uint64_t high_bits = ~((std::uint64_t{1} << 27) - 1);

// As instructions have it; std::fmax cares for NaN and is a call.
[[gnu::always_inline]] inline double larger(double a, double b) { return a > b ? a : b; }

[[gnu::always_inline]] inline double power_below(double positive) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(positive) & exponent_bits);
}

// y, on the side of `got` and times the divisor, less `value`: in [from, to] - value, at most `error` from `sum`.
struct Enclosed {
  double value, sum, from, to, error;
};

// `got` times the divisor is exact.
[[gnu::always_inline]] inline Enclosed enclosed(const Chunk& c, std::size_t i, double size, double error) {
  const double sum = c.got[i] < 0 ? -c.sum[i] : c.sum[i];
  return {size * c.divisor[i], sum, sum - error, sum + error, error};
}

// Here it is not: what is enclosed is y - got, as (sum - high - low) + what was lost of the sum, got being cut in two
// whose products with the divisor are exact. Of the three additions in double each errs by at most u of what it adds,
// and so do the ends of the interval; all of it is 0 where nothing was lost at all.
[[gnu::always_inline]] inline Enclosed enclosed_pair(const Chunk& c, std::size_t i, double size, double error) {
  const double sum = c.got[i] < 0 ? -c.sum[i] : c.sum[i], low = c.got[i] < 0 ? -c.low[i] : c.low[i];
  const double high = std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) & high_bits);
  const Pair first = exact_sum(sum, -(high * c.divisor[i]));
  const Pair second = exact_sum(first.high, -((size - high) * c.divisor[i]));
  const double gap = second.high + ((first.low + second.low) + low);
  const double lost = std::fabs(first.low) + std::fabs(second.low) + std::fabs(low);
  const double slop = error + lost * 0x1p-51 + std::fabs(gap) * 0x1p-51 + 0x1p-1060;
  const double all = (error == 0) & (lost == 0) ? 0 : slop;
  return {0, gap, gap - all, gap + all, all};
}

[[gnu::always_inline]] inline double moved_at_most(const Chunk& c, const Margins& m, std::size_t i) {
  return (c.moved[i] * m.size_up + m.size_least) * (1 + 0x1p-20);
}
[[gnu::always_inline]] inline double moved_at_least(const Chunk& c, const Margins& m, std::size_t i) {
  return c.vague[i] != 0 ? 0 : larger(c.moved[i] * m.size_down - m.size_least, 0.0) * (1 - 0x1p-20);
}

template <bool in_pairs, bool deforms>
[[gnu::always_inline]] inline Enclosed enclosed(const Chunk& c, const Margins& m, std::size_t i, double size,
                                                double bound) {
  const double some = bound * m.error + m.error_least + (deforms ? moved_at_most(c, m, i) * m.displaced : 0);
  const double error = bound <= m.exact_below ? 0 : some;
  return in_pairs ? enclosed_pair(c, i, size, error) : enclosed(c, i, size, error);
}

// Half the distance of `got` to its neighbours, times the divisor.
struct Halves {
  double up, down;
};

[[gnu::always_inline]] inline Halves halves(const Margins& m, double size, double divisor) {
  const double up = larger(power_below(size), m.smallest_normal) * m.ulp * (0.5 * divisor);
  const bool power = (std::bit_cast<std::uint64_t>(size) & fraction_bits) == 0;
  return {up, power & (size > m.smallest_normal) ? up * 0.5 : up};
}

template <bool in_pairs, bool deforms>
[[gnu::always_inline]] inline Tally nearest_of(Chunk& c, const Margins& m) {
  std::uint64_t nearest = 0, zeros = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.count); ++i) {
    const double size = std::fabs(c.got[i]), bound = c.size[i] * m.size_up + m.size_least;
    const Halves half = halves(m, size, c.divisor[i]);
    const Enclosed y = enclosed<in_pairs, deforms>(c, m, i, size, bound);
    const double low = y.value - half.down, high = y.value + half.up;
    const bool open = (low < y.from) & (y.to < high), closed = (low <= y.from) & (y.to <= high);
    const bool is_nearest = (c.odd[i] ? open : closed) & (bound < m.overflow) & (c.divisor[i] > 0);
    c.nearest[i] = is_nearest ? 1 : 0;
    nearest += c.nearest[i];
    zeros += is_nearest & (size == 0) ? 1 : 0;
  }
  return {static_cast<Int>(nearest), static_cast<Int>(zeros)};
}

template <bool in_pairs, bool deforms>
[[gnu::always_inline]] inline void right_of(Chunk& c, const Margins& m) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.count); ++i) {
    const double size = std::fabs(c.got[i]), n = c.terms[i] + m.extra_terms, divisor = c.divisor[i];
    const double bound = c.size[i] * m.size_up + m.size_least;
    const double least = larger(c.size[i] * m.size_down - m.size_least, 0.0);
    const Halves half = halves(m, size, divisor);
    const Enclosed y = enclosed<in_pairs, deforms>(c, m, i, size, bound);
    const double low = y.value - half.down, high = y.value + half.up;
    const bool outside = (y.from > high) | (y.to < low), touching = (y.from >= high) | (y.to <= low);
    const bool unlike = c.odd[i] ? touching : outside;
    const bool faithful = (y.from > y.value - 2 * half.down) & (y.to < y.value + 2 * half.up);
    const bool unfaithful = (y.to <= y.value - 2 * half.down) | (y.from >= y.value + 2 * half.up);
    // The lowest bit of some product is at most this; where the divisor is no power of two, that does not matter.
    const double bit = c.finest[i] * m.coarsest_weight;
    const bool divides = (std::bit_cast<std::uint64_t>(divisor) & fraction_bits) == 0;
    const bool fine = bit < m.underflow * divisor;
    const bool rounds = (least > c.finest[i] * m.collapse) | fine | !divides | (deforms ? c.inexact[i] != 0 : false);
    const double lost = fine | (m.extra_terms > 0) ? n * (0.5 * divisor) * m.underflow : 0;
    const double moved = deforms ? moved_at_least(c, m, i) : 0;
    const double budget = rounds ? n * m.unit * least + lost + moved : 0;
    const double distance = std::fabs(y.value - y.sum), most = distance * (1 + 0x1p-48) + y.error;
    const double fewest = larger(distance * (1 - 0x1p-48) - y.error, 0.0);
    const bool admitted = most - half.down < budget * (1 - 0x1p-48);
    const bool right = unlike & admitted & (faithful | unfaithful) & (size < m.top) & (bound < m.overflow) &
                       (bound >= m.underflows_below);
    const double magnitude = std::fabs(c.sum[i]), around = in_pairs ? std::fabs(c.low[i]) + y.error : y.error;
    c.right[i] = right ? 1 : 0;
    c.faithful[i] = faithful ? 1 : 0;
    c.maybe_zero[i] = magnitude - around <= m.smallest_normal * m.ulp * (0.5 * divisor) ? 1 : 0;
    const bool counts = right & (c.nearest[i] == 0);
    const double near =
        larger(power_below(larger(magnitude - around, 0.0) / divisor * (1 - 0x1p-50)), m.smallest_normal);
    const double far = larger(power_below((magnitude + around) / divisor * (1 + 0x1p-50)), m.smallest_normal);
    const double growth = n * m.unit * (1 + 2 * n * m.unit);
    const double ulps = 0.5 / (m.ulp * (0.5 * divisor)),
                 ample = growth * bound * (1 + 0x1p-40) + n * m.underflow * divisor +
                         (deforms ? moved_at_most(c, m, i) * (1 + growth) * (1 + 0x1p-20) : 0) + m.more;
    c.q[i] = counts ? most / least / m.unit * (1 + 0x1p-45) : 0;
    c.ulp[i] = counts ? most * ulps / near * (1 + 0x1p-45) : 0;
    c.share[i] = counts ? larger(most - half.down, 0.0) / budget * (1 + 0x1p-45) : 0;
    c.sure_q[i] = counts ? fewest / bound / m.unit * (1 - 0x1p-45) : 0;
    c.sure_ulp[i] = counts ? fewest * ulps / far * (1 - 0x1p-45) : 0;
    c.sure_share[i] = counts ? larger(fewest - half.up, 0.0) / ample * (1 - 0x1p-45) : 0;
  }
}

ASSAY_WIDE Tally nearest_sums(Chunk& c, const Margins& m) { return nearest_of<false, false>(c, m); }
ASSAY_WIDE Tally nearest_pairs(Chunk& c, const Margins& m) { return nearest_of<true, false>(c, m); }
ASSAY_WIDE Tally nearest_deformed(Chunk& c, const Margins& m) { return nearest_of<false, true>(c, m); }
ASSAY_WIDE void right_sums(Chunk& c, const Margins& m) { right_of<false, false>(c, m); }
ASSAY_WIDE void right_pairs(Chunk& c, const Margins& m) { right_of<true, false>(c, m); }
ASSAY_WIDE void right_deformed(Chunk& c, const Margins& m) { right_of<false, true>(c, m); }
ASSAY_WIDE void right_deformed_pairs(Chunk& c, const Margins& m) { right_of<true, true>(c, m); }

ASSAY_WIDE void read_doubles(const double* from, Int step, Chunk& c) {
  for (Int i = 0; i < c.count; ++i) c.got[static_cast<std::size_t>(i)] = from[i * step];
  for (Int i = 0; i < c.count; ++i)
    c.odd[static_cast<std::size_t>(i)] = std::bit_cast<std::uint64_t>(from[i * step]) & 1u;
}

ASSAY_WIDE void read_floats(const float* from, Int step, Chunk& c) {
  for (Int i = 0; i < c.count; ++i) c.got[static_cast<std::size_t>(i)] = static_cast<double>(from[i * step]);
  for (Int i = 0; i < c.count; ++i)
    c.odd[static_cast<std::size_t>(i)] = std::bit_cast<std::uint32_t>(from[i * step]) & 1u;
}

ASSAY_WIDE void read_halves(const Float16* from, Int step, Chunk& c) {
  for (Int i = 0; i < c.count; ++i) {
    const std::uint32_t bits = from[i * step].bits;
    const bool finite = (bits & 0x7c00u) != 0x7c00u;
    const float magnitude = std::bit_cast<float>((bits & 0x7fffu) << 13) * 0x1p112f;
    const std::uint32_t known = finite ? std::bit_cast<std::uint32_t>(magnitude) : 0x7fc00000u;
    c.got[static_cast<std::size_t>(i)] = static_cast<double>(std::bit_cast<float>(known | (bits & 0x8000u) << 16));
    c.odd[static_cast<std::size_t>(i)] = bits & 1u;
  }
}

ASSAY_WIDE void read_brains(const BFloat16* from, Int step, Chunk& c) {
  for (Int i = 0; i < c.count; ++i) {
    const std::uint32_t bits = from[i * step].bits;
    c.got[static_cast<std::size_t>(i)] = static_cast<double>(std::bit_cast<float>(bits << 16));
    c.odd[static_cast<std::size_t>(i)] = bits & 1u;
  }
}

}  // namespace

Tally mark_nearest(Chunk& c, const Margins& m, Enclosing how) {
  if (how.in_pairs) return nearest_pairs(c, m);  // nothing is displaced: coordinates are exact
  return how.deforms ? nearest_deformed(c, m) : nearest_sums(c, m);
}

void mark_right(Chunk& c, const Margins& m, Worst& worst, Enclosing how) {
  if (how.deforms)
    how.in_pairs ? right_deformed_pairs(c, m) : right_deformed(c, m);
  else
    how.in_pairs ? right_pairs(c, m) : right_sums(c, m);
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.count); ++i) {
    worst.q = larger(c.sure_q[i], worst.q);
    worst.ulp = larger(c.sure_ulp[i], worst.ulp);
    worst.share = larger(c.sure_share[i], worst.share);
  }
}

void read_outputs(const Tensor& got, Int first, Int step, Chunk& c) {
  switch (got.dtype()) {
    case DType::f16: return read_halves(got.as<Float16>().data() + first, step, c);
    case DType::bf16: return read_brains(got.as<BFloat16>().data() + first, step, c);
    case DType::f64: return read_doubles(got.as<double>().data() + first, step, c);
    default: return read_floats(got.as<float>().data() + first, step, c);
  }
}

}  // namespace assay::oracles
