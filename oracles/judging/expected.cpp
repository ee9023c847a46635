// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/expected.h"

#include "oracles/exact/exact.h"
#include "oracles/judging/case_class.h"
#include "oracles/judging/finding.h"
#include "oracles/judging/judge.h"
#include "oracles/judging/members.h"
#include "reference/operator.h"

#include <algorithm>
#include <limits>

namespace assay::oracles {
namespace {

// What decisions 5 writes for a kind that is no number.
Scalar special(Kind kind) {
  if (kind == Kind::positive_infinity || kind == Kind::negative_infinity)
    return infinity(kind == Kind::negative_infinity);
  return nan();
}

// An infinity, or the largest number of a format without one.
template <class T>
T infinite(bool is_negative) {
  const double value = is_negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if constexpr (requires { T::has_infinity; })
    return T(value, !T::has_infinity);
  else
    return T(value);
}

// Writes a value of the tensor's type: exact zero is +0 and NaN the positive quiet one.
void store(Tensor& tensor, Int index, const Scalar& value) {
  if (value.text) {
    tensor.as<std::string>()[static_cast<std::size_t>(index)] = *value.text;
    return;
  }
  for_value(tensor.dtype(), [&]<class T>() {
    T& element = tensor.as<T>()[static_cast<std::size_t>(index)];
    if constexpr (std::is_integral_v<T>)
      element = static_cast<T>(value.as_integer());
    else if (value.is == Scalar::Class::nan)
      element = T(std::numeric_limits<double>::quiet_NaN());
    else if (value.is == Scalar::Class::infinite)
      element = infinite<T>(value.negative);
    else
      element = T(value.as_double());  // at most 53 bits: exact
  });
}

// Writes the right answer: of a copy the bits that are copied (decisions 5).
void store_right(Tensor& tensor, Int index, const Answer& answer, const Scalar& right) {
  const auto [source, from] = answer.copied(index);
  if (!source || right.text) return store(tensor, index, right);
  const std::size_t size = size_of(tensor.dtype());
  std::ranges::copy(source->bytes().subspan(static_cast<std::size_t>(from) * size, size),
                    tensor.bytes().subspan(static_cast<std::size_t>(index) * size).begin());
}

// Writes an end of what is admitted: where every bit has to come back, of nothing but the right answer.
void store_end(Tensor& tensor, Int index, const Answer& answer, const Scalar& end) {
  answer.keeps_bits() ? store_right(tensor, index, answer, end) : store(tensor, index, end);
}

Scalar right_of(const Element& element, DType dtype) {
  const bool is_known = element.kind == Kind::finite || element.kind == Kind::one_of || element.kind == Kind::text;
  return is_known ? nearest(element, dtype) : special(element.kind);
}

// Ends that are values of the output type.
struct Range {
  Scalar lower, upper;

  void include(const Range& other) {
    if (is_less(other.lower, lower)) lower = other.lower;
    if (is_less(upper, other.upper)) upper = other.upper;
  }
};

// From the least to the largest number among the options.
Range range_of_options(const Element& element) {
  std::vector<Scalar> numbers = element.options;
  std::erase_if(numbers, is_nan);
  const auto [least, most] = std::ranges::minmax_element(numbers, is_less);
  return {*least, *most};
}

Range range_of(const Element& element, const Tolerance& tolerance, DType dtype) {
  if (element.kind == Kind::one_of) return range_of_options(element);
  if (element.kind != Kind::finite) return {right_of(element, dtype), right_of(element, dtype)};
  const Interval admitted = interval(element, tolerance, dtype);
  Range range{admitted.lower, admitted.upper};
  if (!tolerance.flushes_output || !is_float(dtype)) return range;
  const Scalar smallest = rounded({Dyadic::power_of_two(format_of(dtype).min_exponent), 1}, format_of(dtype));
  Scalar opposite = smallest;
  opposite.negative = true;
  if (is_less(range.lower, smallest) && is_less(opposite, range.upper)) range.include({Scalar(), Scalar()});
  return range;
}

// Takes in the range that a wider tolerance admits; tells whether it admits an infinity or NaN as well.
bool include(Range& range, const Element& element, const Tolerance& wider, DType dtype) {
  if (element.kind != Kind::finite) return wider.blurs_nonfinite;
  range.include(wider.vacuous ? Range{infinity(true), infinity()} : range_of(element, wider, dtype));
  return wider.blurs_nonfinite || wider.vacuous || wider.may_overflow;
}

// One element of `Admissible`.
struct Filler {
  const Answer& answer;
  Admissible& all;

  void fill(Int index, const Element& element) {
    const DType dtype = answer.dtype();
    const Range required = range_of(element, element.required, dtype);
    store_right(all.output, index, answer, right_of(element, dtype));
    store_end(all.lower, index, answer, required.lower);
    store_end(all.upper, index, answer, required.upper);
    if (element.kind == Kind::nan_or_zero) all.or_zero.push_back(index);
    if (!element.nan_admitted.empty()) all.or_nan[element.nan_admitted].push_back(index);
    if (std::ranges::any_of(element.options, is_nan)) all.or_nan[element.chosen_by].push_back(index);
    if (element.kind == Kind::finite) all.arithmetic.insert(element.required.arithmetic);
    widen(index, element, required);
  }

  void widen(Int index, const Element& element, Range widest) {
    bool nonfinite = false;
    const bool has_wider = element.kind != Kind::nan_or_zero;
    for (const Tolerance& wider : has_wider ? answer.wider(index) : std::vector<Tolerance>{}) {
      all.widest_arithmetic.insert(wider.arithmetic);
      nonfinite |= include(widest, element, wider, answer.dtype());
    }
    store_end(all.widest_lower, index, answer, widest.lower);
    store_end(all.widest_upper, index, answer, widest.upper);
    if (nonfinite) all.widest_or_nonfinite.push_back(index);
  }
};

Answers answers_to(const Case& c, int set, const Readings& readings = {}) {
  return oracle_of(c.version).answer(c.call(), operands(c, set), readings, {});
}

void include(Tensor& lower, Tensor& upper, const Tensor& other_lower, const Tensor& other_upper, Int index) {
  Range range{scalar(lower, index), scalar(upper, index)};
  range.include({scalar(other_lower, index), scalar(other_upper, index)});
  store(lower, index, range.lower);
  store(upper, index, range.upper);
}

// Widens the intervals by those of another member, which is as right.
void include(Admissible& all, const Admissible& member, const std::string& chosen_by) {
  for (Int i = 0; i < all.output.elements(); ++i) {
    const bool is_number = !is_nan(scalar(all.lower, i)), is_other_number = !is_nan(scalar(member.lower, i));
    if (!is_other_number && is_number) all.or_nan[chosen_by].push_back(i);
    if (!is_other_number || !is_number) continue;
    include(all.lower, all.upper, member.lower, member.upper, i);
    include(all.widest_lower, all.widest_upper, member.widest_lower, member.widest_upper, i);
  }
}

// -- what is admitted at a level

Range whole_range(DType dtype) {
  return for_value(dtype, []<class T>() -> Range {
    if constexpr (std::is_integral_v<T>)
      return {scalar(static_cast<Int>(std::numeric_limits<T>::min())),
              scalar_of_unsigned(static_cast<std::uint64_t>(std::numeric_limits<T>::max()))};
    else if constexpr (SmallWhole<T>)
      return {scalar(T::lowest), scalar(T::highest)};
    else if constexpr (std::is_same_v<T, Bool>)
      return {scalar(Int{0}), scalar(Int{1})};
    else
      return {infinity(true), infinity()};
  });
}

// The levels that are stronger than the default one are about the exact value alone.
Range strong_range(const Element& element, Level level, DType dtype) {
  const Scalar right = right_of(element, dtype);
  if (element.kind == Kind::one_of) return range_of_options(element);
  if (level == Level::L0 || element.nearest || element.kind != Kind::finite) return {right, right};
  const Format& format = format_of(dtype);
  return {rounded(element.value, format, Rounding::down), rounded(element.value, format, Rounding::up)};
}

// One element of `Admitted` at the level.
struct Admitting {
  const Answer& answer;
  Level level;
  Admitted& all;

  void fill(Int index, const Element& element) {
    if (element.kind == Kind::unscored) return admit_everything(index);
    const DType dtype = answer.dtype();
    Range range = level < Level::L2 ? strong_range(element, level, dtype) : range_of(element, element.required, dtype);
    if (element.kind == Kind::nan_or_zero)
      all.or_zero.push_back(index);
    else if (level > Level::L2)
      widen(index, element, range);
    if (!element.nan_admitted.empty() || std::ranges::any_of(element.options, is_nan)) all.or_nan.push_back(index);
    all.has_other_texts |= element.says_same || (dtype == DType::string && element.options.size() > 1);
    store_right(all.output, index, answer, right_of(element, dtype));
    store_end(all.lower, index, answer, range.lower);
    store_end(all.upper, index, answer, range.upper);
  }

  void admit_everything(Int index) {
    all.or_nan.push_back(index);
    ++all.unscored;
    if (answer.dtype() == DType::string) {
      all.has_other_texts = true;
      return;
    }
    const Range range = whole_range(answer.dtype());
    if (is_float(answer.dtype())) store(all.output, index, special(Kind::nan));
    store(all.lower, index, range.lower);
    store(all.upper, index, range.upper);
  }

  void widen(Int index, const Element& element, Range& range) {
    bool nonfinite = false;
    for (const Tolerance& wider : answer.wider(index))
      if (wider.level <= level) nonfinite |= include(range, element, wider, answer.dtype());
    if (nonfinite) all.or_nonfinite.push_back(index);
  }
};

std::vector<Admitted> admitted_under(const Case& c, const Operands& data, const Readings& readings, Level level,
                                     const Arithmetic& arithmetic) {
  std::vector<Admitted> outputs;
  for (const std::unique_ptr<Answer>& answer : oracle_of(c.version).answer(c.call(), data, readings, arithmetic)) {
    const Tensor zeros({answer->dtype(), answer->shape()});
    Admitted all{readings, zeros, zeros, zeros, {}, {}, {}, false, 0};
    for (Int i = 0; i < zeros.elements(); ++i) Admitting{*answer, level, all}.fill(i, answer->element(i));
    outputs.push_back(std::move(all));
  }
  return outputs;
}

bool admits_the_same(const Admitted& a, const Admitted& b) {
  return a.lower == b.lower && a.upper == b.upper && a.or_zero == b.or_zero && a.or_nan == b.or_nan &&
         a.or_nonfinite == b.or_nonfinite;
}

bool has(const std::vector<Int>& sorted, Int index) { return std::ranges::binary_search(sorted, index); }

// Zeros are equal whatever their sign (A29), and so are all NaN.
bool admits(const Admitted& answer, const Tensor& output, Int index) {
  const Scalar value = scalar(output, index);
  const Scalar lower = scalar(answer.lower, index), upper = scalar(answer.upper, index);
  if (value.is == Scalar::Class::nan)
    return lower.is == Scalar::Class::nan || has(answer.or_nan, index) || has(answer.or_nonfinite, index);
  if (value.text) return has(answer.or_nan, index) || same(value, lower) || same(value, upper);
  const bool is_inside = lower.is != Scalar::Class::nan && !is_less(value, lower) && !is_less(upper, value);
  return is_inside || (value.is_zero() && has(answer.or_zero, index)) ||
         (value.is == Scalar::Class::infinite && has(answer.or_nonfinite, index));
}

bool admits(const Admitted& answer, const Tensor& output) {
  if (output.type() != answer.lower.type()) return false;
  for (Int i = 0; i < output.elements(); ++i)
    if (!admits(answer, output, i)) return false;
  return true;
}

Result<std::vector<Admissible>> admissible_under(const Case& c, int set, const Readings& readings) {
  std::vector<Admissible> outputs;
  for (const std::unique_ptr<Answer>& answer : answers_to(c, set, readings)) {
    const Tensor zeros({answer->dtype(), answer->shape()});
    Admissible& all = outputs.emplace_back(Admissible{zeros, zeros, zeros, zeros, zeros, {}, {}, {}, {}, {}});
    Filler filler{*answer, all};
    for (Int i = 0; i < zeros.elements(); ++i) {
      const Element element = answer->element(i);
      if (element.kind == Kind::unscored) return Error{element.reason};
      // Between the ends of floats lies nothing else that a rule admits; integers apart have others between them.
      const bool has_others = element.kind == Kind::one_of && !is_float(zeros.dtype()) && element.options.size() > 1;
      if (has_others || element.says_same) return Error{"several answers are right"};
      filler.fill(i, element);
    }
  }
  return outputs;
}

}  // namespace

std::optional<std::vector<Tensor>> expected(const Case& c, int set) {
  if (!c.is_legal()) return std::nullopt;
  std::vector<Tensor> outputs;
  for (const std::unique_ptr<Answer>& answer : answers_to(c, set)) {
    Tensor& tensor = outputs.emplace_back(TensorType{answer->dtype(), answer->shape()});
    for (Int i = 0; i < tensor.elements(); ++i) {
      const Element element = answer->element(i);
      if (element.kind == Kind::unscored) return std::nullopt;
      store_right(tensor, i, *answer, right_of(element, tensor.dtype()));
    }
  }
  return outputs;
}

Result<std::vector<Admissible>> admissible(const Case& c, int set) {
  if (c.definition().ruling("N14")) return Error{"a step is judged by the state that the one before it left"};
  Result<std::vector<Admissible>> outputs = admissible_under(c, set, {});
  if (!outputs) return outputs;
  for (const Readings& member : other_members(c.definition())) {
    const Result<std::vector<Admissible>> other = admissible_under(c, set, member);
    if (!other) return other;
    for (std::size_t i = 0; i < other->size(); ++i)
      include((*outputs)[i], (*other)[i], member.departures().begin()->first);
  }
  return outputs;
}

std::vector<std::vector<Admitted>> admitted(const Case& c, int set, Level level, const Arithmetic& arithmetic) {
  const Operands data = operands(c, set);
  std::vector<std::string> unclear = touched(c);
  std::erase_if(unclear,
                [](const std::string& id) { return find_ruling(id)->is(Ruling::set); });  // the ruling admits them all
  std::vector<std::vector<Admitted>> all{admitted_under(c, data, {}, level, arithmetic)};
  std::vector<Readings> others = other_members(c.definition());
  std::ranges::move(departures(c.definition(), unclear), std::back_inserter(others));
  for (const Readings& readings : others) {
    if (refuses(readings) || !oracle_of(c.version).shape(c.call(), readings)) continue;
    std::vector<Admitted> other = admitted_under(c, data, readings, level, arithmetic);
    const auto is_same = [&](const std::vector<Admitted>& each) {
      return std::ranges::equal(each, other, admits_the_same);
    };
    if (std::ranges::none_of(all, is_same)) all.push_back(std::move(other));
  }
  return all;
}

std::vector<Admitted> of_output(std::vector<std::vector<Admitted>> answers, std::size_t n) {
  std::vector<Admitted> all;
  for (std::vector<Admitted>& each : answers) all.push_back(std::move(each.at(n)));
  return all;
}

bool is_among(const Tensor& output, const std::vector<Admitted>& answers) {
  return std::ranges::any_of(answers, [&](const Admitted& answer) { return admits(answer, output); });
}

bool is_among(const std::vector<Tensor>& outputs, const std::vector<std::vector<Admitted>>& answers) {
  return std::ranges::any_of(answers, [&](const std::vector<Admitted>& answer) {
    return std::ranges::equal(answer, outputs,
                              [](const Admitted& one, const Tensor& output) { return admits(one, output); });
  });
}

}  // namespace assay::oracles
