// SPDX-License-Identifier: Apache-2.0
// Rows: what a report of either kind says of single cases and of causes, in one shape for every renderer. All text is
// fit for one line (suites/text/printable.h): strangers said some of it.
#pragma once

#include "reference/number.h"
#include "reports/render.h"

#include <map>
#include <string>
#include <vector>

namespace assay::reports {

// Member `name` of an object as one printable line; empty where there is none.
std::string words(const Json& object, const char* name, std::size_t limit = 400);
// Member `name` as it is; null where there is none.
Json member(const Json& object, const char* name);
// " (text)", or nothing.
std::string in_brackets(const std::string& text);
// "1 case", "12 cases".
std::string cases(Int count);
// The operator version a line begins with, "Conv-11".
std::string op_of(std::string_view line);
// "A3=signed-floor A7=ceil".
std::string readings_text(const Json& readings);

// What a case means for the result of the run.
enum class RowOutcome {
  passes,
  skipped,   // unsupported or unscored: nothing was found out
  apart,     // a breach in a class of cases that does not decide on conformance
  expected,  // every breach is agreed: a ledger expects it or the baseline knows it
  breaches,
  error,  // crashed, hung, garbled
};

// One case: all of a certificate, those that a campaign kept because they failed or were marked.
struct CaseRow {
  const Json* json = nullptr;  // the verdict
  std::string op, line, state, because, detail;
  std::string cause;  // its sentence; empty where it is of none
  RowOutcome standing = RowOutcome::passes;

  std::string marks() const;   // "unstable (repeated), xfail (entry)"
  std::string replay() const;  // of its state; empty where it passes
};

class CaseRows {
 public:
  explicit CaseRows(const Rendering& rendering);
  const std::vector<CaseRow>& rows() const { return rows_; }

 private:
  std::vector<Json> kept_;
  std::vector<CaseRow> rows_;
};

// A campaign keeps what failed and what was marked; a case may be both.
std::vector<Json> kept_cases(const Json& fuzz_report);

// Verdicts that say the same: a finding of a certificate, a cause of a campaign.
struct CauseRow {
  std::string state, because, detail, mark;  // mark: empty, or the name of what the cause is about
  std::string sentence;                      // of all this, without a line break
  std::string line, replay;                  // of its first or smallest case
  std::map<std::string, Int> versions;       // how many cases of which operator version
  Int count = 0;
  const Json* row = nullptr;  // the verdict of its first case where the report has it
  std::string identity;       // what stays when the count, the first case or digits in a runtime's words change
};

// The `mark` of a function that is wrong somewhere over all inputs of a type; its count is of inputs.
inline constexpr std::string_view every_input = "every input";
// The gravest first, as the report has them.
std::vector<CauseRow> causes_of(const Rendering& rendering);

// "onnxruntime 1.31.1, cpu".
std::string backend_text(const Json& report);
// "threads=1 optimization=all precision=f32".
std::string configuration_text(const Json& report);
// "conforms", "not conforming", "not certified"; of a campaign "found something" or "found nothing".
std::string result_text(const Rendering& rendering);

}  // namespace assay::reports
