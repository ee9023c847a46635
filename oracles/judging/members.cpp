// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/members.h"

#include "oracles/judging/judge.h"

#include <algorithm>

namespace assay::oracles {

std::vector<Readings> other_members(const Definition& definition) {
  std::vector<std::string> sets;
  for (const RulingUse& use : definition.rulings)
    if (find_ruling(use.id)->is(Ruling::chosen_once)) sets.push_back(use.id);
  return departures(definition, sets);
}

bool refuses(const Readings& readings) {
  return std::ranges::any_of(readings.departures(), [](const auto& each) { return each.second == "refuse"; });
}

}  // namespace assay::oracles
