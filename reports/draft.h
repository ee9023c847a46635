// SPDX-License-Identifier: Apache-2.0
// Draft: a file that takes its name only when it is finished, so that nobody ever reads half a report.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace assay::reports {

class Draft {
 public:
  // Opens a temporary file beside `target`. Throws InputError where the target cannot be written: before the work.
  explicit Draft(const std::filesystem::path& target);
  ~Draft();
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  std::ostream& out() { return file_; }
  // Gives the draft its name. Throws InputError where the disk is full.
  void finish();

 private:
  std::filesystem::path target_, temporary_;
  std::ofstream file_;
};

}  // namespace assay::reports
