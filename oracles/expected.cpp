// SPDX-License-Identifier: Apache-2.0
#include "oracles/expected.h"

#include "oracles/case_class.h"
#include "oracles/exact.h"
#include "oracles/finding.h"
#include "oracles/judge.h"
#include "reference/operator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::oracles {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// What decisions 5 writes for a kind that is no number.
double special(Kind kind) {
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

double number_or_nan(const Tensor& tensor, Int index) {
  const Scalar value = scalar(tensor, index);
  return value.is == Scalar::Class::nan ? std::numeric_limits<double>::quiet_NaN() : number(value);
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

// -- what is admitted at a level

Range whole_range(DType dtype) {
  switch (dtype) {
    case DType::u8: return {0, 255};
    case DType::i8: return {-128, 127};
    case DType::i32: return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    default: return {-infinity, infinity};
  }
}

// The levels that are stronger than the default one are about the exact value alone.
Range strong_range(const Element& element, Level level, DType dtype) {
  const double right = number_of(element, dtype);
  if (level == Level::L0 || element.nearest || element.kind != Kind::finite) return {right, right};
  const Format& format = format_of(dtype);
  return {number(rounded(element.value, format, Rounding::down)), number(rounded(element.value, format, Rounding::up))};
}

// One element of `Admitted` at the level.
struct Admitting {
  const Answer& answer;
  Level level;
  Admitted& all;

  void fill(Int index, const Element& element) {
    if (element.kind == Kind::unscored) return admit_everything(index);
    const DType dtype = answer.dtype();
    Range range = level < Level::L2 ? strong_range(element, level, dtype) : range_of(element, element.asked, dtype);
    if (element.kind == Kind::nan_or_zero)
      all.or_zero.push_back(index);
    else if (level > Level::L2)
      widen(index, element, range);
    if (!element.nan_admitted.empty()) all.or_nan.push_back(index);
    store(all.output, index, number_of(element, dtype));
    store(all.lower, index, range.lower);
    store(all.upper, index, range.upper);
  }

  void admit_everything(Int index) {
    const Range range = whole_range(answer.dtype());
    if (is_float(answer.dtype())) store(all.output, index, std::numeric_limits<double>::quiet_NaN());
    ++all.unscored;
    store(all.lower, index, range.lower);
    store(all.upper, index, range.upper);
    all.or_nan.push_back(index);
  }

  void widen(Int index, const Element& element, Range& range) {
    bool nonfinite = false;
    for (const Allowance& wider : answer.wider(index)) {
      if (wider.level > level) continue;
      nonfinite |= wider.blurs_nonfinite;
      if (element.kind != Kind::finite) continue;
      nonfinite |= wider.vacuous || wider.may_overflow;
      range.include(wider.vacuous ? Range{-infinity, infinity} : range_of(element, wider, answer.dtype()));
    }
    if (nonfinite) all.or_nonfinite.push_back(index);
  }
};

Admitted admitted_under(const Case& c, const Operands& data, const Readings& readings, Level level,
                        const Arithmetic& arithmetic) {
  const auto answer = oracle_of(c.version).answer(c.call(), data, readings, arithmetic);
  const Tensor zeros({answer->dtype(), answer->shape()});
  Admitted all{readings, zeros, zeros, zeros, {}, {}, {}, 0};
  for (Int i = 0; i < zeros.elements(); ++i) Admitting{*answer, level, all}.fill(i, answer->element(i));
  return all;
}

bool admits_the_same(const Admitted& a, const Admitted& b) {
  return a.lower == b.lower && a.upper == b.upper && a.or_zero == b.or_zero && a.or_nan == b.or_nan &&
         a.or_nonfinite == b.or_nonfinite;
}

bool has(const std::vector<Int>& sorted, Int index) { return std::ranges::binary_search(sorted, index); }

// Zeros are equal whatever their sign (A29), and so are all NaN.
bool admits(const Admitted& answer, const Tensor& output, Int index) {
  const double value = number_or_nan(output, index);
  const double lower = number_or_nan(answer.lower, index), upper = number_or_nan(answer.upper, index);
  if (std::isnan(value)) return std::isnan(lower) || has(answer.or_nan, index) || has(answer.or_nonfinite, index);
  return (lower <= value && value <= upper) || (value == 0 && has(answer.or_zero, index)) ||
         (std::isinf(value) && has(answer.or_nonfinite, index));
}

}  // namespace

std::optional<Tensor> expected(const Case& c, int set) {
  if (!c.is_legal()) return std::nullopt;
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

std::vector<Admitted> admitted(const Case& c, int set, Level level, const Arithmetic& arithmetic) {
  const Operands data = operands(c, set);
  std::vector<std::string> unclear = touched(c);
  std::erase_if(unclear, [](const std::string& id) { return find_ruling(id)->is_set; });  // the ruling admits them all
  std::vector<Admitted> all{admitted_under(c, data, {}, level, arithmetic)};
  for (const Readings& readings : departures(c.definition(), unclear)) {
    if (!oracle_of(c.version).shape(c.call(), readings)) continue;
    Admitted other = admitted_under(c, data, readings, level, arithmetic);
    const auto is_same = [&](const Admitted& each) { return admits_the_same(each, other); };
    if (std::ranges::none_of(all, is_same)) all.push_back(std::move(other));
  }
  return all;
}

bool is_among(const Tensor& output, const std::vector<Admitted>& answers) {
  return std::ranges::any_of(answers, [&](const Admitted& answer) {
    if (output.type() != answer.lower.type()) return false;
    for (Int i = 0; i < output.elements(); ++i)
      if (!admits(answer, output, i)) return false;
    return true;
  });
}

}  // namespace assay::oracles
