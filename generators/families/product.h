// SPDX-License-Identifier: Apache-2.0
// The parts of the family of products of matrices: the extents of a case, its draws and its near misses.
#pragma once

#include "generators/family.h"

namespace assay::generators {

// The extents of a case as its shapes have them; what does not fit together in a near miss is kept.
struct MatrixExtents {
  Ints a_batch = {}, b_batch = {};  // before the last two axes
  Int rows = 1, columns = 1, a_depth = 1, b_depth = 1;
  bool a_is_vector = false, b_is_vector = false;
};
// Reads the extents of both operands; none where one is left out, or a scalar.
std::optional<MatrixExtents> extents_of(const Case& c);
// Writes other extents, and those of what is added or subtracted, which follow.
void write(Case& c, const MatrixExtents& before, const MatrixExtents& now);

// The names of both operands: A and B, or a and b.
std::string a_of(const Case& c);
std::string b_of(const Case& c);

// Tells whether operands may be transposed and something added to the product, of matrices alone.
bool is_scaled(const Definition& definition);
bool is_given(const Case& c, const std::string& input);

// Gives an optional input in one of three ways: not at all, named "", or with those data.
void give_or_not(Case& c, const std::string& input, TensorType type, Recipe recipe);
// Draws a shape of one element.
Shape draw_single();
// Draws what is subtracted from 8-bit integers: ends, middle and odd numbers, or as many as there are.
Recipe draw_zero_point(DType type, bool is_single);
Recipe draw_bytes();

// Draws the shape of what is broadcast to rows and columns: all of it one time in three.
Shape draw_added(const MatrixExtents& extents);
// Draws what a product is multiplied by.
float draw_factor(DType type);

// A case of both operands alone, and data for what is added to them.
struct DrawnProduct {
  Case c;
  MatrixExtents extents;
  Recipe added;
};
DrawnProduct draw_operands(const Definition& definition, DType type, std::uint64_t stratum);

Int product_cost(const Case& c);  // in multiply-adds

inline constexpr std::uint64_t product_strata = 143;  // every pair of ranks meets every empty axis
Case draw_product(const Definition& definition, DType type, std::uint64_t stratum);
std::vector<Mutation> product_damages();

}  // namespace assay::generators
