// SPDX-License-Identifier: Apache-2.0
#include "reference/families/broadcast.h"

#include <algorithm>

namespace assay {
namespace {

const Shape& shape_of(const Call& call, std::size_t input) { return call.shape(call.definition().inputs[input].name); }

bool is_limited(const Call& call) { return call.definition().attribute("broadcast") != nullptr; }
bool repeats(const Call& call) { return call.integer("broadcast") == 1; }
bool is_single(const Shape& shape) { return volume(shape) == 1; }

bool is_per_channel(const Call& call) { return call.definition().constraint("chan") != nullptr; }
// Returns the axis of the channels: of a vector its only one, -1 where there is no axis.
Int channel_axis(const Call& call) { return std::min<Int>(1, std::ssize(shape_of(call, 0)) - 1); }

// The axis of the first input at which the second one starts; negative counts from the end (E9).
Int first_axis(const Call& call) {
  if (is_per_channel(call)) return channel_axis(call);
  const auto a = static_cast<Int>(shape_of(call, 0).size()), b = static_cast<Int>(shape_of(call, 1).size());
  if (!call.states("axis")) return a - b;
  const Int axis = call.integer("axis");
  return axis < 0 ? axis + a : axis;
}

bool has_no_more_axes(const Call& call) {
  return !repeats(call) || shape_of(call, 1).size() <= shape_of(call, 0).size();
}

bool starts_inside(const Call& call) {
  const Shape &a = shape_of(call, 0), &b = shape_of(call, 1);
  if (!repeats(call) || is_single(b) || b.size() > a.size()) return true;
  const Int first = first_axis(call);
  return first >= 0 && first + static_cast<Int>(b.size()) <= static_cast<Int>(a.size());
}

bool is_a_run(const Call& call) {
  const Shape &a = shape_of(call, 0), &b = shape_of(call, 1);
  if (!repeats(call) || is_single(b) || !has_no_more_axes(call) || !starts_inside(call)) return true;
  return std::ranges::equal(b, std::span(a).subspan(static_cast<std::size_t>(first_axis(call)), b.size()));
}

bool is_same(const Call& call) { return call.integer("broadcast") != 0 || shape_of(call, 0) == shape_of(call, 1); }

bool is_flag(const Call& call) { return call.integer("broadcast") == 0 || repeats(call); }

// Right-aligned; on each axis all extents but those of 1 are equal, and 0 is an extent like any other.
std::optional<Shape> joined(const Call& call) {
  Shape shape;
  for (const Parameter& parameter : call.definition().inputs) {
    if (!call.has(parameter.name)) continue;
    const Shape& input = call.shape(parameter.name);
    if (input.size() > shape.size()) shape.insert(shape.begin(), input.size() - shape.size(), 1);
    for (std::size_t i = 0; i < input.size(); ++i) {
      Int& extent = shape[shape.size() - input.size() + i];
      if (extent == 1) extent = input[i];
      if (input[i] != 1 && input[i] != extent) return std::nullopt;
    }
  }
  return shape;
}

// Strides of a dense tensor whose axes are those of the output from `first` on; 0 where the extent is 1.
Ints strides_from(const Shape& input, Int first, std::size_t axes) {
  Ints strides(axes, 0);
  Int stride = 1;
  for (std::size_t i = input.size(); i-- > 0; stride *= input[i])
    if (input[i] != 1) strides[static_cast<std::size_t>(first) + i] = stride;
  return strides;
}

}  // namespace

void limited_broadcast(Operator& op) {
  op.optional_int("axis")
      .attribute("broadcast", 0)
      .require("L4", "broadcast is 0 or 1", is_flag)
      .require("same", "shapes are equal where broadcast is 0", is_same)
      .require("L1", "B has no more axes than A", has_no_more_axes)
      .require("L3", "B of more than one element starts and ends inside the axes of A", starts_inside)
      .require("L2", "the axes of B are a run of those of A, extent by extent", is_a_run)
      .ruling("E9");
}

void multidirectional_instead(Operator& op) {
  for (const char* gone : {"axis", "broadcast", "L4", "same", "L1", "L3", "L2"}) op.without(gone);
  op.settled("E9").with(multidirectional_broadcast);
}

void broadcast_per_channel(Operator& op) {
  op.ruling("E10").require(
      "chan", "slope has one element, or one for each channel of X",
      [](const Call& call) {
        const Shape& slope = shape_of(call, 1);
        const Int axis = channel_axis(call);
        return is_single(slope) || (axis >= 0 && slope == Shape{shape_of(call, 0)[static_cast<std::size_t>(axis)]});
      },
      "E10");
}

void broadcast_to_first_instead(Operator& op) {
  op.without("chan").settled("E10").require("uni", "slope is broadcast to the shape of X", [](const Call& call) {
    return joined(call) == std::optional(shape_of(call, 0));
  });
}

void same_shapes(Operator& op) {
  op.require("same", "all inputs have one shape", [](const Call& call) {
    return std::ranges::all_of(call.definition().inputs, [&](const Parameter& input) {
      return !call.has(input.name) || call.shape(input.name) == shape_of(call, 0);
    });
  });
}

void multidirectional_broadcast(Operator& op) {
  op.require("bcast", "on each axis all extents but those of 1 are equal",
             [](const Call& call) { return joined(call).has_value(); });
}

Types broadcast_types(const Call& call) {
  const Definition& definition = call.definition();
  return {TensorType{definition.type_of(call, definition.outputs.front()), Broadcast::of(call).shape}};
}

Broadcast Broadcast::of(const Call& call) {
  const bool limited = is_limited(call) || is_per_channel(call);
  Broadcast out{limited ? shape_of(call, 0) : joined(call).value(), {}};
  const auto axes = static_cast<Int>(out.shape.size());
  for (std::size_t i = 0; i < call.definition().inputs.size(); ++i) {
    if (!call.has(call.definition().inputs[i].name)) {
      out.strides.emplace_back(out.shape.size(), 0);
      continue;
    }
    const Shape& input = shape_of(call, i);
    const bool is_placed = limited && i == 1 && (is_per_channel(call) || repeats(call)) && !is_single(input);
    const Int first = is_placed ? first_axis(call) : axes - static_cast<Int>(input.size());
    out.strides.push_back(is_single(input) ? Ints(out.shape.size(), 0) : strides_from(input, first, out.shape.size()));
  }
  return out;
}

}  // namespace assay
