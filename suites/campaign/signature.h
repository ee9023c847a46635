// SPDX-License-Identifier: Apache-2.0
// Signature: what a failure looks like, coarse enough that a shrunk case still has it and fine enough that one bug does
// not slide into another.
#pragma once

#include "oracles/judging/judge.h"
#include "reference/case.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::suites {

// What came back for a case, and what is said of it.
struct Answered {
  oracles::Outcome outcome;
  oracles::Verdict verdict;
};

struct Signature {
  OpVersion version;
  oracles::State state = oracles::State::fail;
  std::string because;  // the verdict's word
  // Which elements are wrong and how ("zero in the last column", "anywhere"), how the shape differs ("larger"), which
  // reading was followed, or the backend's reason without its numbers.
  std::string pattern;
  auto operator<=>(const Signature&) const = default;
};
Signature signature_of(const Case& c, const Answered& answered, const oracles::Judgement& judgement = {});
std::string text(const Signature& signature);  // "AveragePool-19 fail shape larger"
// A backend's words with every number as #: what differs from case to case is no other failure.
std::string reason_pattern(std::string_view reason);
// That of a refusal or an error. What was ended from outside, being late or large, has said nothing about why.
std::string reason_pattern(const oracles::Verdict& verdict);

// The order in which failures are told: wrong answers, crashes and hangs, wrong refusals, precision, the rest.
int gravity(oracles::State state);

// Tells whether a verdict is worth shrinking and keeping: it breaks conformance.
bool is_finding(oracles::State state);

// What is special about a case, "SAME_UPPER", "dilated", "type f16", in a fixed order. Of a shrunk case it is what the
// failure needs, since everything else was taken away.
std::vector<std::string> predicate_of(const Case& c);
// Of its words those that are not an attribute, and what each says: "ek < s", "the dilated kernel is smaller than the
// stride".
std::span<const std::pair<std::string_view, std::string_view>> special_traits();

}  // namespace assay::suites
