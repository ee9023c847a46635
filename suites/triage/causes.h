// SPDX-License-Identifier: Apache-2.0
// Causes: thousands of failures read as a few sentences. Findings are explained by known wrong models, kernels that are
// wrong in one way each, and what no model explains is grouped by what it looks like and what it needs.
#pragma once

#include "reference/operator.h"
#include "suites/triage/shrinker.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::suites {

// Where its outputs are bit for bit what a backend gave, its sentence says why.
struct WrongModel {
  std::string id, sentence;  // "pool-divides-by-kernel", "every window divides by the whole kernel"
  // One session; none where the model does not speak of this version.
  std::function<std::optional<Kernel>(const OpVersion&)> kernel;
  bool only_shape = false;  // the values of its outputs mean nothing
};

// Wrong models work element by element, a hundred of them: outputs of more elements are left unexplained.
inline constexpr Int most_explained = 1 << 16;
bool is_too_large_to_explain(const oracles::Outcome& outcome);

// The models that give what came back, in their order.
struct Diagnosis {
  std::vector<std::string> models;
  bool by_shape = false;      // none gives the values; these give the shape
  bool is_confirmed = false;  // by the case as it was found too: a shrunk one alone fits many models
  bool operator==(const Diagnosis&) const = default;
};
// Of a legal case that was answered wrongly; bit for bit.
Diagnosis diagnose(const Case& c, const oracles::Outcome& outcome, std::span<const WrongModel> models);

// The sentences of models.
std::vector<std::string> suspicions(const std::vector<std::string>& ids, std::span<const WrongModel> models);

struct Finding {
  std::string found, origin;  // the line that failed first, and where it came from
  std::string line;           // the line that is kept: after shrinking
  Case c;                     // of `line`
  Answered answered;          // to `line`
  Signature signature;
  std::vector<std::string> predicate;  // what is special about `line`
  Diagnosis diagnosis;
  std::vector<std::string> suspicions;  // the sentences of the models that explain it
  bool is_shrunk = false;
  bool comes_again = true;  // alone, or as a session, as it was found; else nothing explains it
  std::string session;      // the line that brings it, "A ; B", where it comes only after other cases
  int runs = 0;
  Int stands_for = 1;  // failures that look the same and were not looked at themselves, this one included

  // Returns the line that is run to see it again.
  const std::string& replayed() const { return session.empty() ? line : session; }
};

// A failure as it was found; shrunk where `ask` is given. The models that explain the case that was found have to
// explain every simpler one, so that one bug does not slide into another. Where its data are not exact a model explains
// it as far as rounding goes, and has to give the bits of the shrunk case.
Finding finding_of(const Case& found, std::string origin, Answered first, std::span<const WrongModel> models,
                   Shrinking shrinking = {}, const RunCase& run_case = {});

struct Cause {
  OpVersion op;  // its first finding's; `versions` has them all
  oracles::State state = oracles::State::fail;
  std::string because, pattern;
  Diagnosis diagnosis;                 // the models that explain every confirmed finding
  std::vector<std::string> predicate;  // common to its shrunk cases
  std::map<OpVersion, Int> versions;
  Int count = 0;
  bool comes_again = true;              // some of it
  std::size_t first = 0, smallest = 0;  // by index of the findings
  std::vector<std::size_t> examples;    // the smallest ones, no line twice
  std::vector<std::size_t> members;     // all findings of it
  std::string sentence;                 // "AveragePool-19, 22: 53 fail (shape, smaller): SAME_* pads for …"
};

// The gravest first, of these the most frequent. A finding belongs to the model that explains the most confirmed ones;
// what no model explains and was not shrunk goes with the shrunk ones that look the same.
std::vector<Cause> causes_of(std::span<const Finding> findings, std::span<const WrongModel> models,
                             std::size_t most_examples = 20);

}  // namespace assay::suites
