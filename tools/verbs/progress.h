// SPDX-License-Identifier: Apache-2.0
// ProgressLine: one line on the terminal that keeps itself up to date; where stderr is no terminal, a line now and
// then.
#pragma once

#include "suites/campaign/campaign.h"

#include <chrono>
#include <optional>
#include <string>

namespace assay::tools {

class ProgressLine {
 public:
  // `budget`: how long all stages together may take, where that is what ends them.
  explicit ProgressLine(std::optional<std::chrono::seconds> budget = {});
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const suites::Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  bool is_terminal_;
  std::optional<std::chrono::seconds> budget_;
  std::string stage_;
  Clock::time_point start_ = Clock::now(), shown_ = start_;  // of the stage, and when it was last told
};

// "1234 of 4790 run  220/s  17 s left  3 fail", after `seconds` of the stage.
std::string described(const suites::Progress& progress, double seconds, std::optional<std::chrono::seconds> budget);
std::string duration_text(double seconds);  // "17 s", "4 min", "2 h 05 min"

bool is_coloured(int descriptor);  // a terminal, and NO_COLOR is not set (no-color.org)

}  // namespace assay::tools
