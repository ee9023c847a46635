// SPDX-License-Identifier: Apache-2.0
// KernelTrial: one case put to several implementations, in process. An implementation's kernel is one session over all
// data sets, as a worker would keep it.
#pragma once

#include "oracles/judging/judge.h"
#include "reference/operator.h"

#include <deque>
#include <vector>

namespace assay::mutation {

// An operator version and one of the types of its first input.
struct TypedVersion {
  const Definition* definition = nullptr;
  DType type = DType::f32;
};
// `count` subjects, evenly spread over the versions of the named operator (all where empty), then over their types;
// the second number counts how often this subject was there before.
std::vector<std::pair<TypedVersion, std::uint64_t>> sampled_versions(std::string_view op, std::size_t count);

// How bad a verdict is; states that find nothing weigh 0.
int weight(oracles::State state);

class KernelTrial {
 public:
  explicit KernelTrial(Case c);

  const Case& tested_case() const { return case_; }
  // The outputs for every data set; a throw is a crash.
  oracles::Outcome answer(const Kernel& kernel) const;
  // The judge's verdict. It depends on nothing but the case and the outcome, so equal outputs are judged once.
  const oracles::Verdict& mark(const oracles::Outcome& outcome);

 private:
  Case case_;
  Call call_;
  std::vector<oracles::Operands> sets_;
  oracles::Judge bench_;
  std::deque<std::pair<oracles::Outcome, oracles::Verdict>> marked_;
};

}  // namespace assay::mutation
