// SPDX-License-Identifier: Apache-2.0
// Outcome: what the backend did. Verdict: what we say of it. Words as in the README of this folder.
#pragma once

#include "oracles/exact/accuracy.h"
#include "oracles/exact/enclosure.h"
#include "reference/tensor.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::oracles {

struct Outcome {
  enum class Kind { outputs, unsupported, refused, crashed, timed_out, out_of_memory, garbled, shapes, missing };
  Kind kind = Kind::outputs;
  std::string because;                    // the backend's words, or ours of what is no answer
  std::vector<std::vector<Tensor>> sets;  // per data set, the outputs of the node
  // Of `shapes`, per data set: what the outputs would be. An extent of -1 is one the backend does not know.
  std::vector<std::vector<TensorType>> types = {};

  static Outcome failure(Kind kind, std::string because) { return {kind, std::move(because), {}, {}}; }
};
std::string_view name(Outcome::Kind kind);  // "timed out"

// Every planned case ends in exactly one of these.
enum class State { pass, contested, below, fail, unscored, accepted, unsupported, refused, error, not_run };
inline constexpr State all_states[] = {State::pass,     State::contested, State::below,       State::fail,
                                       State::unscored, State::accepted,  State::unsupported, State::refused,
                                       State::error,    State::not_run};
std::string_view name(State state);
std::optional<State> state_named(std::string_view name);

// One offending element, enough to replay the proof in any language with big rationals. Numbers that matter are
// hexadecimal floats; `exact` is numerator/denominator in hexadecimal integers.
struct Evidence {
  int set = 0;
  Int output = 0;  // of those asked for
  Shape index;
  std::string got, want;     // want: RN_T(y)
  std::string lower, upper;  // the interval that was missed
  std::string exact, budget, arithmetic;
  std::vector<ProofTerm> taps;
};

struct Verdict {
  State state = State::error;
  // One word for the cause: "value", "shape", "type", "count", "special", "crashed", "timed out", "reading",
  // "undecidable", "vacuous", "shape only", "not implemented", "declared", …; `detail` says it in one line.
  std::string because, detail;
  std::optional<Level> level;                   // the strongest level every judged element meets
  Readings readings;                            // contested: the smallest departure that fits
  std::vector<Readings> also;                   // contested: the other departures of that size that fit
  std::map<std::string, std::string> followed;  // ruling id -> reading seen, for each ruling the case touches
  std::vector<std::string> violated;            // a near miss: the constraints it breaks
  Int elements = 0, unscored = 0, exact = 0;    // judged over all sets; of these unscored; of these RN_T(y)
  double worst_q = 0, worst_ulp = 0;            // |err| / (u·A) and |err| / ulp_T(y), information only
  double worst_share = 0;                       // of the budget asked for, what no rounding to T explains; information
  std::optional<Evidence> evidence;             // of a fail or below
  // The rulings with several readings that influence a legal case, in id order; none where nobody looked.
  std::optional<std::vector<std::string>> touched;

  Verdict();
  Verdict(const Verdict&);
  Verdict(Verdict&&) noexcept;
  Verdict& operator=(const Verdict&);
  Verdict& operator=(Verdict&&) noexcept;
  ~Verdict();
};

}  // namespace assay::oracles
