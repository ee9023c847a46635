// SPDX-License-Identifier: Apache-2.0
// Sliding-window geometry drawn on purpose: each WindowPattern is one cell of the coverage tables (spec 4.4, B.2),
// built by construction and not found by luck.
#pragma once

#include "reference/case.h"
#include "reference/window.h"

#include <string>
#include <vector>

namespace assay::generators {

enum class WindowPattern {
  plain,
  // explicit padding
  even_pads,       // half the effective kernel at both ends, as networks have it
  distinct_pads,   // different at both ends
  oversized_pads,  // at least the effective kernel, at one end or both
  dilated,
  wide_stride,  // the effective kernel is smaller than the stride
  empty_input,  // no input cell; windows only over padding
  valid,        // VALID: no padding
  // SAME_*
  same_plain,        // stride 1
  same_odd,          // an odd number of padding cells
  same_strided,      // some padding and a stride
  same_wide_stride,  // the clamp of A3
  same_dilated,
  // ceil_mode
  overhang,       // the last window reaches two cells or more beyond the padding
  trailing_one,   // one window would start in the end padding (A8)
  trailing_many,  // two or more would
  short_input,    // the kernel is larger than the padded input, and one window remains
};

struct AxisLimits {
  Int extent, kernel, out;  // per axis
  bool dilations = true, ceil_mode = true;
};
// Smaller axes where there are more of them.
AxisLimits limits_of_rank(Int rank);

// One axis with the properties of the theme. For SAME themes the padding is left to auto_pad.
Axis draw_axis(WindowPattern theme, const AxisLimits& limits);

struct Geometry {
  std::string auto_pad = "NOTSET";
  bool ceil_mode = false;
  std::vector<Axis> axes;
};

// `lead` holds on one axis; the others take a theme of the same family, a plain one, or are like the first.
Geometry draw_geometry(WindowPattern lead, Int rank, const AxisLimits& limits);

Int taps(const Geometry& geometry);

// Writes the window attributes. Defaults are sometimes left out and sometimes written out.
void write_window(Node& node, const Definition& definition, const Geometry& geometry);

}  // namespace assay::generators
