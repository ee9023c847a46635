// SPDX-License-Identifier: Apache-2.0
// Resize a third time: its correct ways, and planted bugs of its own.
#pragma once

#include "suites/mutation/family.h"

namespace assay::mutation {

std::vector<Way> resizing_ways();
std::vector<Bug> resizing_bugs();

}  // namespace assay::mutation
