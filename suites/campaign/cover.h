// SPDX-License-Identifier: Apache-2.0
// Cover: what some cases have in common and others have not, as a predicate; a first draft for a person to judge.
#pragma once

#include "suites/predicates/predicate.h"

#include <vector>

namespace assay::suites {

struct Cover {
  Predicate when;        // holds for every case inside
  std::size_t also = 0;  // cases outside it holds for as well
};

// A short conjunction, found greedily: of all claims that every case inside meets, again and again the one that leaves
// out most of the cases outside. All cases are of one operator, in any of its versions.
Cover cover(const std::vector<Case>& inside, const std::vector<Case>& outside);

struct Pieces {
  std::vector<Predicate> all;          // each holds for some case inside and for none outside
  std::vector<std::size_t> left_over;  // cases inside that none holds for, by index
};

// Short conjunctions, found one after the other: each grows from the first case inside that none before it holds for,
// by the claim that tells most about inside and outside, until it holds for none outside. One that takes more than
// `most_claims`, or holds for fewer than `least` cases inside, is dropped. Cases may be of several operators.
Pieces pieces(const std::vector<Case>& inside, const std::vector<Case>& outside, std::size_t least = 1,
              std::size_t most_claims = 3);

// Finds pieces that say more than chance does. Of as many cases drawn at random all would be inside in fewer than one
// of twenty tries, for every conjunction of so many claims that there could be. What no claim
// tells is left over. Shapes are spoken of only where attributes, types and recipes leave more over. All cases
// are of one operator, in any of its versions.
Pieces told_apart(const std::vector<Case>& inside, const std::vector<Case>& outside);

}  // namespace assay::suites
