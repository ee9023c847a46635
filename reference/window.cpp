// SPDX-License-Identifier: Apache-2.0
#include "reference/window.h"

#include "reference/operator.h"

#include <algorithm>

namespace assay {
namespace {

// Throws InputError where sums of these counts could overflow.
void check_counts(const Axis& axis) {
  constexpr Int most = Int{1} << 48;
  for (const Int count : {axis.in, axis.kernel, axis.stride, axis.begin, axis.end})
    if (count > most || count < -most) throw InputError("a window is too large: an extent, stride or pad beyond 2^48");
  Int span;
  if (__builtin_mul_overflow(axis.kernel - 1, axis.dilation, &span) || span > most || span < -most)
    throw InputError("a dilated kernel is too large: more than 2^48 cells");
}

// A1, A2, A3, A31: ceil(in / stride) windows; the padding they need, from the dilated kernel, is at least 0. The odd
// cell goes to the end for SAME_UPPER, to the beginning for SAME_LOWER.
void resolve_same(Axis& axis, bool upper) {
  axis.out = ceil_div(axis.in, axis.stride);
  const Int total = std::max<Int>(0, (axis.out - 1) * axis.stride + axis.effective_kernel() - axis.in);
  const Int small = total / 2, big = total - small;
  axis.begin = upper ? small : big;
  axis.end = upper ? big : small;
}

// A6: division rounds down, so a kernel larger than its padded input has no window. A8: of the windows ceil_mode adds,
// one that starts beyond the input and its begin padding is dropped.
void count_windows(Axis& axis, bool ceil) {
  const Int room = axis.in + axis.begin + axis.end - axis.effective_kernel();
  axis.out = (ceil ? ceil_div(room, axis.stride) : floor_div(room, axis.stride)) + 1;
  if (ceil && (axis.out - 1) * axis.stride >= axis.in + axis.begin) --axis.out;
}

Shape each(const std::vector<Axis>& axes, Int Axis::*member) {
  Shape shape;
  for (const Axis& axis : axes) shape.push_back(axis.*member);
  return shape;
}

Int spatial_axes(const Call& c) { return std::max<Int>(0, c.rank("X") - 2); }
bool has(const Call& c, const char* attribute) { return c.definition().attribute(attribute) != nullptr; }

// An attribute list absent from this version, or of `per_axis` entries for each spatial axis.
bool has_length(const Call& c, const char* attribute, Int per_axis) {
  return !has(c, attribute) || static_cast<Int>(c.ints(attribute).size()) == per_axis * spatial_axes(c);
}

bool lengths_match(const Call& c) {
  return has_length(c, "kernel_shape", 1) && has_length(c, "strides", 1) && has_length(c, "dilations", 1) &&
         has_length(c, "pads", 2);
}

bool auto_pad_is_known(const Call& c) {
  const std::string word = c.text("auto_pad");
  return word == "NOTSET" || word == "SAME_UPPER" || word == "SAME_LOWER" || word == "VALID";
}

bool signs_are_right(const Call& c) {
  return all_at_least(c.ints("kernel_shape"), 1) && all_at_least(c.ints("strides"), 1) &&
         (!has(c, "dilations") || all_at_least(c.ints("dilations"), 1)) && all_at_least(c.ints("pads"), 0);
}

bool has_a_window(const Call& c) {
  if (spatial_axes(c) == 0 || !lengths_match(c) || !signs_are_right(c) || !auto_pad_is_known(c)) return true;
  return all_at_least(Window::of(c).output(), 1);
}

}  // namespace

Window Window::of(const Call& call) {
  const auto stated = [&](const char* list, const Derived& otherwise) {
    return has(call, list) ? call.ints(list) : otherwise(call);
  };
  Ints plane;
  for (Int axis = 0; axis < spatial_axes(call); ++axis)
    plane.push_back(call.dim("X", axis + (call.has_channels_last() ? 1 : 2)));
  const Ints kernel = has(call, "kernel_shape") ? call.ints("kernel_shape") : plane, strides = stated("strides", ones);
  const Ints dilations = stated("dilations", ones);
  const std::string auto_pad = has(call, "auto_pad") ? call.text("auto_pad") : "NOTSET";
  const Ints pads = auto_pad == "NOTSET" ? stated("pads", zeros) : zeros(call);
  const bool ceil = call.definition().attribute("ceil_mode") && call.integer("ceil_mode") != 0;

  Window window;
  for (std::size_t i = 0, rank = kernel.size(); i < rank; ++i) {
    Axis axis{.in = plane.at(i), .kernel = kernel[i], .stride = strides.at(i), .dilation = dilations.at(i)};
    const bool is_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
    if (!is_same) {
      axis.begin = pads.at(i);
      axis.end = pads.at(rank + i);
    }
    check_counts(axis);
    if (is_same)
      resolve_same(axis, auto_pad == "SAME_UPPER");
    else
      count_windows(axis, ceil);
    window.axes.push_back(axis);
  }
  return window;
}

Shape Window::input() const { return each(axes, &Axis::in); }
Shape Window::kernel() const { return each(axes, &Axis::kernel); }
Shape Window::output() const { return each(axes, &Axis::out); }
Int Window::taps() const { return volume(kernel()); }

std::optional<Int> Window::cell(const Shape& window, const Shape& tap) const {
  Int flat = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Int cell = axes[i].cell(window[i], tap[i]);
    if (!axes[i].is_inside(cell)) return std::nullopt;
    flat = flat * axes[i].in + cell;
  }
  return flat;
}

bool Window::is_padded(const Shape& window, const Shape& tap) const {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (!axes[i].is_padded(axes[i].cell(window[i], tap[i]))) return false;
  return true;
}

bool all_at_least(std::span<const Int> values, Int least) {
  return std::ranges::all_of(values, [=](Int value) { return value >= least; });
}

void window_constraints(Operator& op) {
  op.require("W1", "auto_pad is NOTSET, SAME_UPPER, SAME_LOWER or VALID (A5)", auto_pad_is_known)
      .require(
          "W2", "pads are given only where auto_pad is NOTSET",
          [](const Call& c) { return !c.states("pads") || c.ints("pads").empty() || c.text("auto_pad") == "NOTSET"; },
          "A4")
      .require("W3", "kernel_shape, strides and dilations have one entry per spatial axis, pads two", lengths_match)
      .require("W4", "kernel extents >= 1", [](const Call& c) { return all_at_least(c.ints("kernel_shape"), 1); })
      .require("W5", "strides >= 1", [](const Call& c) { return all_at_least(c.ints("strides"), 1); })
      .require("W6", "dilations >= 1",
               [](const Call& c) { return !has(c, "dilations") || all_at_least(c.ints("dilations"), 1); })
      .require("W7", "pads >= 0", [](const Call& c) { return all_at_least(c.ints("pads"), 0); })
      .require("W8", "at least one window fits on every spatial axis", has_a_window, "A6");
}

}  // namespace assay
