// SPDX-License-Identifier: Apache-2.0
// Gather and GatherElements: indices from either end, again and again, of several axes, none at all, of either type.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

// A case of data with at least one axis, and an axis of it.
struct Beginning {
  Case c;
  Shape data;
  Int axis;
};

Beginning begin(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape data = draw_extents(stratum % shape_strata);
  if (data.empty()) data = {between(1, 33)};
  Case c = moving(definition, type, data);
  const Int rank = std::ssize(data), axis = chance(30) ? rank - 1 : between(0, rank - 1);
  write_default(c.node, definition, "axis", chance(40) ? axis - rank : axis, 0);
  return {std::move(c), std::move(data), axis};
}

// Into an axis of that extent.
void index(Case& c, const Shape& shape, Int extent) {
  Ints indices;
  const bool from_end = chance(60);
  for (Int i = 0; i < volume(shape); ++i) {
    const Int low = from_end ? -extent : 0;
    indices.push_back(chance(25) ? pick({low, extent - 1}) : between(low, std::max<Int>(low, extent - 1)));
  }
  const DType type = chance(50) ? DType::i32 : DType::i64;
  c.node.input("indices", {type, shape});
  c.sources["indices"] = {{}, chance(50)};
  write_out(c, "indices", shape, indices);
}

Case draw_gather(const Definition& definition, DType type, std::uint64_t stratum) {
  auto [c, data, axis] = begin(definition, type, stratum);
  Shape shape;
  for (Int rank = weighted<Int>({{20, 0}, {45, 1}, {25, 2}, {10, 3}}); rank > 0; --rank)
    shape.push_back(between(chance(8) ? 0 : 1, 4));
  const Int extent = data[static_cast<std::size_t>(axis)];
  if (extent == 0) shape = {0};
  index(c, shape, extent);
  return c;
}

Case draw_elements(const Definition& definition, DType type, std::uint64_t stratum) {
  auto [c, data, axis] = begin(definition, type, stratum);
  Shape shape = data;
  for (Int& each : shape)
    if (chance(15)) each = between(0, each);
  const Int extent = data[static_cast<std::size_t>(axis)];
  shape[static_cast<std::size_t>(axis)] = extent == 0 ? 0 : between(chance(8) ? 0 : 1, 5);
  index(c, shape, extent);
  return c;
}

bool index_out_of_range(Case& c) {
  const Call call = c.call();
  Ints indices = call.ints("indices");
  if (indices.empty()) return false;
  const Shape& data = call.shape("data");
  const Int extent = data.empty() ? 1 : data[static_cast<std::size_t>(between(0, std::ssize(data) - 1))];
  indices[static_cast<std::size_t>(between(0, std::ssize(indices) - 1))] = pick({extent, -extent - 1, Int{-1}});
  write_out(c, "indices", call.shape("indices"), indices);
  return true;
}

Questions gathering(Case (*draw)(const Definition&, DType, std::uint64_t)) {
  Questions made = placing_questions(draw, axes<1>);
  made.damages.push_back({"an index out of range", index_out_of_range});
  return made;
}

}  // namespace

const Questions& gather() {
  static const Questions all = gathering(draw_gather);
  return all;
}

const Questions& gather_elements() {
  static const Questions all = gathering(draw_elements);
  return all;
}

}  // namespace assay::generators
