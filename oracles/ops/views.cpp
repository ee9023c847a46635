// SPDX-License-Identifier: Apache-2.0
// The exact answers of Flatten, Squeeze and Unsqueeze: every element stays where it is.
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <set>

namespace assay::oracles {
namespace {

// The axes that are listed, of a tensor of that rank.
std::set<std::size_t> listed(const Call& call, Int rank) {
  std::set<std::size_t> axes;
  for (const Int axis : call.ints("axes")) axes.insert(axis_in(rank, axis));
  return axes;
}

std::optional<Shape> flattened(const Call& call, const Readings&) {
  const Int rank = call.rank("input"), axis = call.integer("axis"), rows = axis < 0 ? rank + axis : axis;
  Shape shape{1, 1};
  for (Int i = 0; i < rank; ++i) shape[i < rows ? 0 : 1] *= call.dim("input", i);
  return shape;
}

std::optional<Shape> squeezed(const Call& call, const Readings& readings) {
  const bool drops_all =
      !call.states("axes") || (call.ints("axes").empty() && (!call.has("axes") || readings.of("M3") == "all"));
  const std::set<std::size_t> axes = drops_all ? std::set<std::size_t>() : listed(call, call.rank("data"));
  Shape shape;
  for (std::size_t axis = 0; axis < call.shape("data").size(); ++axis)
    if (const Int extent = call.shape("data")[axis]; drops_all ? extent != 1 : !axes.contains(axis))
      shape.push_back(extent);
  return shape;
}

std::optional<Shape> unsqueezed(const Call& call, const Readings&) {
  const Int rank = call.rank("data") + static_cast<Int>(call.ints("axes").size());
  const std::set<std::size_t> axes = listed(call, rank);
  Shape shape;
  auto next = call.shape("data").begin();
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis)
    shape.push_back(axes.contains(axis) ? 1 : *next++);
  return shape;
}

Origin in_place(const CopyPoint& p) { return {p.index}; }

}  // namespace

Oracle flatten() { return moved(flattened, in_place); }
Oracle squeeze() { return moved(squeezed, in_place); }
Oracle unsqueeze() { return moved(unsqueezed, in_place); }

}  // namespace assay::oracles
