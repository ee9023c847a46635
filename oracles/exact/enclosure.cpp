// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/enclosure.h"

#include "reference/operator.h"
#include "reference/result.h"

namespace assay::oracles {

#define OPERATOR(domain, name, file) Oracle file();
#include "reference/operators.def"
#undef OPERATOR

Element::Element() = default;
Element::Element(const Element&) = default;
Element::Element(Element&&) noexcept = default;
Element& Element::operator=(const Element&) = default;
Element& Element::operator=(Element&&) noexcept = default;
Element::~Element() = default;

const Oracle& oracle_of(const OpVersion& version) {
#define OPERATOR(of_domain, of_name, file)                       \
  if (version.domain == of_domain && version.name == #of_name) { \
    static const Oracle oracle = file();                         \
    return oracle;                                               \
  }
#include "reference/operators.def"
#undef OPERATOR
  throw BrokenPromise("no oracle for " + text(version));
}

bool is_random(const Call& call) {
  const auto is_random = oracle_of(call.definition().version).is_random;
  return is_random && is_random(call);
}

}  // namespace assay::oracles
