// SPDX-License-Identifier: Apache-2.0
// What decide.cpp says of a run of outputs, in the width of one instruction set: it includes this file once for each,
// with the three words below defined; alone it is what the compiler is told to build for. The same bits at every width.
//
// Written with vector types: comparisons give masks, and `mask ? a : b` chooses lane by lane.
#include "oracles/filter/decide.h"

#ifndef ASSAY_INSTRUCTIONS
#define ASSAY_INSTRUCTIONS portable  // the name of the namespace
#define ASSAY_TARGET                 // the attribute that admits the instructions
#if defined(__AVX512F__)             // bytes of a register
#define ASSAY_VECTOR 64
#elif defined(__AVX2__)
#define ASSAY_VECTOR 32
#else
#define ASSAY_VECTOR 16
#endif
#endif

#define ASSAY_INLINE ASSAY_TARGET __attribute__((always_inline)) inline

namespace assay::oracles::ASSAY_INSTRUCTIONS {
namespace {

inline constexpr std::int64_t exponent_bits = std::int64_t{0x7ff} << 52, fraction_bits = (std::int64_t{1} << 52) - 1;
inline constexpr std::int64_t high_bits = ~((std::int64_t{1} << 27) - 1);

typedef double Real __attribute__((vector_size(ASSAY_VECTOR), may_alias));
typedef std::int64_t Mask __attribute__((vector_size(ASSAY_VECTOR), may_alias));  // -1 where it is so, else 0
inline constexpr int width = ASSAY_VECTOR / static_cast<int>(sizeof(double));

ASSAY_INLINE Real of(const Lane& lane, std::size_t i) { return *reinterpret_cast<const Real*>(lane.data() + i); }
ASSAY_INLINE Mask of(const Marks& marks, std::size_t i) { return *reinterpret_cast<const Mask*>(marks.data() + i); }
ASSAY_INLINE void put(Marks& marks, std::size_t i, Mask mask) { *reinterpret_cast<Mask*>(marks.data() + i) = mask; }

// As instructions have it; of NaN the second.
ASSAY_INLINE Real larger(Real a, Real b) { return a > b ? a : b; }
ASSAY_INLINE Real magnitude(Real v) { return reinterpret_cast<Real>(reinterpret_cast<Mask>(v) & INT64_MAX); }
ASSAY_INLINE Real power_below(Real positive) {
  return reinterpret_cast<Real>(reinterpret_cast<Mask>(positive) & exponent_bits);
}
ASSAY_INLINE Mask is_power(Real positive) { return (reinterpret_cast<Mask>(positive) & fraction_bits) == 0; }
ASSAY_INLINE Int count(Mask ones) {
  Int sum = 0;
  for (int i = 0; i < width; ++i) sum -= ones[i];
  return sum;
}

// a + b = high + low, exactly.
struct ExactSum {
  Real high, low;
};
ASSAY_INLINE ExactSum exact_sum(Real a, Real b) {
  const Real sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

// y, on the side of `got` and times the divisor, less `value`: in [from, to] - value, at most `error` from `sum`.
struct Enclosed {
  Real value, sum, from, to, error;
};

// `got` times the divisor is exact.
ASSAY_INLINE Enclosed enclosed_single(const Chunk& c, std::size_t i, Real size, Real error) {
  const Real sum = of(c.got, i) < 0 ? -of(c.sum, i) : of(c.sum, i);
  return {size * of(c.divisor, i), sum, sum - error, sum + error, error};
}

// 2^k, the lowest set bit of a number; of 0 it is 0.
ASSAY_INLINE Real lowest_bit(Real size) {
  const Mask bits = reinterpret_cast<Mask>(size);
  const Real without = reinterpret_cast<Real>(bits & (bits - 1));
  return is_power(size) ? size : size - without;
}

// Here it is not: what is enclosed is y - got, as (sum - high - low) + what was lost of the sum, got being cut in two
// whose products with the divisor are exact. Of the three additions in double each errs by at most u of what it adds,
// and so do the ends of the interval; all of it is 0 where nothing was lost at all. Or where y - got is a multiple of a
// power of two so large that only one of these multiples is enclosed.
ASSAY_INLINE Enclosed enclosed_pair(const Chunk& c, const MapBounds& m, std::size_t i, Real size, Real error) {
  const Mask negative = of(c.got, i) < 0;
  const Real sum = negative ? -of(c.sum, i) : of(c.sum, i);
  const Real low = negative ? -of(c.low, i) : of(c.low, i), divisor = of(c.divisor, i);
  const auto high = reinterpret_cast<Real>(reinterpret_cast<Mask>(size) & high_bits);
  const ExactSum first = exact_sum(sum, -(high * divisor)), second = exact_sum(first.high, -((size - high) * divisor));
  const Real gap = second.high + ((first.low + second.low) + low), nothing{};
  const Real lost = magnitude(first.low) + magnitude(second.low) + magnitude(low);
  const Real slop = error + lost * 0x1p-51 + magnitude(gap) * 0x1p-51 + 0x1p-1060;
  const Real all = ((error == 0) & (lost == 0)) ? nothing : slop;
  const Real of_got = lowest_bit(size), step = ((of_got > 0) & (of_got < m.granule)) ? of_got : nothing + m.granule;
  const Real steps = gap / step, whole = (steps + 0x1.8p52) - 0x1.8p52;
  const Mask is_known = (all < step * 0.25) & (magnitude(steps) < 0x1p50) & (step > 0x1p-1000);
  const Real known = is_known ? whole * step : gap, unsure = is_known ? nothing : all;
  return {nothing, known, known - unsure, known + unsure, unsure};
}

ASSAY_INLINE Real coordinate_error_at_most(const Chunk& c, const MapBounds& m, std::size_t i) {
  return (of(c.coordinate_error, i) * m.size_up + m.size_least) * (1 + 0x1p-20);
}
ASSAY_INLINE Real coordinate_error_at_least(const Chunk& c, const MapBounds& m, std::size_t i) {
  const Real nothing{};
  const Real coordinate_error = larger(of(c.coordinate_error, i) * m.size_down - m.size_least, nothing) * (1 - 0x1p-20);
  return of(c.uncertain, i) != 0 ? nothing : coordinate_error;
}

template <bool in_pairs, bool deforms>
ASSAY_INLINE Enclosed enclosed(const Chunk& c, const MapBounds& m, std::size_t i, Real size, Real bound) {
  Real some = bound * m.error + m.error_least;
  if constexpr (deforms && !in_pairs)
    some += coordinate_error_at_most(c, m, i) * m.displaced;  // else coordinates are exact
  const Real error = bound <= m.exact_below ? Real{} : some;
  if constexpr (in_pairs) return enclosed_pair(c, m, i, size, error);
  return enclosed_single(c, i, size, error);
}

// Half the distance of `got` to its neighbours, times the divisor.
struct Halves {
  Real up, down;
};
ASSAY_INLINE Halves halves(const MapBounds& m, Real size, Real divisor) {
  const Real up = larger(power_below(size), Real{} + m.smallest_normal) * m.ulp * (0.5 * divisor);
  return {up, (is_power(size) & (size > m.smallest_normal)) ? up * 0.5 : up};
}

template <bool in_pairs, bool deforms>
ASSAY_INLINE NearestCount nearest_of(Chunk& c, const MapBounds& m) {
  Mask nearest{}, zeros{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.count); i += width) {
    const Real size = magnitude(of(c.got, i)), bound = of(c.size, i) * m.size_up + m.size_least;
    const Real divisor = of(c.divisor, i);
    const Halves half = halves(m, size, divisor);
    const Enclosed y = enclosed<in_pairs, deforms>(c, m, i, size, bound);
    const Real low = y.value - half.down, high = y.value + half.up;
    const Mask open = (low < y.from) & (y.to < high), closed = (low <= y.from) & (y.to <= high);
    const Mask is_nearest = (of(c.odd, i) != 0 ? open : closed) & (bound < m.overflow) & (divisor > 0);
    put(c.nearest, i, is_nearest);
    nearest += is_nearest;
    zeros += is_nearest & (size == 0);
  }
  return {count(nearest), count(zeros)};
}

// What the rule needs to know of one output.
struct ErrorBounds {
  Real bound, least, budget;  // A' >= A, A" <= A; of L2, at most, 0 where nothing may round
  Real most, fewest;          // |got - y|, at most and at least
  Real magnitude, around;     // |y|, and how far it may be from there
  Halves half;
  Enclosed y;
};

// The lowest bit of some product is at most `finest` times the coarsest of a weight; where the divisor is no power of
// two, that does not matter.
template <bool in_pairs, bool deforms>
ASSAY_INLINE ErrorBounds errors_of(const Chunk& c, const MapBounds& m, std::size_t i) {
  ErrorBounds e;
  const Real nothing{}, size = magnitude(of(c.got, i)), n = of(c.terms, i) + m.extra_terms;
  const Real divisor = of(c.divisor, i), finest = of(c.finest, i);
  e.bound = of(c.size, i) * m.size_up + m.size_least;
  e.least = larger(of(c.least, i) * m.size_down - m.size_least, nothing);
  e.half = halves(m, size, divisor);
  e.y = enclosed<in_pairs, deforms>(c, m, i, size, e.bound);
  const Mask fine = finest * m.coarsest_weight < m.underflow * divisor;
  Mask rounds = (e.least > finest * m.collapse) | fine | ~is_power(divisor), underflows = fine;
  if constexpr (deforms) rounds |= of(c.inexact, i) != 0;
  if (m.extra_terms > 0) underflows = ~Mask{};
  e.budget = n * m.unit * e.least + (underflows ? n * (0.5 * divisor) * m.underflow : nothing);
  if constexpr (deforms) e.budget += coordinate_error_at_least(c, m, i);
  e.budget = rounds ? e.budget : nothing;
  const Real distance = magnitude(e.y.value - e.y.sum);
  e.most = distance * (1 + 0x1p-48) + e.y.error;
  e.fewest = larger(distance * (1 - 0x1p-48) - e.y.error, nothing);
  e.magnitude = magnitude(of(c.sum, i));
  e.around = e.y.error;
  if constexpr (in_pairs) e.around += magnitude(of(c.low, i));
  return e;
}

// The power of two below |y|, at most, but not below λ; times the divisor.
template <bool in_pairs>
ASSAY_INLINE Real binade_below(const ErrorBounds& e, const MapBounds& m, Real divisor) {
  Real near = larger(e.magnitude - e.around, Real{});
  near = m.extra_terms > 0 ? near / divisor * (1 - 0x1p-50) : near * (in_pairs ? 0.5 : 1);
  return larger(power_below(near), Real{} + m.smallest_normal) * divisor;
}

template <bool in_pairs, bool deforms>
ASSAY_INLINE Rest right_of(Chunk& c, const MapBounds& m, const Worst& worst) {
  const double q = worst.q * m.unit * (1 - 0x1p-40), ulp = worst.ulp * m.ulp * (1 - 0x1p-40),
               share = worst.share * (1 - 0x1p-40);
  Mask rights{}, unfaithfuls{}, maybe_zeros{}, worst_candidates{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.count); i += width) {
    const ErrorBounds e = errors_of<in_pairs, deforms>(c, m, i);
    const Enclosed& y = e.y;
    const Real low = y.value - e.half.down, high = y.value + e.half.up, divisor = of(c.divisor, i);
    const Real two_down = y.value - 2 * e.half.down, two_up = y.value + 2 * e.half.up;
    const Mask outside = (y.from > high) | (y.to < low), touching = (y.from >= high) | (y.to <= low);
    const Mask faithful = (y.from > two_down) & (y.to < two_up), unfaithful = (y.to <= two_down) | (y.from >= two_up);
    const Real beyond = e.most - e.half.down;
    const Mask admitted = (beyond < e.budget * (1 - 0x1p-48)) & (magnitude(of(c.got, i)) < m.top) &
                          (e.bound < m.overflow) & (e.bound >= m.underflows_below) & (divisor > 0);
    const Mask right =
        (of(c.odd, i) != 0 ? touching : outside) & (faithful | unfaithful) & admitted & (of(c.nearest, i) == 0);
    const Mask worst_candidate = (e.most >= q * e.least) | (e.most >= ulp * binade_below<in_pairs>(e, m, divisor)) |
                                 ((beyond > 0) & (beyond >= share * e.budget));
    put(c.right, i, right);
    put(c.faithful, i, faithful);
    put(c.worst_candidate, i, right & worst_candidate);
    rights += right;
    unfaithfuls += right & ~faithful;
    maybe_zeros += right & (e.magnitude - e.around <= m.smallest_normal * m.ulp * (0.5 * divisor));
    worst_candidates += right & worst_candidate;
  }
  return {count(rights), count(unfaithfuls), count(maybe_zeros), count(worst_candidates)};
}

template <bool in_pairs, bool deforms>
ASSAY_INLINE Measures measures_of(const Chunk& c, const MapBounds& m, std::size_t i) {
  const std::size_t lane = i % width, first = i - lane;
  const ErrorBounds e = errors_of<in_pairs, deforms>(c, m, first);
  const Real divisor = of(c.divisor, first), n = of(c.terms, first) + m.extra_terms, nothing{};
  const Real growth = n * m.unit * (1 + 2 * n * m.unit);
  const Real far = larger(power_below((e.magnitude + e.around) / divisor * (1 + 0x1p-50)), nothing + m.smallest_normal);
  Real ample = growth * e.bound * (1 + 0x1p-40) + n * m.underflow * divisor + m.more;
  if constexpr (deforms) ample += coordinate_error_at_most(c, m, first) * (1 + growth) * (1 + 0x1p-20);
  const Real up = nothing + (1 + 0x1p-45), down = nothing + (1 - 0x1p-45);
  const Real most[] = {e.most / e.least / m.unit * up, e.most / (m.ulp * binade_below<in_pairs>(e, m, divisor)) * up,
                       larger(e.most - e.half.down, nothing) / e.budget * up};
  const Real least[] = {e.fewest / e.bound / m.unit * down, e.fewest / (m.ulp * (far * divisor)) * down,
                        larger(e.fewest - e.half.up, nothing) / ample * down};
  return {{most[0][lane], most[1][lane], most[2][lane]}, {least[0][lane], least[1][lane], least[2][lane]}};
}

ASSAY_TARGET inline NearestCount nearest(Chunk& c, const MapBounds& m, Enclosing how) {
  if (how.in_pairs) return nearest_of<true, false>(c, m);  // nothing is displaced: coordinates are exact
  return how.deforms ? nearest_of<false, true>(c, m) : nearest_of<false, false>(c, m);
}

ASSAY_TARGET inline Rest right(Chunk& c, const MapBounds& m, const Worst& worst, Enclosing how) {
  if (how.deforms) return how.in_pairs ? right_of<true, true>(c, m, worst) : right_of<false, true>(c, m, worst);
  return how.in_pairs ? right_of<true, false>(c, m, worst) : right_of<false, false>(c, m, worst);
}

}  // namespace
}  // namespace assay::oracles::ASSAY_INSTRUCTIONS

#undef ASSAY_INLINE
#undef ASSAY_INSTRUCTIONS
#undef ASSAY_TARGET
#undef ASSAY_VECTOR
