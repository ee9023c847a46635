// SPDX-License-Identifier: Apache-2.0
#include "oracles/expected.h"

#include "oracles/exact.h"
#include "oracles/finding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::oracles {
namespace {

// What decisions 5 writes for a kind that is no number.
double special(Kind kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (kind == Kind::positive_infinity) return infinity;
  return kind == Kind::negative_infinity ? -infinity : std::numeric_limits<double>::quiet_NaN();
}

double number(const Scalar& value) {
  if (value.is == Scalar::Class::infinite)
    return value.negative ? -special(Kind::positive_infinity) : special(Kind::positive_infinity);
  return std::ldexp(static_cast<double>(value.mantissa), value.exponent);  // at most 53 bits: exact
}

void store(Tensor& tensor, Int index, double value) {
  const auto at = static_cast<std::size_t>(index);
  switch (tensor.dtype()) {
    case DType::u8: tensor.as<std::uint8_t>()[at] = static_cast<std::uint8_t>(value); break;
    case DType::i8: tensor.as<std::int8_t>()[at] = static_cast<std::int8_t>(value); break;
    case DType::i32: tensor.as<std::int32_t>()[at] = static_cast<std::int32_t>(value); break;
    case DType::i64: tensor.as<std::int64_t>()[at] = static_cast<std::int64_t>(value); break;
    default: for_float(tensor.dtype(), [&]<class T>() { tensor.as<T>()[at] = static_cast<T>(value); });
  }
}

double number_of(const Element& element, DType dtype) {
  if (element.kind != Kind::finite) return special(element.kind);
  return number(nearest(element, dtype));
}

// Every value of an output type is a double.
struct Range {
  double lower, upper;

  void include(const Range& other) {
    lower = std::min(lower, other.lower);
    upper = std::max(upper, other.upper);
  }
};

Range range_of(const Element& element, const Allowance& allowance, DType dtype) {
  if (element.kind != Kind::finite) return {special(element.kind), special(element.kind)};
  const Interval admitted = interval(element, allowance, dtype);
  Range range{number(admitted.lower), number(admitted.upper)};
  if (!allowance.flushes_output || !is_float(dtype)) return range;
  const double smallest = std::ldexp(1.0, format_of(dtype).min_exponent);
  if (range.lower < smallest && range.upper > -smallest) range.include({0, 0});
  return range;
}

// One element of `Admissible`.
struct Filler {
  const Answer& answer;
  Admissible& all;

  void fill(Int index, const Element& element) {
    const DType dtype = answer.dtype();
    const Range asked = range_of(element, element.asked, dtype);
    store(all.output, index, number_of(element, dtype));
    store(all.lower, index, asked.lower);
    store(all.upper, index, asked.upper);
    if (element.kind == Kind::nan_or_zero) all.or_zero.push_back(index);
    if (!element.nan_admitted.empty()) all.or_nan[element.nan_admitted].push_back(index);
    if (element.kind == Kind::finite) all.arithmetic.insert(element.asked.arithmetic);
    widen(index, element, asked);
  }

  void widen(Int index, const Element& element, Range widest) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    bool nonfinite = false;
    const bool has_wider = element.kind != Kind::nan_or_zero;
    for (const Allowance& wider : has_wider ? answer.wider(index) : std::vector<Allowance>{}) {
      all.widest_arithmetic.insert(wider.arithmetic);
      nonfinite |= wider.blurs_nonfinite;
      if (element.kind != Kind::finite) continue;
      nonfinite |= wider.vacuous || wider.may_overflow;
      widest.include(wider.vacuous ? Range{-infinity, infinity} : range_of(element, wider, answer.dtype()));
    }
    store(all.widest_lower, index, widest.lower);
    store(all.widest_upper, index, widest.upper);
    if (nonfinite) all.widest_or_nonfinite.push_back(index);
  }
};

std::unique_ptr<Answer> answer_of(const Case& c, int set) {
  return oracle_of(c.version).answer(c.call(), operands(c, set), {}, {});
}

}  // namespace

std::optional<Tensor> expected(const Case& c, int set) {
  if (!c.definition().violated(c.call()).empty()) return std::nullopt;
  const std::unique_ptr<Answer> answer = answer_of(c, set);
  Tensor tensor({answer->dtype(), answer->shape()});
  for (Int i = 0; i < tensor.elements(); ++i) {
    const Element element = answer->element(i);
    if (element.kind == Kind::unscored) return std::nullopt;
    store(tensor, i, number_of(element, tensor.dtype()));
  }
  return tensor;
}

Result<Admissible> admissible(const Case& c, int set) {
  const std::unique_ptr<Answer> answer = answer_of(c, set);
  const Tensor zeros({answer->dtype(), answer->shape()});
  Admissible all{zeros, zeros, zeros, zeros, zeros, {}, {}, {}, {}, {}};
  Filler filler{*answer, all};
  for (Int i = 0; i < zeros.elements(); ++i) {
    const Element element = answer->element(i);
    if (element.kind == Kind::unscored) return Error{element.reason};
    filler.fill(i, element);
  }
  return all;
}

}  // namespace assay::oracles
