// SPDX-License-Identifier: Apache-2.0
// The exact answers of Max and Min. Of NaN and a number either may be left, by the readings of E3: those that keep an
// operand where a comparison fails compare from left to right.
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"

namespace assay::oracles {
namespace {

// `is_less` or its converse, of two numbers; false of NaN.
template <bool is_maximum>
bool beats(const Scalar& a, const Scalar& b) {
  return !is_nan(a) && !is_nan(b) && (is_maximum ? is_less(b, a) : is_less(a, b));
}

template <bool is_maximum>
Scalar extreme(const ElementPoint& p) {
  Scalar held = p.x.front();
  for (const Scalar& next : p.x.subspan(1)) {
    const bool has_nan = is_nan(held) || is_nan(next);
    if (p.reads("E3", "second"))
      held = beats<is_maximum>(held, next) ? held : next;
    else if (has_nan && !p.reads("E3", "first"))
      held = is_nan(held) == p.reads("E3", "nan") ? held : next;
    else
      held = beats<is_maximum>(next, held) ? next : held;
  }
  return held;
}

}  // namespace

Oracle max() { return pointwise(extreme<true>); }
Oracle min() { return pointwise(extreme<false>); }

}  // namespace assay::oracles
