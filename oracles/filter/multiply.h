// SPDX-License-Identifier: Apache-2.0
// The only hot loops of the filter: many outputs side by side, each a sum of products in one fixed order. The same bits
// at every width of a machine's vectors, and where products are exact on every machine: others are rounded or not,
// depending on whether the machine can multiply and add in one go. Both lie within every bound that is used.
#pragma once

#include "reference/tensor.h"

#include <cstdint>

namespace assay::oracles {

// Elements that may be read past the end of x, and written past the end of what is written.
inline constexpr Int slack = 128;

// out[m][o] = start[m] + sum over t of weights[m][t] * x[offsets[t] + o], t in order.
template <class T>
struct Multiply {
  const T* x;
  const Int* offsets;
  const T* weights;  // [maps][terms]
  Int terms;
  const T* start;
  T* out;
  Int pitch, count;  // of out; outputs
};
void run(const Multiply<double>& job, Int maps);  // 1, 4 or 8
void run(const Multiply<float>& job, Int maps);
// Of 16 bits, two terms to a word: products of both halves are added.
void run(const Multiply<std::int32_t>& job, Int maps);

// The same of one map in twice the precision (Dot2 of Ogita, Rump and Oishi, Accurate sum and dot product, SIAM J. Sci.
// Comput. 26 (2005), algorithm 5.3): sum + low is the sum in 106 bits, all roundings of `sum` being collected in `low`;
// size is the sum of |products|. x may be a pair itself, x + x_low.
struct MultiplyPairs {
  const double *x, *x_low;  // x_low: none is 0
  const Int* offsets;
  const double* weights;
  Int terms;
  double start;
  double *sum, *low, *size;
  Int count;
};
void run(const MultiplyPairs& job);

}  // namespace assay::oracles
