// SPDX-License-Identifier: Apache-2.0
// The exact answer of a product of matrices, as numpy.matmul and Gemm have it (windows-and-products 2.3, 3.9).
#pragma once

#include "oracles/exact/enclosure.h"
#include "oracles/exact/operands.h"

namespace assay::oracles {

// Equally spaced elements of a tensor.
struct MatrixLine {
  Int first = 0, step = 1;
  Int at(Int k) const { return first + k * step; }
};

// Which elements of A and B meet in an element of the output.
class MatrixMeeting {
 public:
  MatrixMeeting(const Shape& a, const Shape& b, bool transposes_a = false, bool transposes_b = false);

  const Shape& shape() const { return shape_; }
  Int batch() const { return volume(batch_); }
  Int rows() const { return rows_; }
  Int columns() const { return columns_; }
  Int depth() const { return depth_; }
  // Where in A and in B the terms of an element lie.
  MatrixLine of_a(Int index) const;
  MatrixLine of_b(Int index) const;

 private:
  Int matrix(Int index, const Shape& own) const;

  Shape batch_, a_batch_, b_batch_, shape_;
  Int rows_, columns_, depth_;
  bool transposes_a_, transposes_b_;
};

struct ProductOperands {
  Tensor a, b;
  MatrixMeeting meeting;
  std::optional<Tensor> c = {};  // broadcast to the output
  Scalar alpha = scalar(Int{1}), beta = scalar(Int{1});
};
// alpha times the product, and beta times C: of floats a dot, of integers a number modulo 2^w (W20).
std::unique_ptr<Answer> product(ProductOperands in, const Readings& readings, const Arithmetic& declared);

// Finishes an oracle of products that wrap or saturate where they are integers, and have no other readings.
Oracle of_products(Oracle oracle);

// A tensor of 8-bit integers, and what is subtracted from them: one zero point or several, or nothing.
struct ZeroedOperand {
  const char* name;
  Tensor tensor;
  std::optional<Tensor> zeros;
};
// One term of a sum: where its factors lie in both operands, and which of several zero points theirs are.
struct IntegerTerm {
  Int a, b, a_zero, b_zero;
};
using IntegerTerms = std::function<void(Int index, const std::function<void(const IntegerTerm&)>&)>;
// Sums of products of integers less their zero points, exact in 32 bits (W7); `terms` lists those of an element.
std::unique_ptr<Answer> integer_sums(Shape shape, ZeroedOperand a, ZeroedOperand b, IntegerTerms terms,
                                     const Readings& readings);
// The input of that place, where it is given.
std::optional<Tensor> given(const Operands& in, std::size_t input);

}  // namespace assay::oracles
