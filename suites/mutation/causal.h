// SPDX-License-Identifier: Apache-2.0
// CausalConvWithState: its correct ways and its planted bugs.
#pragma once

#include "suites/mutation/family.h"

namespace assay::mutation {

std::vector<VariantKernel> causal_variants(const std::string& op);
std::vector<Bug> causal_bugs(const std::string& op);

}  // namespace assay::mutation
