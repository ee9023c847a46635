// SPDX-License-Identifier: Apache-2.0
// The exact answers of Softmax and LogSoftmax: exp(x_i) over the sum of all exp(x_j) of the line, or the logarithm of
// that. With +inf or NaN in it see N25; of nothing but -inf it is 0/0 (N26).
#include "oracles/families/axis.h"
#include "oracles/rules/rules.h"

namespace assay::oracles {
namespace {

template <bool takes_logarithm>
LineValue share(const LinePoint& p) {
  const OperandLine& line = p.line;
  const Scalar nothing = takes_logarithm ? infinity(true) : Scalar();
  if (const Exponentials* const exponentials = line.exponentials()) {
    if (!takes_logarithm) return exponentials->share(p.at);
    return p.own().is_finite() ? LineValue(exponentials->logarithm_of_share(p.at)) : exactly(nothing, p.dtype);
  }
  if (line.is_all_lowest) return one_of("N26", {nan(), nothing});
  const bool is_finite_or_lowest = p.own().is_finite() || (p.own().is == Scalar::Class::infinite && p.own().negative);
  const bool spreads = line.has_nan && !p.reads("N25", "skip");
  return spreads || !is_finite_or_lowest ? exactly(nan(), p.dtype) : one_of("N25", {nan(), nothing});
}

}  // namespace

Oracle softmax() { return along_lines(share<false>); }
Oracle log_softmax() { return along_lines(share<true>); }

}  // namespace assay::oracles
