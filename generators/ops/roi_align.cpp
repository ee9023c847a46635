// SPDX-License-Identifier: Apache-2.0
// RoiAlign and MaxRoiPool: regions in quarters and halves, anywhere, partly outside, reversed, of no extent, larger
// than the map, far away and a whole number of bins wide; maps that are not square (windows-and-products 6).
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>

namespace assay::generators {
namespace {

// The ends of a region along an axis of so many cells, in 1/64 cells.
std::pair<Int, Int> draw_ends(Int cells) {
  const Int grid = weighted<Int>({{35, 16}, {25, 64}, {15, 32}, {25, 5}});
  const auto at = [&](Int low, Int high) { return between(low * 64 / grid, high * 64 / grid) * grid; };
  const Int from = at(-1, cells - 1);
  switch (weighted<int>({{50, 0}, {12, 1}, {8, 2}, {8, 3}, {10, 4}, {6, 5}, {6, 6}})) {
    case 1: return {at(-4, 0), at(0, cells + 4)};
    case 2: return {from + 64, from + 64 - at(1, 3)};
    case 3: return {from, from};
    case 4: return {from, from + 64 * between(1, 4)};
    case 5: return {at(-2, 0), at(cells, 2 * cells)};
    case 6: return {Int{64} * 20 + at(0, 2), Int{64} * 22 + at(0, 2)};
    default: return {from, from + at(0, cells)};
  }
}

// Writes rows of the corners (x1, y1, x2, y2), which are multiplied by the scale first; `first` stands before them.
template <class F>
std::string draw_regions(Int count, const Shape& x, float scale, F first) {
  std::string all;
  for (Int r = 0; r < count; ++r) {
    const auto [left, right] = draw_ends(x[3]);
    const auto [top, bottom] = draw_ends(x[2]);
    std::string row = first();
    for (const Int corner : {left, top, right, bottom})
      row += (row.empty() ? "" : ",") + decimal(static_cast<double>(corner) / 64 / static_cast<double>(scale));
    all += (all.empty() ? "" : ",") + row;
  }
  return all;
}

float draw_scale() { return chance(40) ? 1.0F : pick({0.5F, 0.25F, 2.0F, 0.0625F, 0.3F, 0.7F}); }

Shape draw_maps() { return {between(1, 2), chance(3) ? 0 : between(1, 2), between(1, 5), between(1, 6)}; }

Recipe draw_fill(const Definition& definition, DType type) {
  if (chance(20)) return {"lit", pick({"-1,-5,-2,-9,-3", "1,2,4,8,16", "0,0,1", "-7"})};
  if (chance(15)) return {"iota", "1"};
  if (chance(60)) return seeded(pick({"normal", "small", "uniform", "odd10", "cancel"}));
  return moving(definition, type, {}).sources.begin()->second.recipe;
}

Recipe held(const std::string& values) { return {"hold", values.empty() ? "0" : values}; }

// -- RoiAlign

Case draw_align(const Definition& definition, DType type, std::uint64_t stratum) {
  const Shape x = draw_maps();
  const Int count = chance(5) ? 0 : between(1, 3);
  const float scale = draw_scale();
  Case c = moving(definition, type, x);
  c.sources.begin()->second.recipe = draw_fill(definition, type);
  c.node.input("rois", {type, {count, 4}});
  c.sources["rois"] = {held(draw_regions(count, x, scale, [] { return std::string(); })), chance(30)};
  Ints batches;
  for (Int r = 0; r < count; ++r) batches.push_back(between(0, x[0] - 1));
  state(c, "batch_indices", batches);
  if (stratum % 2 == 1 || chance(10)) c.node.attribute("mode", stratum % 2 == 1 ? "max" : "avg");
  write_default(c.node, definition, "output_height", between(1, 3), 1);
  write_default(c.node, definition, "output_width", between(1, 3), 1);
  write_default(c.node, definition, "sampling_ratio", stratum / 2 % 2 == 0 ? between(1, 3) : 0, 0);
  if (scale != 1 || chance(15)) c.node.attribute("spatial_scale", Attribute(scale));
  if (const AttributeSpec* const mode = definition.attribute("coordinate_transformation_mode"); mode && chance(60))
    c.node.attribute(mode->name, pick(mode->words));
  return c;
}

// A batch index for each region, of the batches that there are.
void refit_align(Case& c) {
  if (!c.sources.contains("rois") || !c.sources.contains("batch_indices")) return;
  const Shape &x = shape_of(c), &rois = shape_of(c, "rois");
  if (x.size() != 4 || rois.size() != 2) return;
  Ints batches = stated(c, "batch_indices");
  shape_of(c, "rois") = {std::ssize(batches), 4};
  for (Int& each : batches) each = std::clamp<Int>(each, 0, std::max<Int>(x[0] - 1, 0));
  state(c, "batch_indices", batches);
}

Int cost_of_align(const Case& c) { return volume(c.definition().shape(c.call())) * 64; }

// -- MaxRoiPool, whose regions say their batch first

Case draw_pool(const Definition& definition, DType type, std::uint64_t) {
  const Shape x = draw_maps();
  const Int count = chance(5) ? 0 : between(1, 3);
  const float scale = draw_scale();
  Case c = moving(definition, type, x);
  if (chance(50)) c.sources.begin()->second.recipe = draw_fill(definition, type);
  c.node.input("rois", {type, {count, 5}});
  const auto batch = [&] { return std::to_string(between(0, x[0] - 1)); };
  c.sources["rois"] = {{"values", draw_regions(count, x, scale, batch)}, chance(40)};
  c.node.attribute("pooled_shape", Ints{between(1, 4), between(1, 4)});
  if (scale != 1 || chance(15)) c.node.attribute("spatial_scale", Attribute(scale));
  return c;
}

// Rows of five numbers, whatever is left of them, the first of which is a batch.
void refit_pool(Case& c) {
  const auto source = c.sources.find("rois");
  if (source == c.sources.end() || shape_of(c).size() != 4) return;
  std::vector<std::string> all;
  for (std::size_t from = 0; from < source->second.recipe.argument.size();) {
    const std::size_t to =
        std::min(source->second.recipe.argument.find(',', from), source->second.recipe.argument.size());
    all.push_back(source->second.recipe.argument.substr(from, to - from));
    from = to + 1;
  }
  all.resize(all.size() / 5 * 5);
  for (std::size_t i = 0; i < all.size(); i += 5)
    if (shape_of(c)[0] < 2) all[i] = "0";
  source->second.recipe.argument = joined(all, ",", [](const std::string& each) { return each; });
  shape_of(c, "rois") = {std::ssize(all) / 5, 5};
}

bool another_first(Case& c) {
  const auto source = c.sources.find("rois");
  if (source == c.sources.end() || shape_of(c).empty()) return false;
  std::string& values = source->second.recipe.argument;
  if (values.empty()) return false;
  values.replace(0, values.find(','), pick({std::string("-1"), std::to_string(shape_of(c)[0]), std::string("0.5")}));
  return true;
}

bool another_pooled_shape(Case& c) {
  Ints pooled = stated(c, "pooled_shape");
  if (chance(40))
    pooled.push_back(1);
  else if (chance(40))
    pooled.resize(1);
  else
    pick(pooled) = -between(0, 1);
  c.node.attribute("pooled_shape", pooled);
  return true;
}

bool another_column(Case& c) {
  const auto source = c.sources.find("rois");
  if (source == c.sources.end()) return false;
  std::string& values = source->second.recipe.argument;
  if (values.empty()) return false;
  const Int entries = std::ranges::count(values, ',') + 1;
  shape_of(c, "rois") = chance(50) ? Shape{entries, 1} : Shape{1, entries / 5, 5};
  return true;
}

// -- damages to RoiAlign

bool other_batch(Case& c) {
  Ints batches = stated(c, "batch_indices");
  if (batches.empty()) return false;
  pick(batches) = pick<Int>({-1, shape_of(c)[0]});
  state(c, "batch_indices", batches);
  return true;
}

bool other_regions(Case& c) {
  Shape& shape = shape_of(c, "rois");
  if (chance(30))
    shape.push_back(1);
  else
    ++shape[static_cast<std::size_t>(between(0, 1))];
  return true;
}

bool no_output(Case& c) {
  const Int extent = -between(0, 1);
  c.node.attribute(chance(50) ? "output_height" : "output_width", Attribute(extent));
  return true;
}

}  // namespace

const OperatorGenerator& roi_align() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw_align, axes<4, 4>, refit_align);
    made.cost = cost_of_align;
    const std::vector<Mutation> own{
        {"a batch that is not there", other_batch},
        {"regions of other columns", other_regions},
        {"an output of nothing", no_output},
        {"fewer than no samples", [](Case& c) { c.node.attribute("sampling_ratio", Attribute(-between(1, 2))); }},
        {"another mode",
         [](Case& c) {
           c.node.attribute("mode", pick({"AVG", "Max", "mean"}));
         }},
        {"another coordinate mode", [](Case& c) {
           const AttributeSpec* const mode = c.definition().attribute("coordinate_transformation_mode");
           if (mode) c.node.attribute(mode->name, pick({"Half_Pixel", "asymmetric", "pixel"}));
           return mode != nullptr;
         }}};
    std::ranges::copy(own, std::back_inserter(made.damages));
    return made;
  }();
  return all;
}

const OperatorGenerator& max_roi_pool() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw_pool, axes<4, 4>, refit_pool);
    const std::vector<Mutation> own{{"a batch that is not there", another_first},
                                    {"another pooled_shape", another_pooled_shape},
                                    {"regions of other columns", another_column}};
    std::ranges::copy(own, std::back_inserter(made.damages));
    return made;
  }();
  return all;
}

}  // namespace assay::generators
