// SPDX-License-Identifier: Apache-2.0
// What the filter says of a run of outputs side by side, given an enclosure of each: which of them are RN_T(y), and
// which of the others are right at L1 or L2, for certain. Vector loops and nothing else; filter.h has the proof.
#pragma once

#include "reference/tensor.h"

#include <array>
#include <cstdint>

namespace assay::oracles {

inline constexpr Int chunk = 256;
using Lane = std::array<double, chunk>;
using Marks = std::array<std::int64_t, chunk>;  // -1 where it is so, else 0

// One run of outputs; past its end up to a multiple of 8 divisors are 0, which decides nothing. Everything times the
// divisor; of f64 twice that, so that half an ulp is a number.
struct Chunk {
  Int count = 0;
  alignas(64) Lane sum, size, least, terms, divisor, finest, got;
  alignas(64) Lane low;                                   // of f64: the sum is sum + low
  alignas(64) Lane coordinate_error, inexact, uncertain;  // of deformed samples, see Tile
  alignas(64) Marks odd, nearest, right, faithful;
  alignas(64) Marks worst_candidate;  // right, and maybe the worst so far
};

// What is the same for all outputs of one map.
struct MapBounds {
  double size_up, size_down, size_least;  // A <= size_up size + size_least, A >= size_down least - size_least
  double error, error_least;              // E = error A + error_least
  double exact_below;                     // E = 0 where A is at most this: 2^53 g
  double granule;                         // of pairs: every sum is a multiple of this power of two; 0: not known
  double overflow;                        // no intermediate overflows while A is below this
  double underflows_below;                // not decided at L1 or L2 where A is below this
  double unit;                            // u of the accumulator
  double collapse;                        // 2^p of it, times the coarsest lowest bit of a weight
  double coarsest_weight, underflow;      // that bit; η of the accumulator
  double extra_terms;                     // 1 for an average: the division
  double ulp, smallest_normal, top;       // 2^(1-p), λ and the first power of two of the last binade of T
  double displaced = 0;                   // E grows by this share of `coordinate_error`
  double more = 0;                        // what a budget may have besides
};

// How the sums are enclosed.
struct Enclosing {
  bool in_pairs = false;  // as sum + low
  bool deforms = false;   // of samples between the cells
};

struct NearestCount {
  Int nearest = 0, zeros = 0;
};
// Which answers are RN_T(y) for certain, and how many of these are 0.
NearestCount mark_nearest(Chunk& c, const MapBounds& m, Enclosing how);

// What the definition calls so, of one element or the largest of several.
struct Worst {
  double q = 0, ulp = 0, share = 0;
};
// Of those that are not RN_T(y) for certain: how many are right at L1 or L2, how many of these at L2 alone, how many
// may have an exact answer that rounds to 0, and how many may reach `worst` in some way.
struct Rest {
  Int right = 0, unfaithful = 0, maybe_zeros = 0, worst_candidate = 0;
};
Rest mark_right(Chunk& c, const MapBounds& m, const Worst& worst, Enclosing how);

// Bounds on what the definition says of one element that is right and not nearest.
struct Measures {
  Worst most, least;
};
Measures measure(const Chunk& c, const MapBounds& m, std::size_t i, Enclosing how);

// The outputs of a backend as doubles, and whether their last bit is set.
void read_outputs(const Tensor& got, Int first, Int step, Chunk& c);

}  // namespace assay::oracles
