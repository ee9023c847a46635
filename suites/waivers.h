// SPDX-License-Identifier: Apache-2.0
// Waivers: drafts of ledger entries for what a report shows, for a person to judge and to stand for.
#pragma once

#include "suites/ledger.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

struct Waiver {
  std::string id;
  std::vector<std::string> operators;  // "AveragePool-19"
  std::string when;                    // empty: every case
  Breach breach;
  Int covers = 0;  // cases of the report with this breach
  Int also = 0;    // cases of the report that pass, and that it meets as well
};

// What only a person can know; what is left empty says TODO in the draft, and such a draft is refused.
struct Stand {
  std::string reason, link, owner;
  Date expires;
};

// One waiver per operator version, breach and cause (refusals: per reason they gave), joined across versions where they
// say the same. Breaches that the report marks as expected are left out. Throws InputError where it is no report.
std::vector<Waiver> draft_waivers(std::string_view report, std::string_view name);

// The ledger, an entry a line.
std::string ledger_text(const std::vector<Waiver>& waivers, const Stand& stand);

}  // namespace assay::suites
