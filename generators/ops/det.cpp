// SPDX-License-Identifier: Apache-2.0
// Det: permutations, pivots of 0, singular matrices and ones of rank 1 and 2 whose entries are rounded, of no rows up
// to nine, in batches of several axes.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>
#include <numeric>

namespace assay::generators {
namespace {

Recipe permutation(Int rows) {
  Ints columns(static_cast<std::size_t>(rows)), entries;
  std::iota(columns.begin(), columns.end(), Int{0});
  columns = any_order(columns, 0, false);
  for (const Int column : columns)
    for (Int j = 0; j < rows; ++j) entries.push_back(j == column ? pick<Int>({1, 1, -1, 2}) : 0);
  return {"lit", joined(entries, ",", [](Int entry) { return std::to_string(entry); })};
}

// Draws rows that are multiples of a first one, some moved by one of two others.
Recipe of_low_rank(Int rows, bool is_exact) {
  const Ints first{3, -1, 2, 5, 1, -4, 2, 7, -2}, second{1, 1, 0, -2, 3, 1, -1, 0, 2};
  Ints entries;
  const bool has_two = chance(50);
  for (Int i = 0; i < rows; ++i) {
    const Int times = between(-3, 3), more = has_two ? between(-2, 2) : 0;
    for (std::size_t j = 0; j < static_cast<std::size_t>(rows); ++j)
      entries.push_back(times * first[j] + more * second[j]);
  }
  return {"lit", joined(entries, ",", [&](Int entry) { return std::to_string(entry) + (is_exact ? "" : "e-1"); })};
}

Recipe draw_fill(Int rows) {
  if (rows > 0 && chance(12)) return permutation(rows);
  if (rows > 0 && chance(16)) return of_low_rank(rows, chance(40));
  if (chance(8)) return {"lit", pick({"0,1,2,3,4", "0,0,1", "1,2,3,4,5,6,7,8,9", "-1", "0"})};
  return seeded(weighted<const char*>({{30, "normal"},
                                       {24, "small"},
                                       {10, "cancel"},
                                       {10, "uniform"},
                                       {6, "quarter"},
                                       {5, "logu"},
                                       {3, "odd10"},
                                       {2, "subnormal"},
                                       {2, "huge"},
                                       {8, "special"}}));
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  constexpr Int most[] = {1, 2, 3, 4, 5, 2, 3, 9};
  const Int rows = chance(3) ? 0 : most[stratum % std::size(most)];
  Shape shape;
  for (Int axes = weighted<Int>({{35, 0}, {35, 1}, {25, 2}, {5, 3}}); axes > 0; --axes)
    shape.push_back(chance(4) ? 0 : between(1, rows > 4 ? 2 : 4));
  shape.insert(shape.end(), 2, rows);
  Case c = moving(definition, type, shape);
  if (rows > 1 || chance(40)) c.sources.begin()->second.recipe = draw_fill(rows);
  return c;
}

// Leaves as many columns as rows.
void refit(Case& c) {
  Shape& shape = shape_of(c);
  if (shape.size() >= 2) shape[shape.size() - 2] = shape.back() = std::min(shape[shape.size() - 2], shape.back());
}

Int cost(const Case& c) { return volume(shape_of(c)) * (shape_of(c).empty() ? 1 : shape_of(c).back()); }

}  // namespace

const OperatorGenerator& det() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<2, 5>, refit);
    made.cost = cost;
    return made;
  }();
  return all;
}

}  // namespace assay::generators
