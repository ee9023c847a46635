// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign.h"

#include "reference/onnx_io.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

namespace assay::suites {
namespace {

// What the jobs of one campaign share.
class Work {
 public:
  Work(const Suite& suite, const Conduct& conduct, Campaign& campaign)
      : suite_(suite), conduct_(conduct), campaign_(campaign) {
    progress_.total = suite.cases.size();
  }

  // Works through cases until there is none left, the run is stopped or a job failed.
  void proceed(Backend& backend) {
    for (std::size_t index; !is_over() && (index = next_++) < suite_.cases.size();) {
      oracles::Verdict verdict = judged(index, backend);
      // An interrupt reaches the worker as well: what it did then is no finding.
      if (!is_over()) record(index, std::move(verdict));
    }
  }

  // Keeps the first failure of ours; the others end at their next case.
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    failed_ = true;
  }
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  bool is_over() const { return failed_ || (conduct_.stop && *conduct_.stop); }

  oracles::Verdict judged(std::size_t index, Backend& backend) const {
    const Planned& planned = suite_.cases[index];
    try {
      return certify(planned, backend, conduct_);
    } catch (const std::logic_error& broken) {
      throw BrokenPromise("case " + planned.line + ": " + broken.what());
    }
  }

  void record(std::size_t index, oracles::Verdict verdict) {
    const std::lock_guard lock(mutex_);
    ++progress_.done;
    ++progress_.states[verdict.state];
    campaign_.verdicts[index] = std::move(verdict);
    if (conduct_.progress) conduct_.progress(progress_);
  }

  const Suite& suite_;
  const Conduct& conduct_;
  Campaign& campaign_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  Progress progress_;
  std::exception_ptr failure_;
};

// One job. It opens its session itself, so that sessions start up side by side.
void labour(Work& work, const OpenBackend& open, std::unique_ptr<Backend> backend) {
  try {
    if (!backend) backend = open();
    work.proceed(*backend);
  } catch (...) {
    work.fail(std::current_exception());
  }
}

}  // namespace

bool Campaign::is_complete() const {
  return std::ranges::all_of(verdicts, [](const auto& verdict) { return verdict.has_value(); });
}

Ask ask_of(const Planned& planned, const Conduct& conduct) {
  Ask ask{case_id(planned.line), model_of(planned.c), {}, conduct.threads, conduct.optimization, conduct.options};
  for (int set = 0; set < data_sets; ++set) ask.sets.push_back(graph_inputs(planned.c, set));
  return ask;
}

std::string excluded_by(const Description& backend, const Case& c) {
  if (!backend.operators.empty() && !backend.operators.contains(text(c.version)))
    return text(c.version) + " is not among the declared operators";
  for (const auto& [input, given] : c.node.inputs)
    if (given.presence == Input::Presence::given && !backend.types.empty() &&
        !backend.types.contains(std::string(name(given.type.dtype))))
      return std::string(name(given.type.dtype)) + " is not among the declared types";
  if (backend.newest_opset > 0 && c.opset > backend.newest_opset)
    return "opset " + std::to_string(c.opset) + " is newer than the declared " + std::to_string(backend.newest_opset);
  return "";
}

oracles::Verdict certify(const Planned& planned, Backend& backend, const Conduct& conduct) {
  oracles::Outcome outcome = backend.run(ask_of(planned, conduct));
  const Description& described = backend.describe();
  const std::string excluded = excluded_by(described, planned.c);
  const bool declared = outcome.kind == oracles::Outcome::Kind::refused && !excluded.empty();
  if (declared) outcome.kind = oracles::Outcome::Kind::unsupported;
  oracles::Verdict verdict = oracles::judge(planned.c, outcome, {conduct.level, described.arithmetic});
  if (declared && verdict.state == oracles::State::unsupported) {
    verdict.because = "declared";
    verdict.detail = excluded;
  }
  return verdict;
}

Campaign run(const Suite& suite, const OpenBackend& open, const Conduct& conduct) {
  std::unique_ptr<Backend> first = open();
  Campaign campaign{first->describe(), {}};
  campaign.verdicts.resize(suite.cases.size());
  Work work(suite, conduct, campaign);
  std::vector<std::thread> others;
  for (int job = 1; job < conduct.jobs; ++job) others.emplace_back(labour, std::ref(work), std::cref(open), nullptr);
  labour(work, open, std::move(first));
  for (std::thread& other : others) other.join();
  work.rethrow_failure();
  return campaign;
}

}  // namespace assay::suites
