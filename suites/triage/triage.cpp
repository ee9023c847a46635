// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/triage.h"

#include "reference/parallel.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace assay::suites {
namespace {

using oracles::State;
using std::chrono::milliseconds;

// A hang that is shrunk is cut off so soon; what is left at the end is confirmed under the full limit.
constexpr auto limit_of_hangs = milliseconds(1000);

RunCase runner_within(Backend& backend, const RunOptions& run_options, const CaseLimits& case_limits,
                      bool is_fresh = true) {
  return [&backend, &run_options, case_limits, is_fresh](const Case& c) {
    const SuiteCase planned{c, line(c), "", {}};
    Request run_case = request_of(planned, run_options);
    run_case.fresh = is_fresh;
    run_case.limit = case_limits.limit;
    run_case.memory_share = case_limits.memory_share;
    oracles::Outcome outcome = backend.run(run_case);
    oracles::Verdict verdict = judged(planned, outcome, backend.describe(), run_options.level);
    return Answered{std::move(outcome), std::move(verdict)};
  };
}

class Examiner {
 public:
  Examiner(Backend& backend, const RunOptions& run_options, std::span<const WrongModel> models, const Sorting& sorting)
      : backend_(backend),
        run_options_(run_options),
        models_(models),
        sorting_(sorting),
        judgement_(judgement_of(run_options.level, backend.describe().arithmetic)) {}

  Finding finding_of(const Failure& failure) const {
    const Case& c = failure.planned.c;
    const int most = most_runs(failure);
    if (is_unstable(failure)) return kept(failure, {}, false);
    // The campaign has confirmed it alone; that is not done again where nothing comes of it.
    if (is_late() || (is_costly(failure) && most == 0)) return kept(failure, {}, true);
    Answered again = runner_within(backend_, run_options_, case_limits(failure))(c);
    // What does not come again is explained by nothing.
    if (signature_of(c, again, judgement_) != failure.signature) return kept(failure, std::move(again.outcome), false);
    if (most == 0) return unshrunk(failure, std::move(again));
    // One process serves where the failure leaves it alive: what is left at the end has to come alone anyway. Where it
    // does not, every step is taken in a process of its own.
    bool is_fresh = failure.signature.state == State::error || !backend_.begins_afresh_quickly();
    do {
      Finding finding = shrunk(failure, again, most, is_fresh);
      if (finding.line == failure.planned.line) return finding;
      // A hang that is shrunk has to last for the full limit, which there has to be time for.
      if (is_late(hangs(failure) ? sorting_.limit : milliseconds(0))) break;
      if (comes_alone(finding)) return finding;
    } while (!std::exchange(is_fresh, true));
    return unshrunk(failure, std::move(again));
  }

 private:
  static bool hangs(const Failure& failure) { return failure.signature.because == "timed out"; }
  // Tells whether the campaign saw it end otherwise when it was repeated: chance might let it come again here.
  static bool is_unstable(const Failure& failure) {
    return std::ranges::any_of(failure.told.marks,
                               [](const Mark& mark) { return mark.name == "unstable" && mark.by == "repeated"; });
  }
  static bool is_costly(const Failure& failure) {
    return hangs(failure) || failure.signature.because == "out of memory";
  }

  // What hangs, or eats memory, is run again within less: it has done so within all there is.
  static CaseLimits case_limits(const Failure& failure) {
    if (hangs(failure)) return {limit_of_hangs};
    return {milliseconds(0), failure.signature.because == "out of memory" ? share_of_eaters : 1};
  }

  int most_runs(const Failure& failure) const {
    if (is_costly(failure)) return sorting_.most_runs_of_hangs;
    const State state = failure.signature.state;
    if (state == State::error) return sorting_.most_runs_of_errors;
    return state == State::refused ? sorting_.most_runs_of_refusals : sorting_.most_runs;
  }

  // Tells whether what takes so long would end too late.
  bool is_late(milliseconds needed = {}) const {
    return sorting_.until && std::chrono::steady_clock::now() + needed >= *sorting_.until;
  }

  Finding kept(const Failure& failure, oracles::Outcome outcome, bool comes_again) const {
    Finding finding = suites::finding_of(failure.planned.c, failure.planned.origin,
                                         {std::move(outcome), failure.told.verdict}, {}, {.judgement = judgement_});
    finding.signature = failure.signature;
    finding.comes_again = comes_again;
    return finding;
  }

  Finding unshrunk(const Failure& failure, Answered again) const {
    return suites::finding_of(failure.planned.c, failure.planned.origin, std::move(again), models_,
                              {.judgement = judgement_});
  }

  Finding shrunk(const Failure& failure, Answered again, int most, bool is_fresh) const {
    Shrinking shrinking{.most_runs = most, .judgement = judgement_, .is_late = [this] { return is_late(); }};
    return suites::finding_of(
        failure.planned.c, failure.planned.origin, std::move(again), models_, shrinking,
        runner_within(backend_, run_options_, case_limits(failure), is_fresh && backend_.begins_afresh_quickly()));
  }

  bool comes_alone(const Finding& finding) const {
    return signature_of(finding.c, runner_within(backend_, run_options_, {})(finding.c), judgement_) ==
           finding.signature;
  }

  Backend& backend_;
  const RunOptions& run_options_;
  std::span<const WrongModel> models_;
  const Sorting& sorting_;
  oracles::Judgement judgement_;
};

}  // namespace

Failure failure_of(std::uint64_t index, const SuiteCase& planned, const oracles::Outcome& outcome,
                   const oracles::Verdict& verdict, const oracles::Judgement& judgement) {
  return {index, planned, {verdict, {}}, signature_of(planned.c, {outcome, verdict}, judgement)};
}

RunCase run_case(Backend& backend, const RunOptions& run_options, milliseconds limit, bool is_fresh) {
  return runner_within(backend, run_options, CaseLimits{limit}, is_fresh && backend.begins_afresh_quickly());
}

void side_by_side(WorkerPool& pool, const RunOptions& run_options, std::string_view stage, std::size_t count,
                  const std::function<void(std::size_t, Backend&)>& work) {
  std::mutex mutex;
  Progress progress{.stage = stage, .total = count, .states = {}, .coverage = {}};
  in_parallel(count, pool.size(), [&](std::size_t i, std::size_t job) {
    if (run_options.stop && *run_options.stop) return;
    work(i, pool.member(job));
    const std::lock_guard lock(mutex);
    ++progress.done;
    if (run_options.progress) run_options.progress(progress);
  });
}

std::vector<Example> examples_of(std::span<const Failure> all, std::size_t most) {
  std::map<Signature, std::vector<const Failure*>> alike;
  for (const Failure& failure : all) alike[failure.signature].push_back(&failure);
  std::vector<Example> examples;
  for (const auto& [signature, failures] : alike) {
    const std::size_t taken = std::min(most, failures.size());
    for (std::size_t i = 0; i < taken; ++i)
      examples.push_back({failures[i], i + 1 < taken ? 1 : static_cast<Int>(failures.size() - taken + 1)});
  }
  std::ranges::sort(examples, {}, [](const Example& example) { return example.failure->index; });
  return examples;
}

std::vector<Finding> findings_of(std::span<const Failure> failures, WorkerPool& pool, const RunOptions& run_options,
                                 std::span<const WrongModel> models, const Sorting& sorting) {
  const std::vector<Example> examples = examples_of(failures, sorting.examples);
  std::vector<std::size_t> order(examples.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return gravity(examples[i].failure->signature.state); });
  std::vector<std::optional<Finding>> slots(examples.size());
  side_by_side(pool, run_options, "failures shrunk", order.size(), [&](std::size_t at, Backend& backend) {
    const Example& example = examples[order[at]];
    Finding finding = Examiner(backend, run_options, models, sorting).finding_of(*example.failure);
    finding.stands_for = example.stands_for;
    slots[order[at]] = std::move(finding);
  });
  std::vector<Finding> all;
  for (std::optional<Finding>& slot : slots)
    if (slot) all.push_back(*std::move(slot));
  return all;
}

std::optional<Finding> finding_of_session(const SuiteCase& planned, const Mark& mark) {
  const std::optional<State> state = session_state(mark);
  const Result<Steps> steps = state ? parse_session(mark.line) : Result<Steps>(Error{""});
  if (!steps) return std::nullopt;
  oracles::Verdict verdict;
  verdict.state = *state;
  verdict.because = mark.by;
  verdict.detail = mark.detail;
  Finding finding = finding_of(*parse_case(steps->back().line), planned.origin, {{}, std::move(verdict)}, {});
  finding.signature = {planned.c.version, *state, mark.by, "only after other cases"};
  finding.session = mark.line;
  return finding;
}

std::vector<std::size_t> cause_of_each(std::span<const Failure> failures, std::span<const Finding> findings,
                                       std::span<const Cause> causes) {
  std::map<std::string_view, std::size_t> by_line;
  for (std::size_t i = 0; i < causes.size(); ++i)
    for (const std::size_t member : causes[i].members)
      if (findings[member].session.empty()) by_line[findings[member].found] = i;
  std::map<Signature, std::size_t> by_look;
  for (const Failure& failure : failures)
    if (const auto known = by_line.find(failure.planned.line); known != by_line.end())
      by_look[failure.signature] = known->second;
  std::vector<std::size_t> all;
  for (const Failure& failure : failures) {
    const auto line = by_line.find(failure.planned.line);
    const auto look = by_look.find(failure.signature);
    all.push_back(line != by_line.end() ? line->second : look != by_look.end() ? look->second : no_cause);
  }
  return all;
}

Sorted sorted(std::vector<Failure> failures, std::vector<Finding> findings, std::span<const WrongModel> models) {
  Sorted out{std::move(failures), std::move(findings), {}, {}};
  out.causes = causes_of(out.findings, models);
  out.cause_of = cause_of_each(out.failures, out.findings, out.causes);
  return out;
}

}  // namespace assay::suites
