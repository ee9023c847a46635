// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/failing.h"

#include "oracles/judging/case_class.h"
#include "suites/triage/wrong_models.h"

#include <algorithm>

namespace assay::tools {

reports::Expectations agreed_in(const std::string& ledger, const std::string& baseline) {
  reports::Expectations agreed;
  if (!ledger.empty()) agreed.ledger = suites::read_ledger(ledger);
  if (!baseline.empty()) agreed.baseline = suites::read_baseline(baseline);
  return agreed;
}

void settle(reports::Expectations& agreed, const suites::Suite& suite, const suites::Campaign& campaign,
            const suites::Selection& selection, bool strict) {
  const auto measure = strict ? suites::Measure::strict : suites::Measure::lenient;
  if (agreed.ledger) agreed.settlement = suites::settle(*agreed.ledger, suite, campaign, selection, suites::today());
  if (agreed.baseline) agreed.comparison = suites::compare(*agreed.baseline, suite, campaign, measure);
}

void Failing::see(const suites::CaseResult& conclusion) {
  for (const suites::Mark& mark : conclusion.marks)
    if (suites::session_state(mark)) sessions_.emplace_back(conclusion.index, mark);
  if (!reports::breaks_conformance(conclusion.verdict.state, requested_.strict)) return;
  failures_.push_back(suites::failure_of(conclusion.index, suite_.cases[conclusion.index], conclusion.outcome,
                                         conclusion.verdict, judgement_));
  failures_.back().told.marks = conclusion.marks;
}

// Tells whether a failure is on special values, which do not count.
bool Failing::is_apart(const Case& c, oracles::State state) const {
  return state != oracles::State::error && !requested_.counts_special() && oracles::is_special(oracles::class_of(c));
}

suites::Sorted Failing::sorted(const reports::Expectations& agreed, suites::WorkerPool& pool,
                               const suites::RunOptions& run_options, const suites::Sorting& sorting) {
  if (run_options.stop && *run_options.stop) return {};
  std::erase_if(failures_, [&](const suites::Failure& each) {
    const oracles::State state = each.told.verdict.state;
    return agreed.excuses(each.index, oracles::name(state)) || is_apart(each.planned.c, state);
  });
  std::ranges::sort(failures_, {}, &suites::Failure::index);
  std::vector<suites::Finding> findings =
      suites::findings_of(failures_, pool, run_options, suites::wrong_models(), sorting);
  std::ranges::stable_sort(sessions_, {}, [](const auto& each) { return each.first; });
  for (const auto& [index, mark] : sessions_)
    if (!agreed.excuses(index, mark.name) && !is_apart(suite_.cases[index].c, *suites::session_state(mark)))
      findings.push_back(suites::finding_of_session(suite_.cases[index], mark).value());
  return suites::sorted(std::move(failures_), std::move(findings), suites::wrong_models());
}

}  // namespace assay::tools
