// SPDX-License-Identifier: Apache-2.0
// The exact answers of Pad and CenterCropPad: along each axis, how far an element stands from the first of data, modulo
// the length after which data repeats.
#include "oracles/rules/moving.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

// One axis: the extent of data, and what the output has before and behind it.
struct Margins {
  Int extent = 0, before = 0, behind = 0;

  // What is left of data where counts are negative.
  Int left() const { return extent + std::min<Int>(before, 0) + std::min<Int>(behind, 0); }
};

Ints stated_pads(const Call& call) {
  return call.ints(call.definition().attribute("pads") || call.has("pads") ? "pads" : "paddings");
}

std::vector<Margins> margins(const Call& call, const Readings& readings) {
  std::vector<Margins> all;
  for (const Int extent : call.shape("data")) all.push_back({extent});
  const Ints pads = stated_pads(call);
  const std::size_t axes = pads.size() / 2;
  for (std::size_t i = 0; i < axes; ++i) {
    Margins& each = all[call.states("axes") ? axis_in(call.rank("data"), call.ints("axes")[i]) : i];
    const bool is_interleaved = call.definition().ruling("M14") && readings.of("M14") == "interleaved";
    each.before = pads[is_interleaved ? 2 * i : i];
    each.behind = pads[is_interleaved ? 2 * i + 1 : axes + i];
  }
  return all;
}

// Readings of M11 refuse a reflection beyond the other edge.
std::optional<Shape> padded(const Call& call, const Readings& readings) {
  Shape out;
  for (const Margins& each : margins(call, readings)) {
    const bool is_beyond = std::max(each.before, each.behind) > std::max<Int>(0, each.left() - 1);
    if (is_beyond && call.text("mode") == "reflect" && readings.of("M11") == "reflect-limit") return std::nullopt;
    out.push_back(each.before + each.extent + each.behind);
  }
  return out;
}

Int modulo(Int value, Int length) { return (value % length + length) % length; }

// Where in `extent` elements an index falls; below 0 outside.
Int found(Int index, Int extent, const std::string& mode) {
  if (mode == "constant") return index < extent ? std::max<Int>(index, -1) : -1;
  if (mode == "edge") return std::min(std::max<Int>(index, 0), extent - 1);
  if (mode == "wrap") return modulo(index, extent);
  const Int period = std::max<Int>(1, 2 * (extent - 1)), at = modulo(index, period);
  return extent == 1 ? 0 : std::min(at, period - at);
}

Origin padding(const CopyPoint& p) {
  const std::string mode = p.call.text("mode");
  const std::vector<Margins> all = margins(p.call, p.readings);
  Shape at = p.at();
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const Margins& each = all[axis];
    const bool crops = mode != "constant" && each.left() < each.extent && p.call.definition().ruling("M13") &&
                       p.readings.of("M13") == "crop-first";
    const Int dropped = crops ? std::max<Int>(0, -each.before) : 0;
    at[axis] = found(at[axis] - each.before - dropped, crops ? each.left() : each.extent, mode) + dropped;
    if (at[axis] < dropped) return p.call.has("constant_value") ? Origin{0, 2} : Origin{-1};
  }
  return origin(p.call.shape("data"), at);
}

std::optional<float> stated_value(const Call& call) {
  return call.definition().attribute("value") ? std::optional(call.real("value")) : std::nullopt;
}

// -- CenterCropPad

std::optional<Shape> centred(const Call& call, const Readings&) {
  Shape out = call.shape("input_data");
  const Ints targets = call.ints("shape");
  for (std::size_t i = 0; i < targets.size(); ++i)
    out[axis_in(call.rank("input_data"), call.ints("axes")[i])] = targets[i];
  return out;
}

Origin centring(const CopyPoint& p) {
  const Shape& data = p.call.shape("input_data");
  Shape at = p.at();
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const Int kept = std::min(data[axis], p.shape[axis]);
    at[axis] += (data[axis] - kept) / 2 - (p.shape[axis] - kept) / 2;
    if (at[axis] < 0 || at[axis] >= data[axis]) return {-1};
  }
  return origin(data, at);
}

}  // namespace

Oracle pad() { return moved_into(padded, padding, stated_value); }
Oracle center_crop_pad() { return moved(centred, centring); }

}  // namespace assay::oracles
