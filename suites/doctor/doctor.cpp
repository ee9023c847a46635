// SPDX-License-Identifier: Apache-2.0
#include "suites/doctor/doctor.h"

#include "suites/doctor/checks.h"
#include "suites/text/printable.h"

#include <algorithm>

namespace assay::suites::doctor {
namespace {

std::vector<Check> checks() {
  std::vector<Check> all = checks_of_starting();
  std::ranges::copy(checks_of_asking(), std::back_inserter(all));
  std::ranges::copy(checks_of_operators(), std::back_inserter(all));
  std::ranges::copy(checks_of_hardship(), std::back_inserter(all));
  return all;
}

std::string missing(Ground ground) {
  switch (ground) {
    case Ground::none: return "it does not start";
    case Ground::program: return "it does not describe itself";
    default: return "it answers no model";
  }
}

Seen look(const Check& check, TestedWorker& under_test, Ground ground) {
  if (ground < check.needs) return skipped(missing(ground));
  try {
    return check.look(under_test);
  } catch (const Seen& seen) {
    return seen;
  }
}

Observation observation_of(const Check& check, const Seen& seen) {
  return {seen.mark,  std::string(check.name), std::string(check.section), printable(seen.sent, 600), seen.got,
          seen.advice};
}

Ground after(const Check& check, Observation::Mark mark, Ground ground) {
  if (check.gives == Ground::none) return ground;
  if (mark == Observation::Mark::ok) return std::max(ground, check.gives);
  return std::min(ground, static_cast<Ground>(static_cast<int>(check.gives) - 1));
}

}  // namespace

std::string_view name(Observation::Mark mark) {
  switch (mark) {
    case Observation::Mark::ok: return "ok";
    case Observation::Mark::note: return "note";
    case Observation::Mark::wrong: return "WRONG";
    default: return "skipped";
  }
}

std::vector<CheckName> check_names() {
  std::vector<CheckName> names;
  for (const Check& check : checks()) names.push_back({check.name, check.section});
  return names;
}

std::vector<Observation> examine(const std::vector<std::string>& command, const Limits& limits,
                                 const std::function<void(const Observation&)>& tell) {
  TestedWorker under_test(command, limits);
  std::vector<Observation> findings;
  Ground ground = Ground::none;
  for (const Check& check : checks()) {
    const Seen seen = look(check, under_test, ground);
    // What a check has found wrong shall not be found again by the next.
    if (seen.mark == Observation::Mark::wrong) under_test.dismiss();
    ground = after(check, seen.mark, ground);
    findings.push_back(observation_of(check, seen));
    if (tell) tell(findings.back());
  }
  return findings;
}

}  // namespace assay::suites::doctor
