// SPDX-License-Identifier: Apache-2.0
// Annotations: what a GitHub job shows beside its log, as workflow commands
// (docs.github.com, "Workflow commands for GitHub Actions").
#pragma once

#include "reports/report.h"

#include <ostream>
#include <string>
#include <string_view>

namespace assay::reports {

// GitHub shows so many of each kind of one step.
inline constexpr std::size_t most_annotations = 10;

// "::error file=F,title=T::message" and a newline. What it is made of may be anything: it stays one command.
std::string annotation(std::string_view kind, std::string_view file, std::string_view title, std::string_view message);

// An error per kind of breach, the gravest first, and per complaint of the ledger; what is too much is told by the last
// one. Then a notice with the conclusion. `file`: where the report was written, may be empty.
void write_annotations(const Report& report, std::string_view file, std::ostream& out);

// While it lives the job reads no commands in what is printed: backends have words of their own.
class Unheeded {
 public:
  explicit Unheeded(std::ostream& out);
  Unheeded(Unheeded&&) = delete;
  ~Unheeded();

 private:
  std::ostream& out_;
  std::string token_;  // nobody can know it before
};

}  // namespace assay::reports
