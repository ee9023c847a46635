// SPDX-License-Identifier: Apache-2.0
// ProgressLine: one line on the terminal that keeps itself up to date; nothing at all where stderr is no terminal.
#pragma once

#include "suites/campaign.h"

#include <chrono>

namespace assay::tools {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const suites::Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  bool is_terminal_;
  Clock::time_point start_ = Clock::now(), shown_{};
};

bool is_coloured(int descriptor);  // a terminal, and NO_COLOR is not set (no-color.org)

}  // namespace assay::tools
