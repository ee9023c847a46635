// SPDX-License-Identifier: Apache-2.0
// Every planted bug, found by generated cases and shrunk: how small the cases become, and that they are still the same
// failure.
#include "generators/generators.h"
#include "generators/shrink.h"
#include "reference/testing/run_size.h"
#include "suites/mutation/kernel_trial.h"
#include "suites/mutation/mutants.h"
#include "suites/triage/plainness.h"
#include "suites/triage/shrinker.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>

namespace assay::mutation {
namespace {

using generators::CaseSize;
using oracles::State;

constexpr std::uint64_t seed = 11;

suites::Answered answered(const Case& c, std::string_view bug) {
  KernelTrial exam(c);
  oracles::Outcome outcome = exam.answer(*mutant(bug, c.version));
  oracles::Verdict verdict = exam.mark(outcome);
  return {std::move(outcome), std::move(verdict)};
}

struct Shrinkage {
  CaseSize before, after;
  int runs = 0;
  bool is_same = false, is_minimal = false, is_plain = false;
};

Shrinkage shrunk(const Case& c, std::string_view bug, bool shows) {
  const suites::Answered first = answered(c, bug);
  const suites::ShrinkResult small = suites::shrink(c, first, [&](const Case& other) { return answered(other, bug); });
  const suites::Signature before = signature_of(c, first), after = signature_of(small.c, small.answered);
  const Shrinkage row{generators::size_of(c),
                      generators::size_of(small.c),
                      small.runs,
                      before == after,
                      small.is_minimal,
                      suites::plainness_of(small.c).is_within(suites::plainness_of(c))};
  if (shows)
    std::cout << std::left << std::setw(42) << bug << std::right << std::setw(4) << row.runs << std::setw(6)
              << row.before.elements << " -> " << std::setw(3) << row.after.elements << std::setw(3)
              << row.after.attributes << (row.is_minimal ? "  " : " !") << text(after) << "\n      " << line(small.c)
              << "\n";
  return row;
}

// The cases on which certify would call the bug a fail, `most` of them.
std::vector<Case> failing(const Mutant& bug, std::size_t most) {
  std::vector<Case> found;
  for (const auto& [subject, index] : sampled_versions(bug.op, 1'000)) {
    if (found.size() == most) break;
    Case c = generators::legal(*subject.definition, subject.type, seed, index);
    if (answered(c, bug.id).verdict.state == State::fail) found.push_back(std::move(c));
  }
  return found;
}

template <class F>
auto median(std::vector<Shrinkage> rows, F&& of) {
  std::ranges::nth_element(rows, rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2),
                           [&](const Shrinkage& a, const Shrinkage& b) { return of(a) < of(b); });
  return of(rows[rows.size() / 2]);
}

}  // namespace

TEST_CASE("A planted bug shrinks to a case on paper that fails in the same way", "[shrink]") {
  const std::size_t each = is_full_run() ? 2 : 1, step = is_full_run() ? 1 : 4 * one_in();
  std::vector<Shrinkage> rows;
  std::size_t index = 0;
  for (const Mutant& bug : mutants()) {
    const char* const only = std::getenv("ASSAY_BUG");
    if (bug.expected != State::fail || (only ? bug.id != only : index++ % step != 0)) continue;
    for (const Case& c : failing(bug, each)) {
      rows.push_back(shrunk(c, bug.id, is_full_run()));
      INFO(bug.id << " on " << line(c));
      CHECK(rows.back().is_same);
      CHECK(rows.back().is_plain);
      CHECK(rows.back().runs <= 200);
    }
  }
  REQUIRE_FALSE(rows.empty());
  const Int before = median(rows, [](const Shrinkage& r) { return r.before.elements; });
  const Int elements = median(rows, [](const Shrinkage& r) { return r.after.elements; });
  const Int attributes = median(rows, [](const Shrinkage& r) { return r.after.attributes; });
  const int runs = median(rows, [](const Shrinkage& r) { return r.runs; });
  const auto minimal = std::ranges::count_if(rows, &Shrinkage::is_minimal);
  std::cout << rows.size() << " failures: median " << before << " -> " << elements << " elements, " << attributes
            << " attributes, " << runs << " runs; " << minimal << " minimal\n";
  CHECK(elements <= 64);
  CHECK(attributes <= 5);
}

}  // namespace assay::mutation
