// SPDX-License-Identifier: Apache-2.0
// Gather, GatherElements and GatherND: indices from either end, again and again, of several axes, none at all, of
// either type; tuples of all axes and of some, in batches or not. Scatter, ScatterElements and ScatterND: the same with
// updates, mostly one of an element.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/shrink.h"
#include "generators/values.h"
#include "reference/families/moved.h"
#include "reference/operator.h"

#include <algorithm>
#include <numeric>

namespace assay::generators {
namespace {

// A case of data with at least one axis, and an axis of it.
struct Beginning {
  Case c;
  Shape data;
  Int axis;
};

Beginning begin(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape data = draw_extents(stratum % shape_strata);
  if (data.empty()) data = {between(1, 33)};
  Case c = moving(definition, type, data);
  const Int rank = std::ssize(data), axis = chance(30) ? rank - 1 : between(0, rank - 1);
  write_default(c.node, definition, "axis", chance(40) ? axis - rank : axis, 0);
  return {std::move(c), std::move(data), axis};
}

// Into an axis of that extent.
void index(Case& c, const Shape& shape, Int extent) {
  Ints indices;
  const bool from_end = chance(60);
  for (Int i = 0; i < volume(shape); ++i) {
    const Int low = from_end ? -extent : 0;
    indices.push_back(chance(25) ? pick({low, extent - 1}) : between(low, std::max<Int>(low, extent - 1)));
  }
  const DType type = chance(50) ? DType::i32 : DType::i64;
  c.node.input("indices", {type, shape});
  c.sources["indices"] = {{}, chance(50)};
  write_out(c, "indices", shape, indices);
}

Case draw_gather(const Definition& definition, DType type, std::uint64_t stratum) {
  auto [c, data, axis] = begin(definition, type, stratum);
  Shape shape;
  for (Int rank = weighted<Int>({{20, 0}, {45, 1}, {25, 2}, {10, 3}}); rank > 0; --rank)
    shape.push_back(between(chance(8) ? 0 : 1, 4));
  const Int extent = data[static_cast<std::size_t>(axis)];
  if (extent == 0) shape = {0};
  index(c, shape, extent);
  return c;
}

Case draw_elements(const Definition& definition, DType type, std::uint64_t stratum) {
  auto [c, data, axis] = begin(definition, type, stratum);
  Shape shape = data;
  for (Int& each : shape)
    if (chance(15)) each = between(0, each);
  const Int extent = data[static_cast<std::size_t>(axis)];
  shape[static_cast<std::size_t>(axis)] = extent == 0 ? 0 : between(chance(8) ? 0 : 1, 5);
  index(c, shape, extent);
  return c;
}

Case draw_tuples(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape data = draw_extents(stratum % shape_strata);
  if (data.empty()) data = {between(1, 33)};
  Case c = moving(definition, type, data);
  const Int rank = std::ssize(data);
  const Int batch = definition.attribute("batch_dims") && chance(60) ? between(0, std::min<Int>(rank - 1, 3)) : 0;
  const Int width = chance(30) ? rank - batch : between(1, rank - batch);
  if (definition.attribute("batch_dims")) write_default(c.node, definition, "batch_dims", batch, 0);
  Shape shape(data.begin(), data.begin() + batch);
  for (Int more = weighted<Int>({{20, 0}, {50, 1}, {30, 2}}); more > 0; --more)
    shape.push_back(between(chance(8) ? 0 : 1, 4));
  const auto named = data.begin() + batch;
  if (volume(shape) > 0 && std::find(named, named + width, 0) != named + width) shape.push_back(0);
  shape.push_back(width);
  Ints indices;
  for (Int i = 0; i < volume(shape); ++i) {
    const Int extent = named[i % width];
    indices.push_back(chance(25) ? pick({-extent, extent - 1}) : between(-extent, extent - 1));
  }
  write_out(c, "indices", shape, indices);
  return c;
}

bool batches_changed(Case& c) {
  if (!c.definition().attribute("batch_dims")) return false;
  const Int rank = c.call().rank("data"), others = c.call().rank("indices");
  c.node.attribute("batch_dims", Attribute(pick<Int>({-1, rank, others, between(1, 2)})));
  return true;
}

bool index_out_of_range(Case& c) {
  const Call call = c.call();
  Ints indices = call.ints("indices");
  if (indices.empty()) return false;
  const Shape& data = call.shape("data");
  const Int extent = data.empty() ? 1 : data[static_cast<std::size_t>(between(0, std::ssize(data) - 1))];
  indices[static_cast<std::size_t>(between(0, std::ssize(indices) - 1))] = pick({extent, -extent - 1, Int{-1}});
  write_out(c, "indices", call.shape("indices"), indices);
  return true;
}

OperatorGenerator gathering(Case (*draw)(const Definition&, DType, std::uint64_t)) {
  OperatorGenerator made = placing_generator(draw, axes<1>);
  made.damages.push_back({"an index out of range", index_out_of_range});
  return made;
}

// -- Scatter

Shape shape_of_updates(const Case& c) {
  Shape shape = shape_of(c, "indices");
  if (c.definition().attribute("axis") || shape.empty()) return shape;
  const Shape& data = shape_of(c);
  const Int width = std::clamp<Int>(shape.back(), 0, std::ssize(data));
  shape.pop_back();
  shape.insert(shape.end(), data.begin() + width, data.end());
  return shape;
}

void fit_updates(Case& c) {
  if (c.node.inputs.contains("updates") && c.node.inputs.contains("indices"))
    c.node.inputs.at("updates").type.shape = shape_of_updates(c);
}

// Writes indices none of which stands twice in a line, no more than there are elements along the axis.
void make_distinct(Case& c, Int axis) {
  const Int extent = shape_of(c)[static_cast<std::size_t>(axis)];
  Shape shape = shape_of(c, "indices");
  Int& length = shape[static_cast<std::size_t>(axis)];
  length = std::min(length, extent);
  Ints indices(static_cast<std::size_t>(volume(shape))), all(static_cast<std::size_t>(extent));
  std::iota(all.begin(), all.end(), Int{0});
  for_each_line(shape, axis, [&](Int, Int first, Int step) {
    const Ints order = any_order(all, extent, !c.definition().constraint("I2"));
    for (Int k = 0; k < length; ++k)
      indices[static_cast<std::size_t>(first + k * step)] = order[static_cast<std::size_t>(k)];
  });
  write_out(c, "indices", shape, indices);
}

// Writes tuples none of which stands twice, no more than there are places to name.
void make_distinct_tuples(Case& c) {
  Shape shape = shape_of(c, "indices");
  const Int width = shape.back();
  const Shape named(shape_of(c).begin(), shape_of(c).begin() + width);
  Ints all(static_cast<std::size_t>(volume(named))), indices;
  std::iota(all.begin(), all.end(), Int{0});
  if (volume(shape) > width * std::ssize(all)) shape = {std::ssize(all), width};
  const Ints order = any_order(all, 0, false);
  for (Int i = 0; i < volume(shape) / width; ++i) {
    Ints tuple(named.size());
    for (Int axis = width, at = order[static_cast<std::size_t>(i)]; axis-- > 0;) {
      const Int extent = named[static_cast<std::size_t>(axis)];
      tuple[static_cast<std::size_t>(axis)] = at % extent - (chance(40) ? extent : 0);
      at /= extent;
    }
    indices.insert(indices.end(), tuple.begin(), tuple.end());
  }
  write_out(c, "indices", shape, indices);
}

// Updates, the way they are reduced and, unless that makes none of them out, indices that name no element twice.
template <Case (*draw)(const Definition&, DType, std::uint64_t)>
Case draw_updates(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = draw(definition, type, stratum);
  const Int rank = first_axes(c), axis = definition.attribute("axis") ? (c.call().integer("axis") + rank) % rank : -1;
  const AttributeSpec* const reduction = definition.attribute("reduction");
  const bool reduces = reduction && type != DType::string && chance(70);
  if (reduces || (reduction && chance(20)))
    c.node.attribute("reduction", reduces ? pick(reduction->words) : reduction->words.front());
  if (!reduces && chance(85)) axis < 0 ? make_distinct_tuples(c) : make_distinct(c, axis);
  c.node.input("updates", {type, shape_of_updates(c)});
  c.sources["updates"] = {moving(definition, type, {}).sources.begin()->second.recipe, chance(30)};
  if (reduces && is_float(type) && chance(60))
    for (const char* const each : {"data", "updates"}) c.sources[each].recipe = seeded(chance(50) ? "odd3" : "small");
  return c;
}

OperatorGenerator scattering(Case (*draw)(const Definition&, DType, std::uint64_t)) {
  OperatorGenerator made = placing_generator(draw, axes<1>, fit_updates);
  made.damages.push_back({"an index out of range", index_out_of_range});
  made.damages.push_back({"updates of another shape", [](Case& c) {
                            Shape& shape = shape_of(c, "updates");
                            if (shape.empty() || chance(40))
                              shape.push_back(1);
                            else
                              ++pick(shape);
                          }});
  return made;
}

OperatorGenerator with_tuples(OperatorGenerator made) {
  made.damages.push_back({"tuples of another width", [](Case& c) {
                            Shape shape = shape_of(c, "indices");
                            if (shape.empty()) return false;
                            shape.back() = pick<Int>({0, first_axes(c) + 1, shape.back() + 1});
                            write_out(c, "indices", shape, Ints(static_cast<std::size_t>(volume(shape)), 0));
                            if (chance(70)) fit_updates(c);
                            return true;
                          }});
  return made;
}

}  // namespace

const OperatorGenerator& gather() {
  static const OperatorGenerator all = gathering(draw_gather);
  return all;
}

const OperatorGenerator& gather_elements() {
  static const OperatorGenerator all = gathering(draw_elements);
  return all;
}

const OperatorGenerator& gather_nd() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = with_tuples(gathering(draw_tuples));
    made.damages.push_back({"other batches", batches_changed});
    return made;
  }();
  return all;
}

const OperatorGenerator& scatter_elements() {
  static const OperatorGenerator all = scattering(draw_updates<draw_elements>);
  return all;
}
const OperatorGenerator& scatter() { return scatter_elements(); }

const OperatorGenerator& scatter_nd() {
  static const OperatorGenerator all = with_tuples(scattering(draw_updates<draw_tuples>));
  return all;
}

}  // namespace assay::generators
