// SPDX-License-Identifier: Apache-2.0
// The exact answers of logic. A bool that is neither 0 nor 1 is no case's data.
#include "oracles/rules/rules.h"

namespace assay::oracles {
namespace {

bool a(const ElementPoint& p) { return !p.x[0].is_zero(); }
bool b(const ElementPoint& p) { return !p.x[1].is_zero(); }

}  // namespace

Oracle logical_and() {
  return pointwise([](const ElementPoint& p) { return truth(a(p) && b(p)); });
}
Oracle logical_or() {
  return pointwise([](const ElementPoint& p) { return truth(a(p) || b(p)); });
}
Oracle logical_xor() {
  return pointwise([](const ElementPoint& p) { return truth(a(p) != b(p)); });
}
Oracle logical_not() {
  return pointwise([](const ElementPoint& p) { return truth(!a(p)); });
}

}  // namespace assay::oracles
