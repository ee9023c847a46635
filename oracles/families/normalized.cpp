// SPDX-License-Identifier: Apache-2.0
#include "oracles/families/normalized.h"

#include "oracles/filter/near_filter.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <utility>

namespace assay::oracles {

Element TreeAnswer::element(Int index) const {
  const TreeValue value = value_at(index);
  Element out = value.index() == 0 ? std::get<Element>(value) : computed(*std::get<Tree>(value), dtype_);
  out.terms = terms();
  return out;
}

std::vector<Tolerance> TreeAnswer::wider(Int index) const {
  const TreeValue value = value_at(index);
  if (const Element* const copied = std::get_if<Element>(&value)) return wider_of_copies(*copied, dtype_);
  return tolerances(*std::get<Tree>(value), element(index), dtype_, declared_);
}

std::optional<FilterResult> TreeAnswer::screen(const Tensor& got, const FilterOptions& how) const {
  const auto tree_at = [&](Int index) -> std::shared_ptr<const Expression> {
    const TreeValue value = value_at(index);
    return value.index() == 1 ? std::get<Tree>(value) : nullptr;
  };
  return screened(tree_at, got, how);
}

Together::Together(std::vector<Scalar> elements) : x(std::move(elements)) {
  if (!x.empty() && std::ranges::all_of(x, &Scalar::is_finite)) group.emplace(x);
}

}  // namespace assay::oracles
