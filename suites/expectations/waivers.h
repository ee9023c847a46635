// SPDX-License-Identifier: Apache-2.0
// Waivers: drafts of ledger entries for what a report shows, for a person to judge and to stand for.
#pragma once

#include "suites/expectations/ledger.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

struct Waiver {
  std::string id;
  std::vector<std::string> operators;  // "AveragePool-19"
  std::string when;                    // empty: every case
  std::string word;                    // of the breach: "fail"
  std::set<std::string> because;       // "shape"
  std::string says;                    // the sentence of the cause, where the report has one
  Int covers = 0;                      // cases of the report with this breach
  Int also = 0;                        // cases that pass, and that it meets as well
};

struct WaiverDraft {
  std::vector<Waiver> waivers;
  std::string about_passing;  // how the passing cases are known, where the report does not keep them
};

// What only a person can know; what is left empty says TODO in the draft, and such a draft is refused.
struct Stand {
  std::string reason, link, owner;
  Date expires;
};

// Drafts the waivers of each cause, or where there are no causes of each operator version and breach (refusals: per
// reason they gave): one for each predicate that says where it breaks and nothing passes, as the report has them under
// "conforms except where"; one for what is left. Joined across versions where they say the same. Throws InputError
// where it is no report.
WaiverDraft draft_waivers(std::string_view report, std::string_view name);

// The ledger, an entry a line.
std::string ledger_text(const std::vector<Waiver>& waivers, const Stand& stand);

}  // namespace assay::suites
