// SPDX-License-Identifier: Apache-2.0
// Cover: what some cases have in common and others have not, as a predicate; a first draft for a person to judge.
#pragma once

#include "suites/predicate.h"

#include <vector>

namespace assay::suites {

struct Cover {
  Predicate when;        // holds for every case inside
  std::size_t also = 0;  // cases outside it holds for as well
};

// A short conjunction, found greedily: of all claims that every case inside meets, again and again the one that leaves
// out most of the cases outside. All cases are of one operator, in any of its versions.
Cover cover(const std::vector<Case>& inside, const std::vector<Case>& outside);

}  // namespace assay::suites
