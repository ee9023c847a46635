// SPDX-License-Identifier: Apache-2.0
#include "generators/traits.h"

#include "generators/family.h"
#include "reference/operator.h"

namespace assay::generators {
std::vector<std::string> traits(const Case& c) {
  const Definition& definition = c.definition();
  Names names;
  for (const std::string& id : definition.violated(c.call())) names.push_back("breaks " + id);
  if (!names.empty()) return names;
  names = family_of(definition).traits(c);
  if (c.declared == DeclaredShapes::symbolic) names.emplace_back("shapes symbolic");
  for (const CoverageTag& trait : generator_of(c.version).traits)
    if (trait.holds(c)) names.push_back(trait.name);
  names.emplace_back(has_nonfinite_data(c) ? "data nonfinite" : "data finite");
  return names;
}

std::vector<std::string> cells(const Definition& definition) {
  Names names = family_of(definition).cells(definition);
  for (const CoverageTag& trait : generator_of(definition.version).traits) names.push_back(trait.name);
  return names;
}

}  // namespace assay::generators
