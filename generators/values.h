// SPDX-License-Identifier: Apache-2.0
// What tensors are filled with: recipes by element type and term count, such that each fill proves something
// (numerics 4.8). Exact fills leave no rounding to argue about: every partial sum in every order is representable.
#pragma once

#include "reference/case.h"

namespace assay::generators {

// Writes the shortest decimal that reads back as the number.
std::string decimal(double value);
std::string decimal(float value);

// A seeded recipe with a seed drawn.
Recipe seeded(std::string family);

// The dot product a fill has to suit.
struct SumOfProducts {
  DType type = DType::f32;
  Int terms = 1;  // at most, the bias among them
  bool has_bias = false;
};

struct ConvolutionFill {
  Recipe x, w, b;
};
ConvolutionFill draw_convolution_fill(const SumOfProducts& sum);
Recipe draw_average_fill(const SumOfProducts& sum);
// Of an operator that copies, compares or selects: every kind of number, ties, the ends of the type.
Recipe draw_selection_fill(DType type);

// Draws data of a function of one element: arguments of ordinary size and on the brink of rounding besides.
Recipe draw_function_fill(DType type);

// The widths of odd integers below 2^x, 2^w and 2^b whose sums of `terms` products stay within `precision` bits:
// terms * 2^(x + w) <= 2^precision, and the bias no larger than a product. Each fits `storage` bits; none if a width
// would be 0.
struct Widths {
  int x, w, b;
};
std::optional<Widths> exact_widths(int precision, int storage, Int terms);

// Precision in bits of the element type, and of the accumulator the level asked for allows (f32; f64 for f64).
int precision_of(DType type);
int accumulator_precision_of(DType type);

// Vacuity guard: a tensor of two elements or more whose elements are all alike proves nothing. Moves the seeds on until
// no seeded input is constant in any data set, and no two inputs are drawn from the same seed.
void refuse_constant_data(Case& c);

}  // namespace assay::generators
