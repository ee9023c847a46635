// SPDX-License-Identifier: Apache-2.0
// ReverseSequence (ai.onnx 10, 28) - https://onnx.ai/onnx/operators/onnx__ReverseSequence.html
//
//   Y holds the first sequence_lens[b] steps of time of every sequence b of the batch in reverse, and the others.
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

bool has_axes(const Call& call) {
  const Int batch = call.integer("batch_axis"), time = call.integer("time_axis");
  return std::min(batch, time) == 0 && std::max(batch, time) == 1;
}
bool has_two_axes(const Call& call) { return call.rank("input") >= 2; }
bool can_be_read(const Call& call) { return has_axes(call) && has_two_axes(call); }

bool are_within_time(const Call& call) {
  if (!can_be_read(call)) return true;
  const Int most = call.dim("input", call.integer("time_axis"));
  return std::ranges::all_of(call.ints("sequence_lens"), [=](Int each) { return each >= 0 && each <= most; });
}

Values reverse(const Call& call, Inputs in) {
  const Shape& shape = in[0]->shape();
  const Ints lengths = call.ints("sequence_lens");
  const Int run = volume(std::span(shape).subspan(2)), columns = shape[1];
  const bool is_time_first = call.integer("time_axis") == 0;
  return in_runs(*in[0], in[0]->type(), run, [&](Int i) {
    const Int row = i / columns, column = i % columns;
    const Int time = is_time_first ? row : column;
    const Int length = lengths[static_cast<std::size_t>(is_time_first ? column : row)];
    const Int from = time < length ? length - 1 - time : time;
    return run * (is_time_first ? from * columns + column : row * columns + from);
  });
}

}  // namespace

// clang-format off
Operator reverse_sequence() {
  return Operator("ReverseSequence")
      .input("input", "T").parameter("sequence_lens", "i64", "sequence_lens").output("Y", "T")
      .attribute("time_axis", 0).attribute("batch_axis", 1).rulings({"A29", "E1"})
      .require("C1", "batch_axis and time_axis are 0 and 1", has_axes)
      .require("C2", "sequence_lens has one entry per sequence", [](auto& c) {
        return !can_be_read(c) || c.shape("sequence_lens") == Shape{c.dim("input", c.integer("batch_axis"))}; })
      .require("C3", "no sequence is shorter than 0 or longer than the time there is", are_within_time)
      .require("C4", "rank(input) >= 2", has_two_axes)
      .since(10).type("T", types::all_tensor_types())
      .since(28, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to([](const Call& c) { return c.shape("input"); })).kernel(reverse);
}
// clang-format on

}  // namespace assay
