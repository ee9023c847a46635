// SPDX-License-Identifier: Apache-2.0
#include "suites/mutation/strength.h"

#include "generators/generators.h"
#include "reference/parallel.h"
#include "suites/mutation/kernel_trial.h"
#include "suites/mutation/variants.h"

#include <algorithm>
#include <map>

namespace assay::mutation {
namespace {

// -- equivalents

struct Equivalent {
  std::string_view mutant, op;
  int below;  // the first version in which it is a bug
  std::string_view argument;
  int from = 1;  // in versions before it is a bug as well
};

constexpr std::string_view no_bf16 = "T does not admit bfloat16",
                           no_dilations = "there is no dilations, every tap is adjacent",
                           no_ceil = "there is no ceil_mode, windows are counted as floor and none overhangs",
                           no_broadcast = "all inputs have one shape, none is read twice",
                           no_negatives = "axes and indices are not negative",
                           no_bounds = "there is neither start nor end",
                           no_steps = "there are no steps, every element is taken",
                           no_reduction = "there is no reduction, updates replace what is there",
                           no_training = "a model that runs is in inference, where nothing is dropped",
                           real_power = "p is a real number",
                           no_transformation = "coordinates are those of corners, and nothing is cubic or cropped",
                           is_reading = "it is another reading",
                           no_count = "there is no count_include_pad, padding never counts";

constexpr auto all = std::to_array<Equivalent>({
    {"conv-reads-bf16-as-f16", "Conv", 22, no_bf16},
    {"pool-reads-bf16-as-f16", "AveragePool", 22, no_bf16},
    {"pool-pads-same-undilated", "AveragePool", 19, no_dilations},
    {"pool-swaps-dilations", "AveragePool", 19, no_dilations},
    {"pool-ignores-dilations", "AveragePool", 19, no_dilations},
    {"pool-divides-by-covered-cells", "AveragePool", 19, no_dilations},
    {"pool-ignores-ceil", "AveragePool", 10, no_ceil},
    {"pool-keeps-trailing-window", "AveragePool", 10, no_ceil},
    {"pool-counts-valid-by-text", "AveragePool", 10, no_ceil},
    {"pool-counts-overhang", "AveragePool", 10, no_ceil},
    {"pool-divides-tail-by-kernel", "AveragePool", 10, no_ceil},
    {"pool-never-counts-padding", "AveragePool", 7, no_count},
    {"pool-ignores-padding-at-corner", "AveragePool", 7, no_count},
    {"pool-forgets-same-padding", "AveragePool", 7, no_count},
    {"max-pads-same-undilated", "MaxPool", 10, no_dilations},
    {"max-swaps-dilations", "MaxPool", 10, no_dilations},
    {"max-ignores-dilations", "MaxPool", 10, no_dilations},
    {"reducel2-computes-f64-in-f32", "ReduceL2", 99, is_reading, 18},
    {"labelencoder-first-key-counts", "LabelEncoder", 4, is_reading},
    {"labelencoder-ignores-nan", "LabelEncoder", 4, "a list of floats has no NaN in a case line"},
    {"labelencoder-keeps-unknown", "LabelEncoder", 2, "integers become strings and strings integers"},
    {"labelencoder-reads-integers-as-f32", "LabelEncoder", 2, "classes are numbered below 2^24"},
    {"labelencoder-counts-from-one", "LabelEncoder", 99, "keys are stated, not numbered", 2},
    {"max-reads-by-flat-index", "Max", 8, no_broadcast},
    {"max-aligns-left", "Max", 8, no_broadcast},
    {"min-reads-by-flat-index", "Min", 8, no_broadcast},
    {"min-aligns-left", "Min", 8, no_broadcast},
    {"sum-reads-by-flat-index", "Sum", 8, no_broadcast},
    {"sum-aligns-left", "Sum", 8, no_broadcast},
    {"mean-reads-by-flat-index", "Mean", 8, no_broadcast},
    {"mean-aligns-left", "Mean", 8, no_broadcast},
    {"cast-cuts-bits", "Cast", 13, no_bf16},
    {"cast-writes-six-digits", "Cast", 9, "strings are not admitted"},
    {"dropout-leaves-unscaled", "Dropout", 12, no_training, 7},
    {"dropout-drops-too-few", "Dropout", 12, no_training, 7},
    {"dropout-tells-dropped", "Dropout", 12, no_training, 7},
    {"flatten-clamps-axis", "Flatten", 11, no_negatives},
    {"flatten-mirrors-axis", "Flatten", 11, no_negatives},
    {"unsqueeze-counts-in-data", "Unsqueeze", 11, no_negatives},
    {"shape-counts-end", "Shape", 15, no_bounds},
    {"shape-wraps-start", "Shape", 15, no_bounds},
    {"concat-clamps-axis", "Concat", 11, no_negatives},
    {"concat-mirrors-axis", "Concat", 11, no_negatives},
    {"gather-clamps-negative", "Gather", 11, no_negatives},
    {"scatter-clamps-negative", "Scatter", 11, no_negatives},
    {"scatterelements-forgets-data", "ScatterElements", 16, no_reduction},
    {"scatternd-forgets-data", "ScatterND", 16, no_reduction},
    {"gathernd-reads-first-batch", "GatherND", 12, "there is no batch_dims"},
    {"lppool-increases-p", "LpPool", 2, real_power},
    {"globallppool-increases-p", "GlobalLpPool", 2, real_power},
    {"argmax-takes-last", "ArgMax", 12, is_reading},
    {"argmin-takes-last", "ArgMin", 12, is_reading},
    {"argmax-clamps-axis", "ArgMax", 11, no_negatives},
    {"argmax-mirrors-axis", "ArgMax", 11, no_negatives},
    {"argmin-clamps-axis", "ArgMin", 11, no_negatives},
    {"argmin-mirrors-axis", "ArgMin", 11, no_negatives},
    {"split-mirrors-axis", "Split", 11, no_negatives},
    {"compress-mirrors-axis", "Compress", 11, no_negatives},
    {"compress-clamps-axis", "Compress", 11, no_negatives},
    {"onehot-never-wraps", "OneHot", 11, "negative indices are off"},
    {"split-clamps-axis", "Split", 11, no_negatives},
    {"resize-rounds-down", "Resize", 11, is_reading},
    {"split-rounds-down", "Split", 18, "parts divide the axis"},
    {"resize-forgets-half", "Resize", 11, no_transformation},
    {"resize-ignores-coefficient", "Resize", 11, no_transformation},
    {"resize-keeps-outside", "Resize", 11, no_transformation},
    {"resize-never-widens", "Resize", 18, "there is no antialias"},
    {"resize-never-extrapolates", "Resize", 11, no_transformation},
    {"resize-ignores-roi", "Resize", 11, no_transformation},
    {"resize-swaps-policy", "Resize", 18, "there is no keep_aspect_ratio_policy"},
    {"resize-stretches-corners", "Resize", 11, no_transformation},
    {"pad-wraps-edge", "Pad", 19, "there is no mode wrap"},
    {"pad-ignores-axes", "Pad", 18, "there are no axes"},
    {"slice-ignores-steps", "Slice", 10, no_steps},
    {"slice-opens-end", "Slice", 11, "there are no steps, or it would be another reading (M8)"},
    {"reshape-always-copies", "Reshape", 14, "there is no allowzero, 0 always copies"},
});

// -- trials

using oracles::State;
using oracles::Verdict;

bool finds(const Mutant& bug, const Verdict& with, const Verdict& without) {
  if (bug.expected != State::pass) return weight(with.state) >= weight(bug.expected);
  return with.level && without.level && *with.level > *without.level;
}

// One case, put to the engine with a bug and without.
class ChangedCase {
 public:
  explicit ChangedCase(const Case& c) : exam_(c) {}

  // Run on an equivalent as well, which has to give the same.
  void run(Trial& trial, std::optional<Int>& found, Int count, bool is_generated) {
    const Mutant& bug = *trial.mutant;
    const oracles::Outcome &without = right(bug), with = exam_.answer(*mutant(bug.id, exam_.tested_case().version));
    if (with.kind == without.kind && with.sets == without.sets) return;
    if (!trial.is_bug() && with.sets == kernel().sets) return;  // what rounds otherwise is as right
    if (trial.equivalent == is_reading && weight(exam_.mark(with).state) <= weight(State::contested)) return;
    if (is_generated) ++trial.changed;
    if (trial.is_bug() && !finds(bug, exam_.mark(with), exam_.mark(without))) return;
    if (trial.is_bug()) found = count;
    if (is_generated || trial.line.empty()) trial.line = line(exam_.tested_case());
  }

 private:
  const oracles::Outcome& kernel() {
    if (!kernel_) kernel_ = exam_.answer(exam_.tested_case().definition().kernel);
    return *kernel_;
  }

  // Without the bug. Where only the level tells, with a wider sum that is rounded once.
  const oracles::Outcome& right(const Mutant& bug) {
    const char* way = bug.expected == State::pass ? "f64" : "sequential";
    auto [found, is_new] = right_.try_emplace(way);
    if (!is_new) return found->second;
    found->second = exam_.answer(*variant(way, exam_.tested_case().version));
    const Verdict& verdict = exam_.mark(found->second);
    if (weight(verdict.state) > 0)
      throw BrokenPromise("the engine without a bug does not pass " + line(exam_.tested_case()) + ": " +
                          verdict.detail);
    return found->second;
  }

  KernelTrial exam_;
  std::map<std::string_view, oracles::Outcome> right_;
  std::optional<oracles::Outcome> kernel_;
};

Case generated(const Definition& definition, Int index, std::uint64_t seed) {
  const std::vector<DType>& types = definition.types_of(definition.data().type);
  const auto turn = static_cast<std::uint64_t>(index), count = static_cast<std::uint64_t>(types.size());
  return generators::legal(definition, types[turn % count], seed, turn / count);
}

std::vector<Trial> trials_of(const Definition& definition, const Effort& effort) {
  std::vector<Trial> trials;
  for (const Mutant& m : mutants())
    if ((effort.mutant.empty() || m.id == effort.mutant) && mutant(m.id, definition.version))
      trials.push_back({.mutant = &m, .version = definition.version, .equivalent = equivalence(m, definition.version)});
  return trials;
}

bool is_legal_of(const suites::SuiteCase& planned, const Definition& definition) {
  return planned.c.version == definition.version && definition.violated(planned.c.call()).empty();
}

void try_pinned(std::vector<Trial>& trials, const Definition& definition, const Effort& effort) {
  Int count = 0;
  for (const suites::SuiteCase& planned : effort.pinned) {
    if (!is_legal_of(planned, definition)) continue;
    ChangedCase changed(planned.c);
    ++count;
    for (Trial& trial : trials)
      if (!trial.pinned) changed.run(trial, trial.pinned, count, false);
  }
}

void try_generated(std::vector<Trial>& trials, const Definition& definition, const Effort& effort) {
  for (Int index = 0; index < effort.cases; ++index) {
    if (std::ranges::all_of(trials, &Trial::is_killed)) return;
    ChangedCase changed(generated(definition, index, effort.seed));
    for (Trial& trial : trials)
      if (!trial.generated) changed.run(trial, trial.generated, index + 1, true);
  }
}

std::vector<const Definition*> selected(const suites::Selection& selection) {
  std::vector<const Definition*> list;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      if (selection.admits(definition)) list.push_back(&definition);
  return list;
}

}  // namespace

std::string_view equivalence(const Mutant& mutant, const OpVersion& version) {
  for (const Equivalent& e : all)
    if (e.mutant == mutant.id && e.op == version.name && version.since_version >= e.from &&
        version.since_version < e.below)
      return e.argument;
  const Definition& definition = *find_definition(version);
  if (!mutant.attribute.empty() && !definition.attribute(mutant.attribute) && !definition.input(mutant.attribute))
    return "there is no such attribute, and what it does by default is done";
  return shows(definition, mutant.types) ? std::string_view{} : "no type that it shows with is admitted";
}

std::vector<Trial> strength(const Effort& effort) {
  const std::vector<const Definition*> definitions = selected(effort.selection);
  std::vector<std::vector<Trial>> trials(definitions.size());
  in_parallel(definitions.size(), static_cast<std::size_t>(effort.jobs), [&](std::size_t i, std::size_t) {
    trials[i] = trials_of(*definitions[i], effort);
    try_pinned(trials[i], *definitions[i], effort);
    try_generated(trials[i], *definitions[i], effort);
  });
  std::vector<Trial> list;
  for (std::vector<Trial>& each : trials) std::ranges::move(each, std::back_inserter(list));
  return list;
}

}  // namespace assay::mutation
