// SPDX-License-Identifier: Apache-2.0
// Strength: how soon the pinned cases and the generated ones find each planted bug in each operator version, and what
// level is reported of weaker arithmetic as sums grow long.
#pragma once

#include "suites/mutation/mutants.h"
#include "suites/planning/suite.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::mutation {

// Equivalents: where a planted bug is none, because the operator version lacks what the bug gets wrong. Each is
// declared with its argument, and each is held to giving the same bits as the engine without the bug. Returns why the
// mutant gives every legal call of that version the right answer; empty where it does not.
std::string_view equivalence(const Mutant& mutant, const OpVersion& version);

struct Effort {
  suites::Selection selection = {};
  std::string mutant = "";  // this one alone; empty: all
  std::vector<suites::SuiteCase> pinned = {};
  Int cases = 2'000;  // generated ones of each operator version, legal ones, its types in turn
  std::uint64_t seed = 1;
  int jobs = 1;
};

// One planted bug in one operator version.
struct Trial {
  const Mutant* mutant = nullptr;
  OpVersion version = {};
  std::string_view equivalent = {};  // why it is no bug here; then every case is run
  // The cases of that kind up to the first that finds it, that one counted.
  std::optional<Int> pinned = std::nullopt, generated = std::nullopt;
  Int changed = 0;        // generated cases run on it in which its outputs differed from those without the bug
  std::string line = "";  // the generated case that found it, else the pinned one; of an equivalent: that refutes it

  bool is_bug() const { return equivalent.empty(); }
  bool is_killed() const { return generated.has_value(); }
  bool is_refuted() const { return !is_bug() && !line.empty(); }
};

// A verdict finds a bug if it is the word the bug deserves, or a worse one. One that costs only the level is found
// where the level is lower than that of the same engine with a wider accumulator and one rounding.
std::vector<Trial> strength(const Effort& effort);

// What is said of weaker arithmetic where K terms are added. "exact": data on which no correct order rounds;
// "dense": every term takes part, with full significands.
struct AccuracyProbe {
  const Mutant* mutant = nullptr;
  Int terms = 0;
  std::string right = "", said = "", dense = "";  // levels, or "fail": without the bug, with it, with it on dense data
  std::string line = "";                          // where it was said
  bool is_flagged() const { return said != right; }
};
std::vector<AccuracyProbe> accuracy_probes(const std::string& mutant = "");

}  // namespace assay::mutation
