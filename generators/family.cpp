// SPDX-License-Identifier: Apache-2.0
#include "generators/family.h"

#include "reference/operator.h"

namespace assay::generators {

#define GENERATOR(domain, name, function) const OperatorGenerator& function();
#include "generators/operators.def"
#undef GENERATOR

bool Family::is_breakable(const Definition&, std::string_view) const { return true; }

void remove_input(Case& c, const std::string& input) {
  c.node.inputs.erase(input);
  c.sources.erase(input);
}

Role Family::role(const Case&, const std::string&) const { return Role::data; }

Names Family::summed(const Case& c) const {
  Names names;
  for (const auto& [name, source] : c.sources)
    if (is_float(c.node.inputs.at(name).type.dtype)) names.push_back(name);
  return names;
}

const Family& family_of(const Definition& definition) {
  switch (definition.shaping) {
    case Shaping::one: return one_family();
    case Shaping::broadcast: return broadcast_family();
    case Shaping::window: return window_family();
    case Shaping::axis: return axis_family();
    case Shaping::transposed:
    case Shaping::moved:
    case Shaping::normalized:
    case Shaping::reduced: return moved_family();
    case Shaping::product: return product_family();
  }
  throw BrokenPromise("an operator without a family");
}

const OperatorGenerator& generator_of(const OpVersion& version) {
#define GENERATOR(of_domain, of_name, function) \
  if (version.domain == of_domain && version.name == #of_name) return function();
#include "generators/operators.def"
#undef GENERATOR
  const Operator* const op = find_operator(version.domain, version.name);
  expects(op, "a generator for an operator outside operators.def");
  const OperatorGenerator* const shared = family_of(op->versions().front()).generator();
  expects(shared, "an operator whose family draws no cases, and without a generator of its own");
  return *shared;
}

}  // namespace assay::generators
