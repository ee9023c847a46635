// SPDX-License-Identifier: Apache-2.0
#include "oracles/families/accumulation.h"

#include "oracles/exact/dot.h"
#include "oracles/families/elementwise.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace assay::oracles {
namespace {

Dot dot(const std::vector<Scalar>& x) {
  Dot sum;
  for (const Scalar& each : x) sum.terms.push_back({each, std::nullopt});
  return sum;
}

// Reduces integers modulo 2^w, or by another reading keeps them within the type at every step.
Scalar whole(Joining how, const std::vector<Scalar>& x, DType dtype, const Readings& readings) {
  Scalar total = scalar(Int{how == Joining::product});
  for (const Scalar& each : x) {
    const Integer met = truncated(ratio(total)), next = truncated(ratio(each));
    const Integer both = how == Joining::sum ? Integer(met + next) : Integer(met * next);
    total = readings.of("E17") == "saturate" ? saturated(dtype, both) : wrapped(dtype, both);
  }
  return total;
}

// Says what one pass over the factors tells: no product of some of them reaches 2^range, or 2^-range.
struct Factors {
  Dyadic value{1, 0};  // of those that are finite and no zeros
  int range = 0;
  bool has_nan = false, has_zero = false, has_infinity = false, has_subnormal = false, is_negative = false;
};

Factors factors_of(const std::vector<Scalar>& x, DType dtype) {
  Factors all;
  for (const Scalar& each : x) {
    all.is_negative ^= each.negative;
    all.has_nan |= is_nan(each);
    all.has_infinity |= is_infinite(each);
    all.has_zero |= each.is_zero();
    if (!each.is_finite() || each.is_zero()) continue;
    const int above = each.exponent + static_cast<int>(std::bit_width(each.significand));
    all.range += each.significand == 1 ? std::abs(each.exponent) : std::max(std::abs(above), std::abs(above - 1));
    all.has_subnormal |= each.is_subnormal(format_of(dtype));
    if (all.range < 1100) all.value = all.value * each.value();  // else nothing is asked of it
  }
  return all;
}

bool leaves(const Factors& all, DType type) { return all.range >= -format_of(type).min_exponent; }
DType accumulator_of(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

// Where all odd parts together fit the format no product of some of them is rounded.
bool is_exact(const Factors& all, DType type) {
  return all.value.is_zero() ||
         msb(boost::multiprecision::abs(all.value.mantissa)) < static_cast<unsigned>(format_of(type).precision);
}

Ratio rounded_often(const Factors& all, Int times, DType type) {
  return {abs(all.value) * gamma(times, format_of(type).unit_exponent()), 1};
}

// The product of floats, within a rounding for each factor: where no product of some of them leaves the range of normal
// numbers.
Element product(const std::vector<Scalar>& x, DType dtype) {
  const Factors all = factors_of(x, dtype);
  const DType accumulator = accumulator_of(dtype);
  if (all.has_nan || (all.has_zero && all.has_infinity)) return exactly(nan(), dtype);
  if (leaves(all, accumulator)) return unscored("a product of some of the factors may leave the range of the type");
  if (all.has_infinity) return exactly(infinity(all.is_negative), dtype);
  if (all.has_zero) return exactly(Scalar(), dtype);
  Element out;
  out.value = {all.value, 1};
  out.magnitude = abs(out.value);
  out.terms = std::ssize(x);
  out.asked.arithmetic = "one rounding for each product, any order";
  if (!is_exact(all, accumulator)) out.asked.budget = rounded_often(all, out.terms, accumulator);
  return out;
}

// Nothing is proven in a type that a product of some of the factors may leave.
Allowance products_in(const Factors& all, Int roundings, DType type, std::string arithmetic) {
  Allowance out = beyond(std::move(arithmetic));
  out.vacuous = out.may_overflow = out.blurs_nonfinite = leaves(all, type);
  if (!out.vacuous) out.budget = rounded_often(all, roundings, type);
  return out;
}

std::vector<Allowance> wider_product(const std::vector<Scalar>& x, DType dtype) {
  const Factors all = factors_of(x, dtype);
  const Int n = std::ssize(x);
  std::vector<Allowance> list{products_in(all, n, dtype, "every product in the type"),
                              products_in(all, 2 * n, accumulator_of(dtype), "subnormals flushed")};
  list.front().level = Level::L3;
  if (all.has_subnormal) list.back().budget = {abs(all.value), 1}, list.back().blurs_nonfinite = true;
  if (dtype == DType::f64) list.push_back(products_in(all, 2 * n, DType::f32, "f64 computed in f32"));
  return list;
}

}  // namespace

Element joined(Joining how, const std::vector<Scalar>& x, DType dtype, const Readings& readings) {
  if (!is_float(dtype)) return exactly(whole(how, x, dtype, readings), dtype);
  return how == Joining::sum ? enclose(dot(x), dtype) : product(x, dtype);
}

std::vector<Allowance> wider_joined(Joining how, const std::vector<Scalar>& x, DType dtype,
                                    const Arithmetic& declared) {
  if (!is_float(dtype)) return {};
  return how == Joining::product ? wider_product(x, dtype) : widen_sum(dot(x), dtype, declared);
}

}  // namespace assay::oracles
