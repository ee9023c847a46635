// SPDX-License-Identifier: Apache-2.0
// The strength of the suite, on a bounded sample; ASSAY_FULL=1: all 2,000 cases of three seeds.
#include "suites/mutation/strength.h"

#include "reference/testing/run_size.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace assay::mutation {
namespace {

Effort sample(std::uint64_t seed) {
  return {.selection = {.operators = thinned_versions(), .types = {}},
          .pinned = suites::pinned_cases("suites"),
          .cases = is_full_run() ? 2'000 : 600,
          .seed = seed,
          .jobs = 2};
}

std::map<std::string, std::vector<Int>> semantic_counts(const std::vector<Trial>& trials) {
  std::map<std::string, std::vector<Int>> counts;
  for (const Trial& t : trials)
    if (t.is_killed() && t.mutant->severity == Severity::semantic) counts[text(t.version)].push_back(*t.generated);
  return counts;
}

}  // namespace

TEST_CASE("Every semantic bug is found in every operator version, half of them within 50 generated cases",
          "[strength]") {
  for (std::uint64_t seed = 1; seed <= (is_full_run() ? 3u : 1u); ++seed) {
    const std::vector<Trial> trials = strength(sample(seed));
    CHECK(std::ranges::count_if(trials, &Trial::is_bug) >= 120 / static_cast<Int>(one_in()));
    for (const Trial& t : trials) {
      INFO("seed " << seed << ": " << t.mutant->id << " in " << text(t.version) << "; changed " << t.changed << "; "
                   << t.line);
      CHECK_FALSE(t.is_refuted());
      const bool is_due = is_full_run() || t.mutant->severity == Severity::semantic;
      if (t.is_bug() && is_due) CHECK(t.is_killed());
    }
    for (auto& [version, counts] : semantic_counts(trials)) {
      std::vector<Int> sorted = counts;
      std::ranges::sort(sorted);
      INFO(version);
      CHECK(sorted[(sorted.size() - 1) / 2] <= 50);
    }
  }
}

TEST_CASE("A planted bug that no case touches is not found", "[strength]") {
  Effort none{.mutant = "conv-flips-kernel", .cases = 0};
  for (const Trial& t : strength(none)) CHECK_FALSE(t.is_killed());
  Effort some = none;
  some.cases = 40;
  const std::vector<Trial> trials = strength(some);
  CHECK(trials.size() == find_operator("", "Conv")->versions().size());
  for (const Trial& t : trials) CHECK(t.is_killed());
}

TEST_CASE("A bug is equivalent only in versions before the one that makes it a bug", "[strength]") {
  for (const Mutant& m : mutants())
    for (const Operator* op : operators()) {
      if (op->name() != m.op) continue;
      INFO(m.id);
      bool was_bug = false;
      for (const Definition& definition : op->versions()) {
        const bool is_bug = equivalence(m, definition.version).empty();
        // Dropout trains in its first versions, and again where an input says so; the body of ReduceL2-18 is of f32;
        // LabelEncoder numbers its classes in the first version alone.
        CHECK((is_bug || !was_bug || m.op == "Dropout" || m.id == "reducel2-computes-f64-in-f32" ||
               m.id == "labelencoder-counts-from-one"));
        was_bug = was_bug || is_bug;
      }
      CHECK(was_bug);
    }
}

TEST_CASE("Every weaker arithmetic lowers the level of sums of 27, 576 and 4,608 terms", "[strength]") {
  const std::vector<AccuracyProbe> all = accuracy_probes();
  CHECK(all.size() >= std::size_t{3} * 18);
  for (const AccuracyProbe& s : all) {
    INFO(s.mutant->id << " K=" << s.terms << " " << s.right << " " << s.said << " " << s.line.substr(0, 120));
    CHECK(s.is_flagged());
    // A second rounding is still faithful.
    if (s.mutant->expected == oracles::State::pass) CHECK((s.right == "L0" && s.said == "L1"));
  }
}

}  // namespace assay::mutation
