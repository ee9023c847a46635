// SPDX-License-Identifier: Apache-2.0
// The right answer as a tensor, for files that other tools read.
#pragma once

#include "oracles/enclosure.h"
#include "reference/case.h"

#include <optional>

namespace assay::oracles {

// The output of a legal case for one data set under the rulings, each element rounded once: exact zero is +0, NaN the
// positive quiet one, and an average over no cell NaN (decisions 5). None where an element is unscored, or the case is
// not legal.
std::optional<Tensor> expected(const Case& c, int set);

}  // namespace assay::oracles
