// SPDX-License-Identifier: Apache-2.0
// The exact answer of Shrink: a sum that is rounded once or, of f16 and bf16, in f32 before. On integers bias and lambd
// may be cast to their type first (E42); what does not fit is open. Of NaN it is 0 (E40).
#include "oracles/families/elementwise.h"

namespace assay::oracles {
namespace {

// Of an integer type: the attribute as it is, or cast to the type; none where it does not fit.
std::optional<Ratio> cast_constant(const ElementPoint& p, const Ratio& exact) {
  if (is_float(type_of(p)) || !p.reads("E42", "cast-attributes")) return exact;
  const Integer whole = truncated(exact);
  return fits(type_of(p), whole) ? std::optional(Ratio{{whole, 0}, 1}) : std::nullopt;
}

ElementValue shifted(const ElementPoint& p, const Ratio& by) {
  const Ratio sum = ratio(p.x[0]) + by;
  if (is_float(type_of(p))) {
    const bool has_two_roundings = type_of(p) != DType::f32 && type_of(p) != DType::f64 && !p.reads("E38", "rounded");
    return rounded_sum(p, sum, has_two_roundings ? 1 : 0);
  }
  if (!fits(type_of(p), truncated(sum))) return undefined("E42", "the sum does not fit the type");
  return fitted(p, truncated(sum));
}

ElementValue shrunk(const ElementPoint& p) {
  const Scalar &x = p.x[0], bias = constant(p, "bias"), lambd = constant(p, "lambd");
  if (is_nan(x)) return p.reads("E40", "nan") ? x : Scalar();
  if (!bias.is_finite() || !lambd.is_finite()) return unscored("bias or lambd is not finite");
  const std::optional<Ratio> least = cast_constant(p, Ratio() - ratio(lambd)), most = cast_constant(p, ratio(lambd)),
                             by = cast_constant(p, ratio(bias));
  if (!least || !most || !by) return undefined("E42", "bias or lambd does not fit the type");
  if (is_infinite(x)) return x;
  if (ratio(x) < *least) return shifted(p, *by);
  return *most < ratio(x) ? shifted(p, Ratio() - *by) : Scalar();
}

}  // namespace

Oracle shrink() { return elementwise(shrunk); }

}  // namespace assay::oracles
