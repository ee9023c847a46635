// SPDX-License-Identifier: Apache-2.0
// (Case, Outcome) -> Verdict. The rule of numerics 2.2 with the collapse of 2.4: accept iff
// RN_T(y - B) <= got <= RN_T(y + B), with B proven. Comparison of floats happens here and nowhere else.
#pragma once

#include "oracles/verdict.h"
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
};

// One element of an output that is not as asked for.
struct Offender {
  int set = 0;
  Int index = 0;  // row-major
  Scalar got;
  std::optional<Scalar> want;  // the right answer rounded once, where it is a number
  double ulp = 0;              // their distance, where both are numbers
};

// The answers of one call over its data sets, worked out once and kept: judge several outcomes of one case with it.
class Bench {
 public:
  Bench(Call call, std::vector<Operands> sets, Judgement judgement = {});
  explicit Bench(const Case& c, Judgement judgement = {});
  ~Bench();
  Bench(Bench&&) noexcept;

  // Never throws for what a backend returned; BrokenPromise where the filter and the definition disagree.
  Verdict judge(const Outcome& outcome) const;

  // Every element that made the verdict what it is: of a fail those that are wrong, of a below those outside the level
  // asked for, of a contested those that depart from the ruling. None where shapes or types differ.
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

// How far off an element is: |got - y| / ulp_T(y), of integers the difference. Both are finite.
double ulps(const Element& element, const Scalar& got, DType dtype);
// What an element has to be, in words: the right answer rounded once, "nan", "inf", "nan or 0", "unscored".
std::string wanted(const Element& element, DType dtype);

// The interval of one finite element at one allowance.
Interval interval(const Element& element, const Allowance& allowance, DType dtype);

// The class of a case (spec B.1), one label each: "valid-core", "valid-contested", "valid-degenerate", "nonfinite",
// "overflow-int", "invalid-static".
std::string_view class_of(const Case& c);

// The rulings with several readings that influence a legal case, in id order.
std::vector<std::string> touched(const Case& c);
// The class of a legal case that touches these; saves working them out again.
std::string_view class_of(const Case& c, const std::vector<std::string>& touched);

}  // namespace assay::oracles
