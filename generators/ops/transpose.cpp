// SPDX-License-Identifier: Apache-2.0
// Transpose: every permutation of up to four axes and some of more, among them axes of no and of one element.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

#include <algorithm>
#include <numeric>

namespace assay::generators {
namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const Shape data =
      draw_extents(chance(60) ? pick<std::uint64_t>({12, 15, 16, 17, 18, 19, 20}) : stratum % shape_strata);
  Case c = moving(definition, type, data);
  Ints perm(data.size());
  std::iota(perm.begin(), perm.end(), Int{0});
  if (!perm.empty() && chance(80)) state(c, "perm", any_order(perm, std::ssize(data), false));
  return c;
}

// The axes that are left, in the order in which they were.
void refit(Case& c) {
  const auto found = c.node.attributes.find("perm");
  if (found == c.node.attributes.end() || c.is_legal()) return;
  Ints perm = std::get<Ints>(found->second);
  const Int rank = std::ssize(c.node.inputs.at("data").type.shape);
  std::erase_if(perm, [=](Int axis) { return axis >= rank; });
  if (std::ssize(perm) == rank)
    state(c, "perm", perm);
  else
    c.node.attributes.erase(found);
}

}  // namespace

const OperatorGenerator& transpose() {
  static const OperatorGenerator all = placing_generator(draw, axes<0>, refit);
  return all;
}

}  // namespace assay::generators
