// SPDX-License-Identifier: Apache-2.0
// (Case, Outcome) -> Verdict: the ruling first, then the readings that depart from it; of one element see finding.h.
#pragma once

#include "oracles/exact/element_sample.h"
#include "oracles/judging/verdict.h"
#include "reference/case.h"

#include <memory>

namespace assay::oracles {

// Which oracle speaks: the exact one for every element, or the filter first and the exact one for what it leaves. They
// say the same. By default as the environment's ASSAY_ORACLE says, exact or fast; fast where it says nothing.
enum class Tier { exact, fast };
Tier default_tier();

struct Judgement {
  Level level = Level::L2;  // asked for; a value outside it and inside the widest interval is `below`
  Arithmetic arithmetic;    // declared by the backend
  Tier tier = default_tier();
  // So many wrong elements are looked at and no more, of whatever size an output is: a `fail` does not get any worse.
  // Its counts are then of what was looked at, which its detail says.
  Int most_wrong = Int{1} << 20;
  // Limits how many elements, drawn evenly, of an output that no filter speaks for are looked at; the detail says so.
  Int most_elements = every_element;
};

// The readings of a legal case that depart from the rulings, of the clauses it touches: one change at a time, then
// products of two, at most 64 (decisions 2).
std::vector<Readings> departures(const Definition& definition, const std::vector<std::string>& touched);

// One element of an output that is not as asked for.
struct Offender {
  int set = 0;
  int output = 0;  // of those asked for
  Int index = 0;   // row-major
  Scalar got;
  std::optional<Scalar> want;  // the right answer rounded once, where it is a number
  double ulp = 0;              // their distance, where both are numbers
};

// The answers of one call over its data sets, worked out once and kept: judge several outcomes of one case with it.
class Judge {
 public:
  Judge(Call call, std::vector<Operands> sets, Judgement judgement = {});
  explicit Judge(const Case& c, Judgement judgement = {});
  ~Judge();
  Judge(Judge&&) noexcept;

  // Never throws for what a backend returned; BrokenPromise where the filter and the definition disagree.
  Verdict judge(const Outcome& outcome) const;

  // Every element that made the verdict what it is: of a fail those that are wrong, of a below those outside the level
  // asked for, of a contested those that depart from the ruling; the first `most_wrong`. None where shapes or types
  // differ.
  std::vector<Offender> offenders(const Outcome& outcome, const Verdict& verdict) const;
  // The proof about one of them.
  Evidence evidence(const Offender& offender, const Verdict& verdict) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Judges what a backend did with a case.
Verdict judge(const Case& c, const Outcome& outcome, const Judgement& judgement = {});

// The same without a Case: operands in schema order, per data set.
Verdict judge(Call call, std::vector<Operands> sets, const Outcome& outcome, const Judgement& judgement = {});

}  // namespace assay::oracles
