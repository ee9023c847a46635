// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/clauses.h"

#include "generators/family.h"
#include "oracles/judging/case_class.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::suites {

std::vector<std::string> clauses_of(const Case& c) {
  std::vector<std::string> ids;
  const Definition& definition = c.definition();
  for (const std::string& id : definition.violated(c.call())) ids.push_back(c.version.name + "." + id);
  if (!ids.empty()) return ids;
  ids = oracles::touched(c);
  for (std::string& id : generators::family_of(definition).settled(c))
    if (definition.ruling(id) && std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
  return ids;
}

}  // namespace assay::suites
