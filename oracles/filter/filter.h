// SPDX-License-Identifier: Apache-2.0
// The filter: decides in double what the definition would say of most elements of an output, and leaves the rest
// undecided. It never guesses: what it says follows from a proven enclosure (numerics 1.5).
//
// For operands of f16, bf16 and f32 every product is exact in double. With u = 2^-53, A the sum of absolute terms and s
// the sum in double of n terms in any order, |s - y| <= (n - 1) u A (Jeannerod and Rump, Improved error bounds for
// inner products, SIAM J. Matrix Anal. Appl. 34 (2013)), so y lies in [s - E, s + E] with E = (n + 8) u A'; A' >= A
// comes from a sum in single, inflated by its own error, or in levels (quantized16.h), and the 8 covers the roundings
// made here. Where A' <= 2^53 g for a power of two g that divides every term nothing rounds at all: s = y and E = 0,
// ties included; g is that of the whole input, and where it leaves something undecided that of the cells of the run at
// hand.
//  nearest   The numbers that round to `got` are those between its two midpoints, which are doubles; the ends belong to
//            it where its last bit is even. [s - E, s + E] inside or outside of them decides whether got = RN_T(y).
//  faithful  likewise with the neighbours of `got` for midpoints.
//  admitted  (L2) with a lower bound b of the budget: |got - s| + E < b + half an ulp of `got`. b = n u_acc A" with
//            A" <= A. It is used only where the budget cannot have collapsed to 0: some product has its lowest bit at
//            g' with A" > 2^p g', and every term that does not round is a multiple of g <= g'.
//  average   Both sides are multiplied by the divisor: got N and the midpoints times N are exact, a quotient is not.
//  f64       y = s + c + δ by Dot2 (Ogita, Rump and Oishi): every product is p + r and every addition s + q without
//  error,
//            y = s + sum of (q + r), and only c, the sum of these in double, rounds: |q + r| summed is at most
//            (n + 1) u A (1 + n u), so |δ| <= E = (n^2 + 2 n + 8) u^2 A' + 5 n 2^-1074, the last for rests of products
//            that underflow. What is compared is y - got, which is small, against 0 and half an ulp. Where every
//            product and `got` are multiples of a power of two g > 4 E, so is y - got, and only one multiple of it is
//            enclosed: then E = 0 (decide_lanes.h).
//  deformed  Every sample is a product of r fractions, x, mask and weight: R = n + 2 r + 2^r + 4 roundings at most, so
//            E = (R + 8) u A', and what a rounded coordinate moves (deformed.h). In pairs every column is within
//            256 u^2 of its absolute terms, so E = (n^2 + 8 n + 1024) u^2 A'. The budget is that of ops/deform_conv.cpp
//            from below: its term for coordinates is what the corners of the cell span, left out where rounding may
//            carry a sample into another cell; it cannot have collapsed where some coordinate is not exact in the
//            accumulator.
// An element is decided only where all three are, and where nothing may overflow. Everything else is `undecided`.
#pragma once

#include "oracles/exact/enclosure.h"
#include "oracles/filter/conv_filter.h"
#include "oracles/filter/deformed.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace assay::oracles {

// One that was decided, for the definition to confirm.
struct Sampled {
  Int index = 0;
  bool is_nearest = false;
  Level level = Level::L0;
};

// What the filter says of one output tensor.
struct FilterResult {
  Int right = 0, nearest = 0;    // elements decided, all of them right; of these RN_T(y)
  std::optional<Level> weakest;  // of these
  std::vector<Int> undecided;    // ascending
  std::vector<Int> worst;        // decided, and maybe the largest q, ulp or share of all that are decided
  std::vector<Sampled> sampled;
  // Of the exact answers rounded once: how many are 0 for certain, and how many of the others may be; whether two of
  // them differ for certain, and one of them. An answer may have no term at all.
  Int zeros = 0, maybe_zeros = 0;
  bool varies = false, has_empty = false;
  std::optional<double> seen;
};

// How to screen.
struct FilterOptions {
  bool only_nearest = false;  // L2 is not enough: whatever is not RN_T(y) stays undecided
  std::uint64_t seed = 0;     // of the sample
};
// One decided element in this many is named to be confirmed, and at most `most_sampled` of one tensor.
inline constexpr Int sample_period = 1000, most_sampled = 64;

// Which of the elements that are handed to it one after the other are sampled: one of each `sample_period`.
class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : seed_(seed) { draw(); }
  // Calls f(i) for those of the next `count` elements that are.
  template <class F>
  void next(Int count, F&& f) {
    for (; drawn_ < seen_ + count; draw()) f(static_cast<std::size_t>(drawn_ - seen_));
    seen_ += count;
  }

 private:
  void draw();
  std::uint64_t seed_;
  Int seen_ = 0, period_ = 0, drawn_ = 0;
};

// What an operator whose output is a sum of products gives to be screened.
struct Sums {
  ConvFilter sweep;
  PlaneStrides to;  // of the output
  bool averaged = false, counts_padding = false;
};
// None where the filter does not apply: an operand that is infinite or NaN, more terms than it bounds, f64 where a
// product may overflow.
std::optional<FilterResult> screen(Sums sums, const Tensor& got, const FilterOptions& how);

// Of deformed samples, under the ruling A20 (blend). None where the filter does not apply: as above, more than three
// axes, operands so large or small that something may over- or underflow.
std::optional<FilterResult> screen(Deformed samples, const Tensor& got, const FilterOptions& how);

}  // namespace assay::oracles
