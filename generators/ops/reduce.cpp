// SPDX-License-Identifier: Apache-2.0
// ReduceSum and its relatives: axes left out, listed as none, one, some or all, in any order and from either end;
// groups of no element, of one, and of a thousand; data that suit what is made of them.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>
#include <numeric>

namespace assay::generators {
namespace {

Ints draw_axes(Int rank) {
  Ints axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), Int{0});
  axes = any_order(axes, rank, chance(60));
  if (rank > 0 && !chance(15)) axes.resize(static_cast<std::size_t>(between(1, rank)));
  return axes;
}

template <Recipe (*fill)(DType)>
Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(shape_strata - 1 - stratum % shape_strata);  // the larger ranks first
  if (!shape.empty() && chance(3))
    pick(shape) = 1025 / std::max<Int>(1, volume(shape) / std::max<Int>(1, shape[0])) + 1;
  Case c = moving(definition, type, shape);
  c.sources["data"].recipe = fill(type);
  const Int rank = std::ssize(shape);
  if (chance(definition.input("axes") ? 12 : 8))
    state(c, "axes", {});
  else if (definition.input("axes") && chance(5))
    c.node.empty_input("axes");
  else if (rank > 0 && chance(85))
    state(c, "axes", draw_axes(rank));
  write_default(c.node, definition, "keepdims", chance(50), 1);
  if (definition.attribute("noop_with_empty_axes"))
    write_default(c.node, definition, "noop_with_empty_axes", chance(40), 0);
  return c;
}

Recipe of_integers(DType type) {
  if (type == DType::boolean) return seeded("full");
  if (chance(30)) return seeded(type == DType::i32 || type == DType::u32 ? "odd25" : "odd31");  // beyond what f32 holds
  return seeded(pick({"small", "small", "full", "ends"}));
}

Recipe fill_of_sum(DType type) {
  if (!is_float(type)) return of_integers(type);
  return seeded(weighted<const char*>({{20, "small"},
                                       {20, "normal"},
                                       {10, "uniform"},
                                       {10, "cancel"},
                                       {6, "zerosum"},
                                       {10, "logu"},
                                       {6, "odd10"},
                                       {4, "subnormal"},
                                       {3, "huge"},
                                       {12, "special"}}));
}

// Squares fit, for the most part.
Recipe fill_of_squares(DType type) {
  if (is_float(type) || chance(20)) return fill_of_sum(type);
  if ((type == DType::i64 || type == DType::u64) && chance(55))
    return {"lit", pick({"2500000000,1,2,3,4,5,6,7,8,9,10,11", "3,2147483653,0,4,1,0,5"})};
  return chance(50) ? Recipe{"lit", pick({"3,4,0", "1,2,3,4,5", "8,15,0,0", "255,1"})}
                    : seeded(pick({"small", "odd8"}));
}

// Factors whose product neither overflows nor vanishes, for the most part.
Recipe fill_of_product(DType type) {
  if (!is_float(type)) return chance(80) ? seeded(pick({"sign", "small"})) : of_integers(type);
  if (chance(40)) return {"lit", pick({"2,-1,0.5,1.5,-3,0.25", "1,1.25,-1,0.75", "4,0.25,-4,-0.25,3"})};
  return seeded(pick({"sign", "pow2", "cancel", "cancel", "normal", "uniform", "small", "special"}));
}

// Positive numbers, for the most part: what is left of one sign, which repeats, lies beyond the negatives.
Recipe fill_of_logarithm(DType type) {
  if (is_float(type) && chance(5)) return {"lit", "2,inf,1,3"};
  if (chance(65)) return {"lit", pick({"1,2,3,5", "9,1,7", "0,1,0,16", "3,-1,4", "40,2,300,1,7"})};
  return is_float(type) && chance(60) ? seeded(pick({"uniform", "cancel"})) : fill_of_sum(type);
}

Recipe fill_of_exponentials(DType type) {
  if (!is_float(type))
    return chance(90) ? Recipe{"lit", pick({"1,5,2,8,3,9,2", "5,0,12,30,7", "7,4,1"})} : of_integers(type);
  if (chance(30))
    return {"lit", pick({"1,2,1,1,3", "80,-80,3,0,79.5", "0,-inf,1", "11,-11,10.5", "1000,1000", "-200,-201"})};
  return seeded(pick({"normal", "normal", "small", "uniform", "cancel", "logu", "special"}));
}

template <Recipe (*fill)(DType)>
const OperatorGenerator& reduction() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw<fill>, axes<0>);
    made.damages.push_back({"a flag of 2", [](Case& c) {
                              c.node.attribute("keepdims", Attribute(Int{2}));
                              return true;
                            }});
    return made;
  }();
  return all;
}

}  // namespace

const OperatorGenerator& reduce_sum() { return reduction<fill_of_sum>(); }
const OperatorGenerator& reduce_mean() { return reduction<fill_of_sum>(); }
const OperatorGenerator& reduce_l1() { return reduction<fill_of_sum>(); }
const OperatorGenerator& reduce_l2() { return reduction<fill_of_squares>(); }
const OperatorGenerator& reduce_sum_square() { return reduction<fill_of_squares>(); }
const OperatorGenerator& reduce_prod() { return reduction<fill_of_product>(); }
const OperatorGenerator& reduce_log_sum() { return reduction<fill_of_logarithm>(); }
const OperatorGenerator& reduce_log_sum_exp() { return reduction<fill_of_exponentials>(); }
const OperatorGenerator& reduce_max() { return reduction<draw_selection_fill>(); }
const OperatorGenerator& reduce_min() { return reduction<draw_selection_fill>(); }

}  // namespace assay::generators
