// SPDX-License-Identifier: Apache-2.0
// Operators that create elements or choose them by their values.
#pragma once

#include "suites/mutation/family.h"

namespace assay::mutation {

std::vector<VariantKernel> creating_variants(const std::string& op);
std::vector<Bug> creating_bugs(const std::string& op);

// NonMaxSuppression, which chooses boxes.
std::vector<VariantKernel> suppressing_variants(const std::string& op);
std::vector<Bug> suppressing_bugs(const std::string& op);

}  // namespace assay::mutation
