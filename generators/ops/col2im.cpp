// SPDX-License-Identifier: Apache-2.0
// Col2Im: images of two axes and three, blocks that are dilated, strided, padded unevenly or leave cells out, of
// several maps and batches.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

struct Lists {
  Ints image, block, dilations, strides, pads;

  static Lists of(const Case& c) {
    return {stated(c, "image_shape"), stated(c, "block_shape"), stated(c, "dilations"), stated(c, "strides"),
            stated(c, "pads")};
  }
  Int blocks() const {
    Int count = 1;
    for (std::size_t i = 0; i < image.size(); ++i) {
      const Int room = image[i] + pads[i] + pads[i + image.size()] - (block[i] - 1) * dilations[i] - 1;
      count *= std::max<Int>(room < 0 ? 0 : room / strides[i] + 1, 0);
    }
    return count;
  }
};

void state_lists(Case& c, const Lists& lists) {
  state(c, "image_shape", lists.image);
  state(c, "block_shape", lists.block);
  const auto state_or_not = [&](const char* list, const Ints& values, Int otherwise) {
    const bool is_default = std::ranges::all_of(values, [=](Int value) { return value == otherwise; });
    if (!is_default || chance(25)) c.node.attribute(list, values);
  };
  state_or_not("dilations", lists.dilations, 1);
  state_or_not("strides", lists.strides, 1);
  state_or_not("pads", lists.pads, 0);
}

Lists draw_lists(Int axes) {
  Lists lists;
  Ints end;
  const bool is_padded = chance(60);
  for (Int i = 0; i < axes; ++i) {
    lists.block.push_back(between(1, axes < 3 ? 3 : 2));
    lists.dilations.push_back(chance(45) ? between(2, 3) : 1);
    lists.strides.push_back(weighted<Int>({{55, 1}, {30, 2}, {15, 3}}));
    lists.pads.push_back(is_padded ? between(0, 2) : 0);
    end.push_back(is_padded ? between(0, 2) : 0);
    const Int least = (lists.block.back() - 1) * lists.dilations.back() + 1 - lists.pads.back() - end.back();
    lists.image.push_back(std::max<Int>(1, least + between(0, axes < 3 ? 4 : 2)));
  }
  lists.pads.insert(lists.pads.end(), end.begin(), end.end());
  return lists;
}

// Blocks side by side, begun a cell early or not, as many as there would be without padding or with more.
Lists draw_tiles(Int axes) {
  Lists lists;
  const bool leaves_out = chance(50);
  for (Int i = 0; i < axes; ++i) {
    const Int before = chance(60) ? 1 : 0;
    lists.block.push_back(3);
    lists.dilations.push_back(1);
    lists.strides.push_back(3);
    lists.pads.push_back(before);
    lists.image.push_back(3 * between(1, 2) + (leaves_out ? 0 : -before));
  }
  lists.pads.resize(static_cast<std::size_t>(2 * axes), 0);
  return lists;
}

Recipe draw_fill(const Definition& definition, DType type, Int terms) {
  if (is_float(type) && chance(70)) return draw_average_fill({type, terms});
  if (is_integer(type) && chance(40)) return seeded("small");
  return moving(definition, type, {}).sources.begin()->second.recipe;
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const Lists lists = chance(15) ? draw_tiles(2) : draw_lists(stratum % 3 == 0 ? 3 : 2);
  const Int taps = volume(lists.block), maps = between(1, 3);
  Case c = moving(definition, type, {chance(4) ? 0 : between(1, 2), maps * taps, lists.blocks()});
  c.sources.begin()->second.recipe = draw_fill(definition, type, taps);
  state_lists(c, lists);
  return c;
}

// Lists are as long as image_shape, rows and columns as many as they say.
void refit(Case& c) {
  if (!c.sources.contains("image_shape") || !c.sources.contains("block_shape")) return;
  Lists lists{stated(c, "image_shape"), stated(c, "block_shape"), {}, {}, {}};
  const std::size_t axes = lists.image.size();
  if (volume(shape_of(c)) == 1 && shape_of(c).size() == 3) {  // of one element all there is is 1
    for (const char* list : {"dilations", "strides", "pads"}) c.node.attributes.erase(list);
    state(c, "image_shape", Ints(axes, 1));
    return state(c, "block_shape", Ints(axes, 1));
  }
  lists.block.resize(axes, 1);
  state(c, "block_shape", lists.block);
  for (const char* list : {"dilations", "strides", "pads"})
    if (const auto found = c.node.attributes.find(list); found != c.node.attributes.end())
      std::get<Ints>(found->second).resize(found->first == "pads" ? 2 * axes : axes, found->first != "pads");
  lists = Lists::of(c);
  const auto is_less = [](Int value) { return value < 1; };
  if (std::ranges::any_of(lists.strides, is_less) || std::ranges::any_of(lists.block, is_less)) return;
  Shape& shape = shape_of(c);
  shape.resize(3, 1);
  shape[1] = std::max<Int>(shape[1] / volume(lists.block), 1) * volume(lists.block);
  shape[2] = lists.blocks();
}

bool one_axis(Case& c) {
  const Lists lists = draw_lists(1);
  for (const char* list : {"dilations", "strides", "pads"}) c.node.attributes.erase(list);
  state_lists(c, lists);
  shape_of(c) = {between(1, 2), between(1, 2) * lists.block[0], lists.blocks()};
  return true;
}

bool a_large_block(Case& c) {
  Lists lists = Lists::of(c);
  if (lists.pads.empty()) return false;
  lists.image[0] = 1, lists.block[0] = lists.pads[0] + lists.pads[lists.image.size()] + between(2, 3);
  state(c, "image_shape", lists.image);
  state(c, "block_shape", lists.block);
  shape_of(c)[1] = volume(lists.block);
  return true;
}

bool another_extent(Case& c, std::size_t axis) {
  Shape& shape = shape_of(c);
  if (shape.size() <= axis) return false;
  shape[axis] = chance(30) ? 0 : shape[axis] + between(1, 2);
  return true;
}

Int cost(const Case& c) { return volume(shape_of(c)); }

}  // namespace

const OperatorGenerator& col2im() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<3, 3>, refit);
    made.cost = cost;
    made.damages.push_back({"an image of one axis", one_axis});
    made.damages.push_back({"a block that does not fit", a_large_block});
    made.damages.push_back({"other rows", [](Case& c) { return another_extent(c, 1); }});
    made.damages.push_back({"other columns", [](Case& c) { return another_extent(c, 2); }});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
