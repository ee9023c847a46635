// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample a third time: their correct ways, and planted bugs of their own.
#pragma once

#include "suites/mutation/family.h"

namespace assay::mutation {

std::vector<VariantKernel> resizing_variants();
std::vector<Bug> resizing_bugs();
std::vector<Bug> upsampling_bugs();

}  // namespace assay::mutation
