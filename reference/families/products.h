// SPDX-License-Identifier: Apache-2.0
// Kernels of operators that multiply matrices: rows of A meet columns of B.
#pragma once

#include "reference/operator.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace assay {

// Which elements of two tensors of matrices meet. A step leads to the next element of a row or, in B, of a column.
struct Matrices {
  Shape shape;  // of the output
  Int rows = 0, columns = 0, depth = 0;
  Int a_row = 0, a_step = 1, b_column = 1, b_step = 0;
  Ints a = {0}, b = {0};  // where the matrices begin that meet, in the order of the output

  // As numpy.matmul has them: a vector is one row of A or one column of B, whose axis the output does not have, and all
  // axes before the last two are broadcast.
  static Matrices of(const Shape& a, const Shape& b);
  // As Gemm has them, of two axes each, in the other order where they are transposed.
  static Matrices of(const Shape& a, const Shape& b, bool transposes_a, bool transposes_b);
};

// Tells whether the axes of these shapes before their last two can be broadcast together.
bool batches_meet(const Shape& a, const Shape& b);
// The extent that the matrices share: the columns of A, the rows of B. Of a vector, its only one.
Int inner_extent_of_a(const Shape& a);
Int inner_extent_of_b(const Shape& b);

// Tells whether the version has an attribute that is not 0.
bool is_flagged(const Call& c, const std::string& flag);

// Gives an operator what MatMul demands of its first input and of B, or b (C1 to C3), and Gemm of A, B and C.
void matmul_constraints(Operator& op);
void gemm_constraints(Operator& op);
// Tells whether C can be broadcast to the product of two matrices A and B; of others it may be anything.
bool c_is_broadcast(const Call& c);

// What products are summed in: integers modulo 2^64.
template <class T>
using product_t = std::conditional_t<std::is_integral_v<T>, std::uint64_t, accumulator_t<T>>;

template <class T>
T finished(product_t<T> sum) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(sum);
  else
    return written<T>(sum);
}

// Calls write(first, sums) for every row of the output: its place, and the sums of a(i) b(j) in the order of the inner
// axis, one rounding per operation. Rows of B are added up one after the other as they lie in memory, so that the inner
// loop runs along a row of sums and of B whatever is transposed.
template <class A, class Left, class Right, class Write>
void multiply(const Matrices& m, Left a, Right b, Write write) {
  std::vector<A> right(static_cast<std::size_t>(m.depth * m.columns)), sums(static_cast<std::size_t>(m.columns));
  for (std::size_t matrix = 0; matrix < m.a.size(); ++matrix) {
    for (Int k = 0, at = 0; k < m.depth; ++k)
      for (Int j = 0; j < m.columns; ++j)
        right[static_cast<std::size_t>(at++)] = b(m.b[matrix] + k * m.b_step + j * m.b_column);
    for (Int i = 0; i < m.rows; ++i) {
      std::ranges::fill(sums, A{});
      const A* row = right.data();
      for (Int k = 0; k < m.depth; ++k, row += m.columns) {
        const A left = a(m.a[matrix] + i * m.a_row + k * m.a_step);
        for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += left * row[j];
      }
      write((static_cast<Int>(matrix) * m.rows + i) * m.columns, std::span<const A>(sums));
    }
  }
}

}  // namespace assay
