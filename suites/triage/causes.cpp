// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/causes.h"

#include "generators/shrink.h"
#include "oracles/exact/exact.h"
#include "oracles/judging/finding.h"
#include "reference/case_view.h"
#include "reference/sequence.h"
#include "suites/text/printable.h"
#include "suites/triage/plainness.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace assay::suites {
namespace {

using Names = std::vector<std::string>;
using Indices = std::vector<std::size_t>;

// -- what a model gives

// Zeros are equal whatever their sign, and so are all NaN.
bool same_values(const Tensor& a, const Tensor& b) {
  if (a == b) return true;
  for (Int i = 0; i < a.elements(); ++i)
    if (!oracles::same(oracles::scalar(a, i), oracles::scalar(b, i))) return false;
  return true;
}

// Each fit implies those before it. `close`: as far as orders of rounding may lie apart.
enum class Fit { none, shape, close, values };

double approximately(const oracles::Scalar& value) { return value.as_double(); }

// How far apart two ways to add up may lie, relative to the largest output.
double looseness(DType type) {
  switch (type) {
    case DType::f16: return 0x1p-6;
    case DType::bf16: return 0x1p-4;
    case DType::f32: return 0x1p-14;
    default: return 0x1p-30;
  }
}

double largest(const Tensor& tensor) {
  double most = 0;
  for (Int i = 0; i < tensor.elements(); ++i)
    if (const oracles::Scalar value = oracles::scalar(tensor, i); value.is_finite())
      most = std::max(most, std::abs(approximately(value)));
  return most;
}

bool close_values(const Tensor& a, const Tensor& b) {
  const double distance = is_float(a.dtype()) ? looseness(a.dtype()) * largest(b) : 1;
  for (Int i = 0; i < a.elements(); ++i) {
    const oracles::Scalar x = oracles::scalar(a, i), y = oracles::scalar(b, i);
    const bool is_near = x.is_finite() && y.is_finite() && std::abs(approximately(x) - approximately(y)) <= distance;
    if (!is_near && !oracles::same(x, y)) return false;
  }
  return true;
}

// What a backend was given and what it answered, data set by data set.
struct Session {
  OpVersion version;
  Call call;
  std::vector<std::vector<std::optional<Tensor>>> sets;
  std::vector<const std::vector<Tensor>*> outputs;
};

// None where there is nothing to compare.
std::optional<Session> session_of(const Case& c, const oracles::Outcome& outcome) {
  const bool is_whole = outcome.kind == oracles::Outcome::Kind::outputs && outcome.sets.size() == data_sets &&
                        std::ranges::none_of(outcome.sets, &std::vector<Tensor>::empty);
  Session session{c.version, c.call(), {}, {}};
  if (!is_whole || !c.definition().violated(session.call).empty()) return std::nullopt;
  for (int set = 0; set < data_sets; ++set) session.sets.push_back(operands(c, set));
  for (const auto& set : outcome.sets) session.outputs.push_back(&set);
  return session;
}

Fit fit_of(const Session& session, const Kernel& kernel) {
  Fit fit = Fit::values;
  for (std::size_t set = 0; set < session.sets.size(); ++set) {
    const std::vector<Tensor> given = kernel(session.call, views(session.sets[set])).requested();
    if (given.size() != session.outputs[set]->size()) return Fit::none;
    for (std::size_t output = 0; output < given.size(); ++output) {
      const Tensor& got = (*session.outputs[set])[output];
      if (given[output].type() != got.type()) return Fit::none;
      if (!same_values(given[output], got))
        fit = std::min(fit, close_values(given[output], got) ? Fit::close : Fit::shape);
    }
  }
  return fit;
}

Fit fit_of(const Session& session, const WrongModel& model) {
  const std::optional<Kernel> kernel = model.kernel(session.version);
  if (!kernel) return Fit::none;
  try {
    const Fit fit = fit_of(session, *kernel);
    return model.only_shape ? std::min(fit, Fit::shape) : fit;
  } catch (const std::exception&) {
    return Fit::none;  // a wrong model may find nothing to compute
  }
}

bool has_right_shape(const Case& c, const oracles::Outcome& outcome) {
  const auto right = oracles::oracle_of(c.version).shape(c.call(), {});
  return right && outcome.sets.front().front().shape() == *right;
}

// The models that fit a case at least so well.
std::vector<const WrongModel*> fitting(const Case& c, const oracles::Outcome& outcome,
                                       std::span<const WrongModel> models, Fit least) {
  std::vector<const WrongModel*> list;
  if (const std::optional<Session> session = session_of(c, outcome))
    for (const WrongModel& model : models)
      if (fit_of(*session, model) >= least) list.push_back(&model);
  return list;
}

Names ids_of(const std::vector<const WrongModel*>& models) {
  Names ids;
  for (const WrongModel* model : models) ids.push_back(model->id);
  return ids;
}

// What explains a case as it was found, by the best fit there is.
struct Suspects {
  std::vector<const WrongModel*> models;
  Fit fit = Fit::none;
};

Suspects suspects(const Case& c, const oracles::Outcome& outcome, std::span<const WrongModel> models) {
  if (models.empty() || is_too_large_to_explain(outcome)) return {};
  for (const Fit fit : {Fit::values, Fit::close, Fit::shape}) {
    // Models that are wrong elsewhere have the right shape: where the backend has it too they explain nothing.
    if (fit == Fit::shape && (outcome.sets.empty() || outcome.sets.front().empty() || has_right_shape(c, outcome)))
      continue;
    if (std::vector<const WrongModel*> list = fitting(c, outcome, models, fit); !list.empty())
      return {std::move(list), fit};
  }
  return {};
}

// Holds for the cases that every suspect explains as well as the first.
std::function<bool(const Case&, const oracles::Outcome&)> still_explained(const Suspects& found) {
  if (found.models.empty()) return {};
  return [found](const Case& c, const oracles::Outcome& outcome) {
    const std::optional<Session> session = session_of(c, outcome);
    return session && std::ranges::all_of(
                          found.models, [&](const WrongModel* model) { return fit_of(*session, *model) >= found.fit; });
  };
}

// -- grouping

bool contains(const Names& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

Names common(const Names& a, const Names& b) {
  Names both;
  std::ranges::copy_if(a, std::back_inserter(both), [&](const std::string& name) { return contains(b, name); });
  return both;
}

// Tells whether an output is of another type than the standard's: what a backend that lacks a type does everywhere.
bool is_of_type(const Signature& s) { return s.state == oracles::State::fail && s.because == "type"; }

// Findings that can have one cause at all: of one operator, but for outputs of another type.
using Likeness = std::tuple<std::string, std::string, oracles::State, bool>;
Likeness likeness_of(const Finding& finding) {
  const Signature& s = finding.signature;
  if (is_of_type(s)) return {"", s.because, s.state, finding.comes_again};
  return {s.version.domain, s.version.name, s.state, finding.comes_again};
}

std::map<Likeness, Indices> by_likeness(std::span<const Finding> findings) {
  std::map<Likeness, Indices> groups;
  for (std::size_t i = 0; i < findings.size(); ++i) groups[likeness_of(findings[i])].push_back(i);
  return groups;
}

// How well a finding can be explained, the best first.
struct Grade {
  bool by_shape, is_confirmed;
  bool admits(const Diagnosis& d) const { return d.by_shape == by_shape && d.is_confirmed == is_confirmed; }
};
constexpr Grade grades[] = {{false, true}, {false, false}, {true, true}, {true, false}};

// The model that explains the most findings of a grade; earlier ones first.
std::string best_model(std::span<const Finding> findings, const Indices& left, std::span<const WrongModel> models,
                       const Grade& grade) {
  std::map<std::string, std::size_t> explained;
  for (const std::size_t i : left)
    if (grade.admits(findings[i].diagnosis))
      for (const std::string& id : findings[i].diagnosis.models) ++explained[id];
  std::string best;
  for (const WrongModel& model : models)
    if (explained[model.id] > (best.empty() ? 0 : explained[best])) best = model.id;
  return best;
}

// Takes the findings that `belongs` accepts out of `left`.
template <class F>
Indices taken(Indices& left, F&& belongs) {
  Indices out;
  std::ranges::copy_if(left, std::back_inserter(out), belongs);
  std::erase_if(left, belongs);
  return out;
}

// What no model explains: shrunk findings that look the same and need the same; those that were not shrunk join the
// largest group that looks the same.
std::vector<Indices> by_look(std::span<const Finding> findings, const Indices& left) {
  std::map<std::pair<std::string, Names>, Indices> groups;
  const auto look = [&](std::size_t i) { return findings[i].signature.because + " " + findings[i].signature.pattern; };
  const auto needs = [&](std::size_t i) {
    const oracles::State state = findings[i].signature.state;
    const bool has_reason = state == oracles::State::refused || state == oracles::State::error;
    return has_reason || is_of_type(findings[i].signature) ? Names{} : findings[i].predicate;
  };
  for (const std::size_t i : left)
    if (findings[i].is_shrunk) groups[{look(i), needs(i)}].push_back(i);
  std::map<std::string, Indices*> largest;
  for (auto& [key, group] : groups)
    if (Indices*& known = largest[key.first]; !known || known->size() < group.size()) known = &group;
  for (const std::size_t i : left) {
    if (findings[i].is_shrunk) continue;
    Indices*& group = largest[look(i)];
    if (!group) group = &groups[{look(i), {"not shrunk"}}];
    group->push_back(i);
  }
  std::vector<Indices> out;
  for (auto& [key, group] : groups) out.push_back(std::move(group));
  return out;
}

// -- sentences

// "Conv-11, 22", "Equal, Shape, Size and 12 more operators"
std::string versions_text(const std::map<OpVersion, Int>& versions) {
  constexpr std::size_t most_named = 3;
  std::string of_one;
  Names operators;
  for (const auto& [version, count] : versions) {
    of_one += of_one.empty() ? text(version) : ", " + std::to_string(version.since_version);
    const std::string name = operator_name(version);
    if (operators.empty() || operators.back() != name) operators.push_back(name);
  }
  if (operators.size() < 2) return of_one;
  if (operators.size() <= most_named + 1) return joined(operators, ", ");
  return joined(std::span(operators).first(most_named), ", ") + " and " +
         std::to_string(operators.size() - most_named) + " more operators";
}

std::string sentence_of(const std::string& id, std::span<const WrongModel> models) {
  const auto found = std::ranges::find(models, id, &WrongModel::id);
  return found == models.end() ? id : found->sentence;
}

std::string explanation(const Cause& cause, std::span<const WrongModel> models) {
  if (cause.diagnosis.models.empty()) return "";
  constexpr std::size_t most_named = 3;
  Names sentences;
  for (const std::string& id : cause.diagnosis.models)
    if (sentences.size() < most_named) sentences.push_back(sentence_of(id, models));
  return std::string(cause.diagnosis.is_confirmed ? ": " : ": perhaps ") +
         (cause.diagnosis.by_shape ? "the shape is that of: " : "") + joined(sentences, "; or ");
}

// Says what its failures have in common: of a refusal or a crash the words of the case that is shown, with its numbers.
std::string look_of(const Cause& cause, const Finding& shown) {
  constexpr std::size_t most_words = 200;
  const bool is_said = cause.state == oracles::State::refused || cause.state == oracles::State::error;
  const std::string& words = shown.answered.verdict.detail;
  return is_said && !cause.pattern.empty() && shown.session.empty() && !words.empty() ? printable(words, most_words)
                                                                                      : cause.pattern;
}

// " (value, anywhere)"; a refusal has no reason but its words.
std::string in_brackets(const Cause& cause, const std::string& look) {
  const std::string because = cause.because == name(cause.state) ? "" : cause.because;
  if (because.empty() && look.empty()) return "";
  return " (" + because + (because.empty() || look.empty() ? "" : ", ") + look + ")";
}

std::string sentence(const Cause& cause, const Finding& shown, std::span<const WrongModel> models) {
  const std::string look = look_of(cause, shown);
  std::string out = versions_text(cause.versions) + ": " + std::to_string(cause.count) + " " +
                    std::string(name(cause.state)) + in_brackets(cause, look) + explanation(cause, models);
  if (!cause.comes_again) out += ": does not come again (memory that nobody wrote?)";
  if (!cause.predicate.empty()) out += "; needs " + joined(cause.predicate, ", ");
  return out;
}

// -- one cause

// Counts what of a case would let somebody dispute its failure; of one that was not shrunk, and may be large, nothing.
std::size_t disputable(const Finding& finding) {
  if (!finding.is_shrunk) return 0;
  const Plainness plainness = plainness_of(finding.c);
  return plainness.unclear.size() + (plainness.is_empty ? 1 : 0) + (plainness.is_nonfinite ? 1 : 0);
}

// Takes the plainest small case of a cause as the one that is shown, then those that are next to it.
void choose_examples(Cause& cause, std::span<const Finding> findings, Indices members, std::size_t most) {
  using Key = std::tuple<bool, std::size_t, generators::CaseSize, std::size_t, std::size_t>;
  std::vector<Key> keys;
  for (const std::size_t i : members)
    keys.emplace_back(!findings[i].is_shrunk, disputable(findings[i]), generators::size_of(findings[i].c),
                      findings[i].line.size(), i);
  std::ranges::sort(keys);
  std::ranges::transform(keys, members.begin(), [](const Key& key) { return std::get<4>(key); });
  cause.smallest = members.front();
  std::set<std::string> lines;
  for (const std::size_t i : members)
    if (cause.examples.size() < most && lines.insert(findings[i].line).second) cause.examples.push_back(i);
}

Cause cause_of(std::span<const Finding> findings, const Indices& members, std::span<const WrongModel> models,
               std::size_t most_examples) {
  const Finding& first = findings[members.front()];
  Cause cause{first.signature.version,
              first.signature.state,
              first.signature.because,
              first.signature.pattern,
              first.diagnosis,
              {},
              {},
              {},
              false,
              members.front(),
              0,
              {},
              members,
              ""};
  bool has_shrunk = false;
  for (const std::size_t i : members) {
    const Finding& finding = findings[i];
    cause.count += finding.stands_for;
    cause.comes_again |= finding.comes_again;
    cause.versions[finding.signature.version] += finding.stands_for;
    if (finding.diagnosis.is_confirmed || !cause.diagnosis.is_confirmed)
      cause.diagnosis.models = common(cause.diagnosis.models, finding.diagnosis.models);
    if (finding.signature.pattern != cause.pattern) cause.pattern.clear();
    if (cause.because.find(finding.signature.because) == std::string::npos)
      cause.because += " or " + finding.signature.because;
    if (!finding.is_shrunk) continue;
    cause.predicate = has_shrunk ? common(cause.predicate, finding.predicate) : finding.predicate;
    has_shrunk = true;
  }
  choose_examples(cause, findings, members, most_examples);
  cause.sentence = sentence(cause, findings[cause.smallest], models);
  return cause;
}

// Of a shrunk case, in the light of the one that was found.
Diagnosis diagnose(const Case& c, const oracles::Outcome& outcome, std::span<const WrongModel> models,
                   const Suspects& found) {
  Diagnosis diagnosis = diagnose(c, outcome, models);
  const Names confirmed = common(diagnosis.models, ids_of(found.models));
  if (confirmed.empty()) return diagnosis;
  return {confirmed, diagnosis.by_shape, true};
}

}  // namespace

bool is_too_large_to_explain(const oracles::Outcome& outcome) {
  return !outcome.sets.empty() && !outcome.sets.front().empty() &&
         outcome.sets.front().front().elements() > most_explained;
}

Diagnosis diagnose(const Case& c, const oracles::Outcome& outcome, std::span<const WrongModel> models) {
  const Suspects found = suspects(c, outcome, models);
  if (found.fit == Fit::close) return {};
  return {ids_of(found.models), found.fit == Fit::shape, false};
}

std::vector<std::string> suspicions(const std::vector<std::string>& ids, std::span<const WrongModel> models) {
  std::vector<std::string> sentences;
  for (const std::string& id : ids)
    if (const auto model = std::ranges::find(models, id, &WrongModel::id); model != models.end())
      sentences.push_back(model->sentence);
  return sentences;
}

Finding finding_of(const Case& found, std::string origin, Answered first, std::span<const WrongModel> models,
                   Shrinking shrinking, const RunCase& run_case) {
  Finding finding;
  finding.found = line(found);
  finding.origin = std::move(origin);
  if (first.verdict.state == oracles::State::pass) models = {};  // there is nothing to explain
  const Suspects suspected = suspects(found, first.outcome, models);
  ShrinkResult small{found, std::move(first)};
  if (run_case) {
    shrinking.keeps = still_explained(suspected);
    small = shrink(std::move(small.c), std::move(small.answered), run_case, shrinking);
  }
  finding.diagnosis = diagnose(small.c, small.answered.outcome, models, suspected);
  finding.suspicions = suspicions(finding.diagnosis.models, models);
  finding.c = std::move(small.c);
  finding.line = line(finding.c);
  finding.answered = std::move(small.answered);
  finding.signature = signature_of(finding.c, finding.answered, shrinking.judgement);
  finding.predicate = predicate_of(finding.c);
  finding.is_shrunk = run_case != nullptr;
  finding.runs = small.runs;
  return finding;
}

std::vector<Cause> causes_of(std::span<const Finding> findings, std::span<const WrongModel> models,
                             std::size_t most_examples) {
  std::vector<Cause> causes;
  const auto add = [&](const Indices& members) {
    causes.push_back(cause_of(findings, members, models, most_examples));
  };
  for (auto& [likeness, left] : by_likeness(findings)) {
    for (const Grade& grade : grades)
      for (std::string id; !(id = best_model(findings, left, models, grade)).empty();)
        add(taken(left, [&](std::size_t i) {
          return findings[i].diagnosis.by_shape == grade.by_shape && contains(findings[i].diagnosis.models, id);
        }));
    for (const Indices& members : by_look(findings, left)) add(members);
  }
  std::ranges::stable_sort(causes, {},
                           [](const Cause& cause) { return std::pair(gravity(cause.state), -cause.count); });
  return causes;
}

}  // namespace assay::suites
