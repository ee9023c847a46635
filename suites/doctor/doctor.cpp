// SPDX-License-Identifier: Apache-2.0
#include "suites/doctor/doctor.h"

#include "suites/doctor/checks.h"
#include "suites/text/printable.h"

#include <algorithm>

namespace assay::suites::doctor {
namespace {

std::vector<Check> checks() {
  std::vector<Check> all = checks_of_starting();
  std::ranges::copy(checks_of_running(), std::back_inserter(all));
  std::ranges::copy(checks_of_operators(), std::back_inserter(all));
  std::ranges::copy(checks_of_hardship(), std::back_inserter(all));
  return all;
}

std::string missing(Prerequisite known) {
  switch (known) {
    case Prerequisite::none: return "it does not start";
    case Prerequisite::program: return "it does not describe itself";
    default: return "it answers no model";
  }
}

CheckResult look(const Check& check, TestedWorker& under_test, Prerequisite known) {
  if (known < check.needs) return skipped(missing(known));
  try {
    return check.look(under_test);
  } catch (const CheckResult& seen) {
    return seen;
  }
}

Observation observation_of(const Check& check, const CheckResult& seen) {
  return {seen.status, std::string(check.name), std::string(check.section), printable(seen.sent, 600), seen.got,
          seen.advice};
}

Prerequisite after(const Check& check, Observation::Status status, Prerequisite known) {
  if (check.gives == Prerequisite::none) return known;
  if (status == Observation::Status::ok) return std::max(known, check.gives);
  return std::min(known, static_cast<Prerequisite>(static_cast<int>(check.gives) - 1));
}

}  // namespace

std::string_view name(Observation::Status status) {
  switch (status) {
    case Observation::Status::ok: return "ok";
    case Observation::Status::note: return "note";
    case Observation::Status::wrong: return "WRONG";
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
  Prerequisite known = Prerequisite::none;
  for (const Check& check : checks()) {
    const CheckResult seen = look(check, under_test, known);
    // What a check has found wrong shall not be found again by the next.
    if (seen.status == Observation::Status::wrong) under_test.dismiss();
    known = after(check, seen.status, known);
    findings.push_back(observation_of(check, seen));
    if (tell) tell(findings.back());
  }
  return findings;
}

}  // namespace assay::suites::doctor
