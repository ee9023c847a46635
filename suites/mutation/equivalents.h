// SPDX-License-Identifier: Apache-2.0
// Equivalents: where a planted bug is none, because the operator version lacks what the bug gets wrong. Each is
// declared with its argument, and each is held to giving the same bits as the engine without the bug.
#pragma once

#include "suites/mutation/mutants.h"

namespace assay::mutation {

// Why the mutant gives every legal call of that version the right answer; empty where it does not.
std::string_view equivalence(const Mutant& mutant, const OpVersion& version);

}  // namespace assay::mutation
