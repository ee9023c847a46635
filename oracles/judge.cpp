// SPDX-License-Identifier: Apache-2.0
#include "oracles/judge.h"

#include "oracles/environment.h"
#include "oracles/filter.h"
#include "oracles/geometry.h"
#include "oracles/operands.h"
#include "reference/operator.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

namespace assay::oracles {
namespace {

// Order of two values of T that are not NaN; zeros are equal (A29).
std::strong_ordering compare(const Scalar& a, const Scalar& b) {
  const auto rank = [](const Scalar& s) { return s.is_finite() ? 0 : s.negative ? -1 : 1; };
  if (rank(a) != rank(b) || rank(a) != 0) return rank(a) <=> rank(b);
  return a.value() <=> b.value();
}

bool same(const Scalar& a, const Scalar& b) {
  if (a.is == Scalar::Class::nan || b.is == Scalar::Class::nan) return a.is == b.is;
  return compare(a, b) == 0;
}

bool is_nan(const Scalar& value) { return value.is == Scalar::Class::nan; }

bool inside(const Scalar& got, const Interval& interval) {
  return !is_nan(got) && compare(interval.lower, got) <= 0 && compare(got, interval.upper) <= 0;
}

// 2.3.6: flushing the output admits 0 where the interval meets (-λ, λ).
bool flushed_to_zero(const Scalar& got, const Interval& interval, const Format& format) {
  if (!got.is_zero()) return false;
  const Dyadic smallest = Dyadic::power_of_two(format.min_exponent);
  const bool below = interval.lower.is_finite() ? interval.lower.value() < smallest : interval.lower.negative;
  const bool above = interval.upper.is_finite() ? interval.upper.value() > -smallest : !interval.upper.negative;
  return below && above;
}

// What is said of one element.
struct Finding {
  enum class Kind { right, unscored, below, wrong };
  Kind kind = Kind::right;
  Level level = Level::L0;
  std::string because, arithmetic;               // of below and wrong
  bool is_nearest = false;                       // equals RN_T(y)
  std::pair<std::string, std::string> followed;  // a member of a set ruling: A9, A14
  double q = 0, ulp = 0, share = 0;
};

Scalar nearest(const Element& element, DType dtype) {
  return element.nearest ? *element.nearest : rounded(element.value, format_of(dtype));
}

double unit_roundoff(DType dtype) {
  return std::ldexp(1.0, format_of(dtype == DType::f64 ? DType::f64 : DType::f32).unit_exponent());
}

// The least error before the last rounding that ends in `got`, over the budget asked for: at most 1 where it is
// admitted.
double share_of_budget(const Element& element, const Scalar& got, double error, const Format& format) {
  const double budget = approximate(element.asked.budget);
  if (element.asked.range || budget == 0) return 0;
  const double value = std::abs(approximate(Ratio{got.value(), 1}));
  int exponent = value > 0 ? std::max(std::ilogb(value), format.min_exponent) : format.min_exponent;
  // Below a power of two numbers lie twice as dense.
  const bool is_away_from_zero = value > std::abs(approximate(element.value));
  if (is_away_from_zero && std::ldexp(1.0, exponent) == value && exponent > format.min_exponent) --exponent;
  return std::max(0.0, error - std::ldexp(1.0, exponent - format.precision)) / budget;
}

void measure(Finding& finding, const Element& element, const Scalar& got, DType dtype) {
  if (!got.is_finite()) return;
  if (element.nearest) {
    finding.ulp = approximate(abs(Ratio{got.value() - element.nearest->value(), 1}));
    return;
  }
  const double error = approximate(abs(Ratio{got.value(), 1} - element.value));
  const double magnitude = approximate(element.magnitude), value = std::abs(approximate(element.value));
  const Format& format = format_of(dtype);
  const int exponent = value > 0 ? std::max(std::ilogb(value), format.min_exponent) : format.min_exponent;
  if (magnitude > 0) finding.q = error / (unit_roundoff(dtype) * magnitude);
  finding.ulp = std::ldexp(error, format.precision - 1 - exponent);
  finding.share = share_of_budget(element, got, error, format);
}

bool admits(const Allowance& allowance, const Element& element, const Scalar& got, DType dtype) {
  if (!got.is_finite() && (allowance.may_overflow || allowance.blurs_nonfinite)) return true;
  const Interval range = interval(element, allowance, dtype);
  return inside(got, range) ||
         (allowance.flushes_output && is_float(dtype) && flushed_to_zero(got, range, format_of(dtype)));
}

// The first arithmetic beyond L2 that explains what came back; none explains a wrong element.
void explain(Finding& finding, const Answer& answer, Int index, const Element& element, const Scalar& got) {
  finding.kind = Finding::Kind::wrong;
  finding.because = "value";
  for (const Allowance& wider : answer.wider(index)) {
    if (!wider.vacuous && !admits(wider, element, got, answer.dtype())) continue;
    finding.kind = Finding::Kind::below;
    finding.level = wider.level;
    finding.arithmetic = wider.vacuous ? wider.arithmetic + ": nothing can be proven, n u >= 1" : wider.arithmetic;
    return;
  }
}

Finding examine_finite(const Answer& answer, Int index, const Element& element, const Scalar& got) {
  Finding finding;
  const DType dtype = answer.dtype();
  if (!element.nan_admitted.empty()) finding.followed = {element.nan_admitted, is_nan(got) ? "multiply" : "skip"};
  if (!element.nan_admitted.empty() && is_nan(got)) return finding;
  finding.is_nearest = same(got, nearest(element, dtype));
  if (finding.is_nearest) return finding;
  measure(finding, element, got, dtype);
  if (admits(element.asked, element, got, dtype)) {
    const bool faithful = !element.nearest && (same(got, rounded(element.value, format_of(dtype), Rounding::down)) ||
                                               same(got, rounded(element.value, format_of(dtype), Rounding::up)));
    finding.level = faithful ? Level::L1 : Level::L2;
    return finding;
  }
  finding.followed = {};
  explain(finding, answer, index, element, got);
  return finding;
}

// NaN or an infinity that every order of evaluation gives.
Finding examine_special(const Answer& answer, Int index, const Element& element, const Scalar& got) {
  Finding finding;
  const bool want_nan = element.kind == Kind::nan;
  const bool right =
      want_nan ? is_nan(got)
               : got.is == Scalar::Class::infinite && got.negative == (element.kind == Kind::negative_infinity);
  if (right || (!element.nan_admitted.empty() && is_nan(got))) {
    if (!element.nan_admitted.empty() && !want_nan)
      finding.followed = {element.nan_admitted, right ? "skip" : "multiply"};
    finding.is_nearest = right;
    return finding;
  }
  finding.kind = Finding::Kind::wrong;
  finding.because = "special";
  if (got.is_finite()) return finding;  // what spreads an infinity never makes it finite
  for (const Allowance& wider : answer.wider(index))
    if (wider.blurs_nonfinite) {
      finding.kind = Finding::Kind::below;
      finding.level = wider.level;
      finding.arithmetic = wider.arithmetic;
    }
  return finding;
}

Finding examine(const Answer& answer, Int index, const Element& element, const Scalar& got) {
  Finding finding;
  switch (element.kind) {
    case Kind::finite: return examine_finite(answer, index, element, got);
    case Kind::unscored:
      finding.kind = Finding::Kind::unscored;
      finding.because = element.reason;
      return finding;
    case Kind::nan_or_zero:
      if (is_nan(got) || got.is_zero()) {
        finding.followed = {"A9", is_nan(got) ? "nan" : "zero"};
        return finding;
      }
      finding.kind = Finding::Kind::wrong;
      finding.because = "special";
      return finding;
    default: return examine_special(answer, index, element, got);
  }
}

std::string want_text(const Element& element, DType dtype) {
  switch (element.kind) {
    case Kind::finite: return written(nearest(element, dtype), dtype);
    case Kind::nan: return "nan";
    case Kind::positive_infinity: return "inf";
    case Kind::negative_infinity: return "-inf";
    case Kind::nan_or_zero: return "nan or 0";
    case Kind::unscored: break;
  }
  return "unscored";
}

Evidence evidence_of(const Answer& answer, Int index, const Element& element, const Scalar& got, int set) {
  Evidence out;
  out.set = set;
  out.index = position(answer.shape(), index);
  out.got = written(got, answer.dtype());
  out.want = want_text(element, answer.dtype());
  out.taps = answer.taps(index);
  if (element.kind != Kind::finite) return out;
  const Element defined = answer.defined(index);
  expects(defined.value == element.value && defined.magnitude == element.magnitude &&
              defined.asked.budget == element.asked.budget,
          "the sums in bins and the definition disagree on an element");
  const Interval range = interval(element, element.asked, answer.dtype());
  out.lower = written(range.lower, answer.dtype());
  out.upper = written(range.upper, answer.dtype());
  out.exact = text(element.value);
  // Integer outputs have no budget in the units of y: the interval itself is what was proven.
  out.budget = element.asked.range ? "[" + out.lower + ", " + out.upper + "]" : text(element.asked.budget);
  out.arithmetic = element.asked.arithmetic;
  return out;
}

// The answers under one set of readings. Elements are worked out when asked for; those of small outputs are kept, for
// the next outcome of the same case.
struct Sheet {
  static constexpr Int small = 1 << 16;

  std::vector<std::unique_ptr<Answer>> answers;  // per data set
  std::vector<Int> sizes;
  std::vector<std::unordered_map<Int, Element>> elements;
  Element latest;

  const Element& element(std::size_t set, Int index) {
    if (sizes[set] > small) return latest = answers[set]->element(index);
    const auto [at, fresh] = elements[set].try_emplace(index);
    if (fresh) at->second = answers[set]->element(index);
    return at->second;
  }
};

// What comparing all elements gathers for the question whether the case shows anything at all.
struct Variety {
  Int counted = 0, zeros = 0, maybe_zeros = 0;
  bool special = false, varies = false;  // special: an element without a number or without a term
  std::optional<Scalar> first;

  void add(const Element& element, const Scalar& nearest) {
    ++counted;
    special |= element.terms == 0;
    zeros += nearest.is_zero() ? 1 : 0;
    see(nearest);
  }
  void add(const Screening& screening) {
    counted += screening.right;
    zeros += screening.zeros;
    maybe_zeros += screening.maybe_zeros;
    special |= screening.has_empty;
    varies |= screening.varies;
    if (screening.seen) see(scalar_of(*screening.seen));
  }
  void see(const Scalar& nearest) {
    if (!first) first = nearest;
    varies |= !same(*first, nearest);
  }
};

// The type of the output: that of the inputs that share its type variable.
DType output_type(const Call& call) {
  const std::string& variable = call.definition().outputs.front().type;
  for (const Parameter& input : call.definition().inputs)
    if (input.type == variable && call.has(input.name)) return call.type(input.name).dtype;
  return call.definition().types_of(variable).front();
}

std::vector<std::string> touched_by(const Call& call, const std::vector<Operands>& sets) {
  const Oracle& oracle = oracle_of(call.definition().version);
  if (!oracle.touched_reads_data) return oracle.touched(call, nullptr);
  std::vector<std::string> ids;
  for (const Operands& operands : sets)
    for (std::string& id : oracle.touched(call, &operands))
      if (std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
  in_order(ids);
  return ids;
}

// FNV-1a of how the operands begin: the same case has the same samples.
std::uint64_t seed_of(const std::vector<Operands>& sets) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const Operands& operands : sets)
    for (const std::optional<Tensor>& tensor : operands)
      if (tensor)
        for (const std::byte byte : tensor->bytes().first(std::min<std::size_t>(64, tensor->bytes().size())))
          hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
  return hash;
}

// Fewer than this many elements may well be equal by chance or by geometry.
constexpr Int vacuity_floor = 8;

}  // namespace

Tier default_tier() {
  static const Tier tier = [] {
    const char* said = std::getenv("ASSAY_ORACLE");
    if (!said || std::string_view(said) == "fast") return Tier::fast;
    if (std::string_view(said) == "exact") return Tier::exact;
    throw InputError("ASSAY_ORACLE is '" + std::string(said) + "' but one of exact and fast");
  }();
  return tier;
}

double ulps(const Element& element, const Scalar& got, DType dtype) {
  Finding finding;
  measure(finding, element, got, dtype);
  return finding.ulp;
}

std::string wanted(const Element& element, DType dtype) { return want_text(element, dtype); }

Interval interval(const Element& element, const Allowance& allowance, DType dtype) {
  if (allowance.range) return *allowance.range;
  const Format& format = format_of(dtype);
  if (allowance.budget.is_zero()) {
    const Scalar nearest = rounded(element.value, format);
    return {nearest, nearest};
  }
  return {rounded(element.value - allowance.budget, format), rounded(element.value + allowance.budget, format)};
}

struct Bench::State {
  Call call;
  std::vector<Operands> sets;
  Judgement judgement;
  std::vector<std::string> violated;
  std::vector<std::string> touched;
  std::uint64_t seed = 0;  // of the samples: a hash of the data
  mutable std::map<Readings, Sheet> sheets;

  bool is_legal() const { return violated.empty(); }
  const Oracle& oracle() const { return oracle_of(call.definition().version); }

  Sheet& sheet(const Readings& readings) const {
    const auto [at, fresh] = sheets.try_emplace(readings);
    if (!fresh) return at->second;
    for (const Operands& operands : sets) {
      at->second.answers.push_back(oracle().answer(call, operands, readings, judgement.arithmetic));
      at->second.sizes.push_back(volume(at->second.answers.back()->shape()));
    }
    at->second.elements.resize(sets.size());
    return at->second;
  }

  std::optional<Verdict> malformed(const Outcome& outcome, const Shape& shape) const;
  Verdict compare_values(const Outcome& outcome, const Readings& readings, Variety* variety) const;
  Verdict judge_under(const Outcome& outcome, const Readings& readings, Variety* variety = nullptr) const;
  std::optional<Screening> screen(const Sheet& sheet, std::size_t set, const Tensor& got) const;
  void confirm(const Sheet& sheet, std::size_t set, const Tensor& got, const Screening& screening) const;
  Verdict judge_legal(const Outcome& outcome) const;
  Verdict judge_near_miss(const Outcome& outcome) const;
  std::vector<Readings> departures() const;
  bool is_vacuous(Sheet& sheet, const Variety& variety) const;
};

namespace {

Verdict verdict(State state, std::string because, std::string detail) {
  Verdict out;
  out.state = state;
  out.because = std::move(because);
  out.detail = std::move(detail);
  return out;
}

void add_element(Verdict& out, const Finding& finding, std::optional<Level>& weakest) {
  ++out.elements;
  out.exact += finding.is_nearest ? 1 : 0;
  out.unscored += finding.kind == Finding::Kind::unscored ? 1 : 0;
  out.worst_q = std::max(out.worst_q, finding.q);
  out.worst_ulp = std::max(out.worst_ulp, finding.ulp);
  out.worst_share = std::max(out.worst_share, finding.share);
  if (!finding.followed.first.empty()) {
    std::string& seen = out.followed[finding.followed.first];
    seen = seen.empty() || seen == finding.followed.second ? finding.followed.second : "both";
  }
  if (finding.kind != Finding::Kind::unscored && finding.kind != Finding::Kind::wrong)
    weakest = std::max(weakest.value_or(Level::L0), finding.level);
}

// What was answered, as far as no values are concerned.
std::vector<std::vector<TensorType>> types_of(const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::shapes) return outcome.types;
  std::vector<std::vector<TensorType>> types;
  for (const std::vector<Tensor>& set : outcome.sets) {
    types.emplace_back();
    for (const Tensor& tensor : set) types.back().push_back(tensor.type());
  }
  return types;
}

// An extent of -1 is one that nothing was said of.
bool agrees(const Shape& said, const Shape& shape) {
  return std::ranges::equal(said, shape, [](Int a, Int b) { return a == -1 || a == b; });
}

// Type and shape are right as far as they were told.
Verdict judge_shapes(const Outcome& outcome) {
  for (const std::vector<TensorType>& set : outcome.types)
    for (const TensorType& type : set)
      if (!type.shape.empty() && std::ranges::all_of(type.shape, [](Int extent) { return extent == -1; }))
        return verdict(oracles::State::unscored, "undecidable", "type and rank agree; no extent was answered");
  return verdict(oracles::State::pass, "shape only", "type and shape agree; values were not answered");
}

}  // namespace

// Wrong count, type or shape; nothing can be compared then.
std::optional<Verdict> Bench::State::malformed(const Outcome& outcome, const Shape& shape) const {
  const std::vector<std::vector<TensorType>> answered = types_of(outcome);
  if (answered.size() != sets.size())
    return verdict(oracles::State::fail, "count",
                   "answered " + std::to_string(answered.size()) + " data sets of " + std::to_string(sets.size()));
  const std::size_t outputs = call.definition().outputs.size();
  const DType dtype = output_type(call);
  for (const std::vector<TensorType>& set : answered) {
    if (set.size() != outputs)
      return verdict(oracles::State::fail, "count",
                     std::to_string(set.size()) + " outputs instead of " + std::to_string(outputs));
    if (set[0].dtype != dtype)
      return verdict(oracles::State::fail, "type",
                     "type " + std::string(name(set[0].dtype)) + " instead of " + std::string(name(dtype)));
    if (!agrees(set[0].shape, shape))
      return verdict(oracles::State::fail, "shape",
                     "shape " + assay::text(set[0].shape) + " instead of " + assay::text(shape));
  }
  return std::nullopt;
}

std::optional<Screening> Bench::State::screen(const Sheet& sheet, std::size_t set, const Tensor& got) const {
  if (judgement.tier == Tier::exact) return std::nullopt;
  return sheet.answers[set]->screen(got, {.only_nearest = judgement.level < Level::L2, .seed = seed + set});
}

// A sample of what the filter decided, against the definition.
void Bench::State::confirm(const Sheet& sheet, std::size_t set, const Tensor& got, const Screening& screening) const {
  const Answer& answer = *sheet.answers[set];
  for (const Sampled& sampled : screening.sampled) {
    const Element element = answer.defined(sampled.index);
    const Finding finding = examine(answer, sampled.index, element, scalar(got, sampled.index));
    expects(element.kind == Kind::finite && finding.kind == Finding::Kind::right &&
                finding.is_nearest == sampled.is_nearest && finding.level == sampled.level,
            "the filter and the definition disagree on an element");
  }
}

namespace {

// What is gathered while the elements of an outcome are compared, in order.
struct Comparison {
  Verdict out = verdict(oracles::State::pass, "", "");
  std::optional<Level> weakest;
  Finding::Kind worst = Finding::Kind::right;
  std::string unscored_reason;
  Variety variety;

  void add(const Screening& screening) {
    out.elements += screening.right;
    out.exact += screening.nearest;
    if (screening.weakest) weakest = std::max(weakest.value_or(Level::L0), *screening.weakest);
    variety.add(screening);
  }

  // The largest q, ulp and share of elements that are already counted.
  void measure(const Element& element, const Scalar& got, DType dtype) {
    Finding finding;
    oracles::measure(finding, element, got, dtype);
    out.worst_q = std::max(out.worst_q, finding.q);
    out.worst_ulp = std::max(out.worst_ulp, finding.ulp);
    out.worst_share = std::max(out.worst_share, finding.share);
  }

  void add(const Answer& answer, Int index, const Element& element, const Scalar& got, int set, Level asked) {
    const Finding finding = examine(answer, index, element, got);
    add_element(out, finding, weakest);
    if (finding.kind == Finding::Kind::unscored && unscored_reason.empty()) unscored_reason = finding.because;
    const bool notable = finding.kind == Finding::Kind::below || finding.kind == Finding::Kind::wrong;
    const bool too_weak = finding.kind == Finding::Kind::right && finding.level > asked;
    if ((notable && finding.kind > worst) || (too_weak && !out.evidence)) {
      out.evidence = evidence_of(answer, index, element, got, set);
      out.because = finding.because.empty() ? "value" : finding.because;
      out.detail = finding.arithmetic.empty() ? "" : "explained by: " + finding.arithmetic;
    }
    worst = std::max(worst, finding.kind);
    if (element.kind != Kind::finite)
      variety.special = true;
    else if (!variety.special)
      variety.add(element, finding.is_nearest && got.is_finite() ? got : nearest(element, answer.dtype()));
  }

  Verdict verdict_of(Level asked) {
    out.level = worst == Finding::Kind::wrong ? std::nullopt : weakest;
    if (worst == Finding::Kind::wrong) {
      out.state = oracles::State::fail;
    } else if (weakest && *weakest > asked) {
      out.state = oracles::State::below;
    } else if (out.elements > 0 && out.unscored == out.elements) {
      out.state = oracles::State::unscored;
      out.because = "undecidable";
      out.detail = "every element: " + unscored_reason;
    }
    return std::move(out);
  }
};

}  // namespace

Verdict Bench::State::compare_values(const Outcome& outcome, const Readings& readings, Variety* variety) const {
  Sheet& answers = sheet(readings);
  Comparison all;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    const Tensor& got = outcome.sets[set][0];
    const Answer& answer = *answers.answers[set];
    const auto examine_at = [&](Int i) {
      all.add(answer, i, answers.element(set, i), scalar(got, i), static_cast<int>(set), judgement.level);
    };
    const std::optional<Screening> screening = screen(answers, set, got);
    if (!screening) {
      for (Int i = 0; i < got.elements(); ++i) examine_at(i);
      continue;
    }
    expects(screening->right + static_cast<Int>(screening->undecided.size()) == got.elements(),
            "the filter lost an element");
    confirm(answers, set, got, *screening);
    all.add(*screening);
    for (const Int i : screening->undecided) examine_at(i);
    for (const Int i : screening->worst) all.measure(answers.element(set, i), scalar(got, i), answer.dtype());
  }
  if (variety) *variety = all.variety;
  return all.verdict_of(judgement.level);
}

Verdict Bench::State::judge_under(const Outcome& outcome, const Readings& readings, Variety* variety) const {
  const std::optional<Shape> shape = oracle().shape(call, readings);
  expects(shape.has_value(), "a legal call without a window");
  if (auto bad = malformed(outcome, *shape)) return *bad;
  if (outcome.kind == Outcome::Kind::shapes) return judge_shapes(outcome);
  return compare_values(outcome, readings, variety);
}

// One change at a time, then products of two, at most 64 (decisions 2). For a near miss the changes that lift its
// constraints come first and always apply.
std::vector<Readings> Bench::State::departures() const {
  std::vector<Readings> bases{Readings()};
  for (const std::string& id : violated) {
    const Constraint* constraint = call.definition().constraint(id);
    if (!constraint || constraint->ruling.empty()) return {};
    const RulingUse* use = call.definition().ruling(constraint->ruling);
    std::vector<Readings> lifted;
    for (const Readings& base : bases)
      for (std::size_t i = 1; use && i < use->readings.size(); ++i)
        lifted.push_back(base.with(use->id, std::string(use->readings[i])));
    bases = std::move(lifted);
  }
  std::vector<Readings> all = violated.empty() ? std::vector<Readings>{} : bases;
  if (!violated.empty()) return all;
  std::vector<Readings> singles;
  for (const std::string& id : touched)
    for (std::size_t i = 1; i < call.definition().ruling(id)->readings.size(); ++i)
      singles.push_back(Readings().with(id, std::string(call.definition().ruling(id)->readings[i])));
  all = singles;
  for (const Readings& a : singles)
    for (const Readings& b : singles) {
      const auto& [id, reading] = *b.departures().begin();
      if (a.departures().begin()->first < id && all.size() < 64) all.push_back(a.with(id, reading));
    }
  return all;
}

// Mostly zero or constant answers let wrong kernels pass (numerics 4): nothing is shown where every answer is the same
// number, or nine in ten are zero. Special values and windows without a term have their own rules.
bool Bench::State::is_vacuous(Sheet& answers, const Variety& variety) const {
  if (variety.special || variety.counted < vacuity_floor) return false;
  if (10 * variety.zeros >= 9 * variety.counted) return true;
  const bool is_told = 10 * (variety.zeros + variety.maybe_zeros) < 9 * variety.counted;
  if (is_told && variety.varies) return false;
  Int zeros = 0;
  bool varies = variety.varies;
  std::optional<Scalar> first;
  for (std::size_t set = 0; set < sets.size(); ++set)
    for (Int i = 0; i < answers.sizes[set] && !(is_told && varies); ++i) {
      const Scalar value = nearest(answers.element(set, i), answers.answers[set]->dtype());
      if (!first) first = value;
      varies |= !same(*first, value);
      zeros += value.is_zero() ? 1 : 0;
    }
  return !varies || (!is_told && 10 * zeros >= 9 * variety.counted);
}

Verdict Bench::State::judge_legal(const Outcome& outcome) const {
  Variety variety;
  Verdict ruled = judge_under(outcome, {}, &variety);
  // Which reading of a clause about values it follows, a shape does not tell.
  if (outcome.kind == Outcome::Kind::shapes && ruled.state != oracles::State::fail) return ruled;
  for (const std::string& id : touched)
    if (ruled.state != oracles::State::fail) ruled.followed[id] = std::string(Readings().of(id));
  if (ruled.state == oracles::State::pass && is_vacuous(sheet({}), variety)) {
    ruled.state = oracles::State::unscored;
    ruled.because = "vacuous";
    ruled.detail = "every answer is the same number";
  }
  if (ruled.state != oracles::State::fail && ruled.state != oracles::State::below) return ruled;

  std::optional<Verdict> weaker;
  std::optional<Verdict> contested;
  std::optional<Verdict> undecided;
  for (const Readings& readings : departures()) {
    if (!oracle().shape(call, readings)) continue;
    if (contested && contested->readings.departures().size() < readings.departures().size()) break;
    Verdict other = judge_under(outcome, readings);
    if (other.state == oracles::State::below && !weaker) {
      weaker = other;
      weaker->readings = readings;
    }
    if (other.state == oracles::State::unscored && !undecided) {
      undecided = other;
      undecided->detail = "read as " + assay::text(readings) + " nothing can be claimed: " + other.detail;
    }
    if (other.state != oracles::State::pass) continue;
    if (contested) {
      contested->also.push_back(readings);
      continue;
    }
    contested = std::move(other);
    contested->readings = readings;
  }
  if (contested) {
    contested->state = oracles::State::contested;
    contested->because = "reading";
    contested->detail = text(contested->readings);
    // Several readings explain it: all are reported, none is counted (decisions 2).
    if (contested->also.empty())
      for (const auto& [id, reading] : contested->readings.departures()) contested->followed[id] = reading;
    contested->evidence.reset();
    return *contested;
  }
  if (undecided) return *undecided;
  if (ruled.state == oracles::State::fail && weaker) {
    weaker->detail += (weaker->detail.empty() ? "" : "; ") + ("read as " + text(weaker->readings));
    return *weaker;
  }
  return ruled;
}

Verdict Bench::State::judge_near_miss(const Outcome& outcome) const {
  const auto fits = [&](const Readings& readings) {
    if (!oracle().shape(call, readings)) return false;
    return judge_under(outcome, readings).state == oracles::State::pass;
  };
  Verdict out = verdict(oracles::State::accepted, "accepted", "an invalid model was executed");
  const std::vector<Readings> candidates = departures();
  for (const Readings& readings : candidates) {
    if (!fits(readings)) continue;
    if (out.state == oracles::State::contested) {
      out.also.push_back(readings);
      continue;
    }
    out = verdict(oracles::State::contested, "reading", text(readings));
    out.readings = readings;
  }
  if (out.state == oracles::State::contested && out.also.empty())
    for (const auto& [id, reading] : out.readings.departures()) out.followed[id] = reading;
  return out;
}

Bench::Bench(Call call, std::vector<Operands> sets, Judgement judgement)
    : state_(new State{std::move(call), std::move(sets), std::move(judgement), {}, {}, {}, {}}) {
  expect_sound_environment();
  state_->seed = seed_of(state_->sets);
  state_->violated = state_->call.definition().violated(state_->call);
  if (state_->is_legal()) state_->touched = touched_by(state_->call, state_->sets);
}

Bench::Bench(const Case& c, Judgement judgement) : Bench(c.call(), all_operands(c), std::move(judgement)) {}

Bench::~Bench() = default;
Bench::Bench(Bench&&) noexcept = default;

Verdict Bench::judge(const Outcome& outcome) const {
  Verdict out;
  switch (outcome.kind) {
    case Outcome::Kind::outputs:
    case Outcome::Kind::shapes:
      out = state_->is_legal() ? state_->judge_legal(outcome) : state_->judge_near_miss(outcome);
      break;
    case Outcome::Kind::unsupported:
      out = verdict(oracles::State::unsupported, "not implemented", outcome.because);
      break;
    case Outcome::Kind::refused:
      out = verdict(state_->is_legal() ? oracles::State::refused : oracles::State::pass, "refused", outcome.because);
      break;
    default: out = verdict(oracles::State::error, std::string(name(outcome.kind)), outcome.because); break;
  }
  out.violated = state_->violated;
  return out;
}

// A contested answer departs from the ruling.
static Readings measured_by(const Verdict& verdict) {
  return verdict.state == oracles::State::contested ? Readings() : verdict.readings;
}

std::vector<Offender> Bench::offenders(const Outcome& outcome, const Verdict& verdict) const {
  std::vector<Offender> list;
  if (outcome.kind != Outcome::Kind::outputs || !state_->is_legal()) return list;
  const Readings readings = measured_by(verdict);
  const std::optional<Shape> shape = state_->oracle().shape(state_->call, readings);
  if (!shape || state_->malformed(outcome, *shape)) return list;
  const bool only_wrong = verdict.state == oracles::State::fail;
  Sheet& answers = state_->sheet(readings);
  for (std::size_t set = 0; set < outcome.sets.size(); ++set) {
    const std::optional<Screening> screening = state_->screen(answers, set, outcome.sets[set][0]);
    const Int suspects = screening ? static_cast<Int>(screening->undecided.size()) : outcome.sets[set][0].elements();
    for (Int suspect = 0; suspect < suspects; ++suspect) {
      const Int i = screening ? screening->undecided[static_cast<std::size_t>(suspect)] : suspect;
      const Element& element = answers.element(set, i);
      const Scalar got = scalar(outcome.sets[set][0], i);
      const Finding finding = examine(*answers.answers[set], i, element, got);
      const bool weak = finding.kind == Finding::Kind::below ||
                        (finding.kind == Finding::Kind::right && finding.level > state_->judgement.level);
      if (finding.kind != Finding::Kind::wrong && (only_wrong || !weak)) continue;
      const bool is_number = element.kind == Kind::finite;
      list.push_back({static_cast<int>(set), i, got,
                      is_number ? std::optional(nearest(element, answers.answers[set]->dtype())) : std::nullopt,
                      finding.ulp});
    }
  }
  return list;
}

Evidence Bench::evidence(const Offender& offender, const Verdict& verdict) const {
  Sheet& answers = state_->sheet(measured_by(verdict));
  const auto set = static_cast<std::size_t>(offender.set);
  return evidence_of(*answers.answers.at(set), offender.index, answers.element(set, offender.index), offender.got,
                     offender.set);
}

Verdict judge(const Case& c, const Outcome& outcome, const Judgement& judgement) {
  return Bench(c, judgement).judge(outcome);
}

Verdict judge(Call call, std::vector<Operands> sets, const Outcome& outcome, const Judgement& judgement) {
  return Bench(std::move(call), std::move(sets), judgement).judge(outcome);
}

namespace {

// The classes that the rulings have no say in.
std::optional<std::string_view> plain_class_of(const Case& c) {
  const bool nonfinite =
      std::ranges::any_of(c.sources, [](const auto& source) { return is_nonfinite(source.second.recipe); });
  if (nonfinite) return "nonfinite";
  const bool empty = std::ranges::any_of(c.node.inputs, [](const auto& input) {
    return input.second.presence == Input::Presence::given &&
           std::ranges::find(input.second.type.shape, 0) != input.second.type.shape.end();
  });
  const Shape& first = c.node.inputs.at(c.definition().inputs.front().name).type.shape;
  if (empty || first.size() >= 6) return "valid-degenerate";
  return std::nullopt;
}

}  // namespace

std::vector<std::string> touched(const Case& c) {
  const bool reads_data = oracle_of(c.version).touched_reads_data;
  return touched_by(c.call(), reads_data ? all_operands(c) : std::vector<Operands>{});
}

std::string_view class_of(const Case& c, const std::vector<std::string>& touched) {
  if (const std::optional<std::string_view> plain = plain_class_of(c)) return *plain;
  if (std::ranges::find(touched, "A17") != touched.end()) return "overflow-int";
  return touched.empty() ? "valid-core" : "valid-contested";
}

std::string_view class_of(const Case& c) {
  const Call call = c.call();
  if (!call.definition().violated(call).empty()) return "invalid-static";
  if (const std::optional<std::string_view> plain = plain_class_of(c)) return *plain;
  return class_of(c, touched(c));
}

}  // namespace assay::oracles
