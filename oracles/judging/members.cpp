// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/members.h"

#include "oracles/judging/judge.h"

#include <algorithm>

namespace assay::oracles {

std::vector<Readings> other_members(const Definition& definition) {
  constexpr std::string_view chosen_once[] = {"E37", "E38"};
  std::vector<std::string> sets;
  for (const RulingUse& use : definition.rulings)
    if (std::ranges::find(chosen_once, use.id) != std::end(chosen_once)) sets.push_back(use.id);
  return departures(definition, sets);
}

}  // namespace assay::oracles
