// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/judge.h"

#include "oracles/judging/case_class.h"
#include "oracles/judging/comparison.h"
#include "oracles/judging/environment.h"
#include "oracles/judging/members.h"
#include "oracles/judging/whole_output.h"
#include "reference/operator.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace assay::oracles {
namespace {

// The answers under one set of readings. Elements are worked out when asked for; those of small outputs are kept, for
// the next outcome of the same case.
struct AnswerCache {
  static constexpr Int small = 1 << 16;

  // One output of one data set.
  struct Slot {
    std::unique_ptr<Answer> answer;
    Int size = 0;
    std::unordered_map<Int, Element> elements;
  };
  std::vector<std::vector<Slot>> slots;  // per data set, per output
  Element latest;

  void add_set(Answers answers) {
    std::vector<Slot>& added = slots.emplace_back();
    for (std::unique_ptr<Answer>& answer : answers) {
      const Int size = volume(answer->shape());
      added.push_back({std::move(answer), size, {}});
    }
  }

  const Answer& answer(std::size_t set, std::size_t output) const { return *slots[set][output].answer; }

  const Element& element(std::size_t set, std::size_t output, Int index) {
    Slot& slot = slots[set][output];
    if (slot.size > small) return latest = slot.answer->element(index);
    const auto [at, fresh] = slot.elements.try_emplace(index);
    if (fresh) at->second = slot.answer->element(index);
    return at->second;
  }
};

// FNV-1a of how the operands begin, strings aside: the same case has the same samples.
std::uint64_t seed_of(const std::vector<Operands>& sets) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const Operands& operands : sets)
    for (const std::optional<Tensor>& tensor : operands)
      if (tensor && tensor->dtype() != DType::string)
        for (const std::byte byte : tensor->bytes().first(std::min<std::size_t>(64, tensor->bytes().size())))
          hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
  return hash;
}

// The readings under which a near miss breaks none of these; none where a constraint hangs on no ruling.
std::vector<Readings> lifting(const Definition& definition, const std::vector<std::string>& violated) {
  std::vector<Readings> all{Readings()};
  for (const std::string& id : violated) {
    const Constraint* constraint = definition.constraint(id);
    if (!constraint || constraint->ruling.empty()) return {};
    const RulingUse* use = definition.ruling(constraint->ruling);
    std::vector<Readings> lifted;
    for (const Readings& readings : all)
      for (std::size_t i = 1; use && i < use->readings.size(); ++i)
        lifted.push_back(readings.with(use->id, std::string(use->readings[i])));
    all = std::move(lifted);
  }
  return all;
}

// Fewer than this many elements may well be equal by chance or by geometry.
constexpr Int vacuity_floor = 8;

Verdict verdict(State state, std::string because, std::string detail) {
  Verdict out;
  out.state = state;
  out.because = std::move(because);
  out.detail = std::move(detail);
  return out;
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

std::vector<Readings> departures(const Definition& definition, const std::vector<std::string>& touched) {
  std::vector<Readings> singles;
  for (const std::string& id : touched)
    for (std::size_t i = 1; i < definition.ruling(id)->readings.size(); ++i)
      singles.push_back(Readings().with(id, std::string(definition.ruling(id)->readings[i])));
  std::vector<Readings> all = singles;
  for (const Readings& a : singles)
    for (const Readings& b : singles) {
      const auto& [id, reading] = *b.departures().begin();
      if (a.departures().begin()->first < id && all.size() < 64) all.push_back(a.with(id, reading));
    }
  return all;
}

Tier default_tier() {
  static const Tier tier = [] {
    const char* said = std::getenv("ASSAY_ORACLE");
    if (!said || std::string_view(said) == "fast") return Tier::fast;
    if (std::string_view(said) == "exact") return Tier::exact;
    throw InputError("ASSAY_ORACLE is '" + std::string(said) + "' but one of exact and fast");
  }();
  return tier;
}

struct Judge::State {
  Call call;
  std::vector<Operands> sets;
  Judgement judgement;
  std::vector<std::string> violated;
  std::vector<std::string> touched;  // of a large output by a sample
  std::uint64_t seed = 0;            // of the samples: a hash of the data
  mutable std::map<Readings, AnswerCache> caches;
  // Where elements are right or wrong together: the answers in the light of the outputs judged last.
  mutable std::map<Readings, AnswerCache> facing_caches;
  mutable std::vector<std::vector<Tensor>> faced;

  bool is_legal() const { return violated.empty(); }
  // Returns the readings that may explain what the rulings do not: a sample may have missed what tells them apart.
  std::vector<Readings> explaining() const {
    const auto is_large = [](const std::optional<TensorType>& type) {
      return !type || volume(type->shape) > most_touched;
    };
    const bool is_sampled = std::ranges::any_of(call.definition().infer(call), is_large);
    return departures(call.definition(), is_sampled ? oracles::touched(call, sets, every_element) : touched);
  }
  const Oracle& oracle() const { return oracle_of(call.definition().version); }

  AnswerCache& cache(const Readings& readings) const {
    const auto [at, fresh] = caches.try_emplace(readings);
    if (!fresh) return at->second;
    for (const Operands& operands : sets)
      at->second.add_set(oracle().answer(call, operands, readings, judgement.arithmetic));
    return at->second;
  }

  // Remembers what the evidence needs later.
  void face(const Outcome& outcome) const {
    if (!oracle().given || faced == outcome.sets) return;
    faced = outcome.sets;
    facing_caches.clear();
  }

  // The answers that what is faced, of the right types, is compared with.
  AnswerCache& facing(const Readings& readings) const {
    if (!oracle().given || faced.size() != sets.size()) return cache(readings);
    const auto [at, fresh] = facing_caches.try_emplace(readings);
    for (std::size_t set = 0; fresh && set < sets.size(); ++set)
      at->second.add_set(oracle().given(call, sets[set], readings, faced[set]));
    return at->second;
  }

  std::string explanation(const Comparison& all, const Outcome& outcome, const Readings& readings) const;
  std::vector<TensorType> wanted_types(const Shape& first, const Readings& readings) const;
  std::optional<Verdict> malformed(const Outcome& outcome, const std::vector<TensorType>& wanted) const;
  Verdict compare_values(const Outcome& outcome, const Readings& readings, Variety* variety) const;
  Verdict judge_under(const Outcome& outcome, const Readings& readings, Variety* variety = nullptr) const;
  bool has_answer(const Readings& readings) const;
  std::optional<Shape> shape_facing(const Outcome& outcome, const Readings& readings) const;
  std::optional<FilterResult> screen(const Answer& answer, std::size_t set, const Tensor& got) const;
  void confirm(const Answer& answer, const Tensor& got, const FilterResult& screening) const;
  Verdict judge_by_members(const Outcome& outcome, Variety& variety) const;
  Verdict judge_legal(const Outcome& outcome) const;
  Verdict judge_near_miss(const Outcome& outcome) const;
  Verdict judge_refusal(const Outcome& outcome) const;
  std::string undefined_element(const Readings& readings) const;
  bool is_vacuous(AnswerCache& cache, const Variety& variety) const;
};

// The types of the outputs asked for, the first of which has that shape.
std::vector<TensorType> Judge::State::wanted_types(const Shape& first, const Readings& readings) const {
  std::vector<TensorType> types{{call.definition().type_of(call, call.definition().outputs.front()), first}};
  if (call.definition().outputs.size() == 1) return types;
  const std::vector<AnswerCache::Slot>& slots = cache(readings).slots.front();
  for (std::size_t i = 1; i < slots.size(); ++i) types.push_back({slots[i].answer->dtype(), slots[i].answer->shape()});
  return types;
}

// Wrong count, type or shape; nothing can be compared then.
std::optional<Verdict> Judge::State::malformed(const Outcome& outcome, const std::vector<TensorType>& wanted) const {
  const std::vector<std::vector<TensorType>> answered = types_of(outcome);
  if (answered.size() != sets.size())
    return verdict(oracles::State::fail, "count",
                   "answered " + std::to_string(answered.size()) + " data sets of " + std::to_string(sets.size()));
  for (const std::vector<TensorType>& set : answered) {
    if (set.size() != wanted.size())
      return verdict(oracles::State::fail, "count",
                     std::to_string(set.size()) + " outputs instead of " + std::to_string(wanted.size()));
    for (std::size_t i = 0; i < set.size(); ++i) {
      const std::string which = i == 0 ? "" : call.requested_outputs().at(i) + ": ";
      if (set[i].dtype != wanted[i].dtype)
        return verdict(
            oracles::State::fail, "type",
            which + "type " + std::string(name(set[i].dtype)) + " instead of " + std::string(name(wanted[i].dtype)));
      if (!agrees(set[i].shape, wanted[i].shape))
        return verdict(oracles::State::fail, "shape",
                       which + "shape " + assay::text(set[i].shape) + " instead of " + assay::text(wanted[i].shape));
    }
  }
  return std::nullopt;
}

std::optional<FilterResult> Judge::State::screen(const Answer& answer, std::size_t set, const Tensor& got) const {
  if (judgement.tier == Tier::exact) return std::nullopt;
  return answer.screen(got, {.only_nearest = judgement.level < Level::L2, .seed = seed + set});
}

// A sample of what the filter decided, against the definition; where sums are long, the later ones against bins, and
// fewer of them.
constexpr Int most_defined_terms = 2048, most_confirmed_terms = 8192;
void Judge::State::confirm(const Answer& answer, const Tensor& got, const FilterResult& screening) const {
  Int terms = 0;
  for (const Sampled& sampled : screening.sampled) {
    if (terms >= most_confirmed_terms) break;
    const Element element = terms < most_defined_terms ? answer.defined(sampled.index) : answer.element(sampled.index);
    terms += element.terms;
    const ElementRating finding = examine(answer, sampled.index, element, scalar(got, sampled.index));
    expects(element.kind == Kind::finite && finding.kind == ElementRating::Kind::right &&
                finding.is_nearest == sampled.is_nearest && finding.level == sampled.level,
            "the filter and the definition disagree on an element");
  }
}

// Names the arithmetic that gives every output as a whole. Where none does, says how much of the output is off.
std::string Judge::State::explanation(const Comparison& all, const Outcome& outcome, const Readings& readings) const {
  std::vector<Computed> computed;
  for (std::size_t set = 0; set < sets.size(); ++set)
    for (std::size_t output = 0; output < outcome.sets[set].size(); ++output)
      computed.push_back({call, sets[set], readings, judgement.arithmetic, output, outcome.sets[set][output]});
  const std::vector<std::string>& named = all.arithmetics();
  const Int elements = all.verdict().elements, others = elements - all.below();
  const auto fitting = std::ranges::find_if(
      named, [&](const std::string& each) { return fits_whole(each, computed, all.below() >= others); });
  if (fitting != named.end()) return "explained by: " + *fitting;
  if (others == 0 && !named.empty()) return "all elements off; " + named.front() + " does not give all of them";
  return std::to_string(all.below()) + " of " + std::to_string(elements) + " elements off; " +
         (named.empty() ? "no one arithmetic gives them all"
                        : named.front() + " may give " + (all.below() == 1 ? "it" : "them") + ", but the other " +
                              std::to_string(others) + " meet the level");
}

Verdict Judge::State::compare_values(const Outcome& outcome, const Readings& readings, Variety* variety) const {
  face(outcome);
  AnswerCache& answers = facing(readings);
  Comparison all(judgement.level);
  Int sampled_of = 0;  // elements of outputs that were looked at in part
  const auto is_over = [&] { return all.wrong() >= judgement.most_wrong; };
  const auto compare = [&](std::size_t set, std::size_t output) {
    const Tensor& got = outcome.sets[set][output];
    const Answer& answer = answers.answer(set, output);
    const auto examine_at = [&](Int i) {
      all.add(answer, i, answers.element(set, output, i), got, static_cast<int>(set), static_cast<int>(output));
    };
    const std::optional<FilterResult> screening = screen(answer, set, got);
    if (!screening) {
      const ElementSample sample(got.elements(), judgement.most_elements, seed + set);
      for (Int i = 0; i < sample.size() && !is_over(); ++i) examine_at(sample[i]);
      if (!sample.is_whole()) sampled_of += got.elements();
      return;
    }
    expects(screening->right + static_cast<Int>(screening->undecided.size()) == got.elements(),
            "the filter lost an element");
    confirm(answer, got, *screening);
    all.add(*screening);
    for (std::size_t i = 0; i < screening->undecided.size() && !is_over(); ++i) examine_at(screening->undecided[i]);
    for (const Int i : screening->worst) all.measure(answers.element(set, output, i), scalar(got, i), answer.dtype());
  };
  for (std::size_t set = 0; set < sets.size(); ++set)
    for (std::size_t output = 0; output < outcome.sets[set].size() && !is_over(); ++output) compare(set, output);
  if (variety) *variety = all.variety();
  Verdict out = all.verdict();
  if (out.state == oracles::State::below && all.below() > 0) out.detail = explanation(all, outcome, readings);
  if (sampled_of > 0)
    out.detail += (out.detail.empty() ? "" : "; ") + std::to_string(out.elements) +
                  " elements looked at, of outputs of " + std::to_string(sampled_of) + " a sample";
  if (is_over())
    out.detail += (out.detail.empty() ? "" : "; ") + ("looked at up to wrong element " + std::to_string(all.wrong()));
  return out;
}

// Tells whether there is an output under these readings.
bool Judge::State::has_answer(const Readings& readings) const {
  return oracle().leaves_shape_open || oracle().shape(call, readings);
}

// Returns the shape of the first output or, where the data leave that open, the one that the answers to what is faced
// have.
std::optional<Shape> Judge::State::shape_facing(const Outcome& outcome, const Readings& readings) const {
  std::optional<Shape> shape = oracle().shape(call, readings);
  if (shape || !oracle().leaves_shape_open || outcome.sets.size() != sets.size()) return shape;
  face(outcome);
  return facing(readings).answer(0, 0).shape();
}

Verdict Judge::State::judge_under(const Outcome& outcome, const Readings& readings, Variety* variety) const {
  const std::optional<Shape> shape = shape_facing(outcome, readings);
  if (!shape && oracle().leaves_shape_open)
    return verdict(oracles::State::unscored, "undecidable", "the data leave the shape open");
  expects(shape.has_value(), "a legal call without a window");
  if (auto bad = malformed(outcome, wanted_types(*shape, readings))) return *bad;
  if (outcome.kind == Outcome::Kind::shapes) return judge_shapes(outcome);
  return compare_values(outcome, readings, variety);
}

// Mostly zero or constant answers let wrong kernels pass (numerics 4): nothing is shown where every answer is the same
// number, or nine in ten are zero; of truth values a few may be those that matter. Special values and windows without a
// term have their own rules; where the call reads all there is, it says what every answer is, and what is random is
// judged by its distribution (G20).
bool Judge::State::is_vacuous(AnswerCache& answers, const Variety& variety) const {
  const auto is_data = [](const Parameter& input) { return input.reads_as.empty(); };
  if (std::ranges::none_of(call.definition().inputs, is_data) || call.definition().ruling("G20")) return false;
  if (variety.special || variety.counted < vacuity_floor) return false;
  const bool is_truth = answers.answer(0, 0).dtype() == DType::boolean;
  if (10 * variety.zeros >= 9 * variety.counted && !is_truth) return true;
  const bool is_told = is_truth || 10 * (variety.zeros + variety.maybe_zeros) < 9 * variety.counted;
  if (is_told && variety.varies) return false;
  Int zeros = 0;
  bool varies = variety.varies;
  std::optional<Scalar> first;
  for (std::size_t set = 0; set < sets.size(); ++set)
    for (Int i = 0; i < answers.slots[set][0].size && !(is_told && varies); ++i) {
      const Scalar value = nearest(answers.element(set, 0, i), answers.answer(set, 0).dtype());
      if (!first) first = value;
      varies |= !same(*first, value);
      zeros += value.is_zero() ? 1 : 0;
    }
  return !varies || (!is_told && 10 * zeros >= 9 * variety.counted);
}

// Judges an outcome as ruled, or by other members of sets that are chosen once for an output, which are as right.
Verdict Judge::State::judge_by_members(const Outcome& outcome, Variety& variety) const {
  const auto rank = [](oracles::State state) {
    return state == oracles::State::fail ? 2 : state == oracles::State::below;
  };
  Verdict best = judge_under(outcome, {}, &variety);
  for (const Readings& readings : other_members(call.definition())) {
    if (rank(best.state) == 0) break;
    Variety seen;
    Verdict other = judge_under(outcome, readings, &seen);
    if (rank(other.state) >= rank(best.state)) continue;
    best = std::move(other);
    best.readings = readings;
    variety = seen;
    for (const auto& [id, reading] : readings.departures()) best.followed[id] = reading;
  }
  return best;
}

Verdict Judge::State::judge_legal(const Outcome& outcome) const {
  Variety variety;
  Verdict ruled = judge_by_members(outcome, variety);
  // Which reading of a clause about values it follows, a shape does not tell.
  if (outcome.kind == Outcome::Kind::shapes && ruled.state != oracles::State::fail) return ruled;
  for (const std::string& id : touched)
    if (ruled.state != oracles::State::fail) ruled.followed[id] = std::string(Readings().of(id));
  if (ruled.state == oracles::State::pass && is_vacuous(cache(ruled.readings), variety)) {
    ruled.state = oracles::State::unscored;
    ruled.because = "vacuous";
    ruled.detail = "every answer is the same number";
  }
  if (ruled.state != oracles::State::fail && ruled.state != oracles::State::below) return ruled;

  std::optional<Verdict> weaker;
  std::optional<Verdict> contested;
  std::optional<Verdict> undecided;
  for (const Readings& readings : explaining()) {
    if (refuses(readings) || !has_answer(readings)) continue;
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

Verdict Judge::State::judge_near_miss(const Outcome& outcome) const {
  const auto fits = [&](const Readings& readings) {
    return has_answer(readings) && judge_under(outcome, readings).state == oracles::State::pass;
  };
  Verdict out = verdict(oracles::State::accepted, "accepted", "an invalid model was executed");
  for (const Readings& readings : lifting(call.definition(), violated)) {
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

// Says why, where the text leaves an element of an output open; else nothing. Only operators on elements have such,
// products of integers and those with one of a few rulings.
std::string Judge::State::undefined_element(const Readings& readings) const {
  const Shaping shaping = call.definition().shaping;
  const bool is_made_of_elements =
      shaping == Shaping::one || shaping == Shaping::broadcast || shaping == Shaping::product;
  constexpr std::string_view open[] = {"G16", "G44", "G48", "G50", "G52"};
  const auto has = [&](std::string_view id) { return call.definition().ruling(id) != nullptr; };
  if (!is_made_of_elements && std::ranges::none_of(open, has)) return "";
  AnswerCache& known = cache(readings);
  for (std::size_t set = 0; set < known.slots.size(); ++set)
    for (std::size_t output = 0; output < known.slots[set].size(); ++output)
      for (Int i = 0; i < known.slots[set][output].size; ++i) {
        const Element& element = known.element(set, output, i);
        if (element.kind == Kind::unscored && !element.chosen_by.empty()) return element.reason;
      }
  return "";
}

// Weighs a refusal against the readings, as a value is: one that makes the model illegal or its output empty excuses
// it.
Verdict Judge::State::judge_refusal(const Outcome& outcome) const {
  if (!is_legal()) return verdict(oracles::State::pass, "refused", outcome.because);
  if (const std::string why = undefined_element({}); !why.empty())
    return verdict(oracles::State::unscored, "undefined", why);
  const auto is_empty = [&](const Readings& readings) {
    const std::optional<Shape> shape = oracle().shape(call, readings);
    return !has_answer(readings) || (shape && volume(*shape) == 0) ||
           (refuses(readings) && !undefined_element(readings).empty());
  };
  std::vector<Readings> excusing;
  const bool is_empty_as_ruled = is_empty({});
  for (const Readings& readings : explaining()) {
    if (!excusing.empty() && excusing.front().departures().size() < readings.departures().size()) break;
    if (is_empty_as_ruled ? !has_answer(readings) : is_empty(readings)) excusing.push_back(readings);
  }
  if (excusing.empty()) return verdict(oracles::State::refused, "refused", outcome.because);
  Verdict out =
      verdict(oracles::State::contested, "refused", "refused under " + text(excusing.front()) + ": " + outcome.because);
  out.readings = excusing.front();
  out.also.assign(excusing.begin() + 1, excusing.end());
  if (out.also.empty())
    for (const auto& [id, reading] : out.readings.departures()) out.followed[id] = reading;
  return out;
}

Judge::Judge(Call call, std::vector<Operands> sets, Judgement judgement)
    : state_(new State{std::move(call), std::move(sets), judgement, {}, {}, {}, {}, {}, {}}) {
  expect_sound_environment();
  state_->seed = seed_of(state_->sets);
  state_->violated = state_->call.definition().violated(state_->call);
  if (state_->is_legal()) state_->touched = oracles::touched(state_->call, state_->sets, most_touched);
}

Judge::Judge(const Case& c, Judgement judgement) : Judge(c.call(), all_operands(c), judgement) {}

Judge::~Judge() = default;
Judge::Judge(Judge&&) noexcept = default;

Verdict Judge::judge(const Outcome& outcome) const {
  Verdict out;
  switch (outcome.kind) {
    case Outcome::Kind::outputs:
    case Outcome::Kind::shapes:
      out = state_->is_legal() ? state_->judge_legal(outcome) : state_->judge_near_miss(outcome);
      break;
    case Outcome::Kind::unsupported:
      out = verdict(oracles::State::unsupported, "not implemented", outcome.because);
      break;
    case Outcome::Kind::refused: out = state_->judge_refusal(outcome); break;
    default: out = verdict(oracles::State::error, std::string(name(outcome.kind)), outcome.because); break;
  }
  out.violated = state_->violated;
  if (state_->is_legal()) out.touched = state_->touched;
  return out;
}

// A contested answer departs from the ruling.
static Readings measured_by(const Verdict& verdict) {
  return verdict.state == oracles::State::contested ? Readings() : verdict.readings;
}

std::vector<Offender> Judge::offenders(const Outcome& outcome, const Verdict& verdict) const {
  std::vector<Offender> list;
  if (outcome.kind != Outcome::Kind::outputs || !state_->is_legal()) return list;
  const Readings readings = measured_by(verdict);
  const std::optional<Shape> shape = state_->oracle().shape(state_->call, readings);
  if (!shape || state_->malformed(outcome, state_->wanted_types(*shape, readings))) return list;
  const bool only_wrong = verdict.state == oracles::State::fail;
  state_->face(outcome);
  AnswerCache& answers = state_->facing(readings);
  const auto add_offenders = [&](std::size_t set, std::size_t output) {
    const Tensor& tensor = outcome.sets[set][output];
    const Answer& answer = answers.answer(set, output);
    const std::optional<FilterResult> screening = state_->screen(answer, set, tensor);
    const ElementSample sample(tensor.elements(), state_->judgement.most_elements, state_->seed + set);
    const Int suspects = screening ? static_cast<Int>(screening->undecided.size()) : sample.size();
    for (Int suspect = 0; suspect < suspects; ++suspect) {
      if (static_cast<Int>(list.size()) >= state_->judgement.most_wrong) return;
      const Int i = screening ? screening->undecided[static_cast<std::size_t>(suspect)] : sample[suspect];
      const Element& element = answers.element(set, output, i);
      const Scalar got = scalar(tensor, i);
      const ElementRating finding = examine(answer, i, element, got);
      const bool weak = finding.kind == ElementRating::Kind::below ||
                        (finding.kind == ElementRating::Kind::right && finding.level > state_->judgement.level);
      if (finding.kind != ElementRating::Kind::wrong && (only_wrong || !weak)) continue;
      const bool is_number = element.kind == Kind::finite;
      list.push_back({static_cast<int>(set), static_cast<int>(output), i, got,
                      is_number ? std::optional(nearest(element, answer.dtype())) : std::nullopt, finding.off.ulp});
    }
  };
  for (std::size_t set = 0; set < outcome.sets.size(); ++set)
    for (std::size_t output = 0; output < outcome.sets[set].size(); ++output) add_offenders(set, output);
  return list;
}

Evidence Judge::evidence(const Offender& offender, const Verdict& verdict) const {
  AnswerCache& answers = state_->facing(measured_by(verdict));
  const auto set = static_cast<std::size_t>(offender.set), output = static_cast<std::size_t>(offender.output);
  Evidence out = evidence_of(answers.answer(set, output), offender.index, answers.element(set, output, offender.index),
                             offender.got, offender.set);
  out.output = offender.output;
  return out;
}

Verdict judge(const Case& c, const Outcome& outcome, const Judgement& judgement) {
  return Judge(c, judgement).judge(outcome);
}

Verdict judge(Call call, std::vector<Operands> sets, const Outcome& outcome, const Judgement& judgement) {
  return Judge(std::move(call), std::move(sets), judgement).judge(outcome);
}

}  // namespace assay::oracles
