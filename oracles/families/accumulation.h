// SPDX-License-Identifier: Apache-2.0
// Sums and products of several elements of one type, in any order of evaluation.
#pragma once

#include "oracles/exact/enclosure.h"

#include <vector>

namespace assay::oracles {

enum class Joining { sum, product };

// Returns what the elements give together: of integers the lower bits or, as E17 may be read, what is kept within the
// type at every step; of floats what is enclosed.
Element joined(Joining how, const std::vector<Scalar>& x, DType dtype, const Readings& readings);
// Returns the tolerances beyond L2 for that.
std::vector<Tolerance> wider_joined(Joining how, const std::vector<Scalar>& x, DType dtype, const Arithmetic& declared);

}  // namespace assay::oracles
