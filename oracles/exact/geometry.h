// SPDX-License-Identifier: Apache-2.0
// The oracle's own hand at padding and windows, under any readings. It shares nothing with reference/window.h; a test
// compares the two, and ONNX's inference as the third.
#pragma once

#include "reference/call.h"
#include "reference/rulings.h"

#include <optional>
#include <string>
#include <vector>

namespace assay::oracles {

enum class CellKind { in, pad, overhang };

// One spatial axis after padding is resolved. `before` and `after` are negative under the signed readings of A3.
struct WindowAxis {
  Int in = 0, taps = 1, stride = 1, dilation = 1, before = 0, after = 0, windows = 0;

  Int at(Int window, Int tap) const { return window * stride - before + tap * dilation; }
  CellKind kind(Int cell) const;
  bool operator==(const WindowAxis&) const = default;
};

// Cells inside, and inside or padded, of each window of one axis: what an average divides by.
struct WindowCounts {
  std::vector<double> inside, padded;
};
WindowCounts counts_of(const WindowAxis& track);

// What slides over what: the spatial extents of the input, and the taps of the kernel per axis.
struct Sliding {
  Shape plane;
  Ints kernel;
};
// Reads the spatial extents of X, its channels second or last, and kernel_shape as stated or from W, or the plane.
Sliding sliding(const Call& call);

// One track per spatial axis; none where some axis has no window under these readings.
std::optional<std::vector<WindowAxis>> tracks(const Call& call, const Sliding& sliding, const Readings& readings);

// [batch, maps, windows…] of a channels-first output; none where no window fits.
std::optional<Shape> windowed(const Call& call, Int batch, Int maps, const Readings& readings);

// Rulings on geometry that change the tracks of this call, in the order of their numbers. The call is legal.
std::vector<std::string> touched_by_geometry(const Call& call, const Sliding& sliding);
void in_order(std::vector<std::string>& ruling_ids);

// Calls f(position) for every position of a box, row-major.
template <class F>
void each(const std::vector<Int>& box, F&& f) {
  for (const Int extent : box)
    if (extent <= 0) return;
  std::vector<Int> at(box.size(), 0);
  for (std::size_t axis = box.size();;) {
    f(std::as_const(at));
    for (axis = box.size(); axis > 0; --axis) {
      if (++at[axis - 1] < box[axis - 1]) break;
      at[axis - 1] = 0;
    }
    if (axis == 0) return;
  }
}

}  // namespace assay::oracles
