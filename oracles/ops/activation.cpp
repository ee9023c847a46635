// SPDX-License-Identifier: Apache-2.0
// The exact answers of activations: functions of elementwise 5.2 but for clamps, whose bound follows from their two
// roundings. Where the formula is inf/inf or inf times 0, NaN and the limit are right (E50).
#include "oracles/families/elementwise.h"
#include "oracles/judging/finding.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::oracles {
namespace {

bool is_below_zero(const Scalar& x) { return x.negative && !x.is_zero() && !is_nan(x); }
ElementValue nan_or(const Scalar& limit) { return one_of("E50", {nan(), limit}); }

// A constant that the function comes to, with the bound it has there.
ElementValue limit(const Dyadic& value, const FunctionTolerance& tolerance) {
  return Evaluation{value, [](const Real& of) { return of; }, tolerance, true, tolerance.sigma, false, {}};
}

// f x, which is x where x is large, and 0 or NaN at -inf.
template <Function f>
ElementValue gated(const ElementPoint& p) {
  const Scalar& x = p.x[0];
  if (!is_infinite(x)) return function_value(f, x);
  return x.negative ? nan_or(Scalar()) : x;
}

const Ratio zero, one{{1, 0}, 1}, half{{1, -1}, 1};
Ratio clamped(const Ratio& g) { return std::clamp(g, zero, one); }

// c(g), or x c(g), of g = alpha x + beta, off by so many units of its terms, more roundings behind it and η.
struct Clamp {
  Ratio alpha, beta;
  bool times_x;

  Ratio at(const Dyadic& x) const {
    const Ratio g = clamped(alpha * x + beta);
    return times_x ? g * x : g;
  }
  Evaluation of(const Scalar& x) const {
    const double size = std::abs(x.as_double()), factor = times_x ? size : 1;
    const double terms = std::abs(approximate(alpha)) * size + std::abs(approximate(beta));
    const Ratio g = alpha * x.value() + beta, reach = Ratio{scalar_of(terms * 0x1p-20 + 0x1p-140).value(), 1};
    const bool is_flat = g + reach <= zero || one + reach <= g;
    Evaluation out{x.value(), [*this](const Real& near) { return Real(at(near.lower()), near.bits()); }};
    out.tolerance = {times_x ? 3.0 : 0.0, is_flat ? 0.0 : 3.0, is_flat ? 0.0 : factor * terms * (1 + 0x1p-30),
                     1 + factor};
    if (is_flat && !times_x) out.tolerance = no_tolerance;
    out.is_approximated = true;
    out.crudeness = times_x ? size : 1;
    if (!times_x) out.limits = Interval{Scalar(), scalar(1)};
    return out;
  }
};

double number(const Call& call, std::string_view attribute) { return static_cast<double>(call.real(attribute)); }

template <Function f>
std::optional<FunctionCall> with_alpha(const Call& call) {
  return FunctionCall{f, {number(call, "alpha")}};
}
std::optional<FunctionCall> function_of_selu(const Call& call) {
  return FunctionCall{Function::selu, {number(call, "alpha"), number(call, "gamma")}};
}
// Of another alpha more than one reading is right.
std::optional<FunctionCall> function_of_celu(const Call& call) {
  return number(call, "alpha") > 0 ? with_alpha<Function::celu>(call) : std::nullopt;
}
std::optional<FunctionCall> function_of_gelu(const Call& call) {
  return FunctionCall{call.text("approximate") == "tanh" ? Function::gelu_tanh : Function::gelu, {}};
}

}  // namespace

Oracle softplus() {
  return of_function(alone<Function::softplus>, [](const ElementPoint& p) -> ElementValue {
    ElementValue value = value_of<Function::softplus>(p);
    if (auto* const evaluation = std::get_if<Evaluation>(&value))  // e^x alone overflows before 2^log2(x)
      evaluation->may_overflow = p.x[0].as_double() > 0.6931 * format_of(type_of(p)).max_exponent;
    return value;
  });
}

Oracle softsign() {
  return of_function(alone<Function::softsign>, [](const ElementPoint& p) {
    const Scalar& x = p.x[0];
    return is_infinite(x) ? nan_or(scalar(x.negative ? -1 : 1)) : function_value(Function::softsign, x);
  });
}

Oracle mish() { return of_function(alone<Function::mish>, gated<Function::mish>); }

// By tanh, of f64, another reading takes the constants of the body, which are f32 (E52).
Oracle gelu() {
  return of_function(function_of_gelu, [](const ElementPoint& p) -> ElementValue {
    if (p.call.text("approximate") != "tanh") return gated<Function::gelu>(p);
    const ElementValue value = gated<Function::gelu_tanh>(p);
    const Evaluation* const evaluation = std::get_if<Evaluation>(&value);
    if (!evaluation || type_of(p) != DType::f64 || !p.reads("E52", "body-constants")) return value;
    Evaluation out = *evaluation;
    out.of = [](const Real& x) {
      const auto constant = [&](float exact) { return Real(ratio(scalar_of(double{exact})), x.bits()); };
      const Real cubic = x + x * x * x * constant(0.044715F);
      return x * enclosed(Function::sigmoid, std::array{constant(2) * square_root(constant(0x1.45f306p-1F)) * cubic});
    };
    return out;
  });
}

// At an infinity the gate is 0, 1 or, of alpha 0, a half.
Oracle swish() {
  return of_function(with_alpha<Function::swish>, [](const ElementPoint& p) -> ElementValue {
    const Scalar &x = p.x[0], alpha = constant(p, "alpha");
    if (!is_infinite(x)) return function_value(Function::swish, x, {alpha});
    if (alpha.is_zero()) return nan_or(x);
    return alpha.negative == x.negative ? ElementValue(x) : nan_or(Scalar());
  });
}

Oracle elu() {
  return of_function(with_alpha<Function::elu>, [](const ElementPoint& p) -> ElementValue {
    const Scalar &x = p.x[0], alpha = constant(p, "alpha");
    if (!is_below_zero(x)) return x;
    if (is_infinite(x)) return limit(-alpha.value(), {8, 6, std::abs(alpha.as_double())});
    return function_value(Function::elu, x, {alpha});
  });
}

Oracle selu() {
  return of_function(function_of_selu, [](const ElementPoint& p) -> ElementValue {
    const Scalar &x = p.x[0], alpha = constant(p, "alpha"), gamma = constant(p, "gamma");
    if (is_nan(x)) return x;
    if (!is_infinite(x)) return function_value(Function::selu, x, {alpha, gamma});
    const Dyadic lowest = -(alpha.value() * gamma.value());
    if (x.negative) return limit(lowest, {8, 6, std::abs(approximate(Ratio{lowest, 1})) * (1 + 0x1p-40)});
    return gamma.is_zero() ? nan_or(Scalar()) : infinity(gamma.negative);
  });
}

// With a negative alpha the body takes the exponential where x is positive (E39), and e^(x / alpha), as it is written,
// may overflow where the product with alpha does not. The body also computes x / alpha where that says nothing, which
// may overflow.
Oracle celu() {
  return of_function(function_of_celu, [](const ElementPoint& p) -> ElementValue {
    const Scalar &x = p.x[0], alpha = constant(p, "alpha");
    if (is_nan(x)) return p.reads("E41", "zero") ? Scalar() : x;
    if (alpha.is_zero()) return unscored("alpha is 0");
    const bool is_body = alpha.negative && p.reads("E39", "body");
    const bool is_curved = is_body ? !x.negative && !x.is_zero() : is_below_zero(x);
    const std::array sizes{std::abs(x.as_double()), alpha.as_double()};
    if (is_infinite(x)) {
      if (!is_curved) return x;
      return alpha.negative == is_body ? limit(-alpha.value(), {8, 6, std::abs(sizes[1])}) : ElementValue(x);
    }
    const double most = 0.6931 * std::max(format_of(type_of(p)).max_exponent, format_of(DType::f32).max_exponent);
    const double power = sizes[0] / std::abs(sizes[1]), of_product = power + std::log(std::abs(sizes[1]));
    if (is_curved && alpha.negative != is_body && power > most && of_product < most + 1)
      return unscored("e^(x / alpha) may overflow");
    Evaluation out{x.value(), [](const Real& of) { return of; }};
    if (!is_curved) {
      out.tolerance = tolerance(Function::celu, sizes, sizes[0]);
      out.may_overflow = sizes[0] / std::abs(sizes[1]) >= std::ldexp(1.0, format_of(type_of(p)).max_exponent - 2);
      return out;
    }
    if (!is_body) return function_value(Function::celu, x, {alpha});
    out.of = [factor = ratio(alpha)](const Real& of) {
      const Real by(factor, of.bits());
      return enclosed(Function::elu, std::array{of / by, by});
    };
    out.tolerance = {8, 6, std::abs(sizes[1])};
    out.is_approximated = true;
    out.crudeness = out.tolerance.sigma;
    return out;
  });
}

Oracle thresholded_relu() {
  return exact_elementwise([](const ElementPoint& p) -> ElementValue {
    if (is_nan(p.x[0])) return p.reads("E40", "nan") ? p.x[0] : Scalar();
    return is_less(constant(p, "alpha"), p.x[0]) ? p.x[0] : Scalar();
  });
}

// Of NaN what a clamp leaves of it (E41). At an infinity alpha of 0 makes NaN, or beta.
Oracle hard_sigmoid() {
  return elementwise([](const ElementPoint& p) -> ElementValue {
    const Scalar &x = p.x[0], alpha = constant(p, "alpha"), beta = constant(p, "beta");
    if (is_nan(x)) return p.reads("E41", "one") ? scalar(1) : p.reads("E41", "zero") ? Scalar() : x;
    if (!is_infinite(x)) return Clamp{ratio(alpha), ratio(beta), false}.of(x);
    if (alpha.is_zero()) return one_of("E41", {nan(), rounded(clamped(ratio(beta)), format_of(type_of(p)))});
    return alpha.negative == x.negative ? scalar(1) : Scalar();
  });
}

Oracle hard_swish() {
  return elementwise([](const ElementPoint& p) -> ElementValue {
    const Scalar& x = p.x[0];
    if (is_nan(x)) return x;
    if (is_infinite(x)) return x.negative ? nan_or(Scalar()) : x;
    Ratio sixth{{1, 0}, 6};
    if (p.reads("E37", "float32")) sixth = ratio(rounded(sixth, format_of(DType::f32)));
    if (p.reads("E37", "rounded")) sixth = ratio(rounded(sixth, format_of(type_of(p))));
    return Clamp{sixth, half, true}.of(x);
  });
}

}  // namespace assay::oracles
