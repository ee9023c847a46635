// SPDX-License-Identifier: Apache-2.0
// AtomicFile: a file that takes its name only when it is finished, so that nobody ever reads half a report.
#pragma once

#include <filesystem>
#include <fstream>

namespace assay::reports {

class AtomicFile {
 public:
  // Opens a temporary file beside `target`. Throws InputError where the target cannot be written: before the work. An
  // empty name is that of no file, and what is written to it is lost.
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  bool is_named() const { return !target_.empty(); }
  std::ostream& out() { return file_; }
  // Gives the draft its name. Throws InputError where the disk is full.
  void finish();

 private:
  std::filesystem::path target_, temporary_;
  std::ofstream file_;
};

}  // namespace assay::reports
