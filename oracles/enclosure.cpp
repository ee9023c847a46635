// SPDX-License-Identifier: Apache-2.0
#include "oracles/enclosure.h"

#include "oracles/filter.h"
#include "reference/result.h"

namespace assay::oracles {

#define OPERATOR(domain, name, file) const Oracle& file();
#include "reference/operators.def"
#undef OPERATOR

std::optional<Screening> Answer::screen(const Tensor&, const Screen&) const { return std::nullopt; }

const Oracle& oracle_of(const OpVersion& version) {
#define OPERATOR(of_domain, of_name, file) \
  if (version.domain == of_domain && version.name == #of_name) return file();
#include "reference/operators.def"
#undef OPERATOR
  throw BrokenPromise("no oracle for " + text(version));
}

}  // namespace assay::oracles
