// SPDX-License-Identifier: Apache-2.0
#include "suites/mutation/kernel_trial.h"

#include "reference/case_view.h"

namespace assay::mutation {

std::vector<std::pair<TypedVersion, std::uint64_t>> sampled_versions(std::string_view op, std::size_t count) {
  std::vector<const Definition*> versions;
  for (const Operator* known : operators())
    if (op.empty() || known->name() == op)
      for (const Definition& definition : known->versions()) versions.push_back(&definition);
  std::vector<std::pair<TypedVersion, std::uint64_t>> list;
  for (std::size_t i = 0; i < count; ++i) {
    const Definition& definition = *versions[i % versions.size()];
    const std::vector<DType>& types = definition.types_of(definition.data().type);
    const std::size_t turn = i / versions.size();
    list.push_back({{&definition, types[turn % types.size()]}, turn / types.size()});
  }
  return list;
}

namespace {

std::vector<oracles::Operands> sets_of(const Case& c) {
  std::vector<oracles::Operands> sets;
  for (int set = 0; set < data_sets; ++set) sets.push_back(operands(c, set));
  return sets;
}

}  // namespace

int weight(oracles::State state) {
  switch (state) {
    case oracles::State::contested: return 1;
    case oracles::State::below: return 2;
    case oracles::State::fail: return 3;
    case oracles::State::error: return 4;
    default: return 0;
  }
}

KernelTrial::KernelTrial(Case c)
    : case_(std::move(c)), call_(case_.call()), sets_(sets_of(case_)), bench_(call_, sets_) {}

oracles::Outcome KernelTrial::answer(const Kernel& kernel) const {
  oracles::Outcome outcome;
  try {
    for (const oracles::Operands& set : sets_) outcome.sets.push_back(kernel(call_, views(set)).requested());
  } catch (const std::exception& crash) {
    return oracles::Outcome::failure(oracles::Outcome::Kind::crashed, crash.what());
  }
  return outcome;
}

const oracles::Verdict& KernelTrial::mark(const oracles::Outcome& outcome) {
  for (const auto& [seen, verdict] : marked_)
    if (seen.kind == outcome.kind && seen.because == outcome.because && seen.sets == outcome.sets) return verdict;
  marked_.emplace_back(outcome, bench_.judge(outcome));
  return marked_.back().second;
}

}  // namespace assay::mutation
