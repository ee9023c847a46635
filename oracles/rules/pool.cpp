// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/pool.h"

#include "reference/operator.h"

namespace assay::oracles {

std::optional<Shape> pooled_shape(const Call& call, const Readings& readings) {
  const Shape& x = call.shape(call.definition().inputs.front().name);
  return windowed(call, x.at(0), x.at(1), readings);
}

Pool::Pool(const Call& legal, const Operands& in, const Readings& read)
    : call(legal),
      readings(read),
      tracks(*oracles::tracks(legal, sliding(legal), read)),
      x(*in.at(0)),
      shape(*pooled_shape(legal, read)) {}

std::vector<ExactTap> Pool::taps(Int index) const {
  const Shape y = position(shape, index);
  std::vector<Int> cells{y[0] * x.extent(1) + y[1]};
  for (std::size_t axis = 0; axis < tracks.size(); ++axis) {
    std::vector<Int> longer;
    for (const Int before : cells)
      for (Int tap = 0; tap < tracks[axis].taps; ++tap)
        if (const Int cell = tracks[axis].at(y[axis + 2], tap); tracks[axis].kind(cell) == CellKind::in)
          longer.push_back(before * tracks[axis].in + cell);
    cells = std::move(longer);
  }
  std::vector<ExactTap> all;
  for (const Int cell : cells) all.push_back({x.at(cell), cell});
  return all;
}

}  // namespace assay::oracles
