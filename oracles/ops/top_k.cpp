// SPDX-License-Identifier: Apache-2.0
// The exact answer of TopK: the largest of each line or the smallest, those that stand first before their equals, and
// where they stand. With sorted = 0 they come in any order (M53).
#include "oracles/judging/finding.h"
#include "oracles/rules/selection.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

bool says_no(const Call& call, const char* attribute) { return call.states(attribute) && call.integer(attribute) == 0; }

// Tells whether a stands before b by size alone; NaN is the greatest number (M30).
bool precedes(const Call& call, const Scalar& a, const Scalar& b) {
  const bool a_is_nan = a.is == Scalar::Class::nan, b_is_nan = b.is == Scalar::Class::nan;
  const Scalar &less = says_no(call, "largest") ? a : b, &more = says_no(call, "largest") ? b : a;
  if (a_is_nan || b_is_nan) return a_is_nan != b_is_nan && more.is == Scalar::Class::nan;
  return is_less(less, more);
}

}  // namespace

Oracle top_k() {
  return selected({.axis = [](const Call& call) { return (call.integer("axis") + call.rank("X")) % call.rank("X"); },
                   .count = [](const Call& call) { return call.integer("k"); },
                   .precedes = precedes,
                   .is_ordered = [](const Call& call) { return !says_no(call, "sorted"); },
                   .nan_ruling = "M30",
                   .order_ruling = "M53"});
}

}  // namespace assay::oracles
