// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules.h"

#include "oracles/finding.h"
#include "oracles/judge.h"
#include "oracles/operands.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

using Rule = Scalar (*)(const Point&);

Kind kind_of(const Scalar& value) {
  if (value.is == Scalar::Class::nan) return Kind::nan;
  if (value.is == Scalar::Class::infinite) return value.negative ? Kind::negative_infinity : Kind::positive_infinity;
  return Kind::finite;
}

Allowance beyond(std::string arithmetic) {
  Allowance out;
  out.level = Level::widest;
  out.arithmetic = std::move(arithmetic);
  return out;
}

// Tells whether a value lies in the last three binades, where hardware of that format may overflow early.
bool is_near_overflow(const Scalar& value, const Format& format) {
  return value.is_finite() && abs(value.value()) >= Dyadic::power_of_two(format.max_exponent - 2);
}

Ratio exact(const Scalar& value) { return {value.value(), 1}; }

class PointwiseAnswer final : public Answer {
 public:
  PointwiseAnswer(Rule rule, const Call& call, const Operands& in, const Readings& readings)
      : rule_(rule), call_(call), readings_(readings), shape_(call.definition().shape(call)) {
    for (const std::optional<Tensor>& operand : in) inputs_.emplace_back(*operand);
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return inputs_.front().tensor().dtype(); }

  Element element(Int index) const override {
    const Scalar value = at(index);
    Element out;
    out.kind = kind_of(value);
    out.terms = 1;
    out.asked.arithmetic = "no rounding";
    if (out.kind != Kind::finite) return out;
    out.value = exact(value);
    out.magnitude = abs(out.value);
    if (!is_float(dtype())) {
      out.nearest = value;
      out.asked.range = Interval{value, value};
    }
    return out;
  }

  std::vector<Allowance> wider(Int index) const override {
    if (!is_float(dtype())) return {};
    Allowance flushed = beyond("subnormals flushed");
    flushed.flushes_output = true;
    std::vector<Allowance> all{std::move(flushed)};
    if (dtype() == DType::f64) all.push_back(in_single(index));
    return all;
  }

  std::vector<Tap> taps(Int index) const override {
    std::vector<Tap> all;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      all.push_back(
          {{hexadecimal(inputs_[i].at(index))}, place(call_.definition().inputs[i].name, inputs_[i].shape(), index)});
    return all;
  }

 private:
  Scalar at(Int index) const {
    std::vector<Scalar> x;
    for (const Cells& input : inputs_) x.push_back(input.at(index));
    return rule_({call_, readings_, x});
  }

  // The rule of what each operand is in f32: infinite where it overflows, and zero is admitted where it is subnormal.
  Allowance in_single(Int index) const {
    const Format& single = format_of(DType::f32);
    std::vector<Scalar> x;
    for (const Cells& input : inputs_) {
      const Scalar wide = input.at(index);
      x.push_back(wide.is_finite() ? rounded(exact(wide), single) : wide);
    }
    Allowance out = beyond("f64 computed in f32");
    const Scalar value = rule_({call_, readings_, x}), right = at(index);
    out.may_overflow = value.is == Scalar::Class::infinite || is_near_overflow(value, single);
    if (!value.is_finite() || !right.is_finite()) return out;
    out.budget = abs(exact(value) - exact(right));
    const bool may_flush = value.is_subnormal(single) || value.is_zero();
    if (may_flush) out.budget = std::max(out.budget, abs(exact(right)));
    return out;
  }

  Rule rule_;
  Call call_;
  Readings readings_;
  Shape shape_;
  std::vector<Cells> inputs_;
};

// The rulings of which another reading changes an element.
std::vector<std::string> touched_by(Rule rule, const Call& call, const Operands& in) {
  std::vector<std::string> ids;
  const PointwiseAnswer ruled(rule, call, in, {});
  for (const RulingUse& use : call.definition().rulings) {
    if (use.readings.size() < 2) continue;
    const bool differs = std::ranges::any_of(departures(call.definition(), {use.id}), [&](const Readings& readings) {
      const PointwiseAnswer other(rule, call, in, readings);
      for (Int i = 0, count = volume(ruled.shape()); i < count; ++i) {
        const Element a = ruled.element(i), b = other.element(i);
        if (a.kind != b.kind || (a.kind == Kind::finite && a.value != b.value)) return true;
      }
      return false;
    });
    if (differs) ids.push_back(use.id);
  }
  return ids;
}

}  // namespace

Oracle pointwise(Rule rule) {
  Oracle oracle;
  oracle.answer = [rule](const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
    return std::make_unique<PointwiseAnswer>(rule, call, in, readings);
  };
  oracle.shape = [](const Call& call, const Readings&) -> std::optional<Shape> {
    return call.definition().shape(call);
  };
  oracle.touched = [rule](const Call& call, const Operands* in) {
    return in ? touched_by(rule, call, *in) : std::vector<std::string>{};
  };
  oracle.touched_reads_data = true;
  oracle.rounds = false;
  return oracle;
}

}  // namespace assay::oracles
