// SPDX-License-Identifier: Apache-2.0
// The exact answers of com.microsoft QLinearAdd and QLinearMul (windows-and-products 3.19), either order of rounding
// and adding the zero point admitted.
//
// The product is requantized as a sum of QLinearConv is (Q1). The sum is v = (a sa + b sb) / sc; who works out the
// ratios sa / sc and sb / sc first and takes the zero points apart rounds each of at most eight partial results, none
// of which is larger than M = (|A| + |za|) |sa / sc| + (|B| + |zb|) |sb / sc| + |zc|: within 9 u M of v.
#include "oracles/families/elementwise.h"
#include "oracles/rules/requantizing.h"
#include "reference/operator.h"

namespace assay::oracles {
namespace {

Int zero_of(const ElementPoint& p, const char* input) {
  const Scalar* const given = p.find(input);
  return given ? given->as_integer() : 0;
}

// One operand: its code, zero point and scale.
struct Quantized {
  Int code, zero;
  Scalar scale;

  Quantized(const ElementPoint& p, const std::string& name)
      : code(p.find(name)->as_integer()),
        zero(zero_of(p, (name + "_zero_point").c_str())),
        scale(*p.find(name + "_scale")) {}
  Int steps() const { return code - zero; }
  Dyadic value() const { return Dyadic{steps(), 0} * scale.value(); }
  Dyadic most() const { return Dyadic{std::abs(code) + std::abs(zero), 0} * abs(scale.value()); }
};

// One number of few bits, of moderate size.
bool is_plain(const Scalar& scale) { return scale.significand == 1 && std::abs(scale.exponent) < 8; }

using Beyond = std::function<std::vector<Tolerance>(const Element&)>;
// Both orders, and what is admitted beyond L2.
ElementValue in_either_order(DType type, const std::function<Element(const Requantizing&)>& of, const Beyond& beyond) {
  const Element element = joined(of({type, false}), of({type, true}));
  if (element.kind != Kind::finite) return element;
  Evaluation out;
  out.whole = Evaluation::Whole{*element.nearest, *element.required.range};
  out.others = [element, beyond] { return beyond(element); };
  return out;
}

ElementValue product(const ElementPoint& p) {
  const Quantized a(p, "A"), b(p, "B");
  const Int steps = a.steps() * b.steps(), zero = zero_of(p, "C_zero_point");
  const Scaling scaling{a.scale, b.scale, *p.find("C_scale")};
  const DType type = type_of(p);
  return in_either_order(
      type, [&](const Requantizing& how) { return requantized(how, steps, scaling, zero); },
      [=](const Element& element) { return fixed_point({type}, steps, scaling, zero, element); });
}

ElementValue sum(const ElementPoint& p) {
  const Quantized a(p, "A"), b(p, "B");
  const Scalar& c_scale = *p.find("C_scale");
  for (const Scalar* scale : {&a.scale, &b.scale, &c_scale})
    if (!scale->is_finite() || scale->is_zero()) return unscored("a scale is zero, infinite or NaN");
  const Int zero = zero_of(p, "C_zero_point");
  const Ratio v = divided({a.value() + b.value(), 1}, c_scale);
  const Ratio most = abs(divided({a.most() + b.most(), 1}, c_scale)) + Ratio{{std::abs(zero), 0}, 1};
  const bool is_exact = is_plain(a.scale) && is_plain(b.scale) && is_plain(c_scale);  // 9 bits and 2^±16 are in 24
  const Ratio slack = is_exact ? Ratio() : units_of_f32(most, 9) + Ratio{Dyadic::power_of_two(-120), 1};
  if (!(most < Ratio{Dyadic::power_of_two(100), 1}) || c_scale.is_subnormal(format_of(DType::f32)))
    return unscored("a part of the sum, or 1 over the scale, may overflow");
  const DType type = type_of(p);
  return in_either_order(
      type, [&](const Requantizing& how) { return within(how, v, slack, zero); },
      [=](const Element& element) { return one_step_off({type}, element, zero, is_exact); });
}

}  // namespace

Oracle qlinear_add() { return elementwise(sum, {.narrows_f64 = false}); }
Oracle qlinear_mul() { return elementwise(product, {.narrows_f64 = false}); }

}  // namespace assay::oracles
