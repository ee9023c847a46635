// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/dot.h"

#include "oracles/exact/bins.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace assay::oracles {
namespace {

constexpr int no_granule = std::numeric_limits<int>::max();

Dyadic value_of(const Term& term) { return term.b ? term.a.value() * term.b->value() : term.a.value(); }

Dyadic magnitude_of(const Term& term) { return abs(value_of(term)); }

// Holds what a scaled dot passes through before it is scaled, in whatever order a backend does so.
struct Between {
  Dyadic magnitude;          // the sum of |ab|
  int granule = no_granule;  // of these
  Dyadic largest;            // |αa| or |αb|
  int finest = no_granule;   // of these
  int bits = 0;              // that these have at most
  Dyadic weight{2, 0};       // how many times a lost η/2 may count

  void note(const Scalar& operand, const Scalar& alpha) {
    if (!operand.is_finite()) return;
    weight += abs(operand.value());
    const auto product = static_cast<unsigned __int128>(operand.significand) * alpha.significand;
    if (product == 0) return;
    const auto high = static_cast<std::uint64_t>(product >> 64), low = static_cast<std::uint64_t>(product);
    bits = std::max(bits, static_cast<int>(high ? 64 + std::bit_width(high) : std::bit_width(low)));
    finest = std::min(finest, operand.exponent + alpha.exponent);
    largest = std::max(largest, abs(operand.value() * alpha.value()));
  }
};

// What one pass over the terms tells.
struct Tally {
  Dyadic sum, magnitude;
  Int terms = 0;
  int granule = no_granule;  // log2 g
  bool nan = false, positive_infinity = false, negative_infinity = false;
  bool subnormal_meets_infinity = false;
  std::optional<Between> between;  // of a scaled dot

  int finest() const { return between ? std::min({granule, between->granule, between->finest}) : granule; }
};

void note_nonfinite(Tally& tally, const Term& term, const Format& type) {
  const bool nan_operand = term.a.is == Scalar::Class::nan || (term.b && term.b->is == Scalar::Class::nan);
  if (nan_operand || (term.b && (term.a.is_zero() || term.b->is_zero()))) {
    tally.nan = true;
    return;
  }
  if (term.b && (term.a.is_subnormal(type) || term.b->is_subnormal(type))) tally.subnormal_meets_infinity = true;
  (term.a.negative != (term.b && term.b->negative) ? tally.negative_infinity : tally.positive_infinity) = true;
}

// |a*b| as an odd integer times 2^exponent.
struct Product {
  unsigned __int128 magnitude;
  int exponent;
  bool negative;
};

Product product_of(const Term& term) {
  if (!term.b) return {term.a.significand, term.a.exponent, term.a.negative};
  return {static_cast<unsigned __int128>(term.a.significand) * term.b->significand, term.a.exponent + term.b->exponent,
          term.a.negative != term.b->negative};
}

// Scales the sum of the products, and adds what is not scaled.
void scale(Tally& tally, const Dot& dot, const Format& type) {
  const Scalar& alpha = *dot.scale;
  const Dyadic size = abs(alpha.value());
  Between& between = tally.between.emplace();
  between.magnitude = tally.magnitude;
  between.granule = tally.granule;
  between.weight += Dyadic{tally.terms, 0} * (Dyadic{1, 0} + size);
  const auto vanishes = [&](const Scalar& by, const Scalar& infinite) {  // once it is scaled, and their product is NaN
    return !infinite.is_finite() && by.is_finite() && abs(by.value()) * size < Dyadic::power_of_two(type.min_exponent);
  };
  for (const Term& term : dot.terms) {
    between.note(term.a, alpha);
    between.note(*term.b, alpha);
    tally.subnormal_meets_infinity |= vanishes(term.a, *term.b) || vanishes(*term.b, term.a);
  }
  tally.sum = tally.sum * alpha.value();
  tally.magnitude = tally.magnitude * size;
  if (alpha.is_zero()) tally.granule = no_granule;
  if (tally.granule != no_granule) tally.granule += alpha.exponent;
  if (alpha.negative) std::swap(tally.positive_infinity, tally.negative_infinity);
  for (const Term& term : dot.added) {
    ++tally.terms;
    if (!term.a.is_finite()) {
      note_nonfinite(tally, term, type);
      continue;
    }
    Dyadic value = value_of(term);
    if (value.is_zero()) continue;
    tally.granule = std::min(tally.granule, product_of(term).exponent);
    tally.sum += value;
    tally.magnitude += abs(std::move(value));
  }
}

Tally tally_of(const Dot& dot, const Format& type, Summing summing = Summing::bins) {
  Tally tally;
  Bins sum, magnitude;
  const bool in_bins = summing == Summing::bins;
  for (const Term& term : dot.terms) {
    ++tally.terms;
    if (!term.a.is_finite() || (term.b && !term.b->is_finite())) {
      note_nonfinite(tally, term, type);
      continue;
    }
    const Product product = product_of(term);
    if (product.magnitude == 0) continue;
    tally.granule = std::min(tally.granule, product.exponent);
    if (in_bins) {
      sum.add(product.magnitude, product.exponent, product.negative);
      magnitude.add(product.magnitude, product.exponent, false);
    } else {
      Dyadic value = value_of(term);
      tally.sum += value;
      tally.magnitude += abs(std::move(value));
    }
  }
  if (in_bins) {
    tally.sum = sum.sum();
    tally.magnitude = magnitude.sum();
  }
  if (dot.scale) scale(tally, dot, type);
  return tally;
}

const Format& accumulator_of(DType dtype) { return format_of(dtype == DType::f64 ? DType::f64 : DType::f32); }

bool is_power_of_two(Int n) { return n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n)); }
int log2_of(Int power) { return std::countr_zero(static_cast<std::uint64_t>(power)); }

// Roundings on the longest path of one result: every term, and the division of an average or both factors of a scaled
// dot.
Int roundings(const Dot& dot, Int terms) { return terms + (dot.averaged ? 1 : 0) + (dot.scale ? 2 : 0); }

// Nothing rounds before the products are scaled, nor where an operand is scaled instead.
bool is_exact(const Between& between, const Format& format) {
  const bool is_representable = between.bits <= format.precision && between.finest >= format.smallest_exponent() &&
                                between.largest < format.overflow_threshold();
  if (!is_representable || between.granule == no_granule) return is_representable;
  return between.granule >= format.smallest_exponent() && between.magnitude < format.overflow_threshold() &&
         between.magnitude <= Dyadic::power_of_two(format.precision + between.granule);
}

// 2.4: every partial sum, in any order, is a multiple of g below 2^p g, so no operation rounds. For an average the
// terms may be divided first, so N must be a power of two and g / N above η.
bool is_exact(const Dot& dot, const Tally& tally, const Format& format) {
  if (dot.averaged && !is_power_of_two(dot.divisor)) return false;
  if (tally.between && !is_exact(*tally.between, format)) return false;
  if (tally.granule == no_granule) return true;
  const int finest = tally.granule - (dot.averaged ? log2_of(dot.divisor) : 0);
  return finest >= format.smallest_exponent() && tally.magnitude < format.overflow_threshold() &&
         tally.magnitude <= Dyadic::power_of_two(format.precision + tally.granule);
}

Ratio over(const Dot& dot, Dyadic numerator) {
  return {std::move(numerator), dot.averaged ? Integer(dot.divisor) : Integer(1)};
}

// How a class of implementations computes: `slack` times the unit roundoff of `format` per operation.
struct Machine {
  const Format* format;
  int slack_exponent = 0;       // 1: truncating or merely faithful, 2u per operation
  bool rounds_output = false;   // the result is rounded once more into T, faithfully
  bool rounds_factors = false;  // so are the factors of a scaled dot
};

// The distance of any order of evaluation from the exact value of the dot it evaluates.
Ratio any_order(const Dot& dot, const Tally& tally, const Machine& machine, bool& vacuous) {
  if (is_exact(dot, tally, *machine.format)) return {};
  const Int n =
      roundings(dot, tally.terms) + (machine.rounds_output ? 1 : 0) + (machine.rounds_factors && dot.scale ? 2 : 0);
  const int unit = machine.format->unit_exponent() + machine.slack_exponent;
  const Dyadic share = Dyadic{n, unit};
  vacuous = share >= Dyadic{1, 0};
  const Dyadic factor = share <= Dyadic{1, -1} ? gamma(n, unit) : share;
  Ratio budget = over(dot, factor * tally.magnitude);
  const bool may_underflow = dot.averaged || tally.finest() < machine.format->smallest_exponent();
  if (may_underflow) {
    const Dyadic per_operation = (tally.between ? tally.between->weight : Dyadic{n, 0}) *
                                 Dyadic{1, machine.format->smallest_exponent() - 1 + machine.slack_exponent};
    budget = budget + Ratio{per_operation * (Dyadic{1, 0} + share + share), 1};
  }
  return budget;
}

bool may_overflow(const Tally& tally, const Format& format, Int n) {
  const Dyadic most =
      tally.between ? std::max({tally.magnitude, tally.between->magnitude, tally.between->largest}) : tally.magnitude;
  return most * (Dyadic{1, 0} + gamma(n, format.unit_exponent() + 1)) >= format.overflow_threshold();
}

Tolerance tolerance(const Dot& dot, const Tally& tally, Level level, std::string arithmetic, const Machine& machine) {
  Tolerance out;
  out.level = level;
  out.arithmetic = std::move(arithmetic);
  out.budget = any_order(dot, tally, machine, out.vacuous);
  out.may_overflow = may_overflow(tally, *machine.format, roundings(dot, tally.terms));
  return out;
}

// Returns the size of what the products are scaled by.
Dyadic factor_of(const Dot& dot) { return dot.scale ? abs(dot.scale->value()) : Dyadic{1, 0}; }

// 2.3.6: operands below λ_T count as 0, so do partial results below λ of the accumulator.
void flush(Tolerance& out, const Dot& dot, const Tally& tally, const Format& type, const Format& accumulator) {
  Dyadic lost;
  const auto lose = [&](const std::vector<Term>& terms, const Dyadic& times) {
    for (const Term& term : terms)
      if (term.a.is_subnormal(type) || (term.b && term.b->is_subnormal(type))) lost += magnitude_of(term) * times;
  };
  lose(dot.terms, factor_of(dot));
  lose(dot.added, Dyadic{1, 0});
  if (!lost.is_zero()) out.budget = out.budget + over(dot, lost);
  const int finest =
      tally.finest() == no_granule
          ? 0
          : tally.finest() -
                (dot.averaged ? static_cast<int>(std::bit_width(static_cast<std::uint64_t>(dot.divisor))) : 0);
  if (tally.finest() != no_granule && finest < accumulator.min_exponent) {
    const Dyadic times = tally.between ? tally.between->weight : Dyadic{roundings(dot, tally.terms), 0};
    out.budget = out.budget + Ratio{times * Dyadic{2, accumulator.min_exponent}, 1};
  }
  out.flushes_output = true;
}

// 2.3.7: operands rounded or truncated to a narrower format on the way in.
struct Narrowed {
  bool overflows = false;  // some operand is too large for the format
  Dyadic disturbance;      // sum of |a'b' - ab| at most
};

// Relative change of one operand: 0 where it fits, 2u otherwise; nothing is left of what lies below η.
struct Change {
  bool gone = false;
  Dyadic relative;
};

Change change_of(const Scalar& value, const Format& format) {
  if (value.is_zero()) return {};
  const int bits = static_cast<int>(std::bit_width(value.significand));
  const bool fits = bits <= format.precision && value.exponent >= format.smallest_exponent();
  if (fits) return {};
  if (value.exponent + bits - 1 < format.min_exponent) return {true, {}};
  return {false, Dyadic{1, format.unit_exponent() + 1}};
}

bool exceeds(const Scalar& value, const Format& format) {
  return !value.is_zero() && abs(value.value()) >= Dyadic::power_of_two(format.max_exponent + 1) -
                                                       Dyadic::power_of_two(format.max_exponent - format.precision);
}

Narrowed narrowed(const Dot& dot, const Format& format) {
  Narrowed out;
  const Change divisor =
      dot.averaged && !is_power_of_two(dot.divisor) ? Change{false, Dyadic{1, format.unit_exponent() + 1}} : Change{};
  const Dyadic one{1, 0};
  const auto change = [&](const Term& term, const Dyadic& times) {
    const Change a = change_of(term.a, format), b = term.b ? change_of(*term.b, format) : divisor;
    out.overflows |= exceeds(term.a, format) || (term.b && exceeds(*term.b, format));
    if (a.gone || b.gone)
      out.disturbance += (magnitude_of(term) + magnitude_of(term)) * times;
    else if (!a.relative.is_zero() || !b.relative.is_zero())
      out.disturbance += magnitude_of(term) * ((one + a.relative) * (one + b.relative) - one) * times;
  };
  for (const Term& term : dot.terms) change(term, factor_of(dot));
  for (const Term& term : dot.added) change(term, one);
  return out;
}

// The rest of the evaluation acts on the changed operands: (1 + 2u)^2 bounds their growth.
Tolerance with_narrow_inputs(const Dot& dot, const Tally& tally, std::string arithmetic, const Format& inputs,
                             const Machine& machine) {
  const Narrowed change = narrowed(dot, inputs);
  Tally grown = tally;
  if (!change.disturbance.is_zero()) {
    const Dyadic growth = Dyadic{1, 0} + Dyadic{1, inputs.unit_exponent() + 1};
    grown.magnitude = tally.magnitude * growth * growth;
    grown.granule = std::min(tally.granule, 2 * machine.format->smallest_exponent());  // changed operands: unknown
    if (grown.between) {
      grown.between->magnitude = grown.between->magnitude * growth * growth;
      grown.between->granule = grown.granule;
      grown.between->weight = grown.between->weight * growth;
    }
  }
  Tolerance out = tolerance(dot, grown, Level::widest, std::move(arithmetic), machine);
  out.budget = out.budget + over(dot, change.disturbance);
  out.may_overflow |= change.overflows;
  return out;
}

// f64 computed in f32 throughout, the result widened again: 2.3.7 and one more rounding of the value itself.
Tolerance double_in_single(const Dot& dot, const Tally& tally) {
  const Format& single = format_of(DType::f32);
  return with_narrow_inputs(dot, tally, "f64 computed in f32", single,
                            {.format = &single, .slack_exponent = 1, .rounds_output = true});
}

std::string_view accumulator_name(DType dtype) { return dtype == DType::f64 ? "f64" : "f32"; }

}  // namespace

Dyadic gamma(Int n, int unit_exponent) {
  const Dyadic nu{n, unit_exponent};
  return nu * (Dyadic{1, 0} + nu + nu);
}

Element enclose(const Dot& dot, DType dtype, Summing summing) {
  const Format &type = format_of(dtype), &accumulator = accumulator_of(dtype);
  Element out;
  const Tally tally = tally_of(dot, type, summing);
  out.terms = tally.terms;
  if (dot.padded_nonfinite) out.nan_admitted = "A14";
  if (dot.averaged && dot.divisor == 0) {
    out.kind = Kind::nan_or_zero;
    return out;
  }
  if (tally.nan || (tally.positive_infinity && tally.negative_infinity)) {
    out.kind = Kind::nan;
    return out;
  }
  out.value = over(dot, tally.sum);
  out.magnitude = over(dot, tally.magnitude);
  out.required = tolerance(dot, tally, Level::L2, std::string(accumulator_name(dtype)) + " accumulation in any order",
                           {.format = &accumulator});
  if (out.required.may_overflow || tally.subnormal_meets_infinity) {
    out.kind = Kind::unscored;
    out.reason = out.required.may_overflow ? "an intermediate may overflow" : "a subnormal meets an infinity";
  } else if (tally.positive_infinity || tally.negative_infinity) {
    out.kind = tally.positive_infinity ? Kind::positive_infinity : Kind::negative_infinity;
  }
  return out;
}

std::vector<Tolerance> widen(const Dot& dot, DType dtype, const Arithmetic& declared) {
  const Format &type = format_of(dtype), &accumulator = accumulator_of(dtype);
  const Tally tally = tally_of(dot, type);
  const std::string base(accumulator_name(dtype));
  const Machine truncating{.format = &accumulator, .slack_exponent = 1};
  // The output of narrow arithmetic may be truncated too, not only rounded: one more operation.
  const Machine in_type{
      .format = &type, .rounds_output = type.precision < accumulator.precision, .rounds_factors = true};

  std::vector<Tolerance> all;
  all.push_back(tolerance(dot, tally, Level::L2t, "truncating " + base + " accumulation", truncating));
  all.push_back(tolerance(dot, tally, Level::L3, "every operation in " + std::string(name(dtype)), in_type));
  Tolerance flushed = all[0], flushed_in_type = all[1];
  for (Tolerance* a : {&flushed, &flushed_in_type}) a->level = Level::widest;
  flushed.arithmetic = "subnormals flushed, " + base + " accumulation";
  flushed_in_type.arithmetic = "subnormals flushed, every operation in " + std::string(name(dtype));
  flush(flushed, dot, tally, type, accumulator);
  flush(flushed_in_type, dot, tally, type, type);
  all.push_back(std::move(flushed));
  all.push_back(std::move(flushed_in_type));
  if (dtype == DType::f32) {
    static const Format tf32{11, -126, 127};
    all.push_back(with_narrow_inputs(dot, tally, "TF32 inputs", tf32, truncating));
    all.push_back(with_narrow_inputs(dot, tally, "bf16 inputs", format_of(DType::bf16), truncating));
  }
  if (dtype == DType::f64) all.push_back(double_in_single(dot, tally));
  if (declared.accumulator && format_of(*declared.accumulator).precision < accumulator.precision) {
    const Format& narrow = format_of(*declared.accumulator);
    all.push_back(
        with_narrow_inputs(dot, tally, "declared " + std::string(name(*declared.accumulator)) + " accumulation", narrow,
                           {.format = &narrow, .slack_exponent = 1, .rounds_output = true, .rounds_factors = true}));
  }
  return all;
}

std::vector<Tolerance> widen_sum(const Dot& sum, DType dtype, const Arithmetic& declared) {
  std::vector<Tolerance> all = widen(sum, dtype, declared);
  const Dyadic least = Dyadic::power_of_two(125);
  const auto overflows = [&](const Term& term) { return term.a.is_finite() && least <= abs(term.a.value()); };
  if (dtype != DType::f64 || !std::ranges::any_of(sum.terms, overflows)) return all;
  Tolerance in_single;
  in_single.level = Level::widest;
  in_single.arithmetic = "f64 computed in f32";
  in_single.flushes_output = in_single.blurs_nonfinite = true;
  all.push_back(std::move(in_single));
  return all;
}

}  // namespace assay::oracles
