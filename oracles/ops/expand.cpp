// SPDX-License-Identifier: Apache-2.0
// The exact answers of Expand and Tile: along each axis, the index in the output modulo the extent of input.
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

// Axes are counted from the last: Expand may give more of them than input has.
std::optional<Shape> expanded(const Call& call, const Readings&) {
  Shape out = call.ints("shape");
  const Shape& input = call.shape("input");
  while (out.size() < input.size()) out.insert(out.begin(), 1);
  for (std::size_t back = 1; back <= input.size(); ++back)
    if (const Int extent = input[input.size() - back]; extent != 1) out[out.size() - back] = extent;
  return out;
}

std::optional<Shape> tiled(const Call& call, const Readings&) {
  Shape out = call.shape("input");
  for (std::size_t axis = 0; axis < out.size(); ++axis)
    if (call.states("repeats"))
      out[axis] *= call.ints("repeats")[axis];
    else if (static_cast<Int>(axis) == call.integer("axis"))
      out[axis] *= call.integer("tiles");
  return out;
}

Origin repeated(const CopyPoint& p) {
  const Shape& input = p.call.shape("input");
  Shape at = p.at();
  at.erase(at.begin(), at.end() - static_cast<std::ptrdiff_t>(input.size()));
  for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] %= input[axis];
  return origin(input, at);
}

}  // namespace

Oracle expand() { return moved(expanded, repeated); }
Oracle tile() { return moved(tiled, repeated); }

}  // namespace assay::oracles
