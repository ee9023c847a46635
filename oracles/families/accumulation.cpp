// SPDX-License-Identifier: Apache-2.0
#include "oracles/families/accumulation.h"

#include "oracles/exact/dot.h"
#include "oracles/families/elementwise.h"
#include "oracles/rules/totals.h"

namespace assay::oracles {
namespace {

Dot dot(const std::vector<Scalar>& x) {
  Dot sum;
  for (const Scalar& each : x) sum.terms.push_back({each, std::nullopt});
  return sum;
}

// Reduces integers modulo 2^w, or by another reading keeps them within the type at every step.
Scalar whole(Joining how, const std::vector<Scalar>& x, DType dtype, const Readings& readings) {
  Scalar total = scalar(Int{how == Joining::product});
  for (const Scalar& each : x) {
    const Integer met = truncated(ratio(total)), next = truncated(ratio(each));
    const Integer both = how == Joining::sum ? Integer(met + next) : Integer(met * next);
    total = readings.of("E17") == "saturate" ? saturated(dtype, both) : wrapped(dtype, both);
  }
  return total;
}

}  // namespace

Element joined(Joining how, const std::vector<Scalar>& x, DType dtype, const Readings& readings) {
  if (!is_float(dtype)) return exactly(whole(how, x, dtype, readings), dtype);
  if (how == Joining::sum) return enclose(dot(x), dtype);
  const auto of = product(x, dtype);
  Element out = of.index() == 0 ? std::get<0>(of) : computed(*std::get<1>(of), dtype);
  out.terms = std::ssize(x);
  return out;
}

std::vector<Tolerance> wider_joined(Joining how, const std::vector<Scalar>& x, DType dtype,
                                    const Arithmetic& declared) {
  if (!is_float(dtype)) return {};
  if (how == Joining::sum) return widen_sum(dot(x), dtype, declared);
  const auto of = product(x, dtype);
  if (of.index() == 1) return tolerances(*std::get<1>(of), joined(how, x, dtype, {}), dtype, declared);
  const Element& element = std::get<0>(of);
  return element.kind == Kind::finite ? std::vector{flushing(element, x, dtype)} : std::vector<Tolerance>{};
}

}  // namespace assay::oracles
