// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/pool.h"

#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {

std::optional<Shape> pooled_shape(const Call& call, const Readings& readings) {
  const Shape& x = call.shape(call.definition().inputs.front().name);
  if (!call.has_channels_last()) return windowed(call, x.at(0), x.at(1), readings);
  std::optional<Shape> y = windowed(call, x.front(), x.back(), readings);
  if (y) std::rotate(y->begin() + 1, y->begin() + 2, y->end());
  return y;
}

Pool::Pool(const Call& legal, const Operands& in, const Readings& read)
    : call(legal),
      readings(read),
      tracks(*oracles::tracks(legal, sliding(legal), read)),
      x(*in.at(0)),
      shape(*pooled_shape(legal, read)) {}

std::vector<ExactTap> Pool::taps(Int index) const {
  const Shape y = position(shape, index);
  const bool is_last = call.has_channels_last();
  std::vector<Int> cells{is_last ? y[0] : y[0] * x.extent(1) + y[1]};
  for (std::size_t axis = 0; axis < tracks.size(); ++axis) {
    const Int window = y[axis + (is_last ? 1 : 2)];
    std::vector<Int> longer;
    for (const Int before : cells)
      for (Int tap = 0; tap < tracks[axis].taps; ++tap)
        if (const Int cell = tracks[axis].at(window, tap); tracks[axis].kind(cell) == CellKind::in)
          longer.push_back(before * tracks[axis].in + cell);
    cells = std::move(longer);
  }
  std::vector<ExactTap> all;
  for (const Int cell : cells) {
    const Int at = is_last ? cell * shape.back() + y.back() : cell;
    all.push_back({x.at(at), at});
  }
  return all;
}

Int Pool::counted(Int index) const {
  const Shape y = position(shape, index);
  Int count = 1;
  for (std::size_t axis = 0; axis < tracks.size(); ++axis) {
    const Int window = y[axis + (call.has_channels_last() ? 1 : 2)];
    Int on_axis = 0;
    for (Int tap = 0; tap < tracks[axis].taps; ++tap)
      if (tracks[axis].kind(tracks[axis].at(window, tap)) != CellKind::overhang) ++on_axis;
    count *= on_axis;
  }
  return count;
}

}  // namespace assay::oracles
