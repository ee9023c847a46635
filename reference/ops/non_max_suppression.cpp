// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression (ai.onnx 10, 11) - https://onnx.ai/onnx/operators/onnx__NonMaxSuppression.html
//
//   selected_indices has a row [batch, class, box] of each box that is selected. Of each batch and class they are met
//   by their scores, the highest first, those that are not above score_threshold aside; one is selected unless its
//   overlap with one that was is more than iou_threshold, max_output_boxes_per_class of them at most. The overlap of
//   two boxes is the area that they share over the area of both together, and 0 where they share none.
//
// Of equal scores the lower index comes first (M38).
#include "reference/families/picked.h"

#include <algorithm>
#include <numeric>

namespace assay {
namespace {

constexpr const char* scalars[] = {"max_output_boxes_per_class", "iou_threshold", "score_threshold"};
bool are_single(const Call& call) {
  return std::ranges::all_of(scalars,
                             [&](const char* each) { return !call.has(each) || volume(call.shape(each)) == 1; });
}
bool have_no_axis(const Call& call) {
  return std::ranges::all_of(scalars, [&](const char* each) { return !call.has(each) || call.rank(each) == 0; });
}

Int most_of(const Call& call) { return call.has(scalars[0]) ? call.integer(scalars[0]) : 0; }
float most_overlap(const Call& call) { return call.has(scalars[1]) ? call.real(scalars[1]) : 0; }

bool have_extents(const Call& call) {
  return call.rank("boxes") == 3 && call.rank("scores") == 3 && call.dim("boxes", 0) == call.dim("scores", 0) &&
         call.dim("boxes", 1) == call.dim("scores", 2) && call.dim("boxes", 2) == 4;
}

struct Box {
  double low[2], high[2];
};

Box box_of(const Call& call, std::span<const float, 4> said) {
  Box box{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const double a = said[axis], b = said[axis + 2];
    const bool is_centred = call.integer("center_point_box") == 1;
    box.low[axis] = is_centred ? a - b / 2 : std::min(a, b);
    box.high[axis] = is_centred ? a + b / 2 : std::max(a, b);
  }
  return box;
}

bool overlap(const Box& a, const Box& b, double threshold) {
  double shared = 1, of_a = 1, of_b = 1;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    of_a *= a.high[axis] - a.low[axis];
    of_b *= b.high[axis] - b.low[axis];
    shared *= std::max(std::min(a.high[axis], b.high[axis]) - std::max(a.low[axis], b.low[axis]), 0.0);
  }
  return shared > threshold * (of_a + of_b - shared);
}

// The boxes of one batch that are selected for one class.
Ints selected(const Call& call, std::span<const float> boxes, std::span<const float> scores) {
  Ints order(scores.size()), all;
  std::iota(order.begin(), order.end(), Int{0});
  const auto score = [&](Int box) { return scores[static_cast<std::size_t>(box)]; };
  if (call.has(scalars[2])) std::erase_if(order, [&](Int box) { return !(score(box) > call.real(scalars[2])); });
  std::ranges::stable_sort(
      order, [&](Int a, Int b) { return score(a) > score(b) || (score(a) == score(a) && score(b) != score(b)); });
  const auto box = [&](Int i) { return box_of(call, boxes.subspan(static_cast<std::size_t>(4 * i)).first<4>()); };
  for (const Int each : order)
    if (std::ssize(all) < most_of(call) &&
        std::ranges::none_of(all, [&](Int other) { return overlap(box(each), box(other), most_overlap(call)); }))
      all.push_back(each);
  return all;
}

Values select(const Call& call, Inputs in) {
  const Int classes = call.dim("scores", 1);
  const auto count = static_cast<std::size_t>(call.dim("boxes", 1));
  Ints rows;
  for (Int line = 0; line < call.dim("boxes", 0) * classes; ++line) {
    const auto boxes = in[0]->as<float>().subspan(static_cast<std::size_t>(line / classes) * count * 4, count * 4);
    const auto scores = in[1]->as<float>().subspan(static_cast<std::size_t>(line) * count, count);
    for (const Int box : selected(call, boxes, scores)) rows.insert(rows.end(), {line / classes, line % classes, box});
  }
  Tensor y({DType::i64, {std::ssize(rows) / 3, 3}});
  std::ranges::copy(rows, y.as<Int>().begin());
  return y;
}

Types selected_rows(const Call& call) {
  const std::vector<const Tensor*> in{&data_of(call, "boxes"), &data_of(call, "scores")};
  return {select(call, in).front()->type()};
}

}  // namespace

// clang-format off
Operator non_max_suppression() {
  return Operator("NonMaxSuppression")
      .parameter("boxes", "f32", "boxes").parameter("scores", "f32", "scores")
      .parameter(scalars[0], "i64", scalars[0], Arity::optional).parameter(scalars[1], "f32", scalars[1], Arity::optional)
      .parameter(scalars[2], "f32", scalars[2], Arity::optional).output("selected_indices", "i64")
      .attribute("center_point_box", 0).rulings({"M4", "M37", "M38", "M39", "M67", "M68"})
      .require("C1", "boxes is batches x boxes x 4, scores is batches x classes x boxes", have_extents)
      .require("C2", "iou_threshold is in [0,1]", [](auto& c) {
        return !are_single(c) || (most_overlap(c) >= 0 && most_overlap(c) <= 1); })
      .require("C3", "center_point_box is 0 or 1", [](auto& c) {
        return c.integer("center_point_box") == 0 || c.integer("center_point_box") == 1; })
      .require("C4", "max_output_boxes_per_class and the thresholds have one element", are_single)
      .require("C5", "max_output_boxes_per_class and the thresholds have no axis", [](auto& c) {
        return !are_single(c) || have_no_axis(c); }, "M4")
      .require("C6", "max_output_boxes_per_class is not negative", [](auto& c) { return !are_single(c) || most_of(c) >= 0; })
      .since(10)
      .since(11, "other words")
      .shaping(Shaping::moved).infer(selected_rows).kernel(select);
}
// clang-format on

}  // namespace assay
