// SPDX-License-Identifier: Apache-2.0
// The exact answer of LpNormalization: an element over the norm of its line, by one tree (reductions 5).
#include "oracles/families/axis.h"
#include "oracles/rules/rules.h"

#include <algorithm>

namespace assay::oracles {
namespace {

LineValue share(const LinePoint& p) {
  const std::vector<Scalar>& x = p.line.x;
  if (p.line.has_nan || is_infinite(p.own())) return exactly(nan(), p.dtype);
  if (!std::ranges::all_of(x, &Scalar::is_finite)) return unscored("a scaled sum may make NaN of an infinity");
  if (std::ranges::all_of(x, &Scalar::is_zero)) return exactly(Scalar(), p.dtype);
  const Group& group = p.line.group();
  const Tree own = operand(p.own());
  const bool is_of_sizes = p.call.integer("p") == 1;
  return expression(in_format(is_of_sizes ? own / group.sum_of_sizes() : over_root(own, group.sum_of_squares())));
}

}  // namespace

Oracle lp_normalization() { return along_lines(share); }

}  // namespace assay::oracles
