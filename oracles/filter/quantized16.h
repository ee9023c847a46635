// SPDX-License-Identifier: Apache-2.0
// Sums of products of whole numbers of 16 bits, which the machine adds two terms at a time and exactly, at half the
// price of floats or less (run of multiply.h). Operands of 8 bits are such numbers as they stand. Of magnitudes, of
// whose sum A only bounds are wanted, each is rounded to one of so many levels that no sum leaves 31 bits:
//
//   |x| = c (X + e) and |w| = d (W + f), X and W whole, |e| and |f| at most 1/2 + 2^-9, since single rounds
//   |x| / c + 1/2 < 2^15 twice, by half of 2^-9 each time; with h = 1/2 + 2^-8, whose 2^-9 to spare are far more than
//   what the bounds lose in double,
//   | A - c d sum X W |  <=  c d (h sum X + h sum W + h^2 n).
//
// With sum X W kept below 2^31, 576 terms have 1930 levels and bounds half a percent apart on ordinary data.
#pragma once

#include "reference/tensor.h"

#include <cstdint>
#include <optional>

namespace assay::oracles {

struct Quantized16 {
  float of_cell = 0, of_weight = 0;  // levels per unit: 1 / c, 1 / d

  // None where there would be less than 256 levels, or where single might over- or underflow.
  static std::optional<Quantized16> of(double largest_cell, double largest_weight, Int terms);
  // Quantized16 of this mean are fine enough: bounds lie within an eighth of A.
  static bool tell(Int sum, Int count) { return sum >= 16 * count; }

  double unit() const { return 1 / (static_cast<double>(of_cell) * static_cast<double>(of_weight)); }  // c d
};

// Two terms to a word: the level of a[i] in its lower half, that of b[i] in its upper, or 0 where there is no b.
void pack_levels(const float* a, const float* b, Int count, float scale, std::int32_t* to);  // magnitudes
void pack_levels(const double* a, const double* b, Int count, float scale, std::int32_t* to);
// Likewise of whole numbers within 16 bits.
void pack_whole(const double* a, const double* b, Int count, std::int32_t* to);
// The sum of all levels.
Int sum_of_levels(const std::int32_t* words, Int count);

// A sum of magnitudes of one map: between c d (S - h (cells + weights) - h^2 n) + start and the same with the signs
// turned.
struct Leveled {
  double unit = 0, weights = 0, terms = 0, start = 0;
};
void bound(const std::int32_t* sums, const std::int32_t* cells, Int count, const Leveled& of, double* most,
           double* least);
// start + sums, as doubles.
void widen_whole(const std::int32_t* sums, Int count, double start, double* to);

}  // namespace assay::oracles
