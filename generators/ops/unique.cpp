// SPDX-License-Identifier: Apache-2.0
// Unique: few distinct values, slices that are equal but for their last element, every selection of outputs.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"
#include "reference/sequence.h"

namespace assay::generators {
namespace {

// Values of which several are the same.
std::vector<std::string> values_of(DType type) {
  if (type == DType::boolean) return {"1", "0"};
  if (type == DType::i64 && chance(30)) return {"9007199254740993", "9007199254740992", "-1", "9007199254740991"};
  if (type == DType::u64 && chance(30)) return {"18446744073709551615", "9223372036854775808", "1", "0"};
  if (is_integer(type) && size_of(type) > 1 && chance(40)) return {"300", "1", "257", "3", "17", "256"};
  if (!is_float(type)) return {"3", "1", "100", "2", "0", "64"};
  if (chance(20)) return {"nan", "1", "-inf", "2", "inf"};
  if (type == DType::f64 && chance(40)) return {"1", "0x1.0000000000001p+0", "-2", "3.3"};
  if (chance(20))
    return {type == DType::f16 ? "0x1p-24" : type == DType::f64 ? "0x1p-1070" : "0x1p-140", "1", "2", "-1"};
  return {"0.3", "-0", "0", "-1.7", "2", "17.3", "1"};
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(shape_strata - 1 - stratum % shape_strata);
  const Int rank = std::ssize(shape), axis = rank > 0 ? between(0, rank - 1) : 0;
  Case c = blank(definition);
  c.node.input("X", {type, shape});
  const bool is_along = rank > 0 && chance(60), repeats = is_along && chance(50);
  const std::vector<std::string> pool =
      type == DType::string ? std::vector<std::string>{"b", "", "a", "B", "%C3%A9"} : values_of(type);
  std::vector<std::string> all;
  const Int few = between(1, std::ssize(pool));
  // Two slices are alike as often as not where all elements but a few are.
  for (Int i = 0; i < volume(shape); ++i)
    all.push_back(pool[static_cast<std::size_t>(i == 0 || (repeats && chance(80)) ? 0 : between(0, few - 1))]);
  c.sources["X"] = {
      {type == DType::string ? "text" : "values", joined(all, ",", [](const std::string& each) { return each; })},
      chance(30)};
  if (is_along) c.node.attribute("axis", Attribute(chance(50) ? axis - rank : axis));
  write_default(c.node, definition, "sorted", chance(60), 1);
  for (const char* const each : {"indices", "inverse_indices", "counts"})
    if (chance(70)) c.node.output(each);
  return c;
}

}  // namespace

const OperatorGenerator& unique() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw);
    made.damages = {{"an axis out of range",
                     [](Case& c) {
                       const Int rank = std::ssize(shape_of(c));
                       c.node.attribute("axis", Attribute(pick({rank, -rank - 1})));
                     }},
                    {"bfloat16",
                     [](Case& c) {
                       c.node.inputs.at("X").type = {DType::bf16, {1}};
                       c.sources.at("X").recipe = {"values", "1"};
                       c.node.attributes.erase("axis");
                     }},
                    {"another order", [](Case& c) {
                       c.node.attribute("sorted", pick({2, -1}));
                     }}};
    return made;
  }();
  return all;
}

}  // namespace assay::generators
