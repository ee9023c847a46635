// SPDX-License-Identifier: Apache-2.0
// The exact answer of Range: a number of steps from the start,
// with the error of the sums and products that give it in any order (movement 5.6).
#include "oracles/exact/expression.h"
#include "oracles/exact/operands.h"
#include "oracles/rules/interpolation.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {
namespace {

Scalar end_of(const Call& call, std::string_view name) {
  return scalar(*call.node().inputs.find(name)->second.data, 0);
}
Ratio number(const Call& call, std::string_view name) { return ratio(end_of(call, name)); }

Int upwards(const Ratio& quotient) {
  const Integer most = Integer(1) << 40, whole = -floor(Ratio() - quotient);
  return static_cast<Int>(std::clamp<Integer>(whole, 0, most));
}

// The quotient of the way and a step that are rounded, and it is rounded as well; an infinite way has no end.
Int rounded_count(const Ratio& way, const Ratio& step, const Format& format) {
  const Scalar held = rounded(way, format);
  if (!held.is_finite()) return (way > Ratio()) == (step > Ratio()) ? Int{1} << 40 : 0;
  const Scalar quotient = rounded(ratio(held) / step, format);
  if (!quotient.is_finite()) return quotient.negative ? 0 : Int{1} << 40;
  return upwards(ratio(quotient));
}

Int count(const Call& call, const Readings& readings) {
  const DType type = call.type("start").dtype;
  const Ratio way = number(call, "limit") - number(call, "start"), step = number(call, "delta");
  const std::string_view how = readings.of("M40");
  if (how == "body") {  // the way in the type, and the rest in f32
    const Format& single = format_of(DType::f32);
    const Scalar held = is_float(type) ? rounded(way, format_of(type)) : wrapped(type, floor(way));
    const Scalar narrow = held.is_finite() ? rounded(ratio(held), single) : held, by = rounded(step, single);
    if (!narrow.is_finite()) return narrow.negative == by.negative ? Int{1} << 40 : 0;
    return by.is_finite() && !by.is_zero() ? rounded_count(ratio(narrow), ratio(by), single) : 0;
  }
  if (how == "exact" || !is_float(type)) return upwards(way / step);
  return rounded_count(way, step, format_of(how == "count-f64" ? DType::f64 : type));
}

class StepsAnswer final : public Answer {
 public:
  StepsAnswer(const Call& call, const Readings& readings)
      : start_(number(call, "start")),
        delta_(number(call, "delta")),
        type_(call.type("start").dtype),
        count_(count(call, readings)),
        has_stash_(is_narrow() && call.integer("stash_type") != 1) {}

  Shape shape() const override { return {count_}; }
  DType dtype() const override { return type_; }
  Element element(Int index) const override {
    if (!is_float(type_)) return exactly(wrapped(type_, floor(at(index))), type_);
    if (has_stash_) return undefined("M65", "another stash_type than 1");
    Element out;
    out.value = at(index);
    out.magnitude = abs(out.value);
    out.terms = index + 1;
    out.required.arithmetic = "products or repeated sums";
    out.required.budget = budget(index, is_narrow() ? DType::f32 : type_);
    out.required.may_overflow = ratio(Int{2}) * reach(index) >= Ratio{format_of(type_).overflow_threshold(), 1};
    return out;
  }
  std::vector<Tolerance> wider(Int index) const override {
    if (!is_narrow() || has_stash_) return {};
    Tolerance out = element(index).required;
    out.level = Level::L3;
    out.arithmetic = "sums in the type";
    out.budget = budget(index, type_);
    return {out};
  }
  std::vector<ProofTerm> taps(Int index) const override {
    return {{{text(start_), std::to_string(index), text(delta_)}, "start, and steps of delta"}};
  }

 private:
  bool is_narrow() const { return type_ == DType::f16 || type_ == DType::bf16; }
  Ratio at(Int index) const { return start_ + ratio(index) * delta_; }
  // The largest number on the way.
  Ratio reach(Int index) const { return std::max(abs(start_), abs(at(index))); }

  // B_i = (i + 5) u M_i (1 + (i + 5) u); the first is the start itself, the second rounded once.
  Ratio budget(Int index, DType computed_in) const {
    if (index == 0) return {};
    const Ratio unit{Dyadic::power_of_two(format_of(computed_in).unit_exponent()), 1};
    const Ratio steps = index == 1 ? unit : ratio(index + 5) * unit;
    return (index == 1 ? steps : steps * (ratio(Int{1}) + steps)) * reach(index);
  }

  Ratio start_, delta_;
  DType type_;
  Int count_;
  bool has_stash_;
};

}  // namespace

Oracle range() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands&, const Readings& readings, const Arithmetic&) {
    return Answers(std::make_unique<StepsAnswer>(call, readings));
  };
  oracle.shape = [](const Call& call, const Readings& readings) {
    return std::optional<Shape>(Shape{count(call, readings)});
  };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
