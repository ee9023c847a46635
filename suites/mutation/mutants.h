// SPDX-License-Identifier: Apache-2.0
// Mutants: planted bugs, the test of the test. Each is a correct kernel of our own third hand with one small deviation,
// of a kind that has been seen in a real backend or is one slip of the pen away.
#pragma once

#include "oracles/judging/verdict.h"
#include "reference/operator.h"
#include "suites/mutation/gather.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::mutation {

// What kind of harm a bug does: a wrong function of the inputs; a weaker arithmetic; a wrong answer only after an
// earlier one in the session; another admissible reading of the standard.
enum class Severity { semantic, precision, state, reading };
std::string_view name(Severity severity);

struct Mutant {
  std::string id, op, description;  // "conv-flips-kernel", "Conv", "…"
  // What certify must say of it at least once: `fail`, `below` where only the arithmetic is weaker, `contested` where
  // the bug is another admissible reading of the standard, `pass` where nothing but the level drops, from L0 to L1.
  oracles::State expected = oracles::State::fail;
  // Weaker arithmetic that the widest admissible interval names (TF32, bfloat16 operands, flushed subnormals, one
  // truncation): certify may never call it `fail`.
  bool is_named_arithmetic = false;
  Severity severity = severity_of(expected);
  std::vector<DType> types = {};  // the data that show it; empty: any
  std::string attribute = "";     // the one it misreads; a version without it does not show the bug

  // Where nothing else is said.
  static Severity severity_of(oracles::State expected);
};

// Tells whether a version admits any of the types; true of none.
bool shows(const Definition& definition, std::span<const DType> types);

std::span<const Mutant> mutants();
// Of these, one of the gather engine's, of Conv or AveragePool, and how it deviates.
const Mutant& gathered_mutant(std::string_view id);
const GatherDeviation& gathered_deviation(std::string_view id);
// One session of the mutant: some bugs show only in what a second run finds left over from the first.
std::optional<Kernel> mutant(std::string_view id, const OpVersion& version);

}  // namespace assay::mutation
