// SPDX-License-Identifier: Apache-2.0
// The exact answer of Slice: along each axis the index of the output, times the step, from where the slice starts.
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <limits>

namespace assay::oracles {
namespace {

__extension__ typedef __int128 Wide;

// One axis: where the slice starts and what it takes.
struct Track {
  Int start = 0, step = 1, count = 0;
};

// Before the first element counts as `least`, past the last as `most`.
Wide bound(Wide value, Wide extent, Wide least, Wide most) {
  return std::clamp(value < 0 ? value + extent : value, least, most);
}

bool is_open_end(Int end) {
  return end == std::numeric_limits<Int>::max() || end == std::numeric_limits<std::int32_t>::max();
}

Track track(Int extent, Int start, Int end, Int step, const Readings& readings) {
  if (extent == 0) return {0, step, 0};
  const bool is_back = step < 0;
  const bool starts_before = is_back && start < -extent;
  if (starts_before && readings.of("M7") == "numpy") return {0, step, 0};
  const Wide first = bound(start, extent, 0, is_back ? extent - 1 : extent);
  Wide last = bound(end, extent, is_back ? -1 : 0, is_back ? extent - 1 : extent);
  if (is_back && is_open_end(end) && readings.of("M8") == "max-is-open") last = -1;
  const Wide way = is_back ? first - last : last - first, by = is_back ? -Wide{step} : Wide{step};
  return {static_cast<Int>(first), step, way <= 0 ? 0 : static_cast<Int>((way + by - 1) / by)};
}

std::vector<Track> tracks(const Call& call, const Readings& readings) {
  std::vector<Track> all;
  for (const Int extent : call.shape("data")) all.push_back({0, 1, extent});
  const Ints starts = call.ints("starts"), ends = call.ints("ends");
  const bool lists_axes = call.states("axes") && !call.ints("axes").empty();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = lists_axes ? axis_in(call.rank("data"), call.ints("axes")[i]) : i;
    const Int step = call.states("steps") ? call.ints("steps")[i] : 1;
    all[axis] = track(call.shape("data")[axis], starts[i], ends[i], step, readings);
  }
  return all;
}

std::optional<Shape> shape(const Call& call, const Readings& readings) {
  const bool leaves_axes_out = !call.states("axes") && std::ssize(call.ints("starts")) < call.rank("data");
  if (leaves_axes_out && readings.of("M9") == "all-axes") return std::nullopt;
  Shape out;
  for (const Track& each : tracks(call, readings)) out.push_back(each.count);
  return out;
}

}  // namespace

Oracle slice() {
  return moved(shape, [](const CopyPoint& p) {
    Shape at = p.at();
    const std::vector<Track> all = tracks(p.call, p.readings);
    for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] = all[axis].start + at[axis] * all[axis].step;
    return origin(p.call.shape("data"), at);
  });
}

}  // namespace assay::oracles
