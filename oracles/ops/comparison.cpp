// SPDX-License-Identifier: Apache-2.0
// The exact answers of comparisons: of the two values as they are stored, in no other type. NaN compares with nothing.
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"

namespace assay::oracles {
namespace {

bool are_ordered(const ElementPoint& p) { return p.x[0].is != Scalar::Class::nan && p.x[1].is != Scalar::Class::nan; }

}  // namespace

Oracle equal() {
  return pointwise([](const ElementPoint& p) { return truth(are_ordered(p) && same(p.x[0], p.x[1])); });
}

Oracle less() {
  return pointwise([](const ElementPoint& p) { return truth(are_ordered(p) && is_less(p.x[0], p.x[1])); });
}

Oracle greater() {
  return pointwise([](const ElementPoint& p) { return truth(are_ordered(p) && is_less(p.x[1], p.x[0])); });
}

Oracle less_or_equal() {
  return pointwise([](const ElementPoint& p) { return truth(are_ordered(p) && !is_less(p.x[1], p.x[0])); });
}

Oracle greater_or_equal() {
  return pointwise([](const ElementPoint& p) { return truth(are_ordered(p) && !is_less(p.x[0], p.x[1])); });
}

}  // namespace assay::oracles
