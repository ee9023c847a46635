// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/interpolation.h"

#include "oracles/exact/expression.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::oracles {
namespace {

double unit_of(DType type) { return std::ldexp(1.0, format_of(type).unit_exponent()); }
DType accumulator_of(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }

double growth(double n, double unit) { return n * unit * (1 + 2 * n * unit); }

// What a polynomial of t makes of rounding in its coefficients: p of movement 5.3.
double rounding_of(const Weighing& how, double t) {
  if (!how.is_cubic) return 12;
  const double a = approximate(Ratio{how.a, 1});
  if (t <= 1) return 12 * (std::fabs(a + 2) * t * t * t + std::fabs(a + 3) * t * t + 1);
  return 12 * std::fabs(a) * (t * t * t + 5 * t * t + 8 * t + 4);
}

double slope_of(const Weighing& how) {
  if (!how.is_cubic) return 1;
  const double a = approximate(Ratio{how.a, 1});
  return a > -1.5 ? std::max(std::fabs(a), (a + 3) * (a + 3) / (3 * (a + 2))) : std::fabs(a);
}

// The kernel at t over d, times d or d^3.
Dyadic kernel(const Weighing& how, const Dyadic& t, const Integer& d) {
  const Dyadic one{d, 0}, two = one + one;
  if (!how.is_cubic) return t < one ? one - t : Dyadic();
  const Dyadic &a = how.a, square = t * t, cube = square * t;
  const auto times = [](Int n) { return Dyadic{n, 0}; };
  if (t <= one) return (a + times(2)) * cube - (a + times(3)) * square * one + one * one * one;
  if (t >= two) return {};
  return a * (cube - times(5) * square * one + times(8) * t * one * one - times(4) * one * one * one);
}

}  // namespace

Ratio operator*(const Ratio& a, const Ratio& b) {
  return {a.numerator * b.numerator, Integer(a.denominator * b.denominator)};
}

Ratio operator/(const Ratio& a, const Ratio& b) {
  const bool is_negative = b.numerator.mantissa < 0;
  const Dyadic flipped{Integer(is_negative ? -b.denominator : b.denominator), -b.numerator.exponent};
  return a * Ratio{flipped, Integer(is_negative ? -b.numerator.mantissa : b.numerator.mantissa)};
}

Integer floor(const Ratio& value) {
  const Integer whole = truncated(value);
  return value < Ratio{Dyadic{whole, 0}, 1} ? Integer(whole - 1) : whole;
}

std::vector<Int> cells_near(const Coordinate& x, double units, const std::function<Integer(const Ratio&)>& round) {
  const Ratio off{scalar_of(x.drift * units * unit_of(DType::f32)).value(), 1};
  std::vector<Int> all{static_cast<Int>(round(x.at))};
  for (const Ratio& other : {x.at - off, x.at + off})
    if (const auto cell = static_cast<Int>(round(other)); std::ranges::find(all, cell) == all.end())
      all.push_back(cell);
  return all;
}

WeightedAxis weigh(const Coordinate& x, const Weighing& how, const std::function<Cell(Int)>& cell) {
  WeightedAxis axis;
  axis.drift = x.drift;
  axis.is_normalised = how.is_normalised;
  const Ratio reach = ratio(Int{how.is_cubic ? 2 : 1}) / how.stretch;
  const Ratio off{scalar_of(4 * x.drift * unit_of(DType::f32)).value(), 1};
  const Integer first = floor(x.at - reach - off), last = floor(x.at + reach + off);
  // t = |x - i| stretch, over one denominator for all i.
  const Integer below = x.at.denominator * how.stretch.denominator;
  axis.denominator = how.is_cubic ? Integer(below * below * below) : below;
  const double q = approximate(how.stretch);
  for (Int i = static_cast<Int>(first); i <= static_cast<Int>(last); ++i) {
    const Cell found = cell(i);
    if (found.is_left_out) continue;
    const Dyadic t = abs((x.at.numerator - Dyadic{x.at.denominator * i, 0}) * how.stretch.numerator);
    const double size = approximate(Ratio{t, below});
    if (size > (how.is_cubic ? 2 : 1) + 8 * x.drift * unit_of(DType::f32) + 1e-12) continue;  // out of reach
    WeightedTap tap{found.at, kernel(how, t, below), 0, slope_of(how) * q, 0};
    tap.size = std::fabs(approximate(Ratio{tap.weight, axis.denominator}));
    tap.rounding = rounding_of(how, size) + (how.is_normalised ? slope_of(how) * 8 : 0);
    axis.taps.push_back(std::move(tap));
  }
  // A coordinate that is exact meets no tap but those with a weight.
  if (x.drift == 0) std::erase_if(axis.taps, [](const WeightedTap& tap) { return tap.weight.is_zero(); });
  return axis;
}

double Interpolation::Product::size() const {
  double size = value;
  for (const auto& [share, error] : factors) size *= share;
  return size;
}

double Interpolation::Product::grown(double unit) const {
  double size = value;
  for (const auto& [share, error] : factors) size *= share + error * unit;
  return size;
}

Interpolation::Interpolation(std::vector<WeightedAxis> axes, bool is_cubic, DType type,
                             const std::function<Scalar(const std::vector<Int>&)>& element)
    : axes_(std::move(axes)), is_cubic_(is_cubic), type_(type) {
  for (const WeightedAxis& axis : axes_) {
    is_normalised_ = is_normalised_ || axis.is_normalised;
    interpolated_ += axis.taps.size() > 1 ? 1 : 0;
    denominator_ *= axis.denominator;
  }
  std::vector<Int> at;
  gather(0, {Dyadic{1, 0}, {}, 1, {}}, at, element);
}

void Interpolation::gather(std::size_t axis, Product so_far, std::vector<Int>& at,
                           const std::function<Scalar(const std::vector<Int>&)>& element) {
  if (axis == axes_.size()) {
    so_far.x = std::ranges::count(at, -1) > 0 ? Scalar() : element(at);
    so_far.value = so_far.x.is_finite() ? std::fabs(so_far.x.as_double()) : 0;
    products_.push_back(std::move(so_far));
    return;
  }
  const bool is_copied = axes_[axis].taps.size() == 1 && !axes_[axis].is_normalised && axes_[axis].drift == 0;
  for (const WeightedTap& tap : axes_[axis].taps) {
    Product next = so_far;
    next.weight = next.weight * tap.weight;
    next.factors.emplace_back(tap.size, is_copied ? 0 : tap.slope * axes_[axis].drift + tap.rounding);
    at.push_back(tap.at.value_or(-1));
    gather(axis + 1, std::move(next), at, element);
    at.pop_back();
  }
}

Ratio Interpolation::value() const {
  Dyadic sum, weights;
  for (const Product& each : products_) {
    sum += each.weight * each.x.value();
    weights += each.weight;
  }
  return is_normalised_ ? Ratio{sum, 1} / Ratio{weights, 1} : Ratio{sum, denominator_};
}

// Tells whether nothing rounds: coordinates are exact, and so is every product and sum in any order (numerics 2.4).
bool Interpolation::is_exact() const {
  if (interpolated_ == 0 && !is_normalised_) return true;
  if (is_normalised_ || (denominator_ & (denominator_ - 1)) != 0) return false;
  const Format& format = format_of(accumulator_of(type_));
  const int down = static_cast<int>(boost::multiprecision::msb(denominator_));
  int granule = 0;
  double most = 0;
  for (const Product& each : products_) {
    most += each.size();
    if (each.weight.is_zero() || each.x.is_zero()) continue;
    const Dyadic product = each.weight * each.x.value();
    const Integer size = abs(product).mantissa;
    granule = std::min(granule, product.exponent + static_cast<int>(boost::multiprecision::lsb(size)) - down);
  }
  granule = std::min(granule, -down - (is_cubic_ ? 8 : 0));
  return std::ranges::all_of(axes_, [](const WeightedAxis& axis) { return axis.drift == 0; }) &&
         16 * std::max(1.0, most) < std::ldexp(1.0, format.precision + granule);
}

double Interpolation::budget(double coordinate_unit, double unit) const {
  double low = 0, high = 0, most = 0, changed = 0, grown = 0, drift = 0;
  bool is_first = true;
  for (const Product& each : products_) {
    const double x = each.x.is_finite() ? each.x.as_double() : 0;
    low = is_first ? x : std::min(low, x), high = is_first ? x : std::max(high, x);
    is_first = false;
    most = std::max(most, each.value);
    grown += each.grown(coordinate_unit);
    changed += each.grown(coordinate_unit) - each.size();
  }
  for (const WeightedAxis& axis : axes_) drift += axis.taps.size() > 1 ? axis.drift : 0;
  const auto r = static_cast<double>(interpolated_), n = static_cast<double>(products_.size());
  const double tiny = (n + 4) * 8 * std::ldexp(1.0, format_of(accumulator_of(type_)).smallest_exponent());
  if (is_plain_linear())
    return 1.001 * ((high - low) * drift * coordinate_unit + growth(4 * r + std::exp2(r), unit) * most) + tiny;
  return 1.001 * (changed + growth(n + r, unit) * grown) + tiny;
}

// Of S1 / S0; infinite where S0 may all but vanish (M46).
double Interpolation::quotient_budget(double coordinate_unit, double unit) const {
  if (!is_normalised_) return budget(coordinate_unit, unit);
  double sum = 0, grown = 0, changed = 0;
  Dyadic weights;
  for (const Product& each : products_) {
    Product alone = each;
    alone.value = 1;
    grown += alone.grown(coordinate_unit);
    changed += alone.grown(coordinate_unit) - alone.size();
    weights += each.weight;
  }
  sum = std::fabs(approximate(Ratio{weights, denominator_}));
  const double of_weights = changed + growth(static_cast<double>(products_.size() + axes_.size()), unit) * grown;
  if (sum <= 4 * of_weights) return std::numeric_limits<double>::infinity();
  const double y = std::fabs(approximate(value()));
  return 1.001 * ((budget(coordinate_unit, unit) + y * of_weights) / (sum - of_weights) + 3 * unit * y);
}

Element Interpolation::element(const char* infinities) const {
  bool has_nan = false, has_infinity = false, is_near = false;
  for (const Product& each : products_) {
    if (each.x.is_finite()) continue;
    const bool is_zero = each.weight.is_zero();
    has_nan |= is_nan(each.x) && !is_zero;
    has_infinity |= !is_nan(each.x) && !is_zero;
    is_near |= is_zero;
  }
  if (has_nan && !is_near) return exactly(nan(), type_);
  if (has_nan || has_infinity || is_near)
    return unscored(std::string("an infinity or NaN in reach (") + infinities + ")");
  const double unit = unit_of(accumulator_of(type_)), most = quotient_budget(unit, unit);
  if (!std::isfinite(most)) return unscored("the weights that are left may vanish (M46)");
  Element out;
  out.value = value();
  out.magnitude = abs(out.value);
  out.terms = static_cast<Int>(products_.size());
  out.required.arithmetic = "coordinates and weights in " + std::string(name(accumulator_of(type_)));
  out.required.budget = is_exact() ? Ratio() : budget_of(most, {});
  double largest = 0;
  for (const Product& each : products_) largest += each.value;
  if (is_float(type_) && 8 * largest >= std::ldexp(1.0, format_of(accumulator_of(type_)).max_exponent))
    return unscored("an intermediate may overflow");
  if (is_float(type_)) return out;
  const Ratio half{{1, -1}, 1};
  const auto fitted = [&](const Integer& whole) { return saturated(type_, whole); };
  out.nearest = fitted(floor(out.value + half));
  out.required.range = Interval{fitted(floor(out.value - out.required.budget)),
                                fitted(Integer(-floor(Ratio() - out.value - out.required.budget)))};
  return out;
}

std::vector<Tolerance> Interpolation::wider() const {
  std::vector<Tolerance> all;
  const double unit = unit_of(accumulator_of(type_));
  const auto add = [&](Level level, const char* arithmetic, double coordinate_unit, double of_sums, double more = 0) {
    Tolerance out = beyond(arithmetic);
    out.level = level;
    const double most = quotient_budget(coordinate_unit, of_sums) + more;
    out.vacuous = !std::isfinite(most);
    if (!out.vacuous) out.budget = budget_of(most, {});
    if (!is_float(type_) && !out.vacuous)
      out.range = Interval{saturated(type_, floor(value() - out.budget)),
                           saturated(type_, Integer(-floor(Ratio() - value() - out.budget)))};
    all.push_back(std::move(out));
  };
  double sizes = 0, low = 0, high = 0;
  for (const Product& each : products_) {
    sizes += each.size();
    if (each.x.is_finite()) low = std::min(low, each.x.as_double()), high = std::max(high, each.x.as_double());
  }
  add(Level::L2t, "truncating coordinates and sums", 2 * unit, 2 * unit);
  if (!is_float(type_)) {
    add(Level::widest, "weights of ten bits", 2 * unit, 2 * unit,
        static_cast<double>(interpolated_) * (high - low) / 512);
    return all;
  }
  if (type_ == DType::f16 || type_ == DType::bf16)
    add(Level::L3, "every operation in the type", unit_of(type_), unit_of(type_));
  if (type_ == DType::f64) add(Level::widest, "f64 computed in f32", 2 * unit_of(DType::f32), 2 * unit_of(DType::f32));
  if (type_ == DType::f32) {
    const double narrow = unit_of(DType::bf16);
    add(Level::widest, "bf16 inputs of a product of matrices", 2 * unit, 2 * unit,
        (4 * narrow + 4 * narrow * narrow) * sizes);
  }
  return all;
}

}  // namespace assay::oracles
