// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/seek.h"

#include "generators/generators.h"
#include "generators/vary.h"
#include "reference/operator.h"
#include "suites/mutation/kernel_trial.h"

namespace assay::suites {
namespace {

using mutation::TypedVersion;

std::vector<std::vector<TypedVersion>> rounded_versions(const Selection& selection) {
  std::vector<std::vector<TypedVersion>> all;
  for (const Operator* op : operators()) {
    std::vector<TypedVersion> own;
    for (const Definition& definition : op->versions())
      for (const DType type : definition.types_of(definition.data().type))
        if (is_float(type) && oracles::oracle_of(definition.version).rounds && selection.admits(definition, type))
          own.push_back({&definition, type});
    if (!own.empty()) all.push_back(std::move(own));
  }
  return all;
}

TypedVersion start_of(const Selection& selection, std::uint64_t island) {
  const std::vector<std::vector<TypedVersion>> all = rounded_versions(selection);
  if (all.empty())
    throw InputError("--seek: nothing that is selected is rounded; --ops QLinearConv and --ops Relu have no budget");
  const std::vector<TypedVersion>& own = all[island % all.size()];
  return own[island / all.size() % own.size()];
}

// What a step is drawn from.
std::uint64_t draw_of(std::uint64_t seed, std::uint64_t island, std::uint64_t step) {
  return Generator(Generator(Generator(seed).next() ^ island).next() ^ step).next();
}

// Outputs say how far they are off, whatever the verdict; a refusal says nothing.
double height(const Answered& answered) {
  const bool has_values = answered.outcome.kind == oracles::Outcome::Kind::outputs;
  return has_values ? answered.verdict.worst_share : -1;
}

bool is_alarming(const Answered& answered) { return answered.verdict.state == oracles::State::error; }

class HillClimber {
 public:
  HillClimber(std::uint64_t island, const RunCase& run_case) : run_case_(run_case) { peak_.island = island; }

  // Steps that stay level are taken as well: most change nothing.
  void step(Case c) {
    Answered answered = run_case_(c);
    if (++peak_.runs > 1 && height(answered) < height(peak_.answered)) return;
    peak_.c = std::move(c);
    peak_.answered = std::move(answered);
  }
  bool is_done() const { return peak_.runs > 0 && is_alarming(peak_.answered); }
  const WorstCase& peak() const { return peak_; }

 private:
  const RunCase& run_case_;
  WorstCase peak_;
};

}  // namespace

// A third of the steps looks for a place to begin.
WorstCase climb(const Selection& selection, std::uint64_t seed, std::uint64_t island, const RunCase& run_case,
                int steps) {
  const TypedVersion start = start_of(selection, island);
  HillClimber climber(island, run_case);
  for (int step = 0; step < steps && !climber.is_done(); ++step) {
    const auto at = static_cast<std::uint64_t>(step);
    const std::uint64_t draw = draw_of(seed, island, at);
    if (step == 0 || step < steps / 3)
      climber.step(generators::inexact(generators::legal(*start.definition, start.type, draw, at), draw));
    else
      climber.step(generators::varied(climber.peak().c, draw));
  }
  return climber.peak();
}

WorstCase sample(const Selection& selection, std::uint64_t seed, std::uint64_t island, const RunCase& run_case,
                 int steps) {
  const TypedVersion start = start_of(selection, island);
  HillClimber climber(island, run_case);
  for (int step = 0; step < steps && !climber.is_done(); ++step) {
    const auto at = static_cast<std::uint64_t>(step);
    climber.step(generators::legal(*start.definition, start.type, draw_of(seed, island, at), at));
  }
  return climber.peak();
}

}  // namespace assay::suites
