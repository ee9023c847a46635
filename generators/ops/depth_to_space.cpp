// SPDX-License-Identifier: Apache-2.0
// DepthToSpace and SpaceToDepth: blocks of 1 to 3, planes of unlike extents, several channels and images.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

namespace assay::generators {
namespace {

Case drawn(const Definition& definition, DType type, std::uint64_t stratum, bool has_many_channels) {
  const Int block = weighted<Int>({{20, 1}, {50, 2}, {30, 3}});
  Shape shape{between(1, 2), between(1, 3), between(1, 4), between(1, 4)};
  if (stratum % 8 == 0) shape[static_cast<std::size_t>(between(0, 3))] = 0;
  if (has_many_channels) shape[1] *= block * block;
  for (const std::size_t axis : {2, 3}) shape[axis] *= has_many_channels ? 1 : block;
  Case c = moving(definition, type, shape);
  c.node.attribute("blocksize", Attribute(block));
  if (const AttributeSpec* const mode = definition.attribute("mode"); mode && chance(75))
    c.node.attribute("mode", pick(mode->words));
  return c;
}

}  // namespace

const OperatorGenerator& depth_to_space() {
  static const OperatorGenerator all = placing_generator(
      [](const Definition& d, DType type, std::uint64_t stratum) { return drawn(d, type, stratum, true); }, axes<4, 4>);
  return all;
}

const OperatorGenerator& space_to_depth() {
  static const OperatorGenerator all = placing_generator(
      [](const Definition& d, DType type, std::uint64_t stratum) { return drawn(d, type, stratum, false); },
      axes<4, 4>);
  return all;
}

}  // namespace assay::generators
