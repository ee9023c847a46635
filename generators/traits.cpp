// SPDX-License-Identifier: Apache-2.0
#include "generators/traits.h"

#include "generators/family.h"
#include "reference/operator.h"

#include <algorithm>
#include <iterator>

namespace assay::generators {
namespace {

// The family without its width or centre.
std::string kind_of(const Recipe& recipe) {
  for (const char* kind : {"odd", "around"})
    if (recipe.family.starts_with(kind)) return kind;
  return recipe.family;
}

// How the model is presented, whatever the operator.
Names presentation(const Case& c) {
  Names names;
  if (c.declared == DeclaredShapes::fixed) names.emplace_back("shapes fixed");
  if (c.declared == DeclaredShapes::symbolic) names.emplace_back("shapes symbolic");
  if (c.opset == c.version.since_version) names.emplace_back("opset = since");
  return names;
}

}  // namespace

std::vector<std::string> traits(const Case& c) {
  const Definition& definition = c.definition();
  Names names;
  for (const std::string& id : definition.violated(c.call())) names.push_back("breaks " + id);
  if (!names.empty()) return names;
  names = family_of(definition).traits(c);
  std::ranges::move(presentation(c), std::back_inserter(names));
  for (const CoverageTag& trait : questions_about(c.version).traits)
    if (trait.holds(c)) names.push_back(trait.name);
  names.push_back("type " + std::string(name(c.node.inputs.at(definition.data().name).type.dtype)));
  const Recipe& recipe = c.sources.at(definition.data().name).recipe;
  names.push_back("data " + kind_of(recipe));
  names.emplace_back(has_nonfinite_data(c) ? "data nonfinite" : "data finite");
  return names;
}

std::vector<std::string> cells(const Definition& definition) {
  Names names = family_of(definition).cells(definition);
  for (const char* each : {"shapes fixed", "shapes symbolic", "opset = since"}) names.emplace_back(each);
  for (const CoverageTag& trait : questions_about(definition.version).traits) names.push_back(trait.name);
  return names;
}

}  // namespace assay::generators
