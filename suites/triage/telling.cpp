// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/telling.h"

#include <algorithm>

namespace assay::suites {

using oracles::Admitted;
using oracles::Outcome;
using oracles::State;
using oracles::Verdict;

namespace {

// Bounds the outputs that are looked at whole.
constexpr Int most_outputs = 1 << 14;

oracles::Level level_of(const Verdict& verdict, const RunOptions& run_options) {
  return verdict.state == State::below ? run_options.level : oracles::Level::widest;
}

}  // namespace

bool is_about_type(const Verdict& verdict) { return verdict.because == "shape" || verdict.because == "type"; }

bool has_large_outputs(const Case& c) {
  const auto shape = oracles::oracle_of(c.version).shape(c.call(), {});
  return !shape || volume(*shape) > most_outputs;
}

TensorType right_type(const Case& c, int set, std::size_t output) {
  const oracles::Answers answers = oracles::oracle_of(c.version).answer(c.call(), operands(c, set), {}, {});
  return {answers.at(output)->dtype(), answers.at(output)->shape()};
}

const Tensor* output_of(const Outcome* outcome, int set, std::size_t output) {
  const auto at = static_cast<std::size_t>(set);
  if (!outcome || at >= outcome->sets.size() || output >= outcome->sets[at].size()) return nullptr;
  return &outcome->sets[at][output];
}

std::vector<Admitted> answers_of(const JudgedCase& judged, int set, std::size_t output) {
  const Provenance& provenance = judged.provenance;
  const oracles::Level level = level_of(judged.verdict, provenance.run_options);
  return of_output(oracles::admitted(judged.c, set, level, provenance.description.arithmetic), output);
}

int telling_set(const JudgedCase& judged) {
  const auto& [c, verdict, outcome, provenance] = judged;
  if ((verdict.state != State::fail && verdict.state != State::below) || !c.is_legal()) return 0;
  const int named = verdict.evidence ? verdict.evidence->set : 0;
  if (has_large_outputs(c)) return named;
  const std::size_t output = telling_output(c, verdict, outcome);
  for (int set = 0; set < data_sets; ++set)
    if (const Tensor* got = output_of(outcome, set, output))
      if (!oracles::is_among(*got, answers_of(judged, set, output))) return set;
  return named;
}

std::size_t telling_output(const Case& c, const Verdict& verdict, const Outcome* outcome) {
  if (verdict.evidence) return static_cast<std::size_t>(verdict.evidence->output);
  if ((verdict.state != State::fail && verdict.state != State::below) || !c.is_legal()) return 0;
  const std::vector<std::string> names = c.call().requested_outputs();
  const std::size_t outputs = names.size();
  for (int set = 0; set < data_sets; ++set)
    for (std::size_t output = 0; output < outputs; ++output) {
      const Tensor* got = output_of(outcome, set, output);
      if (got && got->type() != right_type(c, set, output)) return output;
    }
  // Reads its name from the verdict where the outputs were not kept: "Indices: shape …".
  for (std::size_t output = 0; output < outputs; ++output)
    if (verdict.detail.starts_with(names[output] + ": ")) return output;
  return 0;
}

}  // namespace assay::suites
