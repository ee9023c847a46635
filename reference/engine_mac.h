// SPDX-License-Identifier: Apache-2.0
// The hot loop of the engine, in the width of one instruction set. engine.cpp includes this file once for each, with
// the four words below defined; alone it is the portable one.
//
//   sums[m][o] = start[m] + sum over k of w[m][k] * x[o + offset[k]]         k ascending, one rounding per operation
#include "reference/engine.h"

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
  typedef Element Vector __attribute__((vector_size(ASSAY_VECTOR), aligned(alignof(Element)), may_alias));

  ASSAY_INLINE static Vector load(const Lane* from) { return *reinterpret_cast<const Vector*>(from); }
  // Less zero, and not zero plus: that would be an addition to carry out, since it changes -0.
  ASSAY_INLINE static Vector all(Element value) { return value - Vector{}; }
  ASSAY_INLINE static Vector all(Pair pair) { return std::bit_cast<std::int32_t>(pair) - Vector{}; }
};

template <class Lane>
ASSAY_INLINE typename Register<Lane>::Vector plus_product(typename Register<Lane>::Vector sum,
                                                          typename Register<Lane>::Vector w,
                                                          typename Register<Lane>::Vector x) {
  if constexpr (std::is_same_v<Lane, Pair>) {
    using Vector = typename Register<Lane>::Vector;
#if ASSAY_VECTOR == 64
    return sum +
           reinterpret_cast<Vector>(_mm512_madd_epi16(reinterpret_cast<__m512i>(w), reinterpret_cast<__m512i>(x)));
#elif ASSAY_VECTOR == 32
    return sum +
           reinterpret_cast<Vector>(_mm256_madd_epi16(reinterpret_cast<__m256i>(w), reinterpret_cast<__m256i>(x)));
#elif defined(__SSE2__)
    return sum + reinterpret_cast<Vector>(_mm_madd_epi16(reinterpret_cast<__m128i>(w), reinterpret_cast<__m128i>(x)));
#else
    const Vector low = ((w << 16) >> 16) * ((x << 16) >> 16), high = (w >> 16) * (x >> 16);
    return sum + (low + high);
#endif
  } else {
    return sum + w * x;
  }
}

// `maps` x `vectors` registers of sums stay in registers while the terms go by.
template <class Lane, int maps, int vectors>
ASSAY_TARGET inline void tile(const Mac<Lane>& mac, Int map, Int at) {
  using R = Register<Lane>;
  typename R::Vector sum[maps][vectors];
  ASSAY_UNROLL for (int m = 0; m < maps; ++m) ASSAY_UNROLL for (int v = 0; v < vectors; ++v) sum[m][v] =
      R::all(mac.start ? mac.start[map + m] : Sum<Lane>{0});

  const Lane* const w = mac.w + map * mac.terms;
  for (Int k = 0; k < mac.terms; ++k) {
    const Lane* const x = mac.x + at + mac.offset[k];
    typename R::Vector cells[vectors];
    ASSAY_UNROLL for (int v = 0; v < vectors; ++v) cells[v] = R::load(x + v * R::lanes);
    ASSAY_UNROLL for (int m = 0; m < maps; ++m) {
      const typename R::Vector weight = R::all(w[m * mac.terms + k]);
      ASSAY_UNROLL for (int v = 0; v < vectors; ++v) sum[m][v] = plus_product<Lane>(sum[m][v], weight, cells[v]);
    }
  }

  ASSAY_UNROLL for (int m = 0; m < maps; ++m) ASSAY_UNROLL for (int v = 0; v < vectors; ++v) *
      reinterpret_cast<typename R::Vector*>(mac.sums + (map + m) * mac.pitch + at + v * R::lanes) = sum[m][v];
}

// All positions of `maps` maps. The last tile of data that end with the last position moves back to end there too.
template <class Lane, int maps, int vectors>
ASSAY_TARGET inline void tiles(const Mac<Lane>& mac, Int map) {
  constexpr int width = vectors * Register<Lane>::lanes;
  static_assert(width <= slack);
  for (Int at = 0; at < mac.positions; at += width)
    tile<Lane, maps, vectors>(mac, map, std::min(at, mac.last_start(width)));
}

template <class Lane>
ASSAY_TARGET void multiply_accumulate(const Mac<Lane>& mac) {
  Int map = 0;
  for (; map + ASSAY_TALL <= mac.maps; map += ASSAY_TALL) tiles<Lane, ASSAY_TALL, 2>(mac, map);
  for (; map + 4 <= mac.maps; map += 4) tiles<Lane, 4, 2>(mac, map);
  for (; map < mac.maps; ++map) tiles<Lane, 1, 8>(mac, map);
}

// Copies the cells inside; runs without a step in whole registers, the last of which may overlap the one before.
template <class Lane>
ASSAY_TARGET void copy(std::span<const Run> runs, const Lane* from, Lane* to) {
  using R = Register<Lane>;
  for (const Run& run : runs) {
    const Lane* const source = from + run.from;
    Lane* const target = to + run.to;
    if (run.step == 1 && run.count >= R::lanes) {
      for (Int i = 0; i < run.count; i += R::lanes) {
        const Int at = std::min(i, run.count - R::lanes);
        *reinterpret_cast<typename R::Vector*>(target + at) = R::load(source + at);
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
