// SPDX-License-Identifier: Apache-2.0
// The exact answer of Softmax: exp(x_i) over the sum of all exp(x_j) of the line. With +inf or NaN in it see N25; of
// nothing but -inf it is 0/0 (N26).
#include "oracles/families/axis.h"
#include "oracles/rules.h"

#include <algorithm>

namespace assay::oracles {
namespace {

bool is_nan(const Scalar& x) { return x.is == Scalar::Class::nan; }
bool is_infinite(const Scalar& x) { return x.is == Scalar::Class::infinite && !x.negative; }
bool vanishes(const Scalar& x) { return x.is == Scalar::Class::infinite && x.negative; }

LineValue share(const LinePoint& p) {
  const bool has_nan = std::ranges::any_of(p.x, is_nan), has_infinite = std::ranges::any_of(p.x, is_infinite);
  if (std::ranges::all_of(p.x, vanishes)) return one_of("N26", {nan(), Scalar()});
  if (!has_nan && !has_infinite) return p.exponentials().share(p.at);
  if (is_nan(p.own()) || is_infinite(p.own()) || (has_nan && !p.reads("N25", "skip"))) return exactly(nan(), p.dtype);
  return one_of("N25", {nan(), Scalar()});
}

}  // namespace

const Oracle& softmax() {
  static const Oracle oracle = along_lines(share);
  return oracle;
}

}  // namespace assay::oracles
