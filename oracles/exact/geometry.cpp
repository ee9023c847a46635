// SPDX-License-Identifier: Apache-2.0
// Written from spec 1.1 and 1.6. I input, k kernel, s stride, d dilation, P total padding, O output extent.
#include "oracles/exact/geometry.h"

#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

enum class Pad { explicit_, same_upper, same_lower, valid };

// Floor and ceiling by the Euclidean remainder.
Int floor_of(Int a, Int s) { return (a - ((a % s) + s) % s) / s; }
Int ceil_of(Int a, Int s) { return floor_of(a + s - 1, s); }

struct Plan {
  Pad pad = Pad::explicit_;
  Ints pads;
  bool ceil = false;
};

// Reads a list; of one that the operator does not have, that value for each entry.
Ints stated(const Call& call, const char* list, std::size_t entries, Int otherwise) {
  return call.definition().attribute(list) ? call.ints(list) : Ints(entries, otherwise);
}

Plan plan(const Call& call, std::size_t rank, const Readings& readings) {
  Plan p;
  const std::string word = call.definition().attribute("auto_pad") ? call.text("auto_pad") : "NOTSET";
  const bool both = word != "NOTSET" && call.states("pads") && !call.ints("pads").empty();
  const bool explicit_wins = both && readings.of("A4") == "pads-win";
  if (!explicit_wins) {
    if (word == "SAME_UPPER") p.pad = Pad::same_upper;
    if (word == "SAME_LOWER") p.pad = Pad::same_lower;
    if (word == "VALID") p.pad = Pad::valid;
  }
  if (p.pad == Pad::explicit_) p.pads = stated(call, "pads", 2 * rank, 0);
  p.ceil = call.definition().attribute("ceil_mode") && call.integer("ceil_mode") != 0;
  return p;
}

// A3: what half of a negative total padding is.
Int half(Int total, const Readings& readings) {
  return readings.of("A3") == "signed-floor" ? floor_of(total, 2) : total / 2;
}

void same(WindowAxis& t, const Plan& p, const Readings& readings) {
  const Int reach = (t.taps - 1) * t.dilation + 1;
  t.windows = ceil_of(t.in, t.stride);
  if (readings.departs("A1") && readings.of("A1") == "match-input") t.windows = t.in;
  if (readings.departs("A10") && !p.ceil) t.windows = floor_of(t.in, t.stride);
  Int total = (t.windows - 1) * t.stride + reach - t.in;
  if (readings.of("A3") == "clamp0") total = std::max<Int>(total, 0);
  const Int less = half(total, readings);
  t.before = p.pad == Pad::same_upper ? less : total - less;
  t.after = total - t.before;
}

// The trailing windows of ceil_mode, A8: those that start at or beyond I on an axis padded by `before`.
void drop_tail(WindowAxis& t, std::string_view reading) {
  const Int starting_inside = ceil_of(t.in + t.before, t.stride);
  if (reading == "drop-all") t.windows = std::min(t.windows, starting_inside);
  if (reading == "drop-one" && t.windows > starting_inside) --t.windows;
}

void count(WindowAxis& t, const Plan& p, const Readings& readings) {
  const Int slack = t.in + t.before + t.after - ((t.taps - 1) * t.dilation + 1);
  if (p.pad == Pad::valid && p.ceil && readings.departs("A7")) {
    t.windows = ceil_of(slack + 1, t.stride);
  } else if (p.pad == Pad::valid && !p.ceil && readings.departs("A10")) {
    t.windows = floor_of(slack + 1, t.stride);
  } else if (p.ceil) {
    t.windows = 1 + ceil_of(slack, t.stride);
    drop_tail(t, readings.of("A8"));
  } else {
    t.windows = 1 + floor_of(slack, t.stride);
  }
}

}  // namespace

CellKind WindowAxis::kind(Int cell) const {
  if (cell >= 0 && cell < in) return CellKind::in;
  return cell < in + after ? CellKind::pad : CellKind::overhang;
}

WindowCounts counts_of(const WindowAxis& track) {
  WindowCounts out;
  for (Int window = 0; window < track.windows; ++window) {
    Int inside = 0, padded = 0;
    for (Int tap = 0; tap < track.taps; ++tap) {
      const CellKind kind = track.kind(track.at(window, tap));
      inside += kind == CellKind::in ? 1 : 0;
      padded += kind != CellKind::overhang ? 1 : 0;
    }
    out.inside.push_back(static_cast<double>(inside));
    out.padded.push_back(static_cast<double>(padded));
  }
  return out;
}

Sliding sliding(const Call& call) {
  const Shape& x = call.shape(call.definition().inputs.front().name);
  const bool is_last = call.has_channels_last();
  const Shape plane(x.begin() + (is_last ? 1 : 2), x.end() - (is_last ? 1 : 0));
  return {plane, call.definition().attribute("kernel_shape") ? call.ints("kernel_shape") : plane};
}

std::optional<std::vector<WindowAxis>> tracks(const Call& call, const Sliding& sliding, const Readings& readings) {
  const Ints& kernel = sliding.kernel;
  if (kernel.empty() && readings.of("W16") == "refuse") return std::nullopt;
  const Plan p = plan(call, kernel.size(), readings);
  const Ints strides = stated(call, "strides", kernel.size(), 1),
             dilations = stated(call, "dilations", kernel.size(), 1);
  std::vector<WindowAxis> all;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    WindowAxis t{.in = sliding.plane.at(i), .taps = kernel[i], .stride = strides.at(i), .dilation = dilations.at(i)};
    if (p.pad == Pad::same_upper || p.pad == Pad::same_lower) {
      same(t, p, readings);
    } else {
      if (p.pad == Pad::explicit_) {
        t.before = p.pads.at(i);
        t.after = p.pads.at(kernel.size() + i);
      }
      count(t, p, readings);
    }
    if (t.windows < 1) {
      if (readings.of("A6") != "zero-size") return std::nullopt;
      t.windows = 0;
    }
    all.push_back(t);
  }
  return all;
}

std::optional<Shape> windowed(const Call& call, Int batch, Int maps, const Readings& readings) {
  const auto resolved = tracks(call, sliding(call), readings);
  if (!resolved) return std::nullopt;
  Shape y{batch, maps};
  for (const WindowAxis& t : *resolved) y.push_back(t.windows);
  return y;
}

void in_order(std::vector<std::string>& ruling_ids) {
  std::ranges::sort(ruling_ids, {}, [](const std::string& id) { return std::pair(id[0], std::stoi(id.substr(1))); });
}

std::vector<std::string> touched_by_geometry(const Call& call, const Sliding& sliding) {
  // A4, A6 and A13 lift a constraint: a legal call does not meet them. The others are not about windows.
  constexpr std::string_view about_windows[] = {"A1", "A3", "A7", "A8", "A10", "W16"};
  std::vector<std::string> ids;
  const auto ruled = tracks(call, sliding, {});
  for (const std::string_view id : about_windows) {
    const RulingUse* use = call.definition().ruling(id);
    if (!use) continue;
    const bool differs = std::ranges::any_of(use->readings, [&](std::string_view reading) {
      return reading != use->readings.front() &&
             tracks(call, sliding, Readings().with(use->id, std::string(reading))) != ruled;
    });
    if (differs) ids.push_back(use->id);
  }
  return ids;
}

}  // namespace assay::oracles
