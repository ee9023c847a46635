// SPDX-License-Identifier: Apache-2.0
// Features: where a legal case lies in the space of an operator version: one value per dimension (each attribute, each
// type, how each input is given, shapes, rank, extents, padding). A pair of values of two dimensions is one cell of the
// 2-way table. Worked out from the case alone and without its data.
#pragma once

#include "generators/family.h"

#include <vector>

namespace assay::generators {

const std::vector<Dimension>& dimensions(const Definition& definition);

// Of a legal case: per dimension the index of its value; -1 for one the table does not have.
std::vector<int> features(const Case& c);

// False where no legal case can have both.
bool is_possible(const Definition& definition, const CoverageValue& a, const CoverageValue& b);

}  // namespace assay::generators
