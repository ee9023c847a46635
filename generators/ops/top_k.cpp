// SPDX-License-Identifier: Apache-2.0
// TopK: lines of every length with few distinct values, and k at both ends and between them.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  Shape x = draw_extents(stratum % shape_strata);
  if (x.empty()) x = {pick<Int>({1, 2, 256, 1000})};
  const Int rank = static_cast<Int>(x.size()), axis = chance(50) ? rank - 1 : between(0, rank - 1);
  const Int n = x[static_cast<std::size_t>(axis)];
  c.node.input("X", {type, x});
  const Recipe few{"lit", pick({"2,1,1,2,1", "0,1,2,1,0,2,2", "5,4,3,2,1,0"})};
  c.sources["X"] = {chance(50) ? draw_selection_fill(type) : chance(50) ? seeded("sign") : few, false};
  write_default(c.node, definition, "axis", chance(50) ? axis - rank : axis, -1);
  for (const char* flag : {"largest", "sorted"})
    if (definition.attribute(flag)) write_default(c.node, definition, flag, chance(60), 1);
  state(c, "k", {std::max<Int>(1, pick({Int{1}, Int{2}, n / 2, n - 1, n}))});
  return c;
}

// Takes all there are where there are fewer than k.
void refit(Case& c) {
  const Call call = c.call();
  if (c.definition().violated(call) != Names{"C1"}) return;
  const Int axis = call.integer("axis");
  state(c, "k", {call.dim("X", axis < 0 ? axis + call.rank("X") : axis)});
}

}  // namespace

const OperatorGenerator& top_k() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = moving_generator(draw, refit);
    made.ranks = axes<1>;
    return made;
  }();
  return all;
}

}  // namespace assay::generators
