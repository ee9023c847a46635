// SPDX-License-Identifier: Apache-2.0
// TensorScatter: caches that are written in part and as a whole, from any place on, and round the end.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape past = draw_extents(stratum % shape_strata);
  while (past.size() < 2) past.insert(past.begin(), between(1, 3));
  Case c = moving(definition, type, past);
  const Int rank = std::ssize(past), axis = chance(50) && rank > 2 ? rank - 2 : between(1, rank - 1);
  const Int extent = past[static_cast<std::size_t>(axis)],
            length = chance(15) ? extent : between(extent > 0 ? 1 : 0, extent);
  Shape update = past;
  update[static_cast<std::size_t>(axis)] = length;
  c.node.input("update", {type, update});
  c.sources["update"] = {moving(definition, type, update).sources.begin()->second.recipe, chance(20)};
  write_default(c.node, definition, "axis", chance(50) ? axis - rank : axis, -2);
  const bool is_circular = chance(50);
  if (is_circular || chance(25)) c.node.attribute("mode", is_circular ? "circular" : "linear");
  if (chance(20)) {
    if (chance(40)) c.node.empty_input("write_indices");
    return c;
  }
  Ints starts;
  for (Int i = 0; i < past[0]; ++i)
    starts.push_back(is_circular ? between(0, 2 * extent) : between(0, extent - length));
  state(c, "write_indices", starts);
  return c;
}

// The extents of the cache, but along the axis; a write index for each batch.
void refit(Case& c) {
  const Call call = c.call();
  const Shape& past = call.shape("past_cache");
  const Int rank = std::ssize(past), said = call.integer("axis"), axis = said < 0 ? said + rank : said;
  if (axis < 1 || axis >= rank) return;
  Shape update = past;
  if (rank == call.rank("update"))
    update[static_cast<std::size_t>(axis)] = std::min(call.dim("update", axis), call.dim("past_cache", axis));
  shape_of(c, "update") = update;
  if (!call.states("write_indices")) return;
  Ints starts = call.ints("write_indices");
  starts.resize(static_cast<std::size_t>(past[0]));
  if (call.text("mode") == "linear")
    for (Int& start : starts)
      start = std::min(start, past[static_cast<std::size_t>(axis)] - update[static_cast<std::size_t>(axis)]);
  state(c, "write_indices", starts);
}

bool another_update(Case& c) {
  if (chance(20)) return remove_input(c, "update"), true;
  Shape& update = shape_of(c, "update");
  if (chance(30))
    update.push_back(1);
  else
    ++pick(update);
  return true;
}

}  // namespace

const OperatorGenerator& tensor_scatter() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<2>, refit);
    made.damages.push_back({"an update of another shape", another_update});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
