// SPDX-License-Identifier: Apache-2.0
// The loops of multiply.h in the width of one instruction set: multiply.cpp includes this file once for each, with the
// three words below defined; alone it is what the compiler is told to build for. Written with vector types, since the
// blocking into registers is all that matters here.
#include "oracles/filter/multiply.h"
#include "oracles/filter/pair.h"

#include <cmath>

#ifndef ASSAY_INSTRUCTIONS
#define ASSAY_INSTRUCTIONS portable  // the name of the namespace
#define ASSAY_TARGET                 // the attribute that admits the instructions
#if defined(__AVX512F__)             // bytes of a register
#define ASSAY_VECTOR 64
#elif defined(__AVX2__) && defined(__FMA__)
#define ASSAY_VECTOR 32
#else
#define ASSAY_VECTOR 16
#endif
#endif

#if ASSAY_VECTOR > 16 || defined(__SSE2__)
#include <immintrin.h>
#endif

#define ASSAY_INLINE ASSAY_TARGET __attribute__((always_inline)) inline

namespace assay::oracles::ASSAY_INSTRUCTIONS {
namespace {

template <class T>
struct Vectors {
  typedef T Vector __attribute__((vector_size(ASSAY_VECTOR)));
  typedef T Loose __attribute__((vector_size(ASSAY_VECTOR), aligned(alignof(T)), may_alias));
  static constexpr Int width = ASSAY_VECTOR / static_cast<Int>(sizeof(T));
};
template <class T>
using Vector = typename Vectors<T>::Vector;
template <class T>
using Loose = typename Vectors<T>::Loose;
using Bits = std::int64_t __attribute__((vector_size(ASSAY_VECTOR)));

// In every place; value + 0 would be an addition, for the sake of -0.
template <class T>
ASSAY_INLINE Vector<T> spread(T value) {
  return value - Vector<T>{};
}

// sum + x w: rounded once where the machine multiplies and adds in one go.
ASSAY_INLINE Vector<double> fused(Vector<double> x, Vector<double> w, Vector<double> sum) {
#if ASSAY_VECTOR == 64
  return reinterpret_cast<Vector<double>>(_mm512_fmadd_pd(x, w, sum));
#elif ASSAY_VECTOR == 32
  return reinterpret_cast<Vector<double>>(_mm256_fmadd_pd(x, w, sum));
#else
  return sum + x * w;
#endif
}
ASSAY_INLINE Vector<float> fused(Vector<float> x, Vector<float> w, Vector<float> sum) {
#if ASSAY_VECTOR == 64
  return reinterpret_cast<Vector<float>>(_mm512_fmadd_ps(x, w, sum));
#elif ASSAY_VECTOR == 32
  return reinterpret_cast<Vector<float>>(_mm256_fmadd_ps(x, w, sum));
#else
  return sum + x * w;
#endif
}

// sum + the products of the lower halves + those of the upper.
ASSAY_INLINE Vector<std::int32_t> fused(Vector<std::int32_t> x, Vector<std::int32_t> w, Vector<std::int32_t> sum) {
#if ASSAY_VECTOR == 64
  return sum + reinterpret_cast<Vector<std::int32_t>>(
                   _mm512_madd_epi16(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(w)));
#elif ASSAY_VECTOR == 32
  return sum + reinterpret_cast<Vector<std::int32_t>>(
                   _mm256_madd_epi16(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(w)));
#elif defined(__SSE2__)
  return sum + reinterpret_cast<Vector<std::int32_t>>(
                   _mm_madd_epi16(reinterpret_cast<__m128i>(x), reinterpret_cast<__m128i>(w)));
#else
  return sum + ((x << 16) >> 16) * ((w << 16) >> 16) + (x >> 16) * (w >> 16);
#endif
}

template <class T, int maps, int vectors>
ASSAY_INLINE void multiply(const Multiply<T>& job) {
  constexpr Int width = Vectors<T>::width;
  for (Int o = 0; o < job.count; o += width * vectors) {
    Vector<T> acc[maps][vectors];
    for (int m = 0; m < maps; ++m)
      for (int v = 0; v < vectors; ++v) acc[m][v] = spread(job.start[m]);
    for (Int t = 0; t < job.terms; ++t) {
      const T* const from = job.x + job.offsets[t] + o;
      Vector<T> cells[vectors];
      for (int v = 0; v < vectors; ++v) cells[v] = *reinterpret_cast<const Loose<T>*>(from + v * width);
      for (int m = 0; m < maps; ++m) {
        const Vector<T> weight = spread(job.weights[m * job.terms + t]);
        for (int v = 0; v < vectors; ++v) acc[m][v] = fused(cells[v], weight, acc[m][v]);
      }
    }
    for (int m = 0; m < maps; ++m)
      for (int v = 0; v < vectors; ++v)
        *reinterpret_cast<Loose<T>*>(job.out + m * job.pitch + o + v * width) = acc[m][v];
  }
}

// x w - p, what rounding lost of each product: in one instruction where the machine has it, else Dekker's.
ASSAY_INLINE Vector<double> rests(Vector<double> x, double w, Vector<double> p) {
#if ASSAY_VECTOR > 16
  return fused(x, spread(w), -p);
#else
  Vector<double> rest;
  for (int i = 0; i < Vectors<double>::width; ++i) rest[i] = rest_of_product(x[i], w, p[i]);
  return rest;
#endif
}

template <int vectors, bool pairs>
ASSAY_INLINE void multiply_pairs(const MultiplyPairs& job) {
  constexpr Int width = Vectors<double>::width;
  using Real = Vector<double>;
  for (Int o = 0; o < job.count; o += width * vectors) {
    Real sum[vectors], low[vectors], size[vectors];
    for (int v = 0; v < vectors; ++v) {
      sum[v] = spread(job.start);
      low[v] = Real{};
      size[v] = spread(std::fabs(job.start));
    }
    for (Int t = 0; t < job.terms; ++t) {
      const Int from = job.offsets[t] + o;
      const double weight = job.weights[t];
      for (int v = 0; v < vectors; ++v) {
        const Real x = *reinterpret_cast<const Loose<double>*>(job.x + from + v * width), product = x * weight;
        const Real next = sum[v] + product, part = next - sum[v];
        const Real lost = (sum[v] - (next - part)) + (product - part);
        sum[v] = next;
        low[v] += lost + rests(x, weight, product);
        if constexpr (pairs) low[v] += *reinterpret_cast<const Loose<double>*>(job.x_low + from + v * width) * weight;
        size[v] += reinterpret_cast<Real>(reinterpret_cast<Bits>(product) & INT64_MAX);
      }
    }
    for (int v = 0; v < vectors; ++v) {
      *reinterpret_cast<Loose<double>*>(job.sum + o + v * width) = sum[v];
      *reinterpret_cast<Loose<double>*>(job.low + o + v * width) = low[v];
      *reinterpret_cast<Loose<double>*>(job.size + o + v * width) = size[v];
    }
  }
}

inline constexpr int abreast = ASSAY_VECTOR == 64 ? 4 : 2;  // as many as there are registers for, with four maps

template <class T>
ASSAY_TARGET void products(const Multiply<T>& job, Int maps) {
  if (maps == 1) return multiply<T, 1, abreast>(job);
#if ASSAY_VECTOR == 64
  if (maps == 8) return multiply<T, 8, 2>(job);
#endif
  Multiply<T> four = job;
  for (Int m = 0; m < maps; m += 4) {
    multiply<T, 4, abreast>(four);
    four.weights += 4 * job.terms;
    four.start += 4;
    four.out += 4 * job.pitch;
  }
}
ASSAY_TARGET inline void pairs(const MultiplyPairs& job) {
  job.x_low ? multiply_pairs<2, true>(job) : multiply_pairs<2, false>(job);
}

}  // namespace
}  // namespace assay::oracles::ASSAY_INSTRUCTIONS

#undef ASSAY_INLINE
#undef ASSAY_INSTRUCTIONS
#undef ASSAY_TARGET
#undef ASSAY_VECTOR
