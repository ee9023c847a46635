// SPDX-License-Identifier: Apache-2.0
// Operators that compute each element by itself, by a third hand: correct ways that round elsewhere, and bugs of the
// formula. Those of attributes follow from the definition.
#include "reference/sequence.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace assay::mutation {
namespace {

using oracles::Level;
using oracles::State;

// The real attributes of a call.
struct Constants {
  const Call& call;
  std::function<double(double)> stored;  // what an attribute becomes
  double operator()(const char* name) const { return stored(static_cast<double>(call.real(name))); }
};

// Integers are computed in float, and what is behind the point is dropped (E47): no value is 1 that is only close to
// it.
template <class F>
Tensor truncated(F f, const Call& call, const Tensor& x) {
  Tensor y(x.type());
  const Constants constants{call, [](double value) { return value; }};
  for_number(y.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      std::ranges::transform(x.as<T>(), y.as<T>().begin(), [&](T each) {
        return static_cast<T>(std::nextafter(f(constants, static_cast<float>(each)), 0.0F));
      });
  });
  return y;
}

// Y[i] = f(constants, X[i]) in float, of f64 in double, rounded to the type last; every attribute as it is or rounded
// to the type.
template <class F>
Kernel computing(F f, bool rounds_constants = false) {
  return [=](const Call& call, Inputs in) {
    Tensor y(in[0]->type());
    if (!is_float(y.dtype())) return truncated(f, call, *in[0]);
    for_float(y.dtype(), [&]<class T>() {
      const Constants constants{
          call, [=](double value) { return rounds_constants ? static_cast<double>(static_cast<T>(value)) : value; }};
      std::ranges::transform(in[0]->as<T>(), y.as<T>().begin(), [&](T x) {
        if constexpr (sizeof(T) == 8)
          return static_cast<T>(f(constants, static_cast<double>(x)));
        else
          return static_cast<T>(static_cast<double>(f(constants, static_cast<float>(static_cast<double>(x)))));
      });
    });
    return y;
  };
}

// -- LeakyRelu

const auto leaky = []<class S>(const Constants& constant, S x) {
  return x < 0 ? static_cast<S>(constant("alpha")) * x : x;
};

std::vector<Way> leaky_relu_ways() {
  return {way_of("sequential", "one element after the other, in f32 (f64 for f64)", computing(leaky)),
          way_of("rounds-constants", "attributes are rounded to the type", computing(leaky, true)),
          way_of("by-parts", "alpha times the negative part, plus the positive part",
                 computing([]<class S>(const Constants& constant, S x) {
                   const S below = std::min(x, S(0)), above = std::max(x, S(0));
                   return x != x ? x : above == 0 ? static_cast<S>(constant("alpha")) * below : above;
                 }))};
}

std::vector<Bug> leaky_relu_bugs() {
  const auto maximum = []<class S>(const Constants& constant, S x) {
    return std::max(x, static_cast<S>(constant("alpha")) * x);
  };
  return {{{"leakyrelu-takes-maximum", "LeakyRelu", "the larger of x and alpha x"}, computing(maximum)}};
}

// -- functions of one argument, and what is easily taken for them

template <class S>
S softplus(S x) {
  return std::max(x, S(0)) + std::log1p(std::exp(-std::abs(x)));
}
template <class S>
S clamped(S x) {
  return x > 1 ? S(1) : x < 0 ? S(0) : x;
}

struct Functions {
  const char* op;
  Kernel right;
  const char *id, *what;
  Kernel wrong;
};

const std::vector<Functions>& functions() {
  const auto of = [](auto f) {
    return computing([f]<class S>(const Constants&, S x) { return static_cast<S>(f(x)); });
  };
  const auto with = [](auto f) {
    return computing([f]<class S>(const Constants& c, S x) { return static_cast<S>(f(c, x)); });
  };
  static const std::vector<Functions> all{
      {"Exp", of([](auto x) { return std::exp(x); }), "takes-power-of-two", "2^x",
       of([](auto x) { return std::exp2(x); })},
      {"Log", of([](auto x) { return std::log(x); }), "takes-base-two", "the logarithm to base 2",
       of([](auto x) { return std::log2(x); })},
      {"Sqrt", of([](auto x) { return std::sqrt(x); }), "takes-cube-root", "the cube root",
       of([](auto x) { return std::cbrt(x); })},
      {"Reciprocal", of([](auto x) { return 1 / x; }), "inverts-square", "1/x^2",
       of([](auto x) { return 1 / (x * x); })},
      {"Sigmoid", of([](auto x) { return 1 / (1 + std::exp(-x)); }), "clamps", "the hard sigmoid",
       of([](auto x) { return clamped(decltype(x)(0.2) * x + decltype(x)(0.5)); })},
      {"Tanh", of([](auto x) { return std::tanh(x); }), "clamps", "x between -1 and 1",
       of([](auto x) { return std::clamp(x, decltype(x)(-1), decltype(x)(1)); })},
      {"Erf", of([](auto x) { return std::erf(x); }), "takes-tanh", "tanh", of([](auto x) { return std::tanh(x); })},
      {"Sin", of([](auto x) { return std::sin(x); }), "takes-degrees", "degrees",
       of([](auto x) { return std::sin(x * decltype(x)(0.017453292)); })},
      {"Cos", of([](auto x) { return std::cos(x); }), "takes-degrees", "degrees",
       of([](auto x) { return std::cos(x * decltype(x)(0.017453292)); })},
      {"Tan", of([](auto x) { return std::tan(x); }), "takes-degrees", "degrees",
       of([](auto x) { return std::tan(x * decltype(x)(0.017453292)); })},
      {"Asin", of([](auto x) { return std::asin(x); }), "takes-acos", "acos", of([](auto x) { return std::acos(x); })},
      {"Acos", of([](auto x) { return std::acos(x); }), "takes-asin", "asin", of([](auto x) { return std::asin(x); })},
      {"Atan", of([](auto x) { return std::atan(x); }), "inverts", "of 1/x",
       of([](auto x) { return std::atan(1 / x); })},
      {"Sinh", of([](auto x) { return std::sinh(x); }), "takes-cosh", "cosh", of([](auto x) { return std::cosh(x); })},
      {"Cosh", of([](auto x) { return std::cosh(x); }), "takes-sinh", "sinh", of([](auto x) { return std::sinh(x); })},
      {"Asinh", of([](auto x) { return std::asinh(x); }), "takes-acosh", "acosh",
       of([](auto x) { return std::acosh(x); })},
      {"Acosh", of([](auto x) { return std::acosh(x); }), "takes-asinh", "asinh",
       of([](auto x) { return std::asinh(x); })},
      {"Atanh", of([](auto x) { return std::atanh(x); }), "takes-atan", "atan",
       of([](auto x) { return std::atan(x); })},
      {"Softplus", of([](auto x) { return softplus(x); }), "takes-relu", "max(0, x)",
       of([](auto x) { return std::max(x, decltype(x)(0)); })},
      {"Softsign", of([](auto x) { return x / (1 + std::abs(x)); }), "takes-tanh", "tanh",
       of([](auto x) { return std::tanh(x); })},
      {"Mish", of([](auto x) { return x * std::tanh(softplus(x)); }), "takes-swish", "x sigmoid(x)",
       of([](auto x) { return x / (1 + std::exp(-x)); })},
      {"Swish",
       with([]<class S>(const Constants& c, S x) { return x / (1 + std::exp(-static_cast<S>(c("alpha")) * x)); }),
       "scales-outside", "alpha times x sigmoid(x)",
       with([]<class S>(const Constants& c, S x) { return static_cast<S>(c("alpha")) * x / (1 + std::exp(-x)); })},
      {"Gelu", with([]<class S>(const Constants& c, S x) {
         if (c.call.text("approximate") == "none") return x / 2 * std::erfc(-x * S(0x1.6a09e667f3bcdp-1));
         return x / 2 * (1 + std::tanh(S(0x1.9884533d43651p-1) * (x + S(0.044715) * x * x * x)));
       }),
       "takes-sigmoid", "x sigmoid(1.702 x)", of([](auto x) { return x / (1 + std::exp(decltype(x)(-1.702) * x)); })},
      {"Elu",
       with([]<class S>(const Constants& c, S x) { return x < 0 ? static_cast<S>(c("alpha")) * std::expm1(x) : x; }),
       "scales-inside", "e^(alpha x) - 1",
       with([]<class S>(const Constants& c, S x) { return x < 0 ? std::expm1(static_cast<S>(c("alpha")) * x) : x; })},
      {"Selu", with([]<class S>(const Constants& c, S x) {
         return static_cast<S>(c("gamma")) * (x <= 0 ? static_cast<S>(c("alpha")) * std::expm1(x) : x);
       }),
       "scales-one-branch", "gamma only where x is positive", with([]<class S>(const Constants& c, S x) {
         return x <= 0 ? static_cast<S>(c("alpha")) * std::expm1(x) : static_cast<S>(c("gamma")) * x;
       })},
      {"Celu", with([]<class S>(const Constants& c, S x) {
         const S alpha = static_cast<S>(c("alpha"));
         return x >= 0 ? x : alpha * std::expm1(x / alpha);
       }),
       "takes-elu", "alpha (e^x - 1)",
       with([]<class S>(const Constants& c, S x) { return x >= 0 ? x : static_cast<S>(c("alpha")) * std::expm1(x); })},
      {"ThresholdedRelu",
       with([]<class S>(const Constants& c, S x) { return x > static_cast<S>(c("alpha")) ? x : S(0); }),
       "takes-threshold", "x where it is alpha",
       with([]<class S>(const Constants& c, S x) { return x >= static_cast<S>(c("alpha")) ? x : S(0); })},
      {"HardSigmoid", with([]<class S>(const Constants& c, S x) {
         return clamped(static_cast<S>(c("alpha")) * x + static_cast<S>(c("beta")));
       }),
       "clamps-late", "1 from 6 on", with([]<class S>(const Constants& c, S x) {
         const S y = static_cast<S>(c("alpha")) * x + static_cast<S>(c("beta"));
         return y > 6 ? S(6) : y < 0 ? S(0) : y;
       })},
      {"HardSwish", of([](auto x) { return x * clamped((x + 3) / 6); }), "clamps-nothing", "x (x + 3) / 6",
       of([](auto x) { return x * (x + 3) / 6; })},
      {"Ceil", of([](auto x) { return std::ceil(x); }), "truncates", "towards zero",
       of([](auto x) { return std::trunc(x); })},
      {"Floor", of([](auto x) { return std::floor(x); }), "truncates", "towards zero",
       of([](auto x) { return std::trunc(x); })},
      {"Round", of([](auto x) { return std::nearbyint(x); }), "rounds-half-away", "ties away from zero",
       of([](auto x) { return std::round(x); })},
  };
  return all;
}

const Functions* functions_of(const std::string& op) { return find_in(functions(), op, &Functions::op); }

}  // namespace

std::vector<Way> computing_ways(const std::string& op) {
  if (op == "LeakyRelu") return leaky_relu_ways();
  const Functions* const known = functions_of(op);
  return known ? std::vector{way_of("sequential",
                                    "the library's function of one element after the other, in f32 (f64 for f64)",
                                    known->right)}
               : std::vector<Way>{};
}

std::vector<Bug> computing_bugs(const std::string& op) {
  if (op == "LeakyRelu") return leaky_relu_bugs();
  const Functions* const known = functions_of(op);
  if (!known) return {};
  return {{{lower(op) + "-" + known->id, op, known->what}, known->wrong}};
}

}  // namespace assay::mutation
