// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/function_filter.h"

#include "oracles/exact/real.h"
#include "oracles/filter/operand_range.h"
#include "reference/result.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace assay::oracles {
namespace {

constexpr double promised = 0x1p-41, promised_least = 0x1p-1000;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
// tanh(log(1 + e^x)) = n / (n + 2), n = e^x (e^x + 2); 1 from 20 on.
double mish(double x) {
  const double e = std::exp(x), n = e * (e + 2);
  return x > 20 ? x : x * (n / (n + 2));
}
double gelu_tanh(double x) {
  constexpr double twice_root = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return x * sigmoid(twice_root * (x + 44'715e-6 * x * x * x));
}

// In the order of the enumeration; null of a function that is not served.
using Compute = double (*)(double, const double*);
constexpr Compute computing[] = {[](double x, const double*) { return std::exp(x); },
                                 [](double x, const double*) { return std::log(x); },
                                 [](double x, const double*) { return std::sin(x); },
                                 [](double x, const double*) { return std::cos(x); },
                                 [](double x, const double*) { return std::tan(x); },
                                 [](double x, const double*) { return std::asin(x); },
                                 [](double x, const double*) { return std::acos(x); },
                                 [](double x, const double*) { return std::atan(x); },
                                 [](double x, const double*) { return std::sinh(x); },
                                 [](double x, const double*) { return std::cosh(x); },
                                 [](double x, const double*) { return std::tanh(x); },
                                 [](double x, const double*) { return std::asinh(x); },
                                 [](double x, const double*) { return std::acosh(x); },
                                 [](double x, const double*) { return std::atanh(x); },
                                 [](double x, const double*) { return std::erf(x); },
                                 [](double x, const double*) { return sigmoid(x); },
                                 [](double x, const double*) { return softplus(x); },
                                 [](double x, const double*) { return x / (1 + std::abs(x)); },
                                 [](double x, const double* by) { return x < 0 ? by[0] * std::expm1(x) : x; },
                                 [](double x, const double* by) { return x < 0 ? by[0] * std::expm1(x / by[0]) : x; },
                                 [](double x, const double* by) { return by[1] * (x < 0 ? by[0] * std::expm1(x) : x); },
                                 [](double x, const double*) { return x / 2 * std::erfc(-x / std::numbers::sqrt2); },
                                 [](double x, const double*) { return gelu_tanh(x); },
                                 [](double x, const double*) { return mish(x); },
                                 [](double x, const double* by) { return x / (1 + std::exp(-by[0] * x)); },
                                 nullptr,
                                 nullptr};
static_assert(std::size(computing) == functions);

// Holds a sample against the enclosure.
void expect_promised(const FunctionCall& call, Compute compute) {
  for (const double x : {0x1.8p-20, 0.3, -0.7, 1.5, 2.75, -6.125, 30.5, -0x1.2345p+6, 0x1.921fb6p+10}) {
    if (special(call.function, scalar_of(x))) continue;
    std::vector<Real> operands{Real(ratio(scalar_of(x)), 128)};
    for (const double each : call.operands) operands.emplace_back(ratio(scalar_of(each)), 128);
    const Real y = enclosed(call.function, operands);
    const double near = compute(x, call.operands.data());
    if (!std::isfinite(near)) continue;
    const Ratio off = abs(Ratio{y.lower(), 1} - ratio(scalar_of(near)));
    if (approximate(off) > promised * y.size() + promised_least)
      throw BrokenPromise("the C library is off by more than 2^-41 in " + std::string(name(call.function)));
  }
}

}  // namespace

FunctionFilter::FunctionFilter(FunctionCall call, Compute compute, DType type)
    : call_(std::move(call)), compute_(compute), near_(type) {}

std::optional<FunctionFilter> FunctionFilter::of(FunctionCall call, DType type) {
  const Compute compute = computing[static_cast<std::size_t>(call.function)];
  if (!compute || !NearFilter::serves(type)) return std::nullopt;
  expect_promised(call, compute);
  return FunctionFilter(std::move(call), compute, type);
}

double FunctionFilter::budget(double x, double size) const {
  std::array<double, 3> inputs{x};
  std::copy(call_.operands.begin(), call_.operands.end(), inputs.begin() + 1);
  return bound(call_.function, std::span(inputs).first(1 + call_.operands.size()), size, format_of(DType::f32));
}

// Returns the sign of y - n, where n is the number of the type next to y, or halfway between two; 0 where nothing is
// known. Gelu, Swish and Mish are x g(x) with a g that rises, so they lie above x g(0): x/2, and 3x/5 of Mish, whose g
// is tanh(log(1 + e^x)).
int FunctionFilter::side_of(double x, double number) const {
  if (x == 0) return 0;
  const int away = x < 0 ? -1 : 1;
  const bool is_identity = number == x && std::abs(x) < 1, is_line = number == x && x > 0, is_half = number == x / 2;
  const bool is_limit = std::abs(number) == 1;  // which these functions come near to and never reach
  switch (call_.function) {
    case Function::sin:
    case Function::atan:
    case Function::asinh: return is_identity ? -away : 0;
    case Function::tanh:
    case Function::softsign: return is_identity || is_limit ? -away : 0;
    case Function::erf: return is_limit ? -away : 0;
    case Function::sigmoid: return number == 1 ? -1 : 0;
    case Function::tan:
    case Function::asin:
    case Function::sinh:
    case Function::atanh: return is_identity ? away : 0;
    case Function::elu:
    case Function::celu: return is_identity && x < 0 && call_.operands[0] == 1 ? 1 : 0;
    case Function::softplus: return is_line ? 1 : 0;
    case Function::mish: return 5 * number == 3 * x ? 1 : is_line ? -1 : 0;
    case Function::gelu:
    case Function::gelu_tanh: return is_half ? 1 : is_line ? -1 : 0;
    case Function::swish: return call_.operands[0] <= 0 ? 0 : is_half ? 1 : is_line ? -1 : 0;
    default: return 0;
  }
}

// y is halfway but for a tail, and it is known on which side: the number on that side is nearest, and the other one,
// the only one that is faithful besides, is more than half an ulp off.
static Decided rate_tie(double middle, int side, double half, double got) {
  Decided out;
  out.is_nearest = got == middle + side * half;
  out.is_decided = out.is_sharp = out.is_nearest || got == middle - side * half;
  out.level = out.is_nearest ? Level::L0 : Level::L1;
  if (out.is_nearest) return out;
  out.ulp = std::nextafter(0.5, 1);
  out.q = half / (std::abs(middle) * 0x1p-24);
  return out;
}

static std::uint64_t binade_of(double size) { return std::bit_cast<std::uint64_t>(size) >> 52; }

Decided FunctionFilter::rate_off(double x, double value, double got, const NearFilter::Rounded& nearest) const {
  Decided out;
  const double half = quantum(value) / 2, middle = x / 2;
  if (!nearest.is_certain && std::abs(std::remainder(middle, 2 * half)) == half && side_of(x, middle) != 0 &&
      std::abs(value - middle) <= std::abs(value) * margin + least_margin)
    return rate_tie(middle, side_of(x, middle), half, got);
  if (std::isinf(value)) {
    // Far beyond every type, unless it is a pole: these are at 0 and ±1.
    out.is_decided = out.is_nearest = got == value && std::isfinite(x) && std::abs(x) > 1;
    return out;
  }
  const double error = std::abs(value) * margin + least_margin;
  const double low = std::abs(value) - error, high = std::abs(value) + error;
  if (!nearest.is_certain || got == nearest.number || !std::isfinite(x) || !std::isfinite(got) ||
      !std::isfinite(nearest.number) || low <= 0 || binade_of(low) != binade_of(high))
    return out;
  const double off = std::abs(got - value), required = budget(x, low), gap = near_.gap_towards(got, value);
  const double steps = std::abs(got - nearest.number), here = quantum(value);
  const int side = side_of(x, nearest.number);
  const bool is_on_that_side = (got > nearest.number) == (side > 0);
  const bool is_faithful = side != 0 ? is_on_that_side && steps <= gap : off + error < gap;
  const bool is_unclear = side == 0 && !is_faithful && off - error <= gap;
  if (is_unclear || off + error > required * (1 - 0x1p-30)) return out;
  out.is_decided = true;
  out.level = is_faithful ? Level::L1 : Level::L2;
  out.ulp = off / here;
  // Beyond n from y it is more than so many whole steps, however little more.
  if (side != 0 && !is_on_that_side) out.ulp = std::max(out.ulp, std::nextafter(steps / here, HUGE_VAL));
  out.is_sharp = side != 0;
  out.q = off / (std::abs(value) * 0x1p-24);
  out.share = std::max(0.0, off - gap / 2) / required;
  return out;
}

FilterResult screened(const FunctionFilter& filter, const Tensor& x, const Tensor& got, const FilterOptions& how) {
  DoubleReader arguments(x), came(got);
  const auto rate = [&](Int index) -> DecidedElement {
    const double argument = arguments[index], value = filter.value(argument);
    return {filter.rate(argument, value, came[index]), filter.rounded(value)};
  };
  return screened(x.elements(), rate, how);
}

}  // namespace assay::oracles
