// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/shrinker.h"

#include "generators/shrink.h"
#include "suites/triage/plainness.h"

#include <set>

namespace assay::suites {
namespace {

class ShrinkSearch {
 public:
  ShrinkSearch(ShrinkResult& best, const RunCase& run_case, const Shrinking& shrinking)
      : best_(best),
        run_case_(run_case),
        shrinking_(shrinking),
        signature_(signature_of(best.c, best.answered, shrinking.judgement)),
        plainness_(plainness_of(best.c)) {
    seen_.insert(line(best.c));
  }

  void run() {
    while (goes_down()) continue;
  }

 private:
  // One round over the candidates, beginning where the last one succeeded: those tried before it failed for a case that
  // was hardly different. False where nothing simpler fails, or the budget is spent.
  bool goes_down() {
    const generators::Position from = position_;
    return try_candidates([&](generators::Position at) { return at >= from; }) ||
           try_candidates([&](generators::Position at) { return at < from; }) || settle();
  }

  template <class F>
  bool try_candidates(F&& is_due) {
    generators::SimplerCases candidates(best_.c);
    while (std::optional<generators::ShrinkCandidate> candidate = candidates.next()) {
      if (!is_due(candidate->at) || !seen_.insert(line(candidate->c)).second) continue;
      const Plainness plainness = plainness_of(candidate->c);
      if (!plainness.is_within(plainness_)) continue;
      if (best_.runs >= shrinking_.most_runs || (shrinking_.is_late && shrinking_.is_late())) return false;
      if (!fails_alike(candidate->c)) continue;
      position_ = candidate->at;
      plainness_ = plainness;
      return true;
    }
    return false;
  }

  bool fails_alike(Case& candidate) {
    ++best_.runs;
    Answered answered = run_case_(candidate);
    if (answered.verdict.state != signature_.state || answered.verdict.because != signature_.because) return false;
    if (signature_of(candidate, answered, shrinking_.judgement) != signature_) return false;
    if (shrinking_.keeps && !shrinking_.keeps(candidate, answered.outcome)) return false;
    best_.c = std::move(candidate);
    best_.answered = std::move(answered);
    return true;
  }

  bool settle() {
    best_.is_minimal = best_.runs < shrinking_.most_runs;
    return false;
  }

  ShrinkResult& best_;
  const RunCase& run_case_;
  const Shrinking& shrinking_;
  const Signature signature_;
  Plainness plainness_;  // of the best: what it got rid of does not come back
  std::set<std::string> seen_;
  generators::Position position_;
};

}  // namespace

ShrinkResult shrink(Case failing, Answered answered, const RunCase& run_case, const Shrinking& shrinking) {
  ShrinkResult best{std::move(failing), std::move(answered)};
  ShrinkSearch(best, run_case, shrinking).run();
  return best;
}

}  // namespace assay::suites
