// SPDX-License-Identifier: Apache-2.0
// Subject: the backend a person names on the command line, the limits it works under and the measure it is held to.
#pragma once

#include "reports/report.h"
#include "suites/campaign/campaign.h"
#include "suites/models/model_suite.h"
#include "suites/workers/worker.h"

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace assay::tools {

// Declares an option in seconds, which may be written 10, 0.5, 500ms, 10s or 2m.
void add_seconds_option(CLI::App& command, const std::string& name, double& seconds, const std::string& description);

struct Subject {
  std::string backend, level = "L2", optimization = "all";
  bool strict = false, lenient = false;
  int threads = 1;
  double timeout_seconds = suites::Limits().run_seconds();
  Int memory_mib = 4096;
  std::vector<std::string> settings;  // "precision=f32"
  int pack = 0;                       // 0: what the catalogue says of the backend
  std::string presentations = "sample", laws = "none";
  bool exhaustive = false;      // no circuit breaker
  bool special_values = false;  // NaN, infinities and integer overflow decide
  std::string model, model_inputs;
  std::vector<std::string> dims;  // "batch=1"

  void add_options(CLI::App& command);
  void add_backend_word(CLI::App& command);  // BACKEND without --backend
  void add_model_options(CLI::App& command);
  void add_campaign_options(CLI::App& command);  // of more than one case

  int packed() const;  // cases in one model
  suites::Limits limits() const;
  suites::OpenBackend opener() const;
  std::map<std::string, std::string> options() const;  // throws InputError where a setting is not KEY=VALUE
  suites::ModelSource model_source() const;            // throws InputError where --dim is not NAME=N
  suites::RunOptions run_options() const;              // one job, silent
  reports::Invocation invocation() const;
};

}  // namespace assay::tools
