// SPDX-License-Identifier: Apache-2.0
// Clauses: what of the standard a case rests on, by id, for whoever reads of a failure.
#pragma once

#include "reference/case.h"

#include <string>
#include <vector>

namespace assay::suites {

// Of a near miss the constraints it breaks, "Conv.C6". Of a legal case the rulings it touches, "A8": those with several
// readings, then those settled in one way that speak of what the case has (padding, dilation under SAME_*, …).
std::vector<std::string> clauses_of(const Case& c);

}  // namespace assay::suites
