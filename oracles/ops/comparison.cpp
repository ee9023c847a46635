// SPDX-License-Identifier: Apache-2.0
// The exact answers of comparisons: of the two values as they are stored, in no other type. NaN compares with nothing.
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"

namespace assay::oracles {
namespace {

bool are_ordered(const ElementPoint& p) { return p.x[0].is != Scalar::Class::nan && p.x[1].is != Scalar::Class::nan; }

}  // namespace

const Oracle& equal() {
  static const Oracle oracle =
      pointwise([](const ElementPoint& p) { return truth(are_ordered(p) && same(p.x[0], p.x[1])); });
  return oracle;
}

const Oracle& less() {
  static const Oracle oracle =
      pointwise([](const ElementPoint& p) { return truth(are_ordered(p) && is_less(p.x[0], p.x[1])); });
  return oracle;
}

const Oracle& greater() {
  static const Oracle oracle =
      pointwise([](const ElementPoint& p) { return truth(are_ordered(p) && is_less(p.x[1], p.x[0])); });
  return oracle;
}

const Oracle& less_or_equal() {
  static const Oracle oracle =
      pointwise([](const ElementPoint& p) { return truth(are_ordered(p) && !is_less(p.x[1], p.x[0])); });
  return oracle;
}

const Oracle& greater_or_equal() {
  static const Oracle oracle =
      pointwise([](const ElementPoint& p) { return truth(are_ordered(p) && !is_less(p.x[0], p.x[1])); });
  return oracle;
}

}  // namespace assay::oracles
