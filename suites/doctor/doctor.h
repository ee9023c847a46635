// SPDX-License-Identifier: Apache-2.0
// Doctor: holds a worker to the protocol of tools/backends/README.md, rule by rule, and says in plain words what is
// wrong with it. It judges no arithmetic: what it sends comes back as it went.
#pragma once

#include "suites/workers/worker.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites::doctor {

struct Observation {
  // note: assay copes with it, and yet it is better otherwise. skipped: it could not be seen, and why.
  enum class Status { ok, note, wrong, skipped };
  Status status = Status::ok;
  std::string check, section;  // the section of tools/backends/README.md that has the rule
  std::string sent, got, advice;
};
std::string_view name(Observation::Status status);  // "WRONG"

struct CheckName {
  std::string_view check, section;
};
std::vector<CheckName> check_names();  // in the order they run

// `tell` hears each finding as it is made. Throws InputError only where no process can be started for reasons that are
// not the worker's.
std::vector<Observation> examine(const std::vector<std::string>& command, const Limits& limits,
                                 const std::function<void(const Observation&)>& tell = {});

}  // namespace assay::suites::doctor
