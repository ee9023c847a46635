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

// One evaluation under the bounds of one type (elementwise 5.3).
class Widening {
 public:
  Widening(const Evaluation& of, const Element& element, DType type)
      : of_(of), element_(element), type_(type), size_(std::abs(approximate(element.value)) * (1 + 0x1p-40)) {}

  std::vector<Tolerance> all() const {
    std::vector<Tolerance> out;
    const bool is_simple = of_.tolerance.k <= 2 && of_.tolerance.a == 0;  // rounded, or a row of one or two roundings
    if (is_narrow(type_) && std::isfinite(size_)) out.push_back(in_type());
    if (is_simple) out.push_back(truncating());
    Tolerance flushed = beyond("subnormals flushed");
    flushed.budget = element_.required.budget;
    out.push_back(std::move(flushed));
    if (!std::isfinite(size_)) {  // beyond every format
      add_overflow(out);
      return out;
    }
    if (of_.is_approximated && type_ != DType::f64) out.push_back(of_ten_bits());
    if (!is_simple) {
      out.push_back(with_budget("an argument that is rounded", required_bound() + spread(working_format(type_))));
      if (is_narrow(type_)) out.push_back(with_approximations_in_type());
    }
    if (of_.may_overflow || (of_.is_approximated && !is_simple)) add_overflow(out);
    return out;
  }

 private:
  Ratio bound_in(const Format& format, double most_ulps) const {
    FunctionTolerance tolerance = of_.tolerance;
    tolerance.k = std::min(tolerance.k, most_ulps);
    return number(bound(tolerance, size_, format));
  }
  Ratio required_bound() const { return element_.required.budget; }

  Tolerance with_budget(std::string arithmetic, Ratio budget) const {
    Tolerance out = beyond(std::move(arithmetic));
    out.budget = std::move(budget);
    return out;
  }

  Tolerance in_type() const {
    Tolerance out =
        with_budget("every operation in " + std::string(name(type_)), bound_in(format_of(type_), 8) + element_.blur);
    out.level = Level::L3;
    return out;
  }

  Tolerance truncating() const {
    Tolerance out = beyond("one truncation");
    out.level = Level::L2t;
    const Format& format = format_of(type_);
    out.range = Interval{rounded(element_.value - required_bound(), format, Rounding::down),
                         rounded(element_.value + required_bound(), format, Rounding::up)};
    return out;
  }

  Tolerance of_ten_bits() const {
    const std::string words = "functions of 10 bits";
    if (!std::isfinite(of_.crudeness)) {
      Tolerance out = beyond(words);
      out.range = Interval{infinity(true), infinity()};
      return out;
    }
    return with_budget(words, required_bound() + number(0x1p-10 * size_ + 0x1p-13 * of_.crudeness));
  }

  Tolerance with_approximations_in_type() const {
    FunctionTolerance tolerance{8, 16, std::max(of_.tolerance.a > 0 ? of_.tolerance.sigma : 0, of_.crudeness), 128};
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
  void add_overflow(std::vector<Tolerance>& out) const {
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
  ElementwiseAnswer(ElementRule rule, const Call& call, const Operands& in, const Readings& readings,
                    const ElementwiseOptions& options)
      : rule_(rule),
        call_(call),
        readings_(readings),
        inputs_(call, in, readings),
        dtype_(call.definition().type_of(call, call.definition().outputs.front())),
        narrows_(options.narrows_f64),
        flushes_as_output_(options.flushes_as_output) {
    for (const Parameter& each : call.definition().inputs)
      if (call.has(each.name)) types_read_.push_back(call.type(each.name).dtype);
    if (!options.function || !readings.departures().empty()) return;
    if (std::optional<FunctionCall> function = options.function(call))
      filter_ = FunctionFilter::of(*std::move(function), dtype_);
  }

  Shape shape() const override { return inputs_.shape(); }
  DType dtype() const override { return dtype_; }

  Element element(Int index) const override { return element_of(rule_at(inputs_.at(index)), dtype()); }

  std::vector<Tolerance> wider(Int index) const override {
    const std::vector<Scalar> x = inputs_.at(index);
    const ElementValue value = rule_at(x);
    const auto* const evaluation = std::get_if<Evaluation>(&value);
    std::vector<Tolerance> all;
    if (evaluation && evaluation->others) all = evaluation->others();
    if (!is_float(dtype())) return all;
    const Element element = element_of(value, dtype());
    if (is_small(dtype()))
      ;  // converted once, by no arithmetic of its own
    else if (evaluation && element.kind == Kind::finite)
      std::ranges::move(Widening(*evaluation, element, dtype()).all(), std::back_inserter(all));
    else
      all.push_back(flushing(element, x, dtype()));
    add_flushed_operands(x, all);
    if (dtype() == DType::f64 && narrows_) add_single(x, element, all);
    return all;
  }

  std::vector<ProofTerm> taps(Int index) const override { return inputs_.taps(index); }

  std::optional<FilterResult> screen(const Tensor& got, const FilterOptions& how) const override {
    if (!filter_ || got.elements() < least_screened) return std::nullopt;
    return screened(*filter_, inputs_.first(), got, how);
  }

 private:
  ElementValue rule_at(const std::vector<Scalar>& x) const { return rule_({call_, readings_, x}); }

  // The element, of an output of this type.
  static Element element_of(const ElementValue& value, DType type) {
    if (const auto* const scalar = std::get_if<Scalar>(&value)) return exactly(*scalar, type);
    if (const auto* const known = std::get_if<Element>(&value)) return *known;
    return computed(std::get<Evaluation>(value), type);
  }

  static Element computed(const Evaluation& of, DType type) {
    if (of.whole) {
      Element out = exactly(of.whole->right, type);
      out.required.range = of.whole->admitted;
      return out;
    }
    if (of.value) return fraction(*of.value, of, type);
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
    out.required.budget = is_rounded ? Ratio() : budget_of(bound(of.tolerance, size, working_format(type)), out.blur);
    out.required.arithmetic = is_rounded ? "one rounding"
                                         : std::string(name(type == DType::f64 ? DType::f64 : DType::f32)) +
                                               ", functions within their bounds";
    if (of.limits) {
      const Interval range = interval(out, out.required, type);
      out.required.range =
          Interval{std::max(range.lower, of.limits->lower, is_less), std::min(range.upper, of.limits->upper, is_less)};
    }
    return out;
  }

  static Element fraction(const Ratio& value, const Evaluation& of, DType type) {
    Element out;
    out.terms = 1;
    out.value = value;
    out.magnitude = abs(value);
    out.required.arithmetic = "one rounding";
    if (of.budget) out.required.budget = *of.budget;
    if (of.tolerance == no_tolerance) return out;
    out.required.budget =
        number(bound(of.tolerance, std::abs(approximate(value)) * (1 + 0x1p-40), working_format(type)));
    out.required.arithmetic = "a rounding in f32, and one more";
    return out;
  }

  // Any number that the element admits, between its ends.
  static std::optional<Interval> range_of(const Element& element, DType type) {
    if (element.kind == Kind::finite) return interval(element, element.required, type);
    if (element.kind == Kind::positive_infinity) return Interval{infinity(), infinity()};
    if (element.kind == Kind::negative_infinity) return Interval{infinity(true), infinity(true)};
    return std::nullopt;
  }

  // Reads subnormals as zeros: those of the types of the output and of the operand, and those of f32.
  void add_flushed_operands(std::vector<Scalar> x, std::vector<Tolerance>& all) const {
    bool is_changed = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      Scalar& operand = x[i];
      const bool is_read_so =
          i < types_read_.size() && is_float(types_read_[i]) && operand.is_subnormal(format_of(types_read_[i]));
      const bool is_output_so = flushes_as_output_ && operand.is_subnormal(format_of(dtype()));
      if (!is_read_so && !is_output_so && !operand.is_subnormal(working_format(dtype()))) continue;
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
  void add_single(std::vector<Scalar> x, const Element& right, std::vector<Tolerance>& all) const {
    const Format& single = format_of(DType::f32);
    for (Scalar& operand : x)
      if (operand.is_finite()) operand = rounded(ratio(operand), single);
    if (!single_) single_ = in_single(call_);
    const ElementValue value = rule_({*single_, readings_, x});
    const Element narrow = element_of(value, DType::f32);
    if (const auto* const evaluation = std::get_if<Evaluation>(&value)) add_single_formula(*evaluation, narrow, all);
    const auto add = [&](const Scalar& lower, const Scalar& upper) {
      all.push_back(beyond("f64 computed in f32"));
      all.back().range = Interval{lower, upper};
      if (right.kind == Kind::finite && lower.is_finite() && upper.is_finite()) {
        // Admits what lies as near to the right value as one of these: it is no less accurate.
        const Ratio off =
            std::max({abs(ratio(lower) - right.value), abs(ratio(upper) - right.value), right.required.budget});
        const Format& format = format_of(dtype());
        all.back().range = Interval{rounded(right.value - off, format), rounded(right.value + off, format)};
      }
      all.back().blurs_nonfinite = narrow.kind == Kind::nan || narrow.kind == Kind::one_of;
    };
    if (narrow.kind == Kind::finite)  // with or without a last rounding to f32
      for (const Format* const format : {&single, &format_of(DType::f64)})
        add(rounded(narrow.value - narrow.required.budget, *format, Rounding::down),
            rounded(narrow.value + narrow.required.budget, *format, Rounding::up));
    else if (const std::optional<Interval> range = range_of(narrow, DType::f32))
      add(range->lower, range->upper);
    else if (narrow.kind == Kind::one_of && std::ranges::any_of(narrow.options, &Scalar::is_finite))
      for (const Scalar& option : narrow.options) add(option, option);
    else
      add(infinity(true), infinity(true));  // NaN, and infinities
    const bool is_large = right.kind == Kind::finite && abs(right.value) >= power_of_two(single.max_exponent - 2);
    const bool is_small = right.kind == Kind::finite && abs(right.value) < power_of_two(single.min_exponent);
    const bool is_negative = right.value < Ratio();
    if (is_large) add(infinity(is_negative), infinity(is_negative));
    if (right.kind == Kind::finite && abs(right.value) >= Ratio{single.overflow_threshold(), 1})  // it saturates
      is_negative ? add(infinity(true), scalar_of(-0x1p127)) : add(scalar_of(0x1p127), infinity());
    if (is_small) add(Scalar(), Scalar());
  }

  static Call in_single(const Call& call) {
    Node node = call.node();
    for (auto& [name, input] : node.inputs)
      if (input.type.dtype == DType::f64) input.type.dtype = DType::f32;
    return Call(call.definition(), std::move(node));
  }

  // Excuses f64 computed in f32 where f32 itself would be excused by its formula: operations of the formula that
  // overflow, or that are rounded each.
  static void add_single_formula(const Evaluation& of, const Element& narrow, std::vector<Tolerance>& all) {
    if (of.others) std::ranges::move(of.others(), std::back_inserter(all));
    if (!of.may_overflow || narrow.kind != Kind::finite) return;
    const bool is_negative = narrow.value < Ratio();
    all.push_back(beyond("f64 computed in f32, overflow of an intermediate"));
    all.back().range = Interval{infinity(is_negative), infinity(is_negative)};
  }

  ElementRule rule_;
  Call call_;
  Readings readings_;
  MetInputs inputs_;
  DType dtype_;
  bool narrows_, flushes_as_output_;
  mutable std::optional<Call> single_;  // as the call is in f32, once an element missed its level
  std::vector<DType> types_read_;
  std::optional<FunctionFilter> filter_;
};

}  // namespace

Tolerance with_budget(std::string arithmetic, double budget) {
  Tolerance out = beyond(std::move(arithmetic));
  out.budget = number(budget);
  return out;
}

Oracle elementwise(ElementRule rule, const ElementwiseOptions& options) {
  Oracle oracle;
  oracle.answer = [=](const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
    return Answers(std::make_unique<ElementwiseAnswer>(rule, call, in, readings, options));
  };
  oracle.shape = options.shape ? options.shape : shape_of_meeting;
  oracle.function = options.function;
  return options.rounds ? with_touched(std::move(oracle)) : without_rounding(std::move(oracle));
}
Oracle of_function(std::optional<FunctionCall> (*function)(const Call&), ElementRule rule) {
  return elementwise(rule, {.function = function});
}
Oracle exact_elementwise(ElementRule rule) { return elementwise(rule, {.rounds = false}); }
Oracle copying_elementwise(ElementRule rule) { return elementwise(rule, {.rounds = false, .narrows_f64 = false}); }

DType type_of(const ElementPoint& p) {
  const Definition& definition = p.call.definition();
  return definition.type_of(p.call, definition.outputs.front());
}

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
  out.tolerance = ulps == 0 ? no_tolerance : FunctionTolerance{ulps, 0, 0, 1};
  return out;
}

Evaluation rounded_once(const Scalar& x, std::function<Real(const Real&)> of) {
  return {x.value(), std::move(of), no_tolerance, true, 0, false, {}, {}};
}

ElementValue in_type(const ElementPoint& p, const Ratio& value, bool is_approximated) {
  if (!is_float(type_of(p))) return fitted(p, truncated(value));
  Evaluation out{{}, {}, no_tolerance, is_approximated};
  out.value = value;
  return out;
}

Evaluation exact_beside(const Scalar& right, std::vector<Tolerance> others) {
  Evaluation out;
  out.whole = Evaluation::Whole{right, {right, right}};
  out.others = [others = std::move(others)] { return others; };
  return out;
}

ElementValue or_itself(const ElementPoint& p, ElementValue value) {
  auto* const evaluation = std::get_if<Evaluation>(&value);
  const Scalar& x = p.x[0];
  if (!evaluation || !is_float(type_of(p)) || !x.is_subnormal(format_of(type_of(p)))) return value;
  Tolerance out = beyond("subnormals compared as zeros");
  out.range = Interval{x, x};
  evaluation->others = [out] { return std::vector{out}; };
  return value;
}

Evaluation rounded_sum(const ElementPoint& p, const Ratio& value, double ulps) {
  Evaluation out = std::get<Evaluation>(in_type(p, value));
  out.tolerance = ulps == 0 ? no_tolerance : FunctionTolerance{ulps, 0, 0, 1};
  return out;
}

Scalar fitted(const ElementPoint& p, const Integer& value) {
  const bool saturates = p.reads("E16", "saturate") || p.reads("E17", "saturate");
  return saturates ? saturated(type_of(p), value) : wrapped(type_of(p), value);
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
