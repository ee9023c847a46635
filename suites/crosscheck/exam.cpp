// SPDX-License-Identifier: Apache-2.0
#include "suites/crosscheck/exam.h"

#include <map>

namespace assay::crosscheck {

std::vector<std::pair<Subject, std::uint64_t>> syllabus(std::string_view op, std::size_t count) {
  std::vector<const Definition*> versions;
  for (const Operator* known : operators())
    if (op.empty() || known->name() == op)
      for (const Definition& definition : known->versions()) versions.push_back(&definition);
  std::vector<std::pair<Subject, std::uint64_t>> list;
  for (std::size_t i = 0; i < count; ++i) {
    const Definition& definition = *versions[i % versions.size()];
    const std::vector<DType>& types = definition.types_of("T");
    const std::size_t turn = i / versions.size();
    list.push_back({{&definition, types[turn % types.size()]}, turn / types.size()});
  }
  return list;
}

Exam::Exam(Case c) : case_(std::move(c)), call_(case_.call()) {
  for (int set = 0; set < data_sets; ++set) sets_.push_back(operands(case_, set));
}

oracles::Outcome Exam::answer(const Kernel& kernel) const {
  oracles::Outcome outcome;
  try {
    for (const auto& set : sets_) {
      std::vector<const Tensor*> inputs;
      for (const std::optional<Tensor>& operand : set) inputs.push_back(operand ? &*operand : nullptr);
      outcome.sets.push_back({kernel(call_, inputs)});
    }
  } catch (const std::exception& crash) {
    return oracles::Outcome::failure(oracles::Outcome::Kind::crashed, crash.what());
  }
  return outcome;
}

const oracles::Verdict& Exam::mark(const oracles::Outcome& outcome) {
  for (const auto& [seen, verdict] : marked_)
    if (seen.kind == outcome.kind && seen.because == outcome.because && seen.sets == outcome.sets) return verdict;
  marked_.emplace_back(outcome, oracles::judge(case_, outcome));
  return marked_.back().second;
}

}  // namespace assay::crosscheck
