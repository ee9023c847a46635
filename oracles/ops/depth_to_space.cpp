// SPDX-License-Identifier: Apache-2.0
// The exact answers of DepthToSpace and SpaceToDepth: where the element of one index of the output stood.
#include "oracles/rules/rules.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

// The channel, on the side of many channels, of one of the others and a place in its block.
Int channel(const Call& call, Int other, Int others, Int row, Int column) {
  const Int block = call.integer("blocksize"), place = row * block + column;
  const bool is_inner = call.definition().attribute("mode") && call.text("mode") == "CRD";
  return is_inner ? other * block * block + place : place * others + other;
}

std::optional<Shape> spread(const Call& call, const Readings&) {
  const Int b = call.integer("blocksize");
  return Shape{call.dim("input", 0), call.dim("input", 1) / (b * b), b * call.dim("input", 2),
               b * call.dim("input", 3)};
}

std::optional<Shape> stacked(const Call& call, const Readings&) {
  const Int b = call.integer("blocksize");
  return Shape{call.dim("input", 0), call.dim("input", 1) * b * b, call.dim("input", 2) / b, call.dim("input", 3) / b};
}

}  // namespace

Oracle depth_to_space() {
  return moved(spread, [](const CopyPoint& p) {
    const Shape at = p.at();
    const Int b = p.call.integer("blocksize");
    return origin(p.call.shape("input"),
                  {at[0], channel(p.call, at[1], p.shape[1], at[2] % b, at[3] % b), at[2] / b, at[3] / b});
  });
}

Oracle space_to_depth() {
  return moved(stacked, [](const CopyPoint& p) {
    const Shape at = p.at();
    const Int b = p.call.integer("blocksize"), others = p.call.dim("input", 1);
    for (Int other = 0; other < others; ++other)
      for (Int place = 0; place < b * b; ++place)
        if (channel(p.call, other, others, place / b, place % b) == at[1])
          return origin(p.call.shape("input"), {at[0], other, at[2] * b + place / b, at[3] * b + place % b});
    throw BrokenPromise("a channel that no element goes to");
  });
}

}  // namespace assay::oracles
