// SPDX-License-Identifier: Apache-2.0
// Failing: what breaks conformance while a suite is run, sorted into causes when it is done.
#pragma once

#include "reports/report.h"
#include "suites/campaign/case_runner.h"
#include "suites/triage/triage.h"

#include <string>
#include <utility>
#include <vector>

namespace assay::tools {

// Read before the work, so that a mistake in a ledger or a baseline is told before it; empty names: none.
reports::Expectations agreed_in(const std::string& ledger, const std::string& baseline);
void settle(reports::Expectations& agreed, const suites::Suite& suite, const suites::Campaign& campaign,
            const suites::Selection& selection, bool strict);

class Failing {
 public:
  Failing(const suites::Suite& suite, const reports::Invocation& invocation, const suites::Description& backend)
      : suite_(suite), requested_(invocation), judgement_(suites::judgement_of(invocation.level, backend.arithmetic)) {}

  // By one thread at a time.
  void see(const suites::CaseResult& conclusion);
  Int count() const { return static_cast<Int>(failures_.size() + sessions_.size()); }

  // Looks at a few of each kind again; what was agreed is left out, and so are special values that do not count.
  // Nothing where the run was stopped.
  suites::Sorted sorted(const reports::Expectations& agreed, suites::WorkerPool& pool,
                        const suites::RunOptions& run_options, const suites::Sorting& sorting);

 private:
  bool is_apart(const Case& c, oracles::State state) const;

  const suites::Suite& suite_;
  reports::Invocation requested_;
  oracles::Judgement judgement_;
  std::vector<suites::Failure> failures_;
  std::vector<std::pair<std::size_t, suites::Mark>> sessions_;  // by index of the case that one of them broke
};

}  // namespace assay::tools
