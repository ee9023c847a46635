// SPDX-License-Identifier: Apache-2.0
// CumSum and CumProd: lines of every length, joined from either end, with and without the own element. Factors are
// mostly near 1, for products of many others leave every type.
#include "generators/draw.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

Recipe draw_terms(DType type, Int terms) {
  if (!is_float(type)) return chance(40) ? seeded("small") : draw_selection_fill(type);
  if (chance(15)) return {"lit", pick({"0x1p27,1,-0x1p27,1", "1,2,inf,3", "1,2,3,4,5", "inf,1,-inf,1"})};
  return draw_average_fill({type, terms});
}

Recipe draw_factors(DType type) {
  if (!is_float(type)) return chance(60) ? seeded(pick({"small", "sign"})) : draw_selection_fill(type);
  if (chance(40)) return {"lit", pick({"1,3,0.5,-1,2", "2,3,5,7,0.125", "1,2,inf,-3", "3,0,2", "1.5,0.75,-1,1.25"})};
  return seeded(pick({"pow2", "sign", "uniform", "normal", "small", "cancel", "special"}));
}

template <bool multiplies>
Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = axis_family().generator()->draw(definition, type, stratum);
  const Call call = c.call();
  const Int said = call.integer("axis"), along = call.dim("x", said < 0 ? said + call.rank("x") : said);
  c.sources["x"].recipe = multiplies ? draw_factors(type) : draw_terms(type, std::max<Int>(along, 1));
  c.node.inputs.at("axis").type.dtype = pick({DType::i32, DType::i64});
  for (const char* flag : {"exclusive", "reverse"}) write_default(c.node, definition, flag, chance(50), 0);
  return c;
}

template <bool multiplies>
OperatorGenerator made() {
  OperatorGenerator made = *axis_family().generator();
  made.draw = draw<multiplies>;
  std::ranges::move(parameter_damages(), std::back_inserter(made.damages));
  return made;
}

}  // namespace

const OperatorGenerator& cum_sum() {
  static const OperatorGenerator all = made<false>();
  return all;
}

const OperatorGenerator& cum_prod() {
  static const OperatorGenerator all = made<true>();
  return all;
}

}  // namespace assay::generators
