// SPDX-License-Identifier: Apache-2.0
// The test of the test: every planted bug is found, with the word it deserves or a stronger one, in few cases.
#include "suites/mutation/mutants.h"

#include "generators/generators.h"
#include "reference/sequence.h"
#include "reference/testing/run_size.h"
#include "suites/mutation/kernel_trial.h"
#include "suites/mutation/variants.h"
#include "suites/planning/suite.h"

#include <catch2/catch.hpp>

#include <iomanip>
#include <iostream>
#include <map>
#include <set>

namespace assay::mutation {
namespace {

using oracles::State;

constexpr std::uint64_t seed = 7;
constexpr std::size_t most_cases = 2'000;  // generated, of an operator

// Calls `use` with the cases that a certification of the operator would run first, the pinned ones that are legal, then
// `generated` ones, until it returns false.
void for_draws(const std::string& op, std::size_t generated, const std::function<bool(const Case&)>& use) {
  static const std::vector<suites::SuiteCase> pinned = suites::pinned_cases("suites");
  for (const suites::SuiteCase& planned : pinned)
    if (planned.c.version.name == op && planned.c.is_legal() && !use(planned.c)) return;
  for (const auto& [subject, index] : sampled_versions(op, generated))
    if (!use(generators::legal(*subject.definition, subject.type, seed, index))) return;
}

struct Kill {
  std::size_t cases = 0;    // run before and with the one that found it
  std::size_t changed = 0;  // of these: the bug changed the outputs
  State state = State::pass;
  std::string because, line;
};

// Returns the planted bugs that `admits` admits, by operator; under the sanitizers one in so many.
std::map<std::string, std::vector<const Mutant*>> by_operator(const std::function<bool(const Mutant&)>& admits) {
  std::map<std::string, std::vector<const Mutant*>> bugs;
  std::size_t number = 0;
  for (const Mutant& m : mutants())
    if (admits(m) && number++ % one_in() == 0) bugs[m.op].push_back(&m);
  return bugs;
}

// Runs one case on every bug that is not found yet; tells whether any is left.
bool examine(KernelTrial& exam, const std::vector<const Mutant*>& bugs, std::map<std::string, Kill>& kills) {
  // What the gather engine gives without the deviation.
  const oracles::Outcome right = exam.answer(*variant("sequential", exam.tested_case().version));
  bool is_any_left = false;
  for (const Mutant* bug : bugs) {
    const Mutant& m = *bug;
    Kill& kill = kills[m.id];
    if (weight(kill.state) >= weight(m.expected)) continue;
    is_any_left = true;
    ++kill.cases;
    const oracles::Outcome outcome = exam.answer(*mutant(m.id, exam.tested_case().version));
    if (outcome.sets == right.sets) continue;  // the bug does not show; that variant passes, as variants_test says
    ++kill.changed;
    const oracles::Verdict& verdict = exam.mark(outcome);
    if (weight(verdict.state) <= weight(kill.state)) continue;
    kill.state = verdict.state;
    kill.because = verdict.because;
    kill.line = line(exam.tested_case());
  }
  return is_any_left;
}

}  // namespace

TEST_CASE("Every planted bug is found within 2,000 generated cases and the pinned ones", "[mutants]") {
  std::map<std::string, Kill> kills;
  for (const auto& [op, bugs] : by_operator([](const Mutant& m) { return m.expected != State::pass; }))
    for_draws(op, most_cases, [&](const Case& c) {
      KernelTrial exam(c);
      return examine(exam, bugs, kills);
    });
  std::cout << "planted bug                              expected   found      by       case  changed\n";
  for (const Mutant& m : mutants()) {
    if (one_in() > 1 && !kills.contains(m.id)) continue;
    const Kill& kill = kills[m.id];
    std::cout << std::left << std::setw(41) << m.id << std::setw(11) << name(m.expected) << std::setw(11)
              << name(kill.state) << std::setw(8) << kill.because << std::right << std::setw(5) << kill.cases
              << std::setw(9) << kill.changed << '\n';
    INFO(m.id << ": " << m.description << "; at best " << name(kill.state) << " on " << kill.line);
    CHECK(weight(kill.state) >= weight(m.expected));
  }
}

TEST_CASE("Weaker arithmetic that the widest interval names is never called a breach", "[mutants]") {
  for (const auto& [op, bugs] : by_operator(&Mutant::is_named_arithmetic))
    for_draws(op, count(500, most_cases), [&](const Case& c) {
      KernelTrial exam(c);
      for (const Mutant* bug : bugs) {
        const oracles::Verdict& verdict = exam.mark(exam.answer(*mutant(bug->id, c.version)));
        if (weight(verdict.state) < weight(State::fail)) continue;
        FAIL_CHECK(bug->id << ": " << verdict.because << " " << verdict.detail << " on\n" << line(c));
      }
      return true;
    });
}

TEST_CASE("Planted bugs have names of their own and belong to one operator", "[mutants]") {
  std::set<std::string> ids;
  for (const Mutant& m : mutants()) {
    CHECK(ids.insert(m.id).second);
    std::size_t served = 0;
    for (const Operator* op : operators()) {
      const bool is_known = mutant(m.id, op->versions().back().version).has_value();
      CHECK((!is_known || op->name() == m.op));
      served += is_known;
    }
    INFO(m.id);
    CHECK(served == 1);
  }
}

}  // namespace assay::mutation
