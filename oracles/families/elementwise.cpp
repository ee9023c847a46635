// SPDX-License-Identifier: Apache-2.0
#include "oracles/families/elementwise.h"

#include "oracles/exact/expression.h"
#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/broadcast.h"
#include "reference/operator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace assay::oracles {
namespace {

using ElementRule = ElementValue (*)(const ElementPoint&);

Ratio number(double value) { return {scalar_of(value).value(), 1}; }
Ratio power_of_two(int exponent) { return {Dyadic::power_of_two(exponent), 1}; }
bool is_narrow(DType type) { return type == DType::f16 || type == DType::bf16; }
// Returns what functions of a type are computed in: f32, of f64 itself.
const Format& working_format(DType type) { return format_of(type == DType::f64 ? DType::f64 : DType::f32); }

Allowance beyond(std::string arithmetic) {
  Allowance out;
  out.level = Level::widest;
  out.arithmetic = std::move(arithmetic);
  out.flushes_output = true;  // joins any other
  return out;
}

// One evaluation under the bounds of one type (elementwise 5.3).
class Widening {
 public:
  Widening(const Evaluation& of, const Element& element, DType type)
      : of_(of), element_(element), type_(type), size_(std::abs(approximate(element.value)) * (1 + 0x1p-40)) {}

  std::vector<Allowance> all() const {
    std::vector<Allowance> out;
    const bool is_simple = of_.tolerance.k <= 2 && of_.tolerance.a == 0;  // rounded, or a row of one or two roundings
    if (is_narrow(type_) && std::isfinite(size_)) out.push_back(in_type());
    if (is_simple) out.push_back(truncating());
    Allowance flushed = beyond("subnormals flushed");
    flushed.budget = element_.asked.budget;
    out.push_back(std::move(flushed));
    if (!std::isfinite(size_)) {  // beyond every format
      add_overflow(out);
      return out;
    }
    if (of_.is_approximated && type_ != DType::f64) out.push_back(of_ten_bits());
    if (!is_simple) {
      out.push_back(with_budget("an argument that is rounded", asked_bound() + spread(working_format(type_))));
      if (is_narrow(type_)) out.push_back(with_approximations_in_type());
    }
    if (of_.may_overflow || (of_.is_approximated && !is_simple)) add_overflow(out);
    return out;
  }

 private:
  Ratio bound_in(const Format& format, double most_ulps) const {
    Tolerance tolerance = of_.tolerance;
    tolerance.k = std::min(tolerance.k, most_ulps);
    return number(bound(tolerance, size_, format));
  }
  Ratio asked_bound() const { return element_.asked.budget; }

  Allowance with_budget(std::string arithmetic, Ratio budget) const {
    Allowance out = beyond(std::move(arithmetic));
    out.budget = std::move(budget);
    return out;
  }

  Allowance in_type() const {
    Allowance out =
        with_budget("every operation in " + std::string(name(type_)), bound_in(format_of(type_), 8) + element_.blur);
    out.level = Level::L3;
    return out;
  }

  Allowance truncating() const {
    Allowance out = beyond("one truncation");
    out.level = Level::L2t;
    const Format& format = format_of(type_);
    out.range = Interval{rounded(element_.value - asked_bound(), format, Rounding::down),
                         rounded(element_.value + asked_bound(), format, Rounding::up)};
    return out;
  }

  Allowance of_ten_bits() const {
    const std::string words = "functions of 10 bits";
    if (!std::isfinite(of_.crudeness)) {
      Allowance out = beyond(words);
      out.range = Interval{infinity(true), infinity()};
      return out;
    }
    return with_budget(words, asked_bound() + number(0x1p-10 * size_ + 0x1p-13 * of_.crudeness));
  }

  Allowance with_approximations_in_type() const {
    Tolerance tolerance{8, 16, std::max(of_.tolerance.a > 0 ? of_.tolerance.sigma : 0, of_.crudeness), 128};
    const std::string words = "approximations in " + std::string(name(type_));
    if (!std::isfinite(tolerance.sigma)) return of_ten_bits();
    const Format& format = format_of(type_);
    return with_budget(words, number(bound(tolerance, size_, format)) + spread(format) + element_.blur);
  }

  // How far the value moves where the argument moves by 4u of that format; four times what it moves on one side where
  // the other is outside of the domain.
  Ratio spread(const Format& format) const {
    const Dyadic step = of_.argument * Dyadic::power_of_two(format.unit_exponent() + 2);
    Ratio most;
    int sides = 0;
    for (const Dyadic& moved : {of_.argument + step, of_.argument - step}) {
      const Real value = of_.of(Real(Ratio{moved, 1}, 96));
      if (!value.is_bounded()) continue;
      ++sides;
      for (const Dyadic& end : {value.lower(), value.upper()})
        most = std::max(most, abs(Ratio{end, 1} - element_.value));
    }
    return sides == 2 ? most : most * Dyadic::power_of_two(2);
  }

  // Infinities of the last three binades, and large numbers where the value has none.
  void add_overflow(std::vector<Allowance>& out) const {
    const Format& format = format_of(type_);
    const bool is_negative = element_.value < Ratio();
    const Ratio size = abs(element_.value);
    if (of_.may_overflow || size >= power_of_two(format.max_exponent - 2)) {
      out.push_back(beyond("overflow of an intermediate"));
      out.back().range = Interval{infinity(is_negative), infinity(is_negative)};
    }
    if (size < Ratio{format.overflow_threshold(), 1}) return;
    const Scalar large = rounded(power_of_two(format.max_exponent), format);
    out.push_back(beyond("saturating overflow"));
    out.back().range =
        is_negative ? Interval{infinity(true), rounded(Ratio() - ratio(large), format)} : Interval{large, infinity()};
  }

  const Evaluation& of_;
  const Element& element_;
  DType type_;
  double size_;
};

class ElementwiseAnswer final : public Answer {
 public:
  ElementwiseAnswer(ElementRule rule, const Call& call, const Operands& in, const Readings& readings)
      : rule_(rule), call_(call), readings_(readings), meeting_(Meeting::of(call, readings).value()) {
    for (const std::optional<Tensor>& operand : in)
      if (operand) inputs_.emplace_back(*operand);
  }

  Shape shape() const override { return meeting_.shape(); }
  DType dtype() const override { return inputs_.front().tensor().dtype(); }

  Element element(Int index) const override { return element_of(rule_at(operands_at(index)), dtype()); }

  std::vector<Allowance> wider(Int index) const override {
    if (!is_float(dtype())) return {};
    const std::vector<Scalar> x = operands_at(index);
    const ElementValue value = rule_at(x);
    const Element element = element_of(value, dtype());
    std::vector<Allowance> all;
    if (const auto* const evaluation = std::get_if<Evaluation>(&value); evaluation && element.kind == Kind::finite)
      all = Widening(*evaluation, element, dtype()).all();
    else
      all.push_back(flushing(element, x, dtype()));
    add_flushed_operands(x, all);
    if (dtype() == DType::f64) add_single(x, element, all);
    return all;
  }

  std::vector<Tap> taps(Int index) const override {
    std::vector<Tap> all;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      all.push_back({{hexadecimal(inputs_[i].at(meeting_.cell(i, index)))},
                     place(call_.definition().inputs[i].name, inputs_[i].shape(), meeting_.cell(i, index))});
    return all;
  }

 private:
  std::vector<Scalar> operands_at(Int index) const {
    std::vector<Scalar> x;
    for (std::size_t i = 0; i < inputs_.size(); ++i) x.push_back(inputs_[i].at(meeting_.cell(i, index)));
    return x;
  }
  ElementValue rule_at(const std::vector<Scalar>& x) const { return rule_({call_, readings_, x}); }

  // The element, of an output of this type.
  static Element element_of(const ElementValue& value, DType type) {
    if (const auto* const scalar = std::get_if<Scalar>(&value)) return exactly(*scalar, type);
    if (const auto* const known = std::get_if<Element>(&value)) return *known;
    return computed(std::get<Evaluation>(value), type);
  }

  static Element computed(const Evaluation& of, DType type) {
    if (of.value) return exactly_rounded(*of.value);
    const auto at = [&](int bits) { return of.of(Real(Ratio{of.argument, 1}, bits)); };
    const std::optional<StandIn> value = stand_in(at, format_of(type));
    if (!value) return unscored("how the exact value rounds takes more than 1,536 bits");
    Element out;
    out.terms = 1;
    out.value = value->value;
    out.blur = value->off;
    out.magnitude = abs(out.value);
    const double size = at(96).size();
    const bool is_rounded = of.tolerance == no_tolerance || !std::isfinite(size);
    out.asked.budget = is_rounded ? Ratio() : budget_of(bound(of.tolerance, size, working_format(type)), out.blur);
    out.asked.arithmetic = is_rounded ? "one rounding"
                                      : std::string(name(type == DType::f64 ? DType::f64 : DType::f32)) +
                                            ", functions within their bounds";
    if (of.limits) {
      const Interval range = interval(out, out.asked, type);
      out.asked.range =
          Interval{std::max(range.lower, of.limits->lower, is_less), std::min(range.upper, of.limits->upper, is_less)};
    }
    return out;
  }

  static Element exactly_rounded(const Ratio& value) {
    Element out;
    out.terms = 1;
    out.value = value;
    out.magnitude = abs(value);
    out.asked.arithmetic = "one rounding";
    return out;
  }

  // Any number that the element admits, between its ends.
  static std::optional<Interval> range_of(const Element& element, DType type) {
    if (element.kind == Kind::finite) return interval(element, element.asked, type);
    if (element.kind == Kind::positive_infinity) return Interval{infinity(), infinity()};
    if (element.kind == Kind::negative_infinity) return Interval{infinity(true), infinity(true)};
    return std::nullopt;
  }

  // Reads subnormals as zeros, those of the type and those of f32.
  void add_flushed_operands(std::vector<Scalar> x, std::vector<Allowance>& all) const {
    bool is_changed = false;
    for (Scalar& operand : x) {
      if (!operand.is_subnormal(format_of(dtype())) && !operand.is_subnormal(working_format(dtype()))) continue;
      operand = Scalar{Scalar::Class::finite, operand.negative, 0, 0};
      is_changed = true;
    }
    if (!is_changed) return;
    const Element flushed = element_of(rule_at(x), dtype());
    all.push_back(beyond("subnormals flushed"));
    all.back().range = range_of(flushed, dtype());
    all.back().blurs_nonfinite = flushed.kind == Kind::nan;  // 0 / 0, or 0 times an infinity
    if (all.back().range || all.back().blurs_nonfinite) return;
    all.pop_back();
    for (const Scalar& option : flushed.options) {
      if (option.is == Scalar::Class::nan) continue;
      all.push_back(beyond("subnormals flushed"));
      all.back().range = Interval{option, option};
    }
  }

  // Computes f64 in f32: of operands that are rounded to it, within its bounds.
  void add_single(std::vector<Scalar> x, const Element& right, std::vector<Allowance>& all) const {
    const Format& single = format_of(DType::f32);
    for (Scalar& operand : x)
      if (operand.is_finite()) operand = rounded(ratio(operand), single);
    const Element narrow = element_of(rule_at(x), DType::f32);
    const auto add = [&](const Scalar& lower, const Scalar& upper) {
      all.push_back(beyond("f64 computed in f32"));
      all.back().range = Interval{lower, upper};
      if (right.kind == Kind::finite && lower.is_finite() && upper.is_finite()) {
        // Reaches to what is asked for: what lies between is no less accurate.
        const Interval asked = interval(right, right.asked, dtype());
        all.back().range = Interval{std::min(lower, asked.lower, is_less), std::max(upper, asked.upper, is_less)};
      }
      all.back().blurs_nonfinite = narrow.kind == Kind::nan || narrow.kind == Kind::one_of;
    };
    if (narrow.kind == Kind::finite)  // with or without a last rounding to f32
      for (const Format* const format : {&single, &format_of(DType::f64)})
        add(rounded(narrow.value - narrow.asked.budget, *format, Rounding::down),
            rounded(narrow.value + narrow.asked.budget, *format, Rounding::up));
    else if (const std::optional<Interval> range = range_of(narrow, DType::f32))
      add(range->lower, range->upper);
    else
      add(infinity(true), infinity(true));  // NaN, and infinities
    const bool is_large = right.kind == Kind::finite && abs(right.value) >= power_of_two(single.max_exponent - 2);
    const bool is_small = right.kind == Kind::finite && abs(right.value) < power_of_two(single.min_exponent);
    if (is_large) add(infinity(right.value < Ratio()), infinity(right.value < Ratio()));
    if (is_small) add(Scalar(), Scalar());
  }

  ElementRule rule_;
  Call call_;
  Readings readings_;
  Meeting meeting_;
  std::vector<Cells> inputs_;
};

}  // namespace

static Oracle made(ElementRule rule) {
  Oracle oracle;
  oracle.answer = [rule](const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
    return Answers(std::make_unique<ElementwiseAnswer>(rule, call, in, readings));
  };
  oracle.shape = shape_of_meeting;
  return oracle;
}

Oracle elementwise(ElementRule rule) { return with_touched(made(rule)); }
Oracle exact_elementwise(ElementRule rule) { return without_rounding(made(rule)); }

DType type_of(const ElementPoint& p) { return p.call.type(p.call.definition().inputs.front().name).dtype; }

Scalar constant(const ElementPoint& p, std::string_view attribute) {
  const Scalar value = scalar_of(static_cast<double>(p.call.real(attribute)));
  const DType type = type_of(p);
  if (!p.reads("E38", "rounded") || !value.is_finite() || !is_float(type)) return value;
  return rounded(ratio(value), format_of(type));
}

Evaluation product(const Scalar& a, const Scalar& x, double ulps) {
  Evaluation out;
  out.argument = x.value();
  out.of = [factor = ratio(a)](const Real& of) { return Real(factor, of.bits()) * of; };
  out.tolerance = ulps == 0 ? no_tolerance : Tolerance{ulps, 0, 0, 1};
  return out;
}

Evaluation rounded_once(const Scalar& x, std::function<Real(const Real&)> of) {
  return {x.value(), std::move(of), no_tolerance, true, 0, false, {}, {}};
}

Evaluation rounded_once(Ratio value, bool is_approximated) {
  Evaluation out{{}, {}, no_tolerance, is_approximated};
  out.value = std::move(value);
  return out;
}

Scalar fitted(const ElementPoint& p, const Integer& value) {
  return for_number(type_of(p), [&]<class T>() -> Scalar {
    if constexpr (!std::is_integral_v<T>) {
      throw BrokenPromise("a float that is to wrap");
    } else {
      const Integer least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
      Integer held = value;
      if (p.reads("E16", "saturate") || p.reads("E17", "saturate"))
        held = value < least ? least : value > most ? most : value;
      const Integer cycle = most - least + 1;
      held = (held - least) % cycle;
      held += held < 0 ? cycle + least : least;
      return held < 0 ? scalar(static_cast<Int>(held)) : scalar_of_unsigned(static_cast<std::uint64_t>(held));
    }
  });
}

ElementValue function_value(Function f, const Scalar& x, std::vector<Scalar> operands) {
  if (const std::optional<Scalar> known = special(f, x)) return *known;
  if (x.is == Scalar::Class::nan) return x;
  if (is_infinite(x)) {
    expects(f == Function::atan, "an infinity that the function says nothing of");
    const Scalar one{Scalar::Class::finite, x.negative, 1, 0};
    return function_value(Function::asin, one);  // ±π/2, with a bound of as many ulp
  }
  Evaluation out;
  out.argument = x.value();
  std::vector<Ratio> others;
  std::vector<double> sizes{x.as_double()};
  for (const Scalar& each : operands) {
    others.push_back(ratio(each));
    sizes.push_back(each.as_double());
  }
  out.of = [f, others](const Real& of) {
    std::vector<Real> all{of};
    for (const Ratio& each : others) all.emplace_back(each, of.bits());
    return enclosed(f, all);
  };
  const double size = out.of(Real(Ratio{out.argument, 1}, 96)).size();
  out.tolerance = tolerance(f, sizes, size);
  out.is_approximated = out.tolerance.k > 2;  // no row of one or two roundings
  out.crudeness = crudeness(f, sizes, size);
  return out;
}

}  // namespace assay::oracles
