// SPDX-License-Identifier: Apache-2.0
#include "generators/shapes.h"

#include "generators/draw.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>

namespace assay::generators {
namespace {

// `extra` cells around the padding and the kernel; the input takes what the padding leaves, at least one cell.
Axis with_room(Axis axis, Int room) {
  axis.in = std::max<Int>(1, room + axis.effective_kernel() - axis.begin - axis.end);
  return axis;
}

Int draw_dilation(const AxisLimits& limits, Int percent) {
  return limits.dilations && chance(percent) ? between(2, 3) : 1;
}

Axis draw_kernel(const AxisLimits& limits, Int stride_limit = 3) {
  Axis axis;
  axis.kernel = between(1, limits.kernel);
  axis.stride = chance(40) ? between(1, stride_limit) : 1;
  axis.dilation = draw_dilation(limits, 25);
  return axis;
}

// Floor mode: room for up to `out` windows and a rest that no window uses.
Axis with_windows(Axis axis, const AxisLimits& limits) {
  const Int windows = (between(1, limits.out) - 1) * axis.stride;
  return with_room(axis, windows + between(0, axis.stride - 1));
}

Axis plain(const AxisLimits& limits) {
  Axis axis = draw_kernel(limits);
  if (chance(40)) axis.begin = between(0, std::min<Int>(2, axis.effective_kernel() - 1));
  if (chance(40)) axis.end = between(0, std::min<Int>(2, axis.effective_kernel() - 1));
  return with_windows(axis, limits);
}

Axis even_pads(const AxisLimits& limits) {
  Axis axis;
  axis.kernel = between(2, std::max<Int>(2, limits.kernel));
  axis.dilation = draw_dilation(limits, 25);
  axis.stride = between(1, 2);
  axis.begin = axis.end = axis.effective_kernel() / 2;
  return with_windows(axis, limits);
}

Axis distinct_pads(const AxisLimits& limits) {
  Axis axis = draw_kernel(limits);
  axis.begin = between(0, 3);
  axis.end = (axis.begin + between(1, 3)) % 4;
  return with_windows(axis, limits);
}

Axis oversized_pads(const AxisLimits& limits) {
  Axis axis = draw_kernel({limits.extent, std::min<Int>(limits.kernel, 2), limits.out, limits.dilations}, 2);
  const Int side = between(0, 2);  // begin, end, both
  axis.begin = side == 1 ? between(0, 1) : axis.effective_kernel() + between(0, 1);
  axis.end = side == 0 ? between(0, 1) : axis.effective_kernel() + between(0, 2);
  axis.in = between(1, std::max<Int>(2, limits.out - 1));
  return axis;
}

Axis dilated(const AxisLimits& limits) {
  Axis axis;
  axis.kernel = between(2, std::max<Int>(2, limits.kernel));
  axis.dilation = between(2, 3);
  axis.stride = between(1, 2);
  axis.begin = between(0, 2);
  axis.end = between(0, 2);
  return with_windows(axis, limits);
}

Axis wide_stride(const AxisLimits& limits) {
  Axis axis;
  axis.kernel = between(1, 2);
  axis.dilation = axis.kernel == 2 ? draw_dilation(limits, 30) : 1;
  axis.stride = axis.effective_kernel() + between(1, 2);
  axis.begin = between(0, axis.kernel);
  axis.end = between(0, 1);
  return with_windows(axis, limits);
}

Axis empty_input(const AxisLimits&) {
  Axis axis;
  axis.kernel = between(1, 2);
  axis.in = 0;
  axis.begin = between(1, 2);
  axis.end = axis.kernel - 1 + between(0, 1);
  return axis;
}

Axis valid(const AxisLimits& limits) { return with_windows(draw_kernel(limits), limits); }

// SAME pads ek - q cells, q = ((in - 1) mod s) + 1, where that is positive (spec 1.1).
Axis with_rest(Axis axis, Int q, const AxisLimits& limits) {
  axis.in = q + axis.stride * between(0, std::max<Int>(1, std::min(limits.out, limits.extent / axis.stride) - 1));
  return axis;
}

Axis same_plain(const AxisLimits& limits) {
  Axis axis;
  axis.kernel = between(1, limits.kernel);
  axis.dilation = draw_dilation(limits, 20);
  return with_rest(axis, 1, limits);
}

Axis same_odd(const AxisLimits& limits) {
  Axis axis;
  axis.kernel = between(2, std::max<Int>(2, limits.kernel));
  axis.dilation = draw_dilation(limits, 30);
  const Int kernel = axis.effective_kernel(), total = 2 * between(0, kernel / 2 - 1) + 1;
  const Int q = kernel - total;
  axis.stride = std::clamp<Int>(q + between(0, 1), 1, 5);
  return with_rest(axis, std::min(q, axis.stride), limits);
}

Axis same_strided(const AxisLimits& limits) {
  Axis axis;
  axis.kernel = between(2, std::max<Int>(2, limits.kernel));
  axis.stride = between(2, std::max<Int>(2, axis.kernel));
  return with_rest(axis, between(1, axis.stride), limits);
}

Axis same_wide_stride(const AxisLimits& limits) {
  Axis axis;
  axis.kernel = between(1, 2);
  axis.stride = axis.kernel + between(1, 3);
  return with_rest(axis, between(1, axis.stride), limits);
}

Axis same_dilated(const AxisLimits& limits) {
  Axis axis;
  axis.kernel = between(2, std::max<Int>(2, std::min<Int>(3, limits.kernel)));
  axis.dilation = between(2, 3);
  axis.stride = between(1, 3);
  return with_rest(axis, between(1, axis.stride), limits);
}

// With n = in + begin + end - ek = out * stride - rest, the last window of ceil_mode reaches `rest` cells beyond the
// padding, and starts in the end padding exactly when end + rest >= ek.
Axis ceil_axis(Axis axis, Int rest, const AxisLimits& limits) {
  const Int least = axis.effective_kernel() - axis.begin - axis.end - rest;  // in = least + windows * stride >= 1
  const Int windows = least >= 1 ? between(0, limits.out - 1) : ceil_div(1 - least, axis.stride) + between(0, 2);
  axis.in = axis.effective_kernel() - axis.begin - axis.end + std::max<Int>(1, windows) * axis.stride - rest;
  return axis;
}

Axis overhang(const AxisLimits& limits) {
  Axis axis;
  axis.stride = between(3, 5);
  const Int rest = between(2, std::min<Int>(axis.stride - 1, 3));
  axis.end = between(0, 1);
  const Int least = rest + axis.end + 1;  // the kernel that still starts inside
  axis.dilation = limits.dilations && chance(40) ? 2 : 1;
  axis.kernel = axis.dilation == 1 ? least + between(0, 1) : least / 2 + 1;
  axis.begin = between(0, 2);
  return ceil_axis(axis, rest, limits);
}

Axis trailing_one(const AxisLimits& limits) {
  Axis axis = draw_kernel({limits.extent, std::min<Int>(limits.kernel, 3), limits.out, limits.dilations}, 4);
  axis.begin = between(0, 2);
  const Int beyond = axis.effective_kernel() + between(0, axis.stride - 1);  // end + rest
  const Int rest = between(0, std::min(axis.stride - 1, beyond));
  axis.end = beyond - rest;
  return ceil_axis(axis, rest, limits);
}

Axis trailing_many(const AxisLimits& limits) {
  Axis axis = draw_kernel({limits.extent, std::min<Int>(limits.kernel, 2), limits.out, limits.dilations}, 2);
  axis.dilation = std::min<Int>(axis.dilation, 2);  // keeps the number of windows small
  axis.begin = between(0, 2);
  axis.end = axis.effective_kernel() + axis.stride + between(0, 2);
  axis.in = between(1, limits.out);
  return axis;
}

// n = -missing with -stride < n < 0: one window, larger than the padded input.
Axis short_input(const AxisLimits& limits) {
  Axis axis;
  axis.stride = between(2, 5);
  const Int missing = between(1, axis.stride - 1);
  axis.in = between(1, 3);
  axis.begin = between(0, 1);
  axis.end = between(0, 1);
  const Int span = axis.in + axis.begin + axis.end + missing;
  axis.dilation = limits.dilations && span % 2 == 1 && chance(40) ? 2 : 1;
  axis.kernel = (span - 1) / axis.dilation + 1;
  return axis;
}

bool is_same(WindowPattern theme) { return theme >= WindowPattern::same_plain && theme <= WindowPattern::same_dilated; }
bool needs_ceil(WindowPattern theme) { return theme >= WindowPattern::overhang; }

std::vector<WindowPattern> companions(WindowPattern lead, bool ceil_mode, const AxisLimits& limits) {
  using enum WindowPattern;
  if (lead == valid) return {valid};
  if (is_same(lead)) return {same_odd, same_strided, same_wide_stride, limits.dilations ? same_dilated : same_odd};
  if (ceil_mode)
    return {overhang,      trailing_many, short_input,   oversized_pads,
            distinct_pads, trailing_one,  trailing_many, short_input};
  return {plain, distinct_pads, oversized_pads, limits.dilations ? dilated : plain, wide_stride};
}

// Networks window every axis alike: the leading axis again, with another number of windows.
Axis alike(Axis axis) {
  axis.in += axis.stride * between(0, 1);
  return axis;
}

// Of a hundred cases.
Int how_often_alike(WindowPattern lead) {
  switch (lead) {
    case WindowPattern::plain: return 35;
    case WindowPattern::even_pads:
    case WindowPattern::same_plain: return 60;
    case WindowPattern::dilated: return 25;
    case WindowPattern::distinct_pads:
    case WindowPattern::empty_input: return 0;
    default: return 10;
  }
}

// The begin paddings, then the end paddings, no two alike where the kernels allow it: swaps become visible.
void spread_pads(std::vector<Axis>& axes) {
  Int next = between(0, 1);
  for (Int Axis::*side : {&Axis::begin, &Axis::end})
    for (Axis& axis : axes) {
      const Int moved = next - axis.*side;
      axis.*side = next++;
      axis.in = std::max<Int>(1, axis.in - moved);
    }
}

// The padding of the first axis at both ends of all of them.
void even_out_pads(std::vector<Axis>& axes) {
  const Int pad = axes.front().begin;
  for (Axis& axis : axes) {
    axis.in = std::max<Int>(1, axis.in + axis.begin + axis.end - 2 * pad);
    axis.begin = axis.end = pad;
  }
}

// A list that says what its default says is left out half of the time.
void write_list(Node& node, const char* name, Ints values, Int default_value) {
  const bool is_default = std::ranges::all_of(values, [=](Int value) { return value == default_value; });
  if (!is_default || chance(45)) node.attribute(name, std::move(values));
}

}  // namespace

AxisLimits limits_of_rank(Int rank) {
  switch (rank) {
    case 1: return {.extent = 12, .kernel = 4, .out = 7};
    case 2: return {.extent = 9, .kernel = 3, .out = 4};
    case 3: return {.extent = 5, .kernel = 3, .out = 3};
    default: return {.extent = 4, .kernel = 2, .out = 2};
  }
}

Axis draw_axis(WindowPattern theme, const AxisLimits& limits) {
  // In the order of WindowPattern.
  constexpr Axis (*drawn[])(const AxisLimits&) = {
      plain,        even_pads, distinct_pads, oversized_pads, dilated,      wide_stride,
      empty_input,  valid,     same_plain,    same_odd,       same_strided, same_wide_stride,
      same_dilated, overhang,  trailing_one,  trailing_many,  short_input};
  return drawn[static_cast<std::size_t>(theme)](limits);
}

Geometry draw_geometry(WindowPattern lead, Int rank, const AxisLimits& limits) {
  Geometry geometry;
  if (is_same(lead)) geometry.auto_pad = chance(50) ? "SAME_LOWER" : "SAME_UPPER";
  if (lead == WindowPattern::valid) geometry.auto_pad = "VALID";
  geometry.ceil_mode = needs_ceil(lead) || (limits.ceil_mode && chance(40));
  if (chance(how_often_alike(lead))) {
    const Axis leading = draw_axis(lead, limits);
    for (Int i = 0; i < rank; ++i) geometry.axes.push_back(alike(leading));
    return geometry;
  }
  const Int leading_axis = between(0, rank - 1);
  for (Int i = 0; i < rank; ++i) {
    const WindowPattern rest = lead == WindowPattern::valid ? WindowPattern::valid : WindowPattern::plain;
    const bool has_theme = rank < 4 && chance(65);
    const WindowPattern theme = i == leading_axis ? lead
                                : has_theme       ? pick(companions(lead, geometry.ceil_mode, limits))
                                                  : rest;
    geometry.axes.push_back(draw_axis(theme, limits));
  }
  if (lead == WindowPattern::distinct_pads && rank < 4 && chance(60)) spread_pads(geometry.axes);
  if (lead == WindowPattern::even_pads) even_out_pads(geometry.axes);
  return geometry;
}

Int taps(const Geometry& geometry) {
  const Ints kernel = transformed<Int>(geometry.axes, &Axis::kernel);
  return volume(kernel);
}

void write_window(Node& node, const Definition& definition, const Geometry& geometry) {
  node.attribute("kernel_shape", transformed<Int>(geometry.axes, &Axis::kernel));
  write_list(node, "strides", transformed<Int>(geometry.axes, &Axis::stride), 1);
  if (definition.attribute("dilations"))
    write_list(node, "dilations", transformed<Int>(geometry.axes, &Axis::dilation), 1);
  if (definition.attribute("auto_pad") && (geometry.auto_pad != "NOTSET" || chance(20)))
    node.attribute("auto_pad", geometry.auto_pad);
  if (geometry.auto_pad == "NOTSET") {
    Ints pads = transformed<Int>(geometry.axes, &Axis::begin);
    std::ranges::copy(transformed<Int>(geometry.axes, &Axis::end), std::back_inserter(pads));
    write_list(node, "pads", std::move(pads), 0);
  }
  if (definition.attribute("ceil_mode") && (geometry.ceil_mode || chance(25)))
    node.attribute("ceil_mode", Attribute(Int{geometry.ceil_mode}));
}

}  // namespace assay::generators
