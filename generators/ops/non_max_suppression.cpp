// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: boxes on a grid, corners in either order, some of one score; thresholds that no overlap on the
// grid comes near, and boxes one in the other whose sides are powers of two for those that are met exactly.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>
#include <cmath>

namespace assay::generators {
namespace {

using Numbers = std::vector<double>;

void write(Case& c, const char* input, DType type, const Shape& shape, const Numbers& values) {
  const auto before = c.sources.find(input);
  const bool is_constant = before == c.sources.end() ? chance(40) : before->second.initializer;
  c.node.input(input, {type, shape});
  c.sources[input] = {{"values", joined(values, ",", [](double each) { return decimal(static_cast<float>(each)); })},
                      is_constant};
}
void write_count(Case& c, const Shape& shape, Int count) {
  const std::string input = "max_output_boxes_per_class";
  if (!c.sources.contains(input)) c.node.inputs.erase(input);  // which may be named ""
  write_out(c, input, shape, {count});
}

// Appends a box of that height and width as its format has it, the lower corner at (y, x).
void append(Numbers& boxes, bool is_centred, double y, double x, double height, double width) {
  double low[] = {y, x}, high[] = {y + height, x + width};
  for (int axis = 0; axis < 2; ++axis)
    if (!is_centred && chance(25)) std::swap(low[axis], high[axis]);
  if (is_centred)
    boxes.insert(boxes.end(), {y + height / 2, x + width / 2, height, width});
  else
    boxes.insert(boxes.end(), {low[0], low[1], high[0], high[1]});
}

Numbers draw_boxes(Int count, bool is_centred, bool are_nested) {
  Numbers boxes;
  const Int y = between(-2, 2), x = between(-2, 2);
  for (Int i = 0; i < count; ++i) {
    const Int size = between(0, 6);
    const Ints box = are_nested ? Ints{Int{1} << size / 2, Int{1} << (size + 1) / 2, x, y}
                                : Ints{between(1, 8), chance(4) ? 0 : between(1, 8), between(-2, 4), between(-2, 4)};
    const auto number = [&](std::size_t at) { return static_cast<double>(box[at]); };
    append(boxes, is_centred, number(3), number(2), number(1), number(0));
  }
  return boxes;
}

// Draws scores of few kinds, or so near to each other that fewer bits do not tell them apart.
Numbers draw_scores(Int count) {
  Numbers scores;
  const Int kinds = chance(30) ? 3 : 64;
  const double step = kinds == 64 && chance(40) ? 0x1p-18 : 1 / static_cast<double>(kinds);
  for (Int i = 0; i < count; ++i)
    scores.push_back((step < 0.01 ? 0.5 : 0) + step * static_cast<double>(between(-1, kinds)));
  if (count > 0 && chance(12)) pick(scores) = pick({HUGE_VAL, -HUGE_VAL});
  return scores;
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const Int batches = chance(4) ? 0 : pick<Int>({1, 1, 2, 3}), classes = chance(4) ? 0 : pick<Int>({1, 1, 2, 3});
  const Int count = chance(5) ? 0 : chance(20) ? 1 : chance(10) ? between(16, 24) : between(2, 9);
  const bool is_centred = stratum % 3 == 0, are_nested = stratum % 4 == 1;
  Case c = blank(definition);
  write(c, "boxes", type, {batches, count, 4}, draw_boxes(batches * count, is_centred, are_nested));
  const Numbers scores = draw_scores(batches * classes * count);
  write(c, "scores", type, {batches, classes, count}, scores);
  if (chance(93))
    write_count(c, {}, weighted<Int>({{6, 0}, {24, 1}, {20, 2}, {25, std::max<Int>(count, 1)}, {25, 100}}));
  // A number of 1/512 is no quotient of areas below 256.
  const double near = pick({1.0, 65.0, 129.0, 211.0, 257.0, 359.0, 511.0}) / 512;
  if (chance(85))
    write(c, "iou_threshold", type, {}, {are_nested ? pick({0.5, 0.25, 0.125, 1.0}) : chance(10) ? 0 : near});
  if (chance(60))
    write(c, "score_threshold", type, {},
          {!scores.empty() && chance(35) ? pick(scores) : pick({0.0, 0.25, 0.51, -1.0})});
  for (const char* const each : {"max_output_boxes_per_class", "iou_threshold"})
    if (!c.node.inputs.contains(each)) c.node.empty_input(each);
  write_default(c.node, definition, "center_point_box", is_centred ? 1 : 0, 0);
  return c;
}

// Gives an input another shape, and as many of its values again as that has elements.
void reshape(Case& c, const char* input, const Shape& shape) {
  const Case before = c;
  const auto& said = before.node.inputs.at(input);
  const Tensor data = fill(before.sources.at(input).recipe, said.type);
  Numbers values;
  for (Int i = 0; i < volume(shape); ++i)
    values.push_back(data.elements() == 0 ? 1 : data.as<float>()[static_cast<std::size_t>(i % data.elements())]);
  write(c, input, said.type.dtype, shape, values);
}

void refit(Case& c) {
  if (!c.sources.contains("scores") || shape_of(c).size() != 3 || shape_of(c, "scores").size() != 3) return;
  const Shape boxes = shape_of(c), scores = shape_of(c, "scores");
  reshape(c, "boxes", {boxes[0], boxes[1], 4});
  reshape(c, "scores", {boxes[0], scores[1], boxes[1]});
}

bool other_extents(Case& c) {
  const char* const input = pick({"boxes", "scores"});
  Shape shape = shape_of(c, input);
  if (chance(30))
    shape.insert(shape.begin(), 1);
  else
    ++pick(shape);
  reshape(c, input, shape);
  return true;
}

// Writes the count or a threshold, where it is there, with that shape.
bool listed(Case& c, const Shape& shape) {
  const char* const input = pick({"max_output_boxes_per_class", "iou_threshold", "score_threshold"});
  if (!c.sources.contains(input)) return false;
  if (c.node.inputs.at(input).type.dtype == DType::f32) return reshape(c, input, shape), true;
  write_out(c, input, shape, Ints(static_cast<std::size_t>(volume(shape)), stated(c, input).front()));
  return true;
}

}  // namespace

const OperatorGenerator& non_max_suppression() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw, refit);
    made.ranks = axes<3, 3>;
    made.damages = {{"boxes or scores of other extents", other_extents},
                    {"an overlap out of range",
                     [](Case& c) {
                       write(c, "iou_threshold", DType::f32, {}, {pick({-0.25, 1.25, 2.0})});
                     }},
                    {"another format",
                     [](Case& c) {
                       c.node.attribute("center_point_box", pick({2, -1}));
                     }},
                    {"a list of one",
                     [](Case& c) {
                       return listed(c, chance(70) ? Shape{1} : Shape{1, 1});
                     }},
                    {"a list",
                     [](Case& c) {
                       return listed(c, {pick<Int>({2, 0})});
                     }},
                    {"fewer than no boxes", [](Case& c) { write_count(c, {}, -between(1, 3)); }},
                    {"no scores", [](Case& c) { remove_input(c, "scores"); }}};
    return made;
  }();
  return all;
}

}  // namespace assay::generators
