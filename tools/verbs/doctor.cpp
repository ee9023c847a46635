// SPDX-License-Identifier: Apache-2.0
// assay doctor: does a worker keep the protocol of tools/backends/README.md? Each rule of it is one line.
#include "suites/doctor/doctor.h"

#include "suites/workers/worker_names.h"
#include "tools/verbs/positional.h"
#include "tools/verbs/subject.h"
#include "tools/verbs/verbs.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>

namespace assay::tools {
namespace {

using suites::doctor::Observation;
using Status = Observation::Status;

struct Settings {
  std::string backend;
  double timeout_seconds = suites::Limits().run_seconds();
};

int widest_name() {
  std::size_t width = 0;
  for (const suites::doctor::CheckName& name : suites::doctor::check_names())
    width = std::max(width, name.check.size());
  return static_cast<int>(width);
}

void print(const Observation& finding) {
  std::cout << "  " << std::left << std::setw(8) << name(finding.status);
  if (finding.status == Status::ok || finding.status == Status::skipped) {
    if (finding.got.empty())
      std::cout << finding.check << std::endl;
    else
      std::cout << std::setw(widest_name() + 2) << finding.check << finding.got << std::endl;
    return;
  }
  std::cout << finding.check << "\n          sent  " << finding.sent << "\n          got   " << finding.got
            << "\n          do    " << finding.advice << "\n          see   tools/backends/README.md, "
            << finding.section << std::endl;
}

// Prints each finding as it is made; checks in a row that are skipped for one reason become one line.
class Telling {
 public:
  void tell(const Observation& finding) {
    if (!skipped_.empty() && (finding.status != Status::skipped || finding.got != skipped_.back().got)) flush();
    if (finding.status == Status::skipped)
      skipped_.push_back(finding);
    else
      print(finding);
  }
  void flush() {
    if (skipped_.size() == 1) print(skipped_.front());
    if (skipped_.size() > 1)
      std::cout << "  " << std::left << std::setw(8) << name(Status::skipped) << skipped_.size()
                << " checks: " << skipped_.back().got << std::endl;
    skipped_.clear();
  }

 private:
  std::vector<Observation> skipped_;
};

std::string summary(const std::vector<Observation>& findings) {
  const auto count = [&](Status status) {
    return std::to_string(std::ranges::count(findings, status, &Observation::status));
  };
  return count(Status::ok) + " ok, " + count(Status::wrong) + " wrong, " + count(Status::note) + " to note, " +
         count(Status::skipped) + " skipped";
}

std::string conclusion(const std::vector<Observation>& findings) {
  const auto is = [](const char* check, Status status) {
    return [=](const Observation& finding) { return finding.check == check && finding.status == status; };
  };
  if (std::ranges::count(findings, Status::wrong, &Observation::status) > 0)
    return "the worker does not keep the protocol";
  if (std::ranges::any_of(findings, is("answers a model", Status::skipped)))
    return "nothing wrong with its frames; it answered no model";
  return "the worker keeps the protocol";
}

int doctor(const Settings& settings) {
  if (settings.backend.empty())
    throw InputError("--backend is missing; name your worker: --backend 'exec:./my_worker'");
  suites::Limits limits;
  limits.run = std::chrono::milliseconds(static_cast<Int>(settings.timeout_seconds * 1000));
  const std::vector<std::string> command = suites::command_of(settings.backend);
  std::cout << "assay doctor  " << settings.backend << std::endl;
  Telling telling;
  const std::vector<Observation> findings =
      suites::doctor::examine(command, limits, [&](const Observation& finding) { telling.tell(finding); });
  telling.flush();
  std::cout << summary(findings) << ": " << conclusion(findings) << std::endl;
  return std::ranges::count(findings, Status::wrong, &Observation::status) == 0 ? conforms : not_conforming;
}

}  // namespace

Verb doctor_verb(CLI::App& app) {
  auto* command = app.add_subcommand("doctor", "check a worker against the protocol, rule by rule");
  auto settings = std::make_shared<Settings>();
  command->add_option("--backend", settings->backend, "the worker, as in certify: exec:COMMAND, python:MODULE, a name");
  add_seconds_option(*command, "--timeout", settings->timeout_seconds, "seconds an answer may take");
  take_words(*command, "what", {{Positional::backend, &settings->backend}}, "the worker, as --backend names it");
  command->footer("Exit codes: 0 nothing wrong, 1 something wrong, 2 usage or input.");
  return {command, [settings] { return doctor(*settings); }};
}

}  // namespace assay::tools
