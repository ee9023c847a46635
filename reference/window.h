// SPDX-License-Identifier: Apache-2.0
// Sliding-window geometry, shared by the Conv and Pool families: how padding resolves (auto_pad), how many windows
// there are (ceil_mode, the tail) and which cell each tap reads. Every ruling is read as ruled.
#pragma once

#include "reference/call.h"

#include <optional>
#include <utility>

namespace assay {

// Rounds towards minus infinity; b > 0.
constexpr Int floor_div(Int a, Int b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
constexpr Int ceil_div(Int a, Int b) { return -floor_div(-a, b); }

// One spatial axis. All counts in cells.
struct Axis {
  Int in = 0, kernel = 1, stride = 1, dilation = 1;
  Int begin = 0, end = 0;  // padding
  Int out = 0;             // windows; <= 0 where none fits

  Int effective_kernel() const { return (kernel - 1) * dilation + 1; }
  // The cell tap `tap` of window `window` reads; outside [0, in) it is padding or overhang.
  Int cell(Int window, Int tap) const { return window * stride - begin + tap * dilation; }
  bool is_inside(Int cell) const { return 0 <= cell && cell < in; }
  // Inside the input or its padding; the cells beyond are overhang, which only ceil_mode produces.
  bool is_padded(Int cell) const { return -begin <= cell && cell < in + end; }
};

struct Window {
  std::vector<Axis> axes;

  // Reads X and, where the operator has them, kernel_shape, strides, auto_pad, pads, dilations and ceil_mode; without a
  // kernel_shape the window is the plane. X is laid out N x C x D1 … Dr, or N x D1 … Dr x C as the call has it. The
  // call must meet the constraints on those (lengths, signs).
  static Window of(const Call& call);

  Shape input() const;   // the cells per axis
  Shape kernel() const;  // the taps per axis
  Shape output() const;  // the windows per axis
  Int taps() const;      // per window

  // The cell, as a row-major index into the input plane, that tap `tap` of window `window` reads; none where it falls
  // outside the input.
  std::optional<Int> cell(const Shape& window, const Shape& tap) const;
  // Tells whether that tap falls inside the input or its padding.
  bool is_padded(const Shape& window, const Shape& tap) const;
};

// The constraints on auto_pad, dilations, kernel_shape, pads and strides, as W1 … W8.
class Operator;
void window_constraints(Operator& op);

bool all_at_least(std::span<const Int> values, Int least);

// Row-major positions of a box: calls f(position, flat index) for each.
template <class F>
void for_each_position(std::span<const Int> box, F&& f) {
  const Int count = volume(box);
  Shape position(box.size(), 0);
  for (Int flat = 0; flat < count; ++flat) {
    f(std::as_const(position), flat);
    for (std::size_t axis = box.size(); axis-- > 0 && ++position[axis] == box[axis];) position[axis] = 0;
  }
}

}  // namespace assay
