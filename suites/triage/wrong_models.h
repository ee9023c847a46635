// SPDX-License-Identifier: Apache-2.0
// The known wrong models: every planted bug, and what real backends have been seen to do.
#pragma once

#include "suites/triage/causes.h"

#include <span>

namespace assay::suites {

std::span<const WrongModel> wrong_models();

}  // namespace assay::suites
