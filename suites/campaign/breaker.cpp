// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/breaker.h"

#include "suites/campaign/cover.h"
#include "suites/campaign/signature.h"

#include <algorithm>

namespace assay::suites {
namespace {

constexpr std::size_t least = 3;           // failures that trip it
constexpr std::size_t most_failures = 64;  // of a kind that are kept to tell apart
constexpr std::size_t most_others = 4096;  // cases that ended otherwise, likewise
constexpr std::size_t first_others = 256;  // of these, looked at from the beginning
constexpr std::size_t most_examples = 3;
constexpr int most_rounds = 4;

std::string operator_of(const Case& c) { return operator_name(c.version); }

// Predicates that hold for none of `others`: found over a few of them, and again with those they hold for.
std::vector<Predicate> telling_apart(const std::vector<Case>& failures, const std::deque<Case>& others) {
  const std::size_t few = std::min(first_others, others.size());
  std::vector<Case> looked_at(others.end() - static_cast<std::ptrdiff_t>(few), others.end());
  for (int round = 0; round < most_rounds; ++round) {
    std::vector<Predicate> found = pieces(failures, looked_at, least).all;
    const std::size_t before = looked_at.size();
    for (const Case& c : others)
      if (std::ranges::any_of(found, [&](const Predicate& when) { return when.holds(c); })) looked_at.push_back(c);
    if (looked_at.size() == before) return found;
  }
  return {};
}

const Breaker* first_of(const std::vector<Breaker>& all, bool (Breaker::*matches)(const Case&) const, const Case& c) {
  const auto found = std::ranges::find_if(all, [&](const Breaker& each) { return (each.*matches)(c); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

bool costs_a_process(const oracles::Verdict& verdict) {
  return verdict.state == oracles::State::error &&
         (verdict.because == "timed out" || verdict.because == "crashed" || verdict.because == "out of memory");
}

static bool takes_long(std::string_view because) { return because == "timed out" || because == "out of memory"; }

bool Breaker::resembles(const Case& c) const { return operators.contains(operator_of(c)) && when.holds(c); }

bool Breaker::covers(const Case& c) const { return resembles(c) && c.is_legal() == is_legal; }

const Breaker* CircuitBreaker::covering(const Case& c) const { return first_of(breakers_, &Breaker::covers, c); }

const Breaker* CircuitBreaker::resembled(const Case& c) const { return first_of(breakers_, &Breaker::resembles, c); }

bool CircuitBreaker::is_covered(const Kind& kind, const Case& c) const {
  return std::ranges::any_of(breakers_, [&](const Breaker& each) { return kind_of(each) == kind && each.covers(c); });
}

void CircuitBreaker::note(const SuiteCase& planned, const oracles::Verdict& verdict) {
  const bool is_legal = planned.c.is_legal();
  if (!costs_a_process(verdict)) {
    // A legal model that was turned away never came to where it might have hung.
    if (verdict.state == oracles::State::unsupported || verdict.state == oracles::State::refused) return;
    std::erase_if(breakers_, [&](const Breaker& each) {
      const bool is_refuted = each.covers(planned.c) && !each.has_given_up;
      if (is_refuted) due_.insert(kind_of(each));
      return is_refuted;
    });
    std::deque<Case>& others = others_[is_legal];
    others.push_back(planned.c);
    if (others.size() > most_others) others.pop_front();
    return;
  }
  const Kind kind{verdict.because, reason_pattern(verdict), is_legal};
  if (is_covered(kind, planned.c)) return;
  costly_ += takes_long(kind.because);
  std::vector<Case>& failures = failures_[kind];
  if (failures.size() < most_failures) failures.push_back(planned.c);
  for (Breaker& each : breakers_)
    if (kind_of(each) == kind && each.when.holds(planned.c)) each.operators.insert(operator_of(planned.c));
  due_.insert(kind);
}

void CircuitBreaker::decide() {
  for (const Kind& kind : std::exchange(due_, {})) {
    const std::vector<Case>& failures = failures_[kind];
    std::vector<Case> uncovered;
    for (const Case& c : failures)
      if (!is_covered(kind, c)) uncovered.push_back(c);
    if (uncovered.size() >= least) look_for(kind, uncovered);
    if (costly_ >= affordable_ && takes_long(kind.because)) give_up(kind, failures);
  }
}

// Puts last what is left of the operators that showed a kind of failure, unless that is done already: then each joins
// with its first failure.
void CircuitBreaker::give_up(const Kind& kind, const std::vector<Case>& failures) {
  const auto has_given_up = [&](const Breaker& each) { return kind_of(each) == kind && each.has_given_up; };
  if (std::ranges::any_of(breakers_, has_given_up)) return;
  Breaker breaker{kind.because, kind.pattern, {}, kind.is_legal, {}, {}, true};
  for (const Case& c : failures)
    if (!is_covered(kind, c)) breaker.operators.insert(operator_of(c));
  breakers_.push_back(std::move(breaker));
}

void CircuitBreaker::look_for(const Kind& kind, const std::vector<Case>& failures) {
  for (const Predicate& when : telling_apart(failures, others_[kind.is_legal])) {
    Breaker breaker{kind.because, kind.pattern, when, kind.is_legal, {}, {}};
    for (const Case& c : failures) {
      if (!when.holds(c)) continue;
      breaker.operators.insert(operator_of(c));
      if (breaker.examples.size() < most_examples) breaker.examples.push_back(line(c));
    }
    breakers_.push_back(std::move(breaker));
  }
}

}  // namespace assay::suites
