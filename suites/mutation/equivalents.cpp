// SPDX-License-Identifier: Apache-2.0
#include "suites/mutation/equivalents.h"

namespace assay::mutation {
namespace {

struct Equivalent {
  std::string_view mutant, op;
  int below;  // the first version in which it is a bug
  std::string_view argument;
};

constexpr std::string_view no_bf16 = "T does not admit bfloat16",
                           no_dilations = "there is no dilations, every tap is adjacent",
                           no_ceil = "there is no ceil_mode, windows are counted as floor and none overhangs",
                           no_broadcast = "all inputs have one shape, none is read twice",
                           no_negatives = "axes and indices are not negative",
                           no_bounds = "there is neither start nor end",
                           no_steps = "there are no steps, every element is taken",
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
    {"flatten-clamps-axis", "Flatten", 11, no_negatives},
    {"flatten-mirrors-axis", "Flatten", 11, no_negatives},
    {"unsqueeze-counts-in-data", "Unsqueeze", 11, no_negatives},
    {"shape-counts-end", "Shape", 15, no_bounds},
    {"shape-wraps-start", "Shape", 15, no_bounds},
    {"concat-clamps-axis", "Concat", 11, no_negatives},
    {"concat-mirrors-axis", "Concat", 11, no_negatives},
    {"gather-clamps-negative", "Gather", 11, no_negatives},
    {"slice-ignores-steps", "Slice", 10, no_steps},
    {"slice-opens-end", "Slice", 11, "there are no steps, or it would be another reading (M8)"},
    {"reshape-always-copies", "Reshape", 14, "there is no allowzero, 0 always copies"},
});

}  // namespace

std::string_view equivalence(const Mutant& mutant, const OpVersion& version) {
  for (const Equivalent& e : all)
    if (e.mutant == mutant.id && e.op == version.name && version.since_version < e.below) return e.argument;
  const Definition& definition = *find_definition(version);
  if (!mutant.attribute.empty() && !definition.attribute(mutant.attribute))
    return "there is no such attribute, and what it does by default is done";
  return shows(definition, mutant.types) ? std::string_view{} : "no type that it shows with is admitted";
}

}  // namespace assay::mutation
