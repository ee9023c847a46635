// SPDX-License-Identifier: Apache-2.0
// Check: one rule of the protocol, and the requests that show whether a worker keeps it. doctor.cpp runs them in
// order.
#pragma once

#include "suites/doctor/tested_worker.h"

#include <chrono>
#include <string_view>
#include <vector>

namespace assay::suites::doctor {

// What is known to work, each level with those before it.
enum class Prerequisite { none, program, description, model };

struct Check {
  std::string_view name, section;
  CheckResult (*look)(TestedWorker&);
  Prerequisite needs = Prerequisite::model;
  Prerequisite gives = Prerequisite::none;  // where it is ok; where it is not, it is lost
};

std::vector<Check> checks_of_starting();
std::vector<Check> checks_of_running();
std::vector<Check> checks_of_operators();
std::vector<Check> checks_of_hardship();

// Long enough that whoever answers too early or too much has done it by then; a slow one is missed, none is wronged.
inline constexpr std::chrono::milliseconds settling{200};

}  // namespace assay::suites::doctor
