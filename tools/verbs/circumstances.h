// SPDX-License-Identifier: Apache-2.0
// Circumstances: when, where and for how long a run went on, and that somebody wants it to end.
#pragma once

#include "reports/report.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>

namespace assay::tools {

// True once the first interrupt came; a second one, two seconds later or more, kills.
const std::atomic<bool>& interrupted();
void heed_interrupts();

int jobs_or_processors(int jobs);  // 0: one per processor

// Measures from when it was made.
class Stopwatch {
 public:
  Stopwatch();
  reports::Run run(int jobs) const;

 private:
  std::string started_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double processor_start_;
};

// The suite lies in ASSAY_HOME, in the project the program was built in, in share/assay where it is installed, or in
// the project it is called from; `named` wins. Throws InputError.
std::filesystem::path suites_folder(const std::string& named);

}  // namespace assay::tools
