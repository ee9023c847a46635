// SPDX-License-Identifier: Apache-2.0
// How far from the exact answer of DeformConv (sampling.h) is still right, any number of axes r.
//
// Budget, for arithmetic with unit roundoff u (numerics 2.8 has r = 2):
//  1. Coordinates. base_a is an integer; adding the offset, in one or two steps, and taking the fraction change h_a
//     by at most D_a = 2u(|base_a| + |offset_a|) + u. beta is continuous and piecewise multilinear: its derivative
//     along a is a convex combination of differences of neighbours along a. Moving one coordinate after the other,
//     |beta(h') - beta(h)| <= sum_a L_a D_a, L_a the largest such difference in the cells within D of h. D_a = 0 where
//     base_a + offset_a and its fraction are representable.
//  2. Interpolation. A corner weight is a product of r factors, each rounded at most once: 2r - 1 roundings; the cell:
//     1; adding 2^r corners: 2^r - 1; mask and W: 2; the sum: n. With 3 to spare (stored columns, converted operands),
//     every elementary product suffers at most R = n + 2r + 2^r + 4 roundings: gamma(R,u) A, A = |b| + sum |W mask|
//     sum omega |x|.
//  3. Underflow: each of fewer than n 2^r (r + 4) operations loses at most η/2, multiplied by what follows.
// An interpolation written a + t(b - a) rounds against both ends: A with omega = 1, a level below.
// Collapse: where every coordinate is exact and sum |W mask| sum |x| <= 2^p g for g dividing every elementary product,
// nothing rounds, whichever way it is written.
#include "oracles/exact/dot.h"
#include "oracles/exact/enclosure.h"
#include "oracles/filter/filter.h"
#include "oracles/rules/sampling.h"

#include <algorithm>
#include <span>

namespace assay::oracles {
namespace {

Dyadic one() { return {1, 0}; }

bool fits_in(const Dyadic& value, const Format& format) {
  if (value.is_zero()) return true;
  const int low = granule_of(value),
            high = value.exponent + static_cast<int>(boost::multiprecision::msb(abs(value).mantissa));
  return high - low < format.precision && low >= format.smallest_exponent() && high <= format.max_exponent;
}

// The budgets of one output: its samples, and their sum with the bias.
class Budgets {
 public:
  Budgets(const Sampling& sampling, const std::vector<Sample>& all, const Blend& total)
      : sampling_(sampling), all_(all), total_(total) {}

  Tolerance required() const;
  std::vector<Tolerance> wider(const Arithmetic& declared) const;

 private:
  Tolerance tolerance(Level level, std::string arithmetic, const Machine& machine, const Dyadic& magnitude) const;
  Tolerance flushed(const Machine& machine) const;
  Tolerance with_narrow_products(std::string arithmetic, const Format& narrow, const Machine& machine) const;
  bool is_exact(const Machine& machine) const;
  Dyadic displacement(const Machine& machine) const;
  Dyadic ceiling() const;

  const Sampling& sampling_;
  const std::vector<Sample>& all_;
  const Blend& total_;
};

Tolerance Budgets::required() const {
  return tolerance(
      Level::L2,
      std::string(sampling_.dtype() == DType::f64 ? "f64" : "f32") + " coordinates and accumulation in any order",
      {.format = &sampling_.accumulator()}, total_.magnitude);
}

std::vector<Tolerance> Budgets::wider(const Arithmetic& declared) const {
  const DType dtype = sampling_.dtype();
  const Format& format = sampling_.accumulator();
  const Machine truncating{.format = &format, .slack_exponent = 1};
  std::vector<Tolerance> wide;
  wide.push_back(tolerance(Level::L2t, "truncating coordinates and accumulation", truncating, total_.magnitude));
  wide.push_back(tolerance(Level::L3, "every operation in " + std::string(name(dtype)),
                           {.format = &format_of(dtype), .slack_exponent = 0, .spare = 1}, total_.magnitude));
  wide.push_back(tolerance(Level::widest, "interpolation as a + t(b - a)", truncating, total_.magnitude_lerp));
  wide.back().blurs_nonfinite = total_.positive_infinity || total_.negative_infinity || total_.nan_admitted;
  wide.push_back(flushed(truncating));
  if (dtype == DType::f32) {
    static const Format tf32{11, -126, 127};
    wide.push_back(with_narrow_products("TF32 inputs", tf32, truncating));
    wide.push_back(with_narrow_products("bf16 inputs", format_of(DType::bf16), truncating));
  }
  if (dtype == DType::f64)
    wide.push_back(tolerance(Level::widest, "f64 computed in f32",
                             {.format = &format_of(DType::f32), .slack_exponent = 1, .spare = 8},
                             total_.magnitude_lerp));
  if (declared.accumulator && format_of(*declared.accumulator).precision < format.precision)
    wide.push_back(tolerance(Level::widest, "declared " + std::string(name(*declared.accumulator)) + " arithmetic",
                             {.format = &format_of(*declared.accumulator), .slack_exponent = 1, .spare = 8},
                             total_.magnitude_lerp));
  return wide;
}

Tolerance Budgets::tolerance(Level level, std::string arithmetic, const Machine& machine,
                             const Dyadic& magnitude) const {
  Tolerance out;
  out.level = level;
  out.arithmetic = std::move(arithmetic);
  const Dyadic most = std::max(total_.magnitude_lerp, total_.largest);
  out.may_overflow = most + most >= machine.format->overflow_threshold();
  if (is_exact(machine)) return out;
  const Int axes = static_cast<Int>(sampling_.axes()), corners = Int{1} << axes;
  const Int roundings = static_cast<Int>(all_.size()) + 1 + 2 * axes + corners + 4 + machine.spare;
  const int unit = machine.format->unit_exponent() + machine.slack_exponent;
  const Dyadic share{roundings, unit};
  out.vacuous = share >= one();
  const Dyadic growth = share <= Dyadic{1, -1} ? gamma(roundings, unit) : share;
  const Dyadic moved = displacement(machine);
  const Int operations = (static_cast<Int>(all_.size()) + 1) * corners * (axes + 4);
  const Dyadic underflow = Dyadic{operations, machine.format->smallest_exponent() + machine.slack_exponent} * ceiling();
  out.budget = {growth * magnitude + moved + moved * growth + underflow, 1};
  return out;
}

Tolerance Budgets::flushed(const Machine& machine) const {
  Tolerance out = tolerance(Level::widest, "subnormals flushed", machine, total_.magnitude);
  out.flushes_output = true;
  const Int operations = (static_cast<Int>(all_.size()) + 1) * (Int{8} << sampling_.axes());
  // Every flushed operand or result is below λ of T or of the accumulator, multiplied by what follows.
  const int smallest = std::max(format_of(sampling_.dtype()).min_exponent, machine.format->min_exponent);
  if (total_.subnormal || (total_.granule != Blend::no_granule && total_.granule < machine.format->min_exponent))
    out.budget = out.budget + Ratio{Dyadic{operations, smallest} * ceiling(), 1};
  return out;
}

// Weights and columns rounded to a narrower format before they are multiplied: 2u each, (2e + e^2) A in all.
Tolerance Budgets::with_narrow_products(std::string arithmetic, const Format& narrow, const Machine& machine) const {
  Tolerance out = tolerance(Level::widest, std::move(arithmetic), machine, total_.magnitude_lerp);
  const bool fits = std::ranges::all_of(all_, [&](const Sample& s) {
    const Dyadic beta = sampling_.sampled(s).value;
    return fits_in(s.weight.value(), narrow) && fits_in(s.mask ? beta * s.mask->value() : beta, narrow);
  });
  if (fits) return out;
  const Dyadic e = Dyadic::power_of_two(narrow.unit_exponent() + 1);
  out.budget = out.budget + Ratio{(e + e + e * e) * total_.magnitude * (one() + e), 1};
  return out;
}

bool Budgets::is_exact(const Machine& machine) const {
  if (machine.converts()) return false;
  const bool places = std::ranges::all_of(all_, [&](const Sample& s) {
    return std::ranges::all_of(s.where, [&](const Sample::Coordinate& c) { return c.is_exact(*machine.format); });
  });
  return places && (total_.granule == Blend::no_granule ||
                    (std::min(total_.granule, total_.finest) >= machine.format->smallest_exponent() &&
                     total_.magnitude_lerp < machine.format->overflow_threshold() &&
                     total_.magnitude_lerp <= Dyadic::power_of_two(machine.format->precision + total_.granule)));
}

// sum of |W mask| sum_a L_a D_a, with one L for all axes: the range of the values in reach.
Dyadic Budgets::displacement(const Machine& machine) const {
  Dyadic total;
  for (const Sample& s : all_) {
    Dyadic change;
    for (const Sample::Coordinate& c : s.where) change += c.change(machine);
    if (!change.is_zero()) total += abs(s.factor()) * sampling_.range(s, machine) * change;
  }
  return total;
}

// A power of two no smaller than 1 and any operand, for what follows an underflow.
Dyadic Budgets::ceiling() const {
  Dyadic most = one();
  for (const Sample& s : all_) {
    Dyadic size = abs(s.weight.value()) + one();
    if (s.mask) size = size * (abs(s.mask->value()) + one());
    most = std::max(most, size);
  }
  return most * sampling_.largest_x();
}

class DeformConvAnswer final : public Answer {
 public:
  DeformConvAnswer(Sampling sampling, const Arithmetic& declared)
      : sampling_(std::move(sampling)), declared_(declared) {}

  Shape shape() const override { return sampling_.shape(); }
  DType dtype() const override { return sampling_.dtype(); }

  Element element(Int index) const override {
    Element out;
    const std::vector<Sample> all = sampling_.samples(index);
    const std::optional<Scalar> bias = sampling_.bias_of(index);
    out.terms = static_cast<Int>(all.size()) + (bias ? 1 : 0);
    if (const std::string reason = sampling_.unscorable(all); !reason.empty()) return unscored(std::move(out), reason);
    const Blend total = sampling_.sum(all, bias);
    if (total.nonfinite_near) return unscored(std::move(out), "a coordinate may round onto an infinity or NaN");
    out.value = {total.value, 1};
    out.magnitude = {total.magnitude, 1};
    if (total.nan_admitted) out.nan_admitted = "A21";
    if (total.nan || (total.positive_infinity && total.negative_infinity)) {
      out.kind = Kind::nan;
      return out;
    }
    out.required = Budgets(sampling_, all, total).required();
    if (out.required.may_overflow) return unscored(std::move(out), "an intermediate may overflow");
    if (total.positive_infinity) out.kind = Kind::positive_infinity;
    if (total.negative_infinity) out.kind = Kind::negative_infinity;
    return out;
  }

  std::vector<Tolerance> wider(Int index) const override {
    const std::vector<Sample> all = sampling_.samples(index);
    if (!sampling_.unscorable(all).empty()) return {};
    return Budgets(sampling_, all, sampling_.sum(all, sampling_.bias_of(index))).wider(declared_);
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (const Sample& s : sampling_.samples(index)) {
      std::vector<std::string> factors{hexadecimal(s.weight)};
      if (s.mask) factors.push_back(hexadecimal(*s.mask));
      std::string where = place("W", sampling_.w().shape(), s.weight_index) + " at";
      for (const Sample::Coordinate& c : s.where) where += " " + std::to_string(c.base) + "+" + hexadecimal(c.offset);
      all.push_back({std::move(factors), where + " of plane " + std::to_string(s.plane)});
    }
    if (const std::optional<Scalar> bias = sampling_.bias_of(index)) all.push_back({{hexadecimal(*bias)}, "B"});
    return all;
  }

  std::optional<FilterResult> screen(const Tensor& got, const FilterOptions& how) const override {
    const Cells &x = sampling_.x(), &w = sampling_.w();
    if (sampling_.is_hard_zero() || x.extent(1) == 0 || w.extent(0) == 0) return std::nullopt;
    Deformed all{.tracks = sampling_.tracks(),
                 .batch = x.extent(0),
                 .groups = sampling_.groups(),
                 .depth = w.extent(1),
                 .maps = w.extent(0) / sampling_.groups(),
                 .offset_groups = sampling_.offset_groups(),
                 .x = &x.tensor(),
                 .offset = &sampling_.offset().tensor(),
                 .mask = sampling_.mask() ? &sampling_.mask()->tensor() : nullptr,
                 .weights = Weights(w.tensor()),
                 .bias = {}};
    if (sampling_.bias()) {
      all.bias = doubles(sampling_.bias()->tensor());
      all.bias.resize(static_cast<std::size_t>(w.extent(0)), all.bias.front());  // A13: allow-1
    }
    return oracles::screen(std::move(all), got, how);
  }

 private:
  static Element unscored(Element out, std::string reason) {
    out.kind = Kind::unscored;
    out.reason = std::move(reason);
    return out;
  }

  Sampling sampling_;
  Arithmetic declared_;
};

std::unique_ptr<Answer> answer(const Call& call, const Operands& in, const Readings& readings,
                               const Arithmetic& declared) {
  return std::make_unique<DeformConvAnswer>(Sampling(call, in, *tracks(call, sliding(call), readings), readings),
                                            declared);
}

std::optional<Shape> shape(const Call& call, const Readings& readings) {
  return windowed(call, call.dim("X", 0), call.dim("W", 0), readings);
}

std::vector<std::string> touched(const Call& call, const Operands* in, Int) {
  if (!in) return {};
  const std::vector<WindowAxis> windows = *tracks(call, sliding(call), {});
  const Shape y = *shape(call, {});
  if (volume(y) == 0 || call.dim("X", 1) == 0) return {};
  const Reach reach = reaches_border(windows, *in->at(2), call.dim("X", 0) * call.integer("offset_group"));
  if (reach != Reach::unsure) return reach == Reach::yes ? std::vector<std::string>{"A20"} : std::vector<std::string>{};
  const Sampling ruled(call, *in, windows, {});
  const Int group_maps = y[1] / call.integer("group"), plane = volume(std::span(y).subspan(2));
  for (Int i = 0, count = volume(y); i < count; ++i) {
    const bool samples_as_before = i / plane % y[1] % group_maps != 0;  // all maps of a group sample the same places
    if (!samples_as_before && ruled.reaches_border(i)) return {"A20"};
  }
  return {};
}

}  // namespace

Oracle deform_conv() { return {answer, shape, touched, true, {"X", "W"}}; }

}  // namespace assay::oracles
