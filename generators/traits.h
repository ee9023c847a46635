// SPDX-License-Identifier: Apache-2.0
// The cells of the coverage tables (spec 4.4, B.2) a case lies in, by name: worked out from the case, not from how it
// was drawn, so they count pinned and foreign cases alike.
#pragma once

#include "reference/case.h"

#include <string>
#include <vector>

namespace assay::generators {

// "rank 3", "same x dilation", "overhang >= 2", "bias empty name" …; an illegal case has only "breaks C6" and the like.
std::vector<std::string> traits(const Case& c);

// Every trait a legal case of this version can have, types and recipes aside: what a complete suite reaches.
std::vector<std::string> cells(const Definition& definition);

}  // namespace assay::generators
