// SPDX-License-Identifier: Apache-2.0
// Circuit breaker: cases that hang, crash or eat memory alike are not run for ever. Once three of them have shown one
// signature, and a short predicate holds for them and for no case that was answered, the cases it holds for are put
// last; what it still holds for at the end is not run. A function of the outcomes it was told of, in their order. Legal
// models and those that break a constraint are told apart by themselves: the latter end otherwise, where they are
// refused, before they reach what hangs. Where so many hang or eat memory that a campaign would take hours, the breaker
// gives up: one such case of an operator, and its other cases are put last, whatever is answered.
#pragma once

#include "oracles/judging/verdict.h"
#include "suites/planning/suite.h"
#include "suites/predicates/predicate.h"

#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::suites {

struct Breaker {
  std::string because, pattern;       // of the failures: "timed out", and what they look like
  Predicate when;                     // holds for the cases that are not run
  bool is_legal = true;               // these are legal models, or else they break a constraint
  std::set<std::string> operators;    // that showed it: "AveragePool"; no case of another is kept from running
  std::vector<std::string> examples;  // the lines of its first cases
  bool has_given_up = false;          // on these operators, whatever the case: no answer refutes it

  bool resembles(const Case& c) const;  // `when` holds, and it is of one of these operators
  bool covers(const Case& c) const;     // and as legal as these are
};

class CircuitBreaker {
 public:
  // Gives up after so many cases that hung or ate memory; else never.
  void give_up_after(Int cases) { affordable_ = cases; }
  // Notes how a case ended. One that a breaker covers and that was answered refutes it; of a near miss a refusal is the
  // answer, of a legal model it says nothing.
  void note(const SuiteCase& planned, const oracles::Verdict& verdict);
  // Looks for predicates over what was noted since, of the kinds of failure that came again.
  void decide();
  const std::vector<Breaker>& breakers() const { return breakers_; }
  const Breaker* covering(const Case& c) const;
  // A breaker that a case resembles: it may end like those, whether it is as legal as they are or not. Null if none.
  const Breaker* resembled(const Case& c) const;

 private:
  struct Kind {
    std::string because, pattern;
    bool is_legal;
    auto operator<=>(const Kind&) const = default;
  };
  static Kind kind_of(const Breaker& breaker) { return {breaker.because, breaker.pattern, breaker.is_legal}; }
  bool is_covered(const Kind& kind, const Case& c) const;
  void look_for(const Kind& kind, const std::vector<Case>& failures);
  void give_up(const Kind& kind, const std::vector<Case>& failures);

  std::map<Kind, std::vector<Case>> failures_;
  std::map<bool, std::deque<Case>> others_;  // cases that ended otherwise, the latest; by legality
  std::vector<Breaker> breakers_;
  Int costly_ = 0, affordable_ = std::numeric_limits<Int>::max();  // cases that hung or ate memory, covered by none
  std::set<Kind> due_;
};

// Tells whether a verdict is one that a breaker counts.
bool costs_a_process(const oracles::Verdict& verdict);

}  // namespace assay::suites
