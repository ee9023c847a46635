// SPDX-License-Identifier: Apache-2.0
// Pad and CenterCropPad: axes made longer and shorter at either end, in every mode, by less, as much and more than they
// have, some of the axes in any order.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>
#include <numeric>

namespace assay::generators {
namespace {

const char* counts_of(const Definition& definition) { return definition.attribute("paddings") ? "paddings" : "pads"; }

Int draw_count(Int extent, bool may_crop, bool is_far) {
  if (may_crop && chance(25)) return -between(1, std::max<Int>(1, extent / 2));
  if (is_far) return pick({extent - 1, extent, extent + 1, 2 * extent + 1});
  return chance(45) ? 0 : between(0, std::max<Int>(1, std::min<Int>(3, extent - 1)));
}

// Some axes of a tensor in any order, or all in theirs.
Ints draw_axes(Int rank, bool may_choose) {
  Ints axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), Int{0});
  if (!may_choose) return axes;
  axes = any_order(axes, rank);
  axes.resize(static_cast<std::size_t>(between(rank == 0 || chance(5) ? 0 : 1, rank)));
  return axes;
}

Int extent_at(const Shape& shape, Int axis) {
  return shape[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis)];
}

// Writes integers of i64 or, where the version has both, of i32.
void state_as(Case& c, const char* name, const Ints& values, DType type) {
  c.node.input(name, {type, {}});
  c.sources[name] = {{}, chance(50)};
  state(c, name, values);
}

Case draw_pad(const Definition& definition, DType type, std::uint64_t stratum) {
  const Shape data = draw_extents(stratum % shape_strata);
  Case c = moving(definition, type, data);
  const std::vector<std::string>& modes = definition.attribute("mode")->words;
  const std::string mode = chance(40) ? modes.front() : pick(modes);
  if (mode != modes.front() || chance(30)) c.node.attribute("mode", Attribute(mode));
  const bool lists_axes = definition.input("axes") && chance(50);
  const Ints axes = draw_axes(std::ssize(data), lists_axes);
  const bool may_crop = definition.version.since_version > 1 && chance(40), is_far = chance(20);
  Ints pads(2 * axes.size());
  for (std::size_t i = 0; i < pads.size(); ++i)
    pads[i] = draw_count(extent_at(data, axes[i % axes.size()]), may_crop, is_far);
  state(c, counts_of(definition), pads);
  if (definition.attribute("value") && chance(60))
    c.node.attribute("value", Attribute(pick({0.0F, -1.5F, 1024.0F, 0.1F, -7.0F})));
  const bool has_no_zero = type == DType::f8e8m0;
  if (definition.input("constant_value") && (has_no_zero || chance(60))) {
    c.node.input("constant_value", {type, {}});
    c.sources["constant_value"] = {draw_selection_fill(type), chance(40)};
  } else if (definition.input("constant_value") && (lists_axes || chance(10))) {
    c.node.empty_input("constant_value");
  }
  if (lists_axes) {
    state_as(c, "axes", axes, chance(50) ? DType::i32 : DType::i64);
  } else if (definition.input("axes") && c.node.inputs.contains("constant_value") && chance(15)) {
    c.node.empty_input("axes");
  }
  return c;
}

Case draw_center_crop_pad(const Definition& definition, DType type, std::uint64_t stratum) {
  const Shape data = draw_extents(stratum % shape_strata);
  Case c = moving(definition, type, data);
  const bool lists_axes = !data.empty() && chance(60);
  const Ints axes = draw_axes(std::ssize(data), lists_axes);
  if (lists_axes && !axes.empty()) c.node.attribute("axes", axes);
  Ints targets;
  for (const Int axis : axes.empty() ? draw_axes(std::ssize(data), false) : axes) {
    const Int extent = extent_at(data, axis) + between(-3, 3);
    targets.push_back(std::max<Int>(chance(5) ? 0 : 1, extent));
  }
  state_as(c, "shape", targets, chance(30) ? DType::i32 : DType::i64);
  return c;
}

// Keeps of the lists what belongs to axes that are there; `lists` of them stand one after the other under that name.
void keep_axes(Case& c, const char* name, std::size_t lists) {
  const Int rank = std::ssize(shape_of(c));
  const Call call = c.call();
  if (!call.states(name)) return;
  const bool has_axes = call.states("axes");
  Ints axes = has_axes ? call.ints("axes") : draw_axes(rank, false), kept(axes), values = stated(c, name), left;
  const std::size_t before = values.size() / lists;
  if (has_axes) std::erase_if(kept, [&](Int axis) { return axis < -rank || axis >= rank; });
  for (std::size_t list = 0; list < lists; ++list)
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (!has_axes || (axes[i] >= -rank && axes[i] < rank)) left.push_back(i < before ? values[list * before + i] : 0);
  if (has_axes) state(c, "axes", kept);
  state(c, name, left);
}

void refit_pad(Case& c) { keep_axes(c, counts_of(c.definition()), 2); }
void refit_center_crop_pad(Case& c) { keep_axes(c, "shape", 1); }

bool change_axes(Case& c, bool from_end) {
  if (!c.call().states("axes") || stated(c, "axes").empty()) return false;
  Ints axes = stated(c, "axes");
  (from_end ? axes.front() : axes.back()) = from_end ? axes.front() - std::ssize(shape_of(c)) : axes.front();
  state(c, "axes", axes);
  return true;
}

OperatorGenerator generator(Case (*draw)(const Definition&, DType, std::uint64_t), void (*refit)(Case&)) {
  OperatorGenerator made = placing_generator(draw, axes<0>, refit);
  made.damages.push_back({"an axis listed twice", [](Case& c) { return change_axes(c, false); }});
  made.damages.push_back({"an axis from the end", [](Case& c) { return change_axes(c, true); }});
  return made;
}

// Pads an axis that has nothing to pad it with.
bool pads_an_empty_axis(Case& c) {
  Shape& data = shape_of(c);
  if (data.empty()) return false;
  data.front() = 0;
  if (c.definition().input("axes")) remove_input(c, "axes");
  Ints pads(2 * data.size());
  pads.front() = 1;
  state(c, counts_of(c.definition()), pads);
  c.node.attribute("mode", pick({"edge", "reflect"}));
  return true;
}

bool value_of_another_rank(Case& c) {
  if (!c.call().has("constant_value")) return false;
  shape_of(c, "constant_value").push_back(pick<Int>({1, 1, 2}));
  return true;
}

}  // namespace

const OperatorGenerator& pad() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = generator(draw_pad, refit_pad);
    made.damages.push_back({"an empty axis padded", pads_an_empty_axis});
    made.damages.push_back({"a constant of another rank", value_of_another_rank});
    return made;
  }();
  return all;
}

const OperatorGenerator& center_crop_pad() {
  static const OperatorGenerator all = generator(draw_center_crop_pad, refit_center_crop_pad);
  return all;
}

}  // namespace assay::generators
