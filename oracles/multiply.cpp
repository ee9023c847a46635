// SPDX-License-Identifier: Apache-2.0
// Written with vector types, since the blocking into registers is all that matters here.
#include "oracles/multiply.h"

#include "oracles/clones.h"
#include "oracles/pair.h"

#include <cmath>

namespace assay::oracles {
namespace {

// acc + x * w, rounded once where the machine can.
template <int width, bool fused, class T>
[[gnu::always_inline]] inline void accumulate(T* acc, const T* x, T w) {
  for (int i = 0; i < width; ++i) {
    if constexpr (!fused)
      acc[i] += x[i] * w;
    else if constexpr (sizeof(T) == sizeof(float))
      acc[i] = __builtin_fmaf(x[i], w, acc[i]);
    else
      acc[i] = __builtin_fma(x[i], w, acc[i]);
  }
}

template <class T, int bytes, int maps, int vectors, bool fused>
[[gnu::always_inline]] inline void multiply(const Multiply<T>& job) {
  typedef T Vector __attribute__((vector_size(bytes)));
  typedef T Loose __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));
  constexpr Int width = bytes / static_cast<Int>(sizeof(T));
  for (Int o = 0; o < job.count; o += width * vectors) {
    Vector acc[maps][vectors];
    for (int m = 0; m < maps; ++m)
      for (int v = 0; v < vectors; ++v) acc[m][v] = Vector{} + job.start[m];
    for (Int t = 0; t < job.terms; ++t) {
      const T* const from = job.x + job.offsets[t] + o;
      Vector cells[vectors];
      for (int v = 0; v < vectors; ++v) cells[v] = *reinterpret_cast<const Loose*>(from + v * width);
      for (int m = 0; m < maps; ++m) {
        const T weight = job.weights[t * maps + m];
        for (int v = 0; v < vectors; ++v)
          accumulate<width, fused>(reinterpret_cast<T*>(&acc[m][v]), reinterpret_cast<const T*>(&cells[v]), weight);
      }
    }
    for (int m = 0; m < maps; ++m)
      for (int v = 0; v < vectors; ++v) *reinterpret_cast<Loose*>(job.out + m * job.pitch + o + v * width) = acc[m][v];
  }
}

// x * w - p, the rest of each rounded product. One instruction where the machine has it, else Dekker's.
template <int width, bool fused>
[[gnu::always_inline]] inline void rests(const double* x, double w, const double* p, double* rest) {
  for (int i = 0; i < width; ++i) rest[i] = fused ? __builtin_fma(x[i], w, -p[i]) : rest_of_product(x[i], w, p[i]);
}

template <int bytes, int vectors, bool fused, bool pairs>
[[gnu::always_inline]] inline void multiply_pairs(const MultiplyPairs& job) {
  typedef double Vector __attribute__((vector_size(bytes)));
  typedef double Loose __attribute__((vector_size(bytes), aligned(alignof(double)), may_alias));
  typedef std::int64_t Bits __attribute__((vector_size(bytes)));
  constexpr int width = bytes / static_cast<int>(sizeof(double));
  for (Int o = 0; o < job.count; o += width * vectors) {
    Vector sum[vectors], low[vectors], size[vectors];
    for (int v = 0; v < vectors; ++v) {
      sum[v] = Vector{} + job.start;
      low[v] = Vector{};
      size[v] = Vector{} + std::fabs(job.start);
    }
    for (Int t = 0; t < job.terms; ++t) {
      const Int from = job.offsets[t] + o;
      const double weight = job.weights[t * job.step];
      for (int v = 0; v < vectors; ++v) {
        const Vector x = *reinterpret_cast<const Loose*>(job.x + from + v * width), product = x * weight;
        Vector rest;
        rests<width, fused>(reinterpret_cast<const double*>(&x), weight, reinterpret_cast<const double*>(&product),
                            reinterpret_cast<double*>(&rest));
        const Vector next = sum[v] + product, part = next - sum[v];
        const Vector lost = (sum[v] - (next - part)) + (product - part);
        sum[v] = next;
        low[v] += lost + rest;
        if constexpr (pairs) low[v] += *reinterpret_cast<const Loose*>(job.x_low + from + v * width) * weight;
        size[v] += reinterpret_cast<Vector>(reinterpret_cast<Bits>(product) & INT64_MAX);
      }
    }
    for (int v = 0; v < vectors; ++v) {
      *reinterpret_cast<Loose*>(job.sum + o + v * width) = sum[v];
      *reinterpret_cast<Loose*>(job.low + o + v * width) = low[v];
      *reinterpret_cast<Loose*>(job.size + o + v * width) = size[v];
    }
  }
}

// One name per number of maps, for three generations of x86-64 and for everything else.
#if ASSAY_CLONES
#define ASSAY_WIDTHS(name, Job, v4, v3, v1)                                     \
  [[gnu::target("arch=x86-64-v4")]] void name##_v4(const Job& job) { v4; }      \
  [[gnu::target("arch=x86-64-v3")]] void name##_v3(const Job& job) { v3; }      \
  void name##_v1(const Job& job) { v1; }                                        \
  void name(const Job& job) {                                                   \
    static const auto best = __builtin_cpu_supports("x86-64-v4")   ? name##_v4  \
                             : __builtin_cpu_supports("x86-64-v3") ? name##_v3  \
                                                                   : name##_v1; \
    best(job);                                                                  \
  }
#elif defined(__AVX512F__)
#define ASSAY_WIDTHS(name, Job, v4, v3, v1) \
  void name(const Job& job) { v4; }
#elif defined(__AVX2__) && defined(__FMA__)
#define ASSAY_WIDTHS(name, Job, v4, v3, v1) \
  void name(const Job& job) { v3; }
#else
#define ASSAY_WIDTHS(name, Job, v4, v3, v1) \
  void name(const Job& job) { v1; }
#endif
#define ASSAY_MULTIPLY(name, T, maps)                                                                           \
  ASSAY_WIDTHS(name, Multiply<T>, (multiply<T, 64, maps, 4, true>(job)), (multiply<T, 32, maps, 2, true>(job)), \
               (multiply<T, 16, maps, 2, has_fma>(job)))
#define ASSAY_MULTIPLY_PAIRS(name, pairs)                                      \
  ASSAY_WIDTHS(name, MultiplyPairs, (multiply_pairs<64, 2, true, pairs>(job)), \
               (multiply_pairs<32, 2, true, pairs>(job)), (multiply_pairs<16, 2, has_fma, pairs>(job)))

ASSAY_MULTIPLY(doubles_one, double, 1)
ASSAY_MULTIPLY(doubles_four, double, 4)
ASSAY_MULTIPLY(floats_one, float, 1)
ASSAY_MULTIPLY(floats_four, float, 4)
ASSAY_MULTIPLY_PAIRS(plain_pairs, false)
ASSAY_MULTIPLY_PAIRS(pairs_of_pairs, true)
#undef ASSAY_MULTIPLY
#undef ASSAY_MULTIPLY_PAIRS
#undef ASSAY_WIDTHS

}  // namespace

void run(const Multiply<double>& job, Int maps) { maps == 4 ? doubles_four(job) : doubles_one(job); }
void run(const Multiply<float>& job, Int maps) { maps == 4 ? floats_four(job) : floats_one(job); }
void run(const MultiplyPairs& job) { job.x_low ? pairs_of_pairs(job) : plain_pairs(job); }

}  // namespace assay::oracles
