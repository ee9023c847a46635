// SPDX-License-Identifier: Apache-2.0
// States the oracle of what reads the bytes of its input as another type.
#pragma once

#include "oracles/exact/enclosure.h"

namespace assay::oracles {

// Returns the oracle of such an operator: every bit comes back, of NaN and of zeros too. Of a byte that is no bool
// nothing is claimed (E36).
Oracle reinterpreted();

}  // namespace assay::oracles
