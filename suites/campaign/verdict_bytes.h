// SPDX-License-Identifier: Apache-2.0
// A verdict and its marks as bytes (CBOR) and back, nothing lost: a report made from what was kept is that of the run.
#pragma once

#include "reference/result.h"
#include "suites/campaign/campaign.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

// What a campaign says of one case.
struct Told {
  oracles::Verdict verdict;
  std::vector<Mark> marks;
};

std::string bytes_of(const Told& told);
// An error where the bytes are not of this version of assay.
Result<Told> told_by(std::string_view bytes);

}  // namespace assay::suites
