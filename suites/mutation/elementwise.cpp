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

std::vector<VariantKernel> leaky_relu_variants() {
  return {variant_of("sequential", "one element after the other, in f32 (f64 for f64)", computing(leaky)),
          variant_of("rounds-constants", "attributes are rounded to the type", computing(leaky, true)),
          variant_of("by-parts", "alpha times the negative part, plus the positive part",
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

// -- the same as vector libraries and machines have it

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? 0.0F : x; }

// The right kernel of f32 on a machine that reads and writes subnormals as zeros.
Kernel flushing(const Kernel& right) {
  return [=](const Call& call, Inputs in) {
    if (in[0]->dtype() != DType::f32) return right(call, in);
    Tensor x = *in[0];
    std::ranges::transform(x.as<float>(), x.as<float>().begin(), flushed);
    const Tensor* const read[] = {&x};
    Tensor y = right(call, read).only();
    std::ranges::transform(y.as<float>(), y.as<float>().begin(), flushed);
    return Values(std::move(y));
  };
}

// The right kernel in double, off by up to `most` units of f32 in the last place, as the bits of the argument say; f64
// as it is.
Kernel within_ulps(double most, const Kernel& right) {
  return [=](const Call& call, Inputs in) {
    Tensor y(in[0]->type()), x({DType::f64, in[0]->shape()});
    if (!is_float(y.dtype()) || y.dtype() == DType::f64) return right(call, in);
    for_float(y.dtype(), [&]<class T>() {
      std::ranges::transform(in[0]->as<T>(), x.as<double>().begin(), [](T each) { return static_cast<double>(each); });
      const Tensor* const read[] = {&x};
      const Tensor exact = right(call, read).only();
      std::ranges::transform(exact.as<double>(), x.as<double>(), y.as<T>().begin(), [&](double is, double argument) {
        if (is == 0 || !std::isfinite(is) || !std::isfinite(argument)) return T(is);
        const double ulp = std::ldexp(1.0, std::clamp(std::ilogb(is), -126, 127) - 23);
        const std::uint64_t drawn = std::bit_cast<std::uint64_t>(argument) * 0x9e3779b97f4a7c15 >> 32;
        const double share = 2 * static_cast<double>(drawn) / 0x1p32 - 1;  // between -1 and 1
        return T(static_cast<double>(static_cast<float>(is + share * (most - 0.5) * ulp)));
      });
    });
    return Values(std::move(y));
  };
}

// x (a0 + a1 x^2 + …) / (b0 + b1 x^2 + …) with x between -bound and bound: as MLAS and Eigen take tanh, sigmoid and
// erf.
struct Rational {
  float bound;
  std::vector<float> above, below;
  float operator()(float x) const {
    x = x < -bound ? -bound : x > bound ? bound : x;
    const auto at = [square = x * x](const std::vector<float>& factors) {
      float sum = 0;
      for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) sum = sum * square + *factor;
      return sum;
    };
    return x * at(above) / at(below);
  }
};

// Computes numbers of float by the rational; infinities, which are told apart, and other types by `wide`.
template <class F>
Kernel clamped_rational(Rational rational, float offset, F wide) {
  return computing([=]<class S>(const Constants&, S x) -> S {
    if constexpr (std::is_same_v<S, float>)
      if (!std::isinf(x)) return rational(x) + offset;
    return static_cast<S>(wide(static_cast<double>(x)));
  });
}

std::vector<VariantKernel> library_variants(const std::string& op, const Kernel& right) {
  static constexpr std::string_view elementary[] = {"Exp",  "Log",  "Sin",  "Cos",   "Tan",   "Asin",  "Acos", "Atan",
                                                    "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Erf"};
  std::vector<VariantKernel> variants{
      variant_of("flushes", "subnormals of f32 are read and written as zeros", flushing(right), Level::widest)};
  if (std::ranges::count(elementary, op) == 1) {
    variants.push_back(variant_of("within-1-ulp", "as a vector library of 1 ulp", within_ulps(1, right)));
    variants.push_back(variant_of("within-4-ulp", "as a vector library of 4 ulp", within_ulps(4, right)));
  }
  const char* const what = "a quotient of polynomials of the clamped argument";
  if (op == "Tanh")
    variants.push_back(variant_of(
        "rational", what,
        clamped_rational({9,
                          {4.89352455891786e-03F, 6.37261928875436e-04F, 1.48572235717979e-05F, 5.12229709037114e-08F,
                           -8.60467152213735e-11F, 2.00018790482477e-13F, -2.76076847742355e-16F},
                          {4.89352518554385e-03F, 2.26843463243900e-03F, 1.18534705686654e-04F, 1.19825839466702e-06F}},
                         0, [](double x) { return std::tanh(x); })));
  if (op == "Sigmoid")
    variants.push_back(
        variant_of("rational", what,
                   clamped_rational({18,
                                     {2.48287947061529e-01F, 8.51377133304701e-03F, 6.08574864600143e-05F,
                                      1.15627324459942e-07F, 4.37031012579801e-11F},
                                     {9.93151921023180e-01F, 1.16817656904453e-01F, 1.70198817374094e-03F,
                                      6.29106785017040e-06F, 5.76102136993427e-09F, 6.10247389755681e-13F}},
                                    0.5F, [](double x) { return 1 / (1 + std::exp(-x)); })));
  if (op == "Erf")
    variants.push_back(
        variant_of("rational", what,
                   clamped_rational(
                       {4,
                        {-1.60960333262415e-02F, -2.95459980854025e-03F, -7.34990630326855e-04F, -5.69250639462346e-05F,
                         -2.10102402082508e-06F, 2.77068142495902e-08F, -2.72614225801306e-10F},
                        {-1.42647390514189e-02F, -7.37332916720468e-03F, -1.68282697438203e-03F, -2.13374055278905e-04F,
                         -1.45660718464996e-05F}},
                       0, [](double x) { return std::erf(x); })));
  return variants;
}

const Functions* functions_of(const std::string& op) { return find_in(functions(), op, &Functions::op); }

}  // namespace

std::vector<VariantKernel> computing_variants(const std::string& op) {
  if (op == "LeakyRelu") return leaky_relu_variants();
  const Functions* const known = functions_of(op);
  if (!known) return {};
  std::vector<VariantKernel> variants = library_variants(op, known->right);
  variants.push_back(variant_of(
      "sequential", "the library's function of one element after the other, in f32 (f64 for f64)", known->right));
  return variants;
}

std::vector<Bug> computing_bugs(const std::string& op) {
  if (op == "LeakyRelu") return leaky_relu_bugs();
  const Functions* const known = functions_of(op);
  if (!known) return {};
  return {{{lower(op) + "-" + known->id, op, known->what}, known->wrong}};
}

}  // namespace assay::mutation
