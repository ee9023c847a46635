// SPDX-License-Identifier: Apache-2.0
#include "suites/mutation/strength.h"

#include "generators/generators.h"
#include "suites/mutation/equivalents.h"
#include "suites/mutation/exam.h"
#include "suites/mutation/variants.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>

namespace assay::mutation {
namespace {

using oracles::State;
using oracles::Verdict;

bool finds(const Mutant& bug, const Verdict& with, const Verdict& without) {
  if (bug.expected != State::pass) return weight(with.state) >= weight(bug.expected);
  return with.level && without.level && *with.level > *without.level;
}

// One case, put to the engine with a bug and without.
class Question {
 public:
  explicit Question(const Case& c) : exam_(c) {}

  // Asked of an equivalent as well, which has to give the same.
  void ask(Trial& trial, std::optional<Int>& found, Int count, bool is_generated) {
    const Mutant& bug = *trial.mutant;
    const oracles::Outcome &without = right(bug), with = exam_.answer(*mutant(bug.id, exam_.question().version));
    if (with.kind == without.kind && with.sets == without.sets) return;
    if (!trial.is_bug() && with.sets == kernel().sets) return;  // what rounds otherwise is as right
    if (is_generated) ++trial.changed;
    if (trial.is_bug() && !finds(bug, exam_.mark(with), exam_.mark(without))) return;
    if (trial.is_bug()) found = count;
    if (is_generated || trial.line.empty()) trial.line = line(exam_.question());
  }

 private:
  const oracles::Outcome& kernel() {
    if (!kernel_) kernel_ = exam_.answer(exam_.question().definition().kernel);
    return *kernel_;
  }

  // Without the bug. Where only the level tells, with a wider sum that is rounded once.
  const oracles::Outcome& right(const Mutant& bug) {
    const char* way = bug.expected == State::pass ? "f64" : "sequential";
    auto [found, is_new] = right_.try_emplace(way);
    if (!is_new) return found->second;
    found->second = exam_.answer(*variant(way, exam_.question().version));
    expects(weight(exam_.mark(found->second).state) == 0, "a case on which the engine without a bug passes");
    return found->second;
  }

  Exam exam_;
  std::map<std::string_view, oracles::Outcome> right_;
  std::optional<oracles::Outcome> kernel_;
};

Case generated(const Definition& definition, Int index, std::uint64_t seed) {
  const std::vector<DType>& types = definition.types_of(definition.data().type);
  const auto turn = static_cast<std::uint64_t>(index), count = static_cast<std::uint64_t>(types.size());
  return generators::legal(definition, types[turn % count], seed, turn / count);
}

std::vector<Trial> trials_of(const Definition& definition, const Effort& effort) {
  std::vector<Trial> trials;
  for (const Mutant& m : mutants())
    if ((effort.mutant.empty() || m.id == effort.mutant) && mutant(m.id, definition.version))
      trials.push_back({.mutant = &m, .version = definition.version, .equivalent = equivalence(m, definition.version)});
  return trials;
}

bool is_legal_of(const suites::SuiteCase& planned, const Definition& definition) {
  return planned.c.version == definition.version && definition.violated(planned.c.call()).empty();
}

void try_pinned(std::vector<Trial>& trials, const Definition& definition, const Effort& effort) {
  Int count = 0;
  for (const suites::SuiteCase& planned : effort.pinned) {
    if (!is_legal_of(planned, definition)) continue;
    Question question(planned.c);
    ++count;
    for (Trial& trial : trials)
      if (!trial.pinned) question.ask(trial, trial.pinned, count, false);
  }
}

void try_generated(std::vector<Trial>& trials, const Definition& definition, const Effort& effort) {
  for (Int index = 0; index < effort.cases; ++index) {
    if (std::ranges::all_of(trials, &Trial::is_killed)) return;
    Question question(generated(definition, index, effort.seed));
    for (Trial& trial : trials)
      if (!trial.generated) question.ask(trial, trial.generated, index + 1, true);
  }
}

std::vector<const Definition*> selected(const suites::Selection& selection) {
  std::vector<const Definition*> list;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      if (selection.admits(definition)) list.push_back(&definition);
  return list;
}

// The first exception of any is thrown when all are done.
template <class F>
void in_parallel(std::size_t count, int jobs, F&& each) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) each(i);
  };
  std::vector<std::future<void>> others;
  for (int job = 1; job < jobs; ++job) others.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& other : others) other.get();
}

}  // namespace

std::vector<Trial> strength(const Effort& effort) {
  const std::vector<const Definition*> definitions = selected(effort.selection);
  std::vector<std::vector<Trial>> trials(definitions.size());
  in_parallel(definitions.size(), effort.jobs, [&](std::size_t i) {
    trials[i] = trials_of(*definitions[i], effort);
    try_pinned(trials[i], *definitions[i], effort);
    try_generated(trials[i], *definitions[i], effort);
  });
  std::vector<Trial> list;
  for (std::vector<Trial>& each : trials) std::ranges::move(each, std::back_inserter(list));
  return list;
}

}  // namespace assay::mutation
