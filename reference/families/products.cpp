// SPDX-License-Identifier: Apache-2.0
#include "reference/families/products.h"

#include "reference/window.h"

#include <algorithm>

namespace assay {
namespace {

Shape batch_of(const Shape& shape) { return shape.size() < 3 ? Shape() : Shape(shape.begin(), shape.end() - 2); }

// The extents of both, right-aligned; of an axis that one of them lacks, or has 1 of, those of the other.
Shape joined(const Shape& a, const Shape& b) {
  Shape batch(std::max(a.size(), b.size()), 1);
  for (const Shape* each : {&a, &b})
    for (std::size_t i = 0; i < each->size(); ++i)
      if (const Int extent = (*each)[i]; extent != 1) batch[batch.size() - each->size() + i] = extent;
  return batch;
}

// Where the matrix begins that is read for each of a batch.
Ints beginnings(const Shape& batch, const Shape& own, Int size) {
  Ints all;
  for_each_position(batch, [&](const Shape& at, Int) {
    Int matrix = 0;
    for (std::size_t i = 0; i < own.size(); ++i)
      matrix = matrix * own[i] + (own[i] == 1 ? 0 : at[batch.size() - own.size() + i]);
    all.push_back(matrix * size);
  });
  return all;
}

}  // namespace

bool batches_meet(const Shape& a, const Shape& b) {
  const Shape one = batch_of(a), other = batch_of(b), batch = joined(one, other);
  const auto fits = [&](const Shape& own) {
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own[i] != 1 && own[i] != batch[batch.size() - own.size() + i]) return false;
    return true;
  };
  return fits(one) && fits(other);
}

Int inner_extent_of_a(const Shape& a) { return a.back(); }
Int inner_extent_of_b(const Shape& b) { return b.size() == 1 ? b[0] : b[b.size() - 2]; }

Matrices Matrices::of(const Shape& a, const Shape& b) {
  Matrices m;
  m.depth = inner_extent_of_a(a);
  m.rows = a.size() == 1 ? 1 : a[a.size() - 2];
  m.columns = b.size() == 1 ? 1 : b.back();
  m.a_row = m.depth;
  m.b_step = m.columns;
  const Shape batch = joined(batch_of(a), batch_of(b));
  m.a = beginnings(batch, batch_of(a), m.rows * m.depth);
  m.b = beginnings(batch, batch_of(b), m.depth * m.columns);
  m.shape = batch;
  if (a.size() > 1) m.shape.push_back(m.rows);
  if (b.size() > 1) m.shape.push_back(m.columns);
  return m;
}

Matrices Matrices::of(const Shape& a, const Shape& b, bool transposes_a, bool transposes_b) {
  Matrices m;
  m.rows = a.at(transposes_a ? 1 : 0);
  m.depth = a.at(transposes_a ? 0 : 1);
  m.columns = b.at(transposes_b ? 0 : 1);
  m.a_row = transposes_a ? 1 : m.depth;
  m.a_step = transposes_a ? m.rows : 1;
  m.b_column = transposes_b ? m.depth : 1;
  m.b_step = transposes_b ? 1 : m.columns;
  m.shape = {m.rows, m.columns};
  return m;
}

bool is_flagged(const Call& c, const std::string& flag) {
  return c.definition().attribute(flag) && c.integer(flag) != 0;
}

namespace {

const Shape& a_shape(const Call& c) { return c.shape(c.definition().inputs.front().name); }
const Shape& b_shape(const Call& c) { return c.shape(c.definition().input("b") ? "b" : "B"); }
bool has_matrices(const Call& c) { return !a_shape(c).empty() && !b_shape(c).empty(); }
bool are_matrices(const Call& c) { return c.rank("A") == 2 && c.rank("B") == 2; }

}  // namespace

bool c_is_broadcast(const Call& c) {
  if (!are_matrices(c) || !c.has("C")) return true;
  const Shape& own = c.shape("C");
  const Shape whole = Matrices::of(c.shape("A"), c.shape("B"), is_flagged(c, "transA"), is_flagged(c, "transB")).shape;
  for (std::size_t i = 0; i < own.size() && own.size() <= 2; ++i)
    if (own[i] != 1 && own[i] != whole[2 - own.size() + i]) return false;
  return own.size() <= 2;
}

void matmul_constraints(Operator& op) {
  op.require("C1", "neither A nor B is a scalar", has_matrices)
      .require(
          "C2", "the columns of A are as many as the rows of B",
          [](auto& c) { return !has_matrices(c) || inner_extent_of_a(a_shape(c)) == inner_extent_of_b(b_shape(c)); })
      .require("C3", "the axes of A and B before the last two can be broadcast",
               [](auto& c) { return batches_meet(a_shape(c), b_shape(c)); });
}

void gemm_constraints(Operator& op) {
  op.require("C1", "A and B have two axes", are_matrices)
      .require("C2", "the columns of A' are as many as the rows of B'",
               [](auto& c) {
                 return !are_matrices(c) ||
                        c.dim("A", is_flagged(c, "transA") ? 0 : 1) == c.dim("B", is_flagged(c, "transB") ? 1 : 0);
               })
      .require("C3", "C can be broadcast to the shape of Y", c_is_broadcast);
}

}  // namespace assay
