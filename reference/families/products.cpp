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

}  // namespace assay
