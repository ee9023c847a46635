// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear: one scale, one for each element along an axis or one for each block, of each
// type that a scale may have; numbers at and next to ties, beyond the ends of what they are quantized to, every code.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/families/product.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

const std::string& name_of(const Case& c, std::size_t input) { return c.definition().inputs[input].name; }
bool quantizes(const Definition& definition) { return definition.inputs[1].name == "y_scale"; }

Int axis_in(const Case& c) {
  const Int rank = std::ssize(shape_of(c)), said = c.definition().attribute("axis") ? c.call().integer("axis") : 0;
  return said < 0 ? said + rank : said;
}

// How long scales are on the axis: as many as blocks, or elements.
Int scales_along(const Case& c, Int block) {
  const Int extent = shape_of(c)[static_cast<std::size_t>(axis_in(c))];
  return block > 0 ? extent / block + (extent % block == 0 ? 0 : 1) : extent;
}

// Scales and zero points follow x; one of blocks is the one that has as many axes.
void refit(Case& c) {
  const Shape& x = shape_of(c);
  if (!is_given(c, name_of(c, 1))) return;
  Shape& scale = shape_of(c, name_of(c, 1));
  const Int block = c.node.attributes.contains("block_size") ? c.call().integer("block_size") : 0;
  const Int rank = std::ssize(x);
  if (!scale.empty() && (scale.size() > 1 || scale[0] != 1)) {
    if (c.definition().attribute("axis") && (axis_in(c) < 0 || axis_in(c) >= rank))
      c.node.attribute("axis", Attribute(Int{0}));
    if (rank == 0) {
      scale.clear();
    } else if (scale.size() > 1 || block > 0) {
      scale = x;
      scale[static_cast<std::size_t>(axis_in(c))] = scales_along(c, block);
    } else {
      scale = {scales_along(c, 0)};
    }
  }
  if (is_given(c, name_of(c, 2))) shape_of(c, name_of(c, 2)) = scale;
}

// One number, or as many that differ from the first on.
Recipe draw_scale(DType type, bool is_list) {
  if (type == DType::i32) return {"hold", is_list ? pick({"2,3,5", "7,1"}) : pick({"1", "2", "3", "7"})};
  if (type == DType::f8e8m0) return {"hold", is_list ? pick({"2,0.25,1", "4,8,0.5,1"}) : pick({"0.5", "1", "2"})};
  if (is_list)
    return {"hold",
            pick({"2,0.5,1", "3,0.1,0.7,1.5", "0.0078125,0.01,0.25", "0.3,1,0.05,2", "1,0.5", "-0.5,2", "0,1"})};
  return {"hold",
          weighted<const char*>(
              {{25, "1"}, {25, "0.5"}, {20, "0.1"}, {10, "3"}, {5, "-0.5"}, {3, "0x1p-20"}, {2, "0"}, {2, "inf"}})};
}

Recipe draw_zero(DType type, bool is_list) {
  if (is_float(type)) return {"hold", is_list ? "1,0.5" : chance(90) ? "0" : "1"};
  if (is_list) return {"hold", pick({"3,0,1", "-1,1,0"})};
  return {"hold", type == DType::i32 ? "0" : pick({"1", "3", "-1", "127", "128", "0"})};
}

Recipe draw_numbers(DType type) {
  if (!is_float(type)) return seeded(pick({"small", "around100", "full", "odd25", "ends"}));
  if (chance(45))
    return {"lit", pick({"0.5,1.5,2.5,-0.5,-1.5,3.5,-2.5", "0.05,0.15,0.25,0.35,-0.45,0.95,1.05",
                         "127.5,128.5,254.5,255.5,256,-128.5,-129", "7.5,8,-8.5,-9,15.5,16,3.5,1.5",
                         "1e10,-1e10,2147483648,4294967296,inf,-inf,3", "32767.5,32768,65535,65536,-32769,-32768.5",
                         "0x1.000002p-1,0x1.fffffep-2,0x1.800002p0,0x1.7ffffep0,2.5",
                         "448,464,465,480,240,248,247,-449", "57344,61439,61440,65535,-61440,3",
                         "6,7,5,2.5,0.25,0.75,28", "0x1p-9,0x1p-10,0x1.8p-10,0x1p-17,0x1.8p-17,-0"})};
  return seeded(pick({"normal", "quarter", "astray", "logu", "small", "iota", "special", "around120"}));
}

Recipe draw_codes(DType type) {
  if (is_float(type) || is_small(type)) return {"bits", std::to_string(between(0, 255))};
  return seeded(pick({"full", "full", "ends", "small"}));
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  Shape x = draw_extents(shape_strata - 1 - stratum % shape_strata);
  const bool forward = quantizes(definition);
  c.sources["x"] = {forward ? draw_numbers(type) : draw_codes(type), false};
  const Int rank = std::ssize(x), kind = weighted<Int>({{3, 0}, {rank > 0 ? 4 : 0, 1}, {rank > 0 ? 5 : 0, 2}});
  const bool is_listed = kind > 0 && definition.attribute("axis"),
             is_blocked = kind == 2 && definition.attribute("block_size");
  if (definition.attribute("axis") && (is_listed || chance(30))) {
    const Int axis = rank > 0 ? between(0, rank - 1) : 0;
    if (axis != 1 || chance(60)) c.node.attribute("axis", Attribute(rank > 0 && chance(40) ? axis - rank : axis));
  }
  if (is_listed && rank > 1 && chance(25)) x.assign(x.size(), between(2, 3));  // Scales fit every axis.
  c.node.input("x", {type, x});
  Shape scale = draw_single();
  if (is_blocked && axis_in(c) < rank) {
    const Int extent = x[static_cast<std::size_t>(axis_in(c))],
              block = std::max<Int>(1, pick<Int>({2, 3, between(1, extent + 1)}));
    c.node.attribute("block_size", Attribute(block));
    scale = x;
    scale[static_cast<std::size_t>(axis_in(c))] = scales_along(c, block);
  } else if (is_listed && axis_in(c) < rank) {
    scale = {scales_along(c, 0)};
  } else if (definition.attribute("block_size") && chance(20)) {
    c.node.attribute("block_size", Attribute(between(0, rank == 1 ? 0 : 3)));
    if (rank == 1) scale = {};
  }
  const std::string &s = name_of(c, 1), &z = name_of(c, 2);
  const std::string& scale_type = definition.input(s)->type;
  const DType of = scale_type == definition.inputs[0].type ? type : pick(definition.types_of(scale_type));
  c.node.input(s, {of, scale});
  const bool is_list = !scale.empty() && scale != Shape{1};
  c.sources[s] = {draw_scale(of, is_list), chance(50)};
  const std::string& zero_type = definition.input(z)->type;
  const DType zero = forward ? pick(definition.types_of(zero_type)) : type;
  if (forward && definition.attribute("output_dtype") && chance(50))
    c.node.attribute("output_dtype", Attribute(chance(90) ? Int{static_cast<int>(zero)} : Int{0}));
  if (chance(20))
    c.node.empty_input(z);
  else if (chance(75) && !(is_list && (zero == DType::i32 || (is_float(zero) && chance(80))))) {
    c.node.input(z, {zero, scale});
    c.sources[z] = {draw_zero(zero, is_list), chance(50)};
  }
  if (!forward && definition.attribute("output_dtype") && (of == DType::f8e8m0 || chance(60)))
    c.node.attribute("output_dtype", Attribute(Int{static_cast<int>(pick({DType::f32, DType::f16, DType::bf16}))}));
  if (definition.attribute("saturate")) write_default(c.node, definition, "saturate", chance(50), 1);
  if (definition.attribute("precision") && chance(50))
    c.node.attribute(
        "precision",
        Attribute(Int{static_cast<int>(pick({DType::f32, DType::f32, DType::f16, DType::bf16, DType::f64}))}));
  return c;
}

bool another_scale(Case& c) {
  Shape& scale = shape_of(c, name_of(c, 1));
  switch (between(0, 4)) {
    case 0: scale = {between(2, 4)}; break;
    case 1: scale.push_back(2); break;
    case 2:
      if (scale.empty()) return false;
      pick(scale) += 1;
      break;
    case 3: scale = shape_of(c); break;
    default: scale = {shape_of(c).empty() ? 2 : shape_of(c)[0]};
  }
  if (is_given(c, name_of(c, 2)) && chance(80)) shape_of(c, name_of(c, 2)) = scale;
  return true;
}

bool another_zero_point(Case& c) {
  const std::string& zero = name_of(c, 2);
  if (!is_given(c, zero)) return false;
  Shape& shape = shape_of(c, zero);
  if (shape.empty() || chance(40))
    shape.push_back(1);
  else
    pick(shape) += 1;
  return true;
}

bool another_number(Case& c) {
  const char* const name = pick({"axis", "block_size", "output_dtype", "precision"});
  if (!c.definition().attribute(name)) return false;
  const Int rank = std::ssize(shape_of(c));
  if (name == std::string_view("axis"))
    c.node.attribute(name, Attribute(pick({rank, -rank - 1, rank + 3})));
  else
    c.node.attribute(name, Attribute(pick<Int>({-1, 7, 1, 3, 2, 16, 0})));
  return true;
}

bool another_output_type(Case& c) {
  const Definition& definition = c.definition();
  if (!quantizes(definition) || !definition.attribute("output_dtype")) return false;
  c.node.attribute("output_dtype",
                   Attribute(Int{static_cast<int>(pick(definition.types_of(definition.inputs[2].type)))}));
  return true;
}

bool negative_block(Case& c) {
  if (!c.definition().attribute("block_size")) return false;
  c.node.attribute("block_size", Attribute(between(-2, -1)));
  return true;
}

bool another_type(Case& c) {
  const std::string& input = name_of(c, static_cast<std::size_t>(between(1, 2)));
  if (!is_given(c, input)) return false;
  c.node.inputs.at(input).type.dtype = pick({DType::f64, DType::u8, DType::i8, DType::u32, DType::f8e8m0, DType::f16});
  return true;
}

const OperatorGenerator& quantizing() {
  static const OperatorGenerator all{.draw = draw,
                                     .strata = shape_strata,
                                     .damages = {{"another scale", another_scale},
                                                 {"another zero point", another_zero_point},
                                                 {"another axis, block or type named", another_number},
                                                 {"an output of another type", another_output_type},
                                                 {"a negative block", negative_block},
                                                 {"an input of another type", another_type}},
                                     .refit = refit};
  return all;
}

// Ranges of which the scale is a power of two, so that ties are ties; of one sign; of zeros alone; with one far out.
Case draw_dynamic(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  c.node.input("x", {type, draw_extents(shape_strata - 1 - stratum % shape_strata)});
  const Recipe range{"lit",
                     pick({"0,255,1.5,2.5,0.5,7.5,100.5", "-1.5,253.5,0.5,1,2.5", "-127.5,0.25,127.5,1.75,-3.25",
                           "-1,-3,-255,-0.5,-1.5", "3,4,5,6.5", "0,0", "1e6,1,2,-3", "-0.1,0.2,0.3,0.7", "5,5"})};
  c.sources["x"] = {
      chance(50) ? range : seeded(pick({"normal", "small", "uniform", "logu", "odd9", "special", "huge"})), false};
  return c;
}

}  // namespace

const OperatorGenerator& dynamic_quantize_linear() {
  static const OperatorGenerator all{.draw = draw_dynamic, .strata = shape_strata};
  return all;
}
const OperatorGenerator& quantize_linear() { return quantizing(); }
const OperatorGenerator& dequantize_linear() { return quantizing(); }

}  // namespace assay::generators
