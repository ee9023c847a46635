// SPDX-License-Identifier: Apache-2.0
// The hot loop of the engine, in the width of one instruction set. engine.cpp includes this file once for each, with
// the four words below defined; alone it is the portable one.
//
//   sums[m][o] = start[m] + sum over k of w[m][k] * x[o + offset[k]]         k ascending, one rounding per operation
#include "reference/fast/engine.h"

#include <cstring>
#include <utility>

#ifndef ASSAY_INSTRUCTIONS
#define ASSAY_INSTRUCTIONS portable  // the name of the namespace
#define ASSAY_TARGET                 // the attribute that admits the instructions
#define ASSAY_VECTOR 16              // bytes of a register
#define ASSAY_TALL 4                 // maps of the largest tile, so that its sums and two registers more fit
#endif

#define ASSAY_INLINE ASSAY_TARGET __attribute__((always_inline)) inline

#if ASSAY_VECTOR > 16 || defined(__SSE2__)
#include <immintrin.h>
#endif

// Loops of a fixed length are written out; otherwise g++ keeps the sums of a tall tile in memory.
#ifdef __clang__
#define ASSAY_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ASSAY_UNROLL _Pragma("GCC unroll 32")
#endif

namespace assay::engine::ASSAY_INSTRUCTIONS {

template <class Lane>
struct Register {
  using Element = Sum<Lane>;
  static constexpr int lanes = ASSAY_VECTOR / int{sizeof(Element)};
  typedef Element Vector __attribute__((vector_size(ASSAY_VECTOR)));
  // In memory, where it may lie anywhere. Not for variables: clang forgets that they may be less aligned.
  typedef Element Loose __attribute__((vector_size(ASSAY_VECTOR), aligned(alignof(Element)), may_alias));

  ASSAY_INLINE static Vector load(const Lane* from) { return *reinterpret_cast<const Loose*>(from); }
  ASSAY_INLINE static void store(Vector vector, Element* to) { *reinterpret_cast<Loose*>(to) = vector; }
  // Every second lane from `from` on; none is read behind the last of them.
  ASSAY_INLINE static Vector load_evens(const Lane* from) {
    return evens(from, std::make_integer_sequence<int, lanes>());
  }
  // Less zero, and not zero plus: that would be an addition to carry out, since it changes -0.
  ASSAY_INLINE static Vector all(Element value) { return value - Vector{}; }
  ASSAY_INLINE static Vector all(Quad quad) { return std::bit_cast<std::int32_t>(quad) - Vector{}; }

  static constexpr Element nan = std::numeric_limits<Element>::quiet_NaN();
  ASSAY_INLINE static Vector written(Vector value) { return value == value ? value + Element{0} : nan - Vector{}; }

  // Exchanges the squares of `half` lanes off the diagonal of a and b.
  template <int half>
  ASSAY_INLINE static void exchange(Vector& a, Vector& b) {
    exchange<half>(a, b, std::make_integer_sequence<int, lanes>());
  }

 private:
  template <int... i>
  ASSAY_INLINE static Vector evens(const Lane* from, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(load(from), load(from + lanes - 1), (i < lanes / 2 ? 2 * i : 2 * i + 1)...);
  }
  template <int half, int... i>
  ASSAY_INLINE static void exchange(Vector& a, Vector& b, std::integer_sequence<int, i...>) {
    const Vector low = __builtin_shufflevector(a, b, (i & half ? lanes + i - half : i)...);
    b = __builtin_shufflevector(a, b, (i & half ? lanes + i : i + half)...);
    a = low;
  }
};

// sum + the four products of a byte without a sign by one with. Nothing saturates: a product fits 16 bits, but two of
// them are added up in 32.
#if defined(ASSAY_FOURFOLD)
template <class Vector>
ASSAY_INLINE Vector plus_four_products(Vector sum, Vector w, Vector x) {
  return reinterpret_cast<Vector>(
      _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(w)));
}
#elif ASSAY_VECTOR > 16 || defined(__SSE2__)
template <class Vector, class Halves>
ASSAY_INLINE Vector two_products(Halves a, Halves b) {
#if ASSAY_VECTOR == 64
  return reinterpret_cast<Vector>(_mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif ASSAY_VECTOR == 32
  return reinterpret_cast<Vector>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  return reinterpret_cast<Vector>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#endif
}
template <class Vector>
ASSAY_INLINE Vector plus_four_products(Vector sum, Vector w, Vector x) {
  typedef std::int16_t Halves __attribute__((vector_size(ASSAY_VECTOR)));
  typedef std::uint16_t Unsigned __attribute__((vector_size(ASSAY_VECTOR)));
  const auto data = reinterpret_cast<Unsigned>(x);
  const auto weights = reinterpret_cast<Halves>(w);
  return sum + two_products<Vector>(reinterpret_cast<Halves>(data & 0xff), weights << 8 >> 8) +
         two_products<Vector>(reinterpret_cast<Halves>(data >> 8), weights >> 8);
}
#else
template <class Vector>
ASSAY_INLINE Vector plus_four_products(Vector sum, Vector w, Vector x) {
  for (int of = 0; of < 4; ++of) sum += (x >> 8 * of & 0xff) * (w << (24 - 8 * of) >> 24);
  return sum;
}
#endif

template <class Lane>
ASSAY_INLINE typename Register<Lane>::Vector plus_product(typename Register<Lane>::Vector sum,
                                                          typename Register<Lane>::Vector w,
                                                          typename Register<Lane>::Vector x) {
  if constexpr (std::is_same_v<Lane, Quad>)
    return plus_four_products(sum, w, x);
  else
    return sum + w * x;
}

// Returns the weights under another name, so that the compiler broadcasts one for each product: with 512 bits a product
// takes it from memory for nothing, and a broadcast of its own costs as much as an addition.
template <class Lane>
ASSAY_INLINE const Lane* again(const Lane* w) {
#if ASSAY_VECTOR == 64
  asm("" : "+r"(w));
#endif
  return w;
}

// `maps` x `vectors` registers of sums stay in registers while the terms go by.
template <class Lane, int maps, int vectors, bool transposed>
ASSAY_TARGET inline void tile(const Mac<Lane>& mac, Int map, Int at) {
  using R = Register<Lane>;
  typename R::Vector sum[maps][vectors];
  ASSAY_UNROLL for (int m = 0; m < maps; ++m) ASSAY_UNROLL for (int v = 0; v < vectors; ++v) sum[m][v] =
      R::all(mac.start ? mac.start[map + m] : Sum<Lane>{0});

  const Int step = transposed ? mac.maps : 1;
  const Lane *w = mac.w + (transposed ? map : map * mac.terms), *other = again(w);
  for (Int k = 0; k < mac.terms; ++k, w += step, other += step) {
    const Lane* const x = mac.x + at + mac.offset[k];
    typename R::Vector cells[vectors];
    ASSAY_UNROLL for (int v = 0; v < vectors; ++v) cells[v] = R::load(x + v * R::lanes);
    ASSAY_UNROLL for (int m = 0; m < maps; ++m) {
      const Int place = transposed ? m : m * mac.terms;
      ASSAY_UNROLL for (int v = 0; v < vectors; ++v) sum[m][v] =
          plus_product<Lane>(sum[m][v], R::all((vectors == 2 && v == 1 ? other : w)[place]), cells[v]);
    }
  }

  ASSAY_UNROLL for (int m = 0; m < maps; ++m) ASSAY_UNROLL for (int v = 0; v < vectors; ++v)
      R::store(sum[m][v], mac.sums + (map + m) * mac.pitch + at + v * R::lanes);
}

// All positions of `maps` maps. The last tile of data that end with the last position moves back to end there too.
template <class Lane, int maps, int vectors>
ASSAY_TARGET inline void tiles(const Mac<Lane>& mac, Int map) {
  constexpr int width = vectors * Register<Lane>::lanes;
  static_assert(width <= slack);
  for (Int at = 0; at < mac.positions; at += width) {
    const Int begin = std::min(at, mac.last_start(width));
    mac.transposed ? tile<Lane, maps, vectors, true>(mac, map, begin)
                   : tile<Lane, maps, vectors, false>(mac, map, begin);
  }
}

template <class Lane>
ASSAY_TARGET void multiply_accumulate(const Mac<Lane>& mac) {
  // Eight maps are twice four, not six and two by themselves, whose tiles may be wider than a plane (is_identity).
  Int map = 0, tall = mac.maps / ASSAY_TALL;
  while (mac.maps % 4 == 0 && (mac.maps - tall * ASSAY_TALL) % 4 != 0) --tall;
  for (; map < tall * ASSAY_TALL; map += ASSAY_TALL) tiles<Lane, ASSAY_TALL, 2>(mac, map);
  for (; map + 4 <= mac.maps; map += 4) tiles<Lane, 4, 2>(mac, map);
  for (; map < mac.maps; ++map) tiles<Lane, 1, 8>(mac, map);
}

// `vectors` vectors of windows, the last of which may overlap the one before.
template <class Lane, int vectors, int step>
struct AverageTile {
  using R = Register<Lane>;
  const Averages<Lane>& a;
  Int first, last;  // where the first and the last vector begin

  ASSAY_INLINE Int window(int v) const { return v == vectors - 1 ? last : first + v * R::lanes; }
  ASSAY_INLINE typename R::Vector cells(const Lane* x, int v) const {
    return step == 1 ? R::load(x + window(v)) : R::load_evens(x + 2 * window(v));
  }
  ASSAY_INLINE void add(const Lane* x, typename R::Vector* sum) const {
    ASSAY_UNROLL for (int v = 0; v < vectors; ++v) sum[v] += cells(x, v);
  }
  ASSAY_INLINE void add_to_both(const Lane* x, typename R::Vector* sum, typename R::Vector* other) const {
    ASSAY_UNROLL for (int v = 0; v < vectors; ++v) {
      const typename R::Vector shared = cells(x, v);
      sum[v] += shared;
      other[v] += shared;
    }
  }
  ASSAY_INLINE void divide(const typename R::Vector* sum, Lane* y) const {
    ASSAY_UNROLL for (int v = 0; v < vectors; ++v)
        R::store(R::written(sum[v] / R::load(a.divisor.data() + window(v))), y + window(v));
  }
};

// Two rows at a time: from tap `apart` on the upper one reads what the lower one reads from its first tap on.
template <class Lane, int vectors, int step>
ASSAY_TARGET inline void average_tile(const Averages<Lane>& a, Int first, std::size_t apart) {
  using R = Register<Lane>;
  const Int end = static_cast<Int>(a.divisor.size());
  const AverageTile<Lane, vectors, step> tile{a, first, std::min(first + (vectors - 1) * R::lanes, end - R::lanes)};
  const std::span<const Int> offset = a.offset;
  Int row = 0;
  for (; row + 2 <= a.rows; row += 2) {
    const Lane *const x = a.x + row * a.x_pitch, *const lower_x = x + a.x_pitch;
    typename R::Vector upper[vectors] = {}, lower[vectors] = {};
    for (const Int cell : offset.first(apart)) tile.add(x + cell, upper);
    for (const Int cell : offset.subspan(apart)) tile.add_to_both(x + cell, upper, lower);
    for (const Int cell : offset.last(apart)) tile.add(lower_x + cell, lower);
    tile.divide(upper, a.y + row * a.y_pitch);
    tile.divide(lower, a.y + (row + 1) * a.y_pitch);
  }
  if (row == a.rows) return;
  typename R::Vector sum[vectors] = {};
  for (const Int cell : offset) tile.add(a.x + row * a.x_pitch + cell, sum);
  tile.divide(sum, a.y + row * a.y_pitch);
}
template <class Lane, int step>
ASSAY_TARGET inline void average_tiles(const Averages<Lane>& a, std::size_t apart) {
  constexpr Int lanes = Register<Lane>::lanes;
  const Int count = static_cast<Int>(a.divisor.size());
  Int first = 0;
  for (; count - first > 3 * lanes; first += 4 * lanes) average_tile<Lane, 4, step>(a, first, apart);
  for (; count - first > lanes; first += 2 * lanes) average_tile<Lane, 2, step>(a, first, apart);
  if (count > first) average_tile<Lane, 1, step>(a, first, apart);
}
template <class Lane>
ASSAY_TARGET void average(const Averages<Lane>& a) {
  if (a.step <= 2 && a.divisor.size() >= Register<Lane>::lanes) {
    const auto is_shared = [&](std::size_t apart) {
      std::size_t t = apart;
      while (t < a.offset.size() && a.offset[t] == a.offset[t - apart] + a.x_pitch) ++t;
      return t == a.offset.size();
    };
    std::size_t apart = 0;
    while (!is_shared(apart)) ++apart;
    return a.step == 1 ? average_tiles<Lane, 1>(a, apart) : average_tiles<Lane, 2>(a, apart);
  }
  for (Int row = 0; row < a.rows; ++row)
    for (Int i = 0; i < static_cast<Int>(a.divisor.size()); ++i) {
      Lane sum = 0;
      for (const Int cell : a.offset) sum += a.x[row * a.x_pitch + cell + i * a.step];
      a.y[row * a.y_pitch + i] = written<Lane>(sum / a.divisor[static_cast<std::size_t>(i)]);
    }
}

// A square of as many vectors as each has lanes.
template <class Lane, int half = 1>
ASSAY_INLINE void transpose_square(typename Register<Lane>::Vector* square) {
  constexpr int lanes = Register<Lane>::lanes;
  if constexpr (half < lanes) {
    ASSAY_UNROLL for (int i = 0; i < lanes; ++i) if (!(i & half))
        Register<Lane>::template exchange<half>(square[i], square[i + half]);
    transpose_square<Lane, 2 * half>(square);
  }
}
template <class Lane>
ASSAY_TARGET void transpose(const Lane* from, Int rows, Int columns, Lane* to, Int pitch) {
  using R = Register<Lane>;
  for (Int row = 0; row < rows; row += R::lanes)
    for (Int column = 0; column < columns; column += R::lanes) {
      if (row + R::lanes <= rows && column + R::lanes <= columns) {
        typename R::Vector square[R::lanes];
        ASSAY_UNROLL for (int i = 0; i < R::lanes; ++i) square[i] = R::load(from + (row + i) * columns + column);
        transpose_square<Lane>(square);
        ASSAY_UNROLL for (int i = 0; i < R::lanes; ++i) R::store(square[i], to + (column + i) * pitch + row);
        continue;
      }
      for (Int r = row; r < std::min(rows, row + R::lanes); ++r)
        for (Int c = column; c < std::min(columns, column + R::lanes); ++c) to[c * pitch + r] = from[r * columns + c];
    }
}

// As many samples as a vector has lanes, of as many channels, a vector of channels at a time.
template <class Lane>
ASSAY_TARGET void sample(const CornerSampling<Lane>& s) {
  using R = Register<Lane>;
  static_assert(R::lanes <= CornerSampling<Lane>::behind);
  for (Int first = 0; first < s.count; first += R::lanes)
    for (Int channel = 0; channel < s.sampled; channel += R::lanes) {
      typename R::Vector square[R::lanes];
      for (int i = 0; i < R::lanes; ++i) {
        const Int at = std::min(first + i, s.count - 1);
        typename R::Vector sum = {};
        for (Int j = at; j < s.corners * s.stride; j += s.stride)
          sum += R::all(s.weights[j]) * R::load(s.x + s.cells[j] * s.channels + channel);
        square[i] = R::all(s.masks[at]) * sum;
      }
      transpose_square<Lane>(square);
      for (Int c = channel; c < std::min(s.sampled, channel + R::lanes); ++c)
        R::store(square[c - channel], s.to + c * s.pitch + first);
    }
}

// As many sums as a register has doubles. (The forms with a mask, since g++ 12 takes the others for uninitialised.)
typedef double Reals __attribute__((vector_size(ASSAY_VECTOR)));
ASSAY_INLINE Reals reals(const std::int32_t* sums) {
#if ASSAY_VECTOR == 64
  const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums));
  return reinterpret_cast<Reals>(_mm512_maskz_cvtepi32_pd(0xff, eight));
#elif ASSAY_VECTOR == 32
  return reinterpret_cast<Reals>(_mm256_cvtepi32_pd(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sums))));
#else
  return Reals{static_cast<double>(sums[0]), static_cast<double>(sums[1])};
#endif
}
// Whole numbers that a byte holds, beside `large` the low bits of the sum.
ASSAY_INLINE void store_bytes(Reals whole, [[maybe_unused]] Reals large, std::uint8_t* y) {
#if ASSAY_VECTOR == 64
  _mm512_mask_cvtepi64_storeu_epi8(y, 0xff, reinterpret_cast<__m512i>(whole + large));
#elif ASSAY_VECTOR == 32
  const __m128i integers = _mm256_cvtpd_epi32(reinterpret_cast<__m256d>(whole));
  const int four = _mm_cvtsi128_si32(_mm_shuffle_epi8(integers, _mm_set1_epi32(0x0c080400)));
  std::memcpy(y, &four, sizeof four);
#else
  for (int i = 0; i < 2; ++i) y[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(whole[i]));
#endif
}

// A value is added to and taken from a number so large that the sum is whole: to nearest, ties to even.
ASSAY_TARGET inline bool requantize(std::span<const std::int32_t> sums, const Requantization& by, std::uint8_t* y) {
  constexpr Int lanes = ASSAY_VECTOR / 8;
  typedef std::int64_t Mask __attribute__((vector_size(ASSAY_VECTOR)));
  const Reals none{}, large = 0x1.8p52 - none, lowest = by.lowest - none, highest = by.highest - none;
  const auto count = static_cast<Int>(sums.size());
  if (count < lanes) return false;
  Mask ties{};
  for (Int at = 0; at < count; at += lanes) {  // the last may overlap the one before
    const Int here = std::min(at, count - lanes);
    const Reals value = (reals(sums.data() + here) + by.bias) * by.factor, whole = (value + large) - large;
    ties |= (value - whole) * (value - whole) > 0.25 - 1e-9;
    Reals shifted = whole + by.zero;
    shifted = shifted < highest ? shifted : highest;
    shifted = shifted > lowest ? shifted : lowest;
    store_bytes(shifted, large, y + here);
  }
  std::int64_t any = 0;
  for (Int i = 0; i < lanes; ++i) any |= ties[i];
  return any == 0;
}

// Copies the cells inside; runs without a step in whole registers, the last of which may overlap the one before.
template <class Lane>
ASSAY_TARGET void copy(std::span<const CellRun> runs, const Lane* from, Lane* to) {
  using R = Register<Lane>;
  for (const CellRun& run : runs) {
    const Lane* const source = from + run.from;
    Lane* const target = to + run.to;
    if (run.step == 1 && run.count >= R::lanes) {
      for (Int i = 0; i < run.count; i += R::lanes) {
        const Int at = std::min(i, run.count - R::lanes);
        R::store(R::load(source + at), target + at);
      }
    } else if (run.step == 2) {
      for (Int i = 0; i < run.count; ++i) target[i] = source[2 * i];
    } else {
      for (Int i = 0; i < run.count; ++i) target[i] = source[i * run.step];
    }
  }
}

#if ASSAY_VECTOR > 16
// Eight at a time, and the last ones one by one. Exact, and rounded to nearest, as Float16 does.
ASSAY_TARGET inline void widen(std::span<const Float16> from, std::span<float> to) {
  std::size_t i = 0;
  for (; i + 8 <= from.size(); i += 8)
    _mm256_storeu_ps(&to[i], _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&from[i]))));
  for (; i < from.size(); ++i) to[i] = static_cast<float>(from[i]);
}
ASSAY_TARGET inline void narrow(std::span<const float> sums, std::span<Float16> y) {
  std::size_t i = 0;
  for (; i + 8 <= sums.size(); i += 8) {
    __m256 sum = _mm256_loadu_ps(&sums[i]);
    const __m256 is_nan = _mm256_cmp_ps(sum, sum, _CMP_UNORD_Q);
    sum = _mm256_blendv_ps(_mm256_add_ps(sum, _mm256_setzero_ps()),
                           _mm256_set1_ps(std::numeric_limits<float>::quiet_NaN()), is_nan);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(&y[i]), _mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT));
  }
  for (; i < sums.size(); ++i) y[i] = written<Float16>(sums[i]);
}
#endif

}  // namespace assay::engine::ASSAY_INSTRUCTIONS

#undef ASSAY_INLINE
#undef ASSAY_UNROLL
#undef ASSAY_INSTRUCTIONS
#undef ASSAY_TARGET
#undef ASSAY_VECTOR
#undef ASSAY_TALL
#undef ASSAY_FOURFOLD
