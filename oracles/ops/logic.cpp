// SPDX-License-Identifier: Apache-2.0
// The exact answers of logic. A bool that is neither 0 nor 1 is no case's data.
#include "oracles/rules/rules.h"

namespace assay::oracles {
namespace {

bool a(const ElementPoint& p) { return !p.x[0].is_zero(); }
bool b(const ElementPoint& p) { return !p.x[1].is_zero(); }

}  // namespace

const Oracle& logical_and() {
  static const Oracle oracle = pointwise([](const ElementPoint& p) { return truth(a(p) && b(p)); });
  return oracle;
}

const Oracle& logical_or() {
  static const Oracle oracle = pointwise([](const ElementPoint& p) { return truth(a(p) || b(p)); });
  return oracle;
}

const Oracle& logical_xor() {
  static const Oracle oracle = pointwise([](const ElementPoint& p) { return truth(a(p) != b(p)); });
  return oracle;
}

const Oracle& logical_not() {
  static const Oracle oracle = pointwise([](const ElementPoint& p) { return truth(!a(p)); });
  return oracle;
}

}  // namespace assay::oracles
