// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/campaign.h"

#include "suites/campaign/case_runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

namespace assay::suites {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

using Batch = std::vector<std::size_t>;

bool can_be_packed(const SuiteCase& planned, const Description& backend) {
  return planned.c.is_legal() && excluded_by(backend, planned.c).empty();
}

// Which cases are run in one model: a function of the suite, the capabilities and the size of a pack alone.
std::vector<Batch> batches(const Suite& suite, std::span<const std::size_t> indices, const Description& backend,
                           int pack) {
  std::vector<Batch> all;
  std::map<std::tuple<int, int, std::string>, std::size_t> growing;  // by what the cases of one model share
  for (const std::size_t i : indices) {
    const Case& c = suite.cases[i].c;
    if (pack <= 1 || !can_be_packed(suite.cases[i], backend)) {
      all.push_back({i});
      continue;
    }
    const std::tuple key{c.opset, c.ir_version, c.version.domain};
    const auto [place, fresh] = growing.try_emplace(key, all.size());
    if (fresh) all.emplace_back();
    Batch& batch = all[place->second];
    batch.push_back(i);
    if (batch.size() == static_cast<std::size_t>(pack)) growing.erase(place);
  }
  return all;
}

// Small ones first: what hangs is known soon.
std::size_t cases_of_epoch(std::size_t number) {
  constexpr std::size_t least = 16, most = 512;
  return number < 2 ? least : std::min(most, least << std::min<std::size_t>(number - 1, 16));
}

// The index after the cases of so many epochs.
std::size_t end_of_epochs(std::size_t count) {
  std::size_t end = 0;
  for (std::size_t number = 0; number < count; ++number) end += cases_of_epoch(number);
  return end;
}

// Lots are small enough to keep eight jobs busy, and no smaller than a process is worth.
constexpr std::size_t lots_of_epoch = 8;
std::size_t batches_of_lot(std::size_t batches) {
  constexpr std::size_t least = 8;
  return std::max(least, (batches + lots_of_epoch - 1) / lots_of_epoch);
}

// A case on its way; the backend reads it in place.
struct Pending {
  CaseRun case_run;
  Request request;
  std::unique_lock<std::mutex> turn;  // of a large case
};

// What the jobs of one campaign share.
struct Shared {
  const Suite& suite;
  const RunOptions& run_options;
  Campaign& campaign;
  const Keep& keep;
  Progress progress = {};
  std::mutex mutex = {};
  std::mutex large_case = {};  // one at a time
  std::exception_ptr failure = {};
  std::atomic<bool> failed = false;

  bool is_over() const { return failed || (run_options.stop && *run_options.stop); }
  bool has_enough() const { return run_options.enough && *run_options.enough; }

  // Keeps the first failure of ours; the others end at their next case.
  void fail(std::exception_ptr thrown) {
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::move(thrown);
    failed = true;
  }

  void record(CaseResult conclusion) {
    const std::lock_guard lock(mutex);
    if (keep) keep(conclusion);
    ++progress.done;
    ++progress.states[conclusion.verdict.state];
    campaign.verdicts[conclusion.index] = std::move(conclusion.verdict);
    campaign.marks[conclusion.index] = std::move(conclusion.marks);
    if (run_options.progress) run_options.progress(progress);
  }
};

// Consecutive batches that one job runs in one process.
class Lot {
 public:
  // `probes`: cases that are run although a breaker covers them, to see whether it still holds.
  Lot(Shared& shared, std::span<const Batch> batches, const Progression& known, const std::set<std::size_t>& probes)
      : shared_(shared), batches_(batches), known_(known), probes_(probes) {
    experience_ = known.experience;
    experience_.breaker = &known.breaker;
  }

  // While the backend works on one case the next is made, and the answer before it is judged.
  void run(Backend& backend, Backend& second, Session& session) {
    Confirmation confirmation(second, shared_.run_options, shared_.campaign.backend);
    CaseRunner runner(shared_.suite, shared_.run_options, shared_.campaign.backend, experience_, confirmation, session);
    std::unique_ptr<Pending> under_way;
    const bool is_quick = backend.begins_afresh_quickly();
    bool is_first = true;
    while (!shared_.is_over()) {
      // The host prepares while the backend works, but nothing beside a large case.
      const bool waits = under_way && (under_way->turn || is_large_next(runner));
      std::unique_ptr<Pending> next = waits ? nullptr : prepared(runner);
      if (!next && !under_way) return;
      std::optional<oracles::Outcome> outcome;
      if (under_way) outcome = answer_to(*under_way, backend, runner);
      if (shared_.is_over()) return;  // an interrupt reaches the worker as well: what it did then is no finding
      const std::unique_ptr<Pending> answered = std::exchange(under_way, std::move(next));
      if (under_way) {
        const bool is_alone = is_quick && is_suspect(under_way->case_run);
        under_way->request.fresh = is_alone || (is_quick && is_first);
        const CaseLimits case_limits =
            is_alone ? experience_.case_limits(case_of(under_way->case_run)) : experience_.in_session();
        under_way->case_run.case_limits = case_limits;
        under_way->request.memory_share = case_limits.memory_share;
        under_way->request.limit = case_limits.limit;
        is_first = false;
        backend.submit(under_way->request);
        runner.note_run(under_way->case_run, backend.session());
      }
      if (answered) conclude(runner, confirmation, std::move(answered->case_run), *std::move(outcome));
    }
  }

  const std::vector<std::size_t>& put_last() const { return put_last_; }
  const Experience& experience() const { return experience_; }
  const Pace& pace() const { return pace_; }

 private:
  oracles::Outcome answer_to(Pending& pending, Backend& backend, CaseRunner& runner) {
    try {
      const auto began =
          Clock::now();  // as the deadline has it: what came before may have been a hang that was confirmed
      oracles::Outcome outcome = backend.answer();
      runner.note_run(pending.case_run, backend.session());
      using Kind = oracles::Outcome::Kind;
      if (outcome.kind == Kind::outputs || outcome.kind == Kind::refused || outcome.kind == Kind::unsupported) {
        pace_.note(std::chrono::ceil<milliseconds>(Clock::now() - began));
      }
      pending.request.sets.clear();  // it is answered; of large tensors this is a copy
      pending.request.model = std::string();
      return outcome;
    } catch (const std::logic_error& broken) {
      throw BrokenPromise("case " + shared_.suite.cases[pending.case_run.cases.front()].line + ": " + broken.what());
    }
  }

  // Tells whether a case may well end like those of a breaker. It is run alone at once: to be sure that it hangs costs
  // one wait then, not two.
  bool is_suspect(const CaseRun& case_run) const {
    return case_run.cases.size() == 1 && experience_.breaker->resembled(case_of(case_run));
  }
  const Case& case_of(const CaseRun& case_run) const { return shared_.suite.cases[case_run.cases.front()].c; }

  // Chooses what is prepared next, unless that is done: what is owed comes before what is new.
  void choose(CaseRunner& runner) {
    if (!chosen_) chosen_ = runner.next();
    while (!chosen_ && next_ < batches_.size() && !shared_.has_enough()) {
      const Batch& batch = batches_[next_++];
      if (is_put_last(batch)) continue;
      runner.take(batch);
      chosen_ = runner.next();
    }
  }
  bool is_large(const CaseRun& case_run) const {
    return suites::is_large(shared_.suite.cases[case_run.cases.front()].moved_bytes);
  }
  bool is_large_next(CaseRunner& runner) {
    choose(runner);
    return chosen_ && is_large(*chosen_);
  }

  std::unique_ptr<Pending> prepared(CaseRunner& runner) {
    choose(runner);
    if (!chosen_) return nullptr;
    std::unique_lock<std::mutex> turn(shared_.large_case, std::defer_lock);
    if (is_large(*chosen_)) turn.lock();
    Request request = runner.request_of(*chosen_);
    return std::make_unique<Pending>(Pending{*std::exchange(chosen_, {}), std::move(request), std::move(turn)});
  }

  bool is_put_last(const Batch& batch) {
    if (!own_ || batch.size() > 1 || probes_.contains(batch.front())) return false;
    if (!own_->covering(shared_.suite.cases[batch.front()].c)) return false;
    put_last_.push_back(batch.front());
    return true;
  }

  // Records what was answered before an interrupt, unless it had to be confirmed and that was cut short.
  void conclude(CaseRunner& runner, const Confirmation& confirmation, CaseRun case_run, oracles::Outcome outcome) {
    for (CaseResult& each : runner.conclude(std::move(case_run), std::move(outcome))) {
      if (confirmation.was_interrupted()) return;
      const std::size_t index = each.index;
      shared_.record(std::move(each));
      learn(index);
    }
  }

  // The breaker of earlier epochs is copied where this lot has something to add to it.
  void learn(std::size_t index) {
    if (shared_.run_options.exhaustive) return;
    seen_.push_back(index);
    if (!own_ && !costs_a_process(*shared_.campaign.verdicts[index])) return;
    if (!own_) experience_.breaker = &own_.emplace(known_.breaker);
    for (const std::size_t i : std::exchange(seen_, {}))
      own_->note(shared_.suite.cases[i], *shared_.campaign.verdicts[i]);
    own_->decide();
  }

  Shared& shared_;
  std::span<const Batch> batches_;
  const Progression& known_;
  const std::set<std::size_t>& probes_;
  std::size_t next_ = 0;
  std::optional<CaseRun> chosen_;
  Experience experience_;
  Pace pace_;
  std::optional<CircuitBreaker> own_;
  std::vector<std::size_t> seen_;  // cases that its breaker was not told of
  std::vector<std::size_t> put_last_;
};

// One epoch: what may be run of these cases, in lots, by all jobs.
class Epoch {
 public:
  Epoch(Shared& shared, WorkerPool& pool, std::span<const std::size_t> indices, Progression& progression)
      : shared_(shared), crew_(pool), indices_(indices), progression_(progression) {
    std::vector<std::size_t> runnable;
    std::set<const Breaker*> probed;
    const bool has_probes = std::has_single_bit(progression.epochs);  // ever more rarely
    for (const std::size_t i : indices) {
      const Breaker* breaker = progression.breaker.covering(shared.suite.cases[i].c);
      if (breaker && !(has_probes && probed.insert(breaker).second)) {
        put_last_.push_back(i);
        continue;
      }
      if (breaker) probes_.insert(i);
      runnable.push_back(i);
    }
    batches_ = batches(shared.suite, runnable, shared.campaign.backend, shared.run_options.pack);
    const std::size_t size = batches_of_lot(batches_.size());
    for (std::size_t at = 0; at < batches_.size(); at += size)
      lots_.push_back(std::make_unique<Lot>(
          shared, std::span(batches_).subspan(at, std::min(size, batches_.size() - at)), progression, probes_));
  }

  void run() {
    progression_.sessions.resize(std::max(progression_.sessions.size(), hands()));
    std::vector<std::thread> others;
    for (std::size_t job = 1; job < std::min(hands(), lots_.size()); ++job)
      others.emplace_back([this, job] { labour(job); });
    labour(0);
    for (std::thread& other : others) other.join();
    if (shared_.failure) std::rethrow_exception(shared_.failure);
    if (!shared_.is_over()) learn();
  }

  // Those not run, in order.
  std::vector<std::size_t> put_last() {
    for (const std::unique_ptr<Lot>& lot : lots_)
      put_last_.insert(put_last_.end(), lot->put_last().begin(), lot->put_last().end());
    std::ranges::sort(put_last_);
    return std::move(put_last_);
  }

 private:
  // Jobs side by side: more of them where most wait for what hangs, and neither processors nor memory run short by it.
  std::size_t hands() const {
    const Experience& known = progression_.experience;
    return known.hangs.empty() || !known.is_asleep || !known.eaters.empty() ? crew_.size() : crew_.most();
  }

  // One job. It opens its sessions itself, so that they start up side by side.
  void labour(std::size_t job) {
    try {
      for (std::size_t at; !shared_.is_over() && (at = next_++) < lots_.size();)
        lots_[at]->run(crew_.member(job), crew_.second(job), progression_.sessions[job]);
    } catch (...) {
      shared_.fail(std::current_exception());
    }
  }

  // By index: the same whichever job was first.
  void learn() {
    if (!shared_.run_options.exhaustive)
      for (const std::size_t i : indices_)
        if (const auto& verdict = shared_.campaign.verdicts[i])
          progression_.breaker.note(shared_.suite.cases[i], *verdict);
    progression_.breaker.decide();
    for (const std::unique_ptr<Lot>& lot : lots_) {
      progression_.experience.add(lot->experience());
      progression_.experience.pace.add(lot->pace());
    }
    ++progression_.epochs;
  }

  Shared& shared_;
  WorkerPool& crew_;
  std::span<const std::size_t> indices_;
  Progression& progression_;
  std::set<std::size_t> probes_;
  std::vector<Batch> batches_;
  std::vector<std::unique_ptr<Lot>> lots_;
  std::vector<std::size_t> put_last_;
  std::atomic<std::size_t> next_ = 0;
};

// Runs the cases of these indices, epoch by epoch.
std::vector<std::size_t> run_epochs(Shared& shared, WorkerPool& pool, std::span<const std::size_t> indices,
                                    Progression& progression) {
  std::vector<std::size_t> put_last;
  while (!indices.empty() && !shared.is_over() && !shared.has_enough()) {
    const std::size_t size = std::min(cases_of_epoch(progression.epochs), indices.size());
    Epoch epoch(shared, pool, indices.first(size), progression);
    epoch.run();
    std::ranges::move(epoch.put_last(), std::back_inserter(put_last));
    indices = indices.subspan(size);
  }
  return put_last;
}

// Cases that hang or eat memory, for causes that no predicate tells, in a campaign without any other end. Each costs a
// second or more.
constexpr Int affordable = 64;

oracles::Verdict not_run(const Breaker& breaker) {
  oracles::Verdict verdict;
  verdict.state = oracles::State::not_run;
  verdict.because = breaker.because;
  verdict.detail = breaker.has_given_up ? "whatever the case of this operator" : "where " + breaker.when.text();
  return verdict;
}

Shared shared_by(const Suite& suite, WorkerPool& pool, const RunOptions& run_options, const Keep& keep,
                 Campaign& campaign) {
  expect_declared(pool.describe(), run_options.options);
  campaign.backend = pool.describe();
  campaign.verdicts.resize(suite.cases.size());
  campaign.marks.resize(suite.cases.size());
  Progress progress;
  progress.total = suite.cases.size();
  return {suite, run_options, campaign, keep, std::move(progress)};
}

}  // namespace

bool Campaign::is_complete() const {
  return std::ranges::all_of(verdicts, [](const auto& verdict) { return verdict.has_value(); });
}

void Progression::note(const SuiteCase& planned, std::size_t index, const oracles::Verdict& verdict) {
  for (std::size_t end = end_of_epochs(epochs + 1); index >= end; end = end_of_epochs(epochs + 1)) {
    breaker.decide();
    ++epochs;
  }
  breaker.note(planned, verdict);
}

WorkerPool::WorkerPool(OpenBackend open, int jobs)
    : open_(std::move(open)), jobs_(static_cast<std::size_t>(std::max(1, jobs))) {
  members_.push_back(open_());
  members_.resize(jobs_ > 1 ? std::max(jobs_, lots_of_epoch) : jobs_);
  seconds_.resize(members_.size());
}

Backend& WorkerPool::member(std::size_t job) {
  if (!members_[job]) members_[job] = open_();
  return *members_[job];
}

Backend& WorkerPool::second(std::size_t job) {
  if (!seconds_[job]) seconds_[job] = open_();
  return *seconds_[job];
}

ResourceUse WorkerPool::upkeep() const {
  ResourceUse all;
  for (const auto* backends : {&members_, &seconds_})
    for (const std::unique_ptr<Backend>& member : *backends)
      if (member) all += member->upkeep();
  return all;
}

std::vector<std::size_t> run(const Suite& suite, WorkerPool& pool, const RunOptions& run_options, const Keep& keep,
                             Progression& progression, Campaign& campaign) {
  Shared shared = shared_by(suite, pool, run_options, keep, campaign);
  std::vector<std::size_t> indices(suite.cases.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  return run_epochs(shared, pool, indices, progression);
}

void run_last(const Suite& suite, std::vector<std::size_t> put_last, WorkerPool& pool, const RunOptions& run_options,
              const Keep& keep, Progression& progression, Campaign& campaign) {
  Shared shared = shared_by(suite, pool, run_options, keep, campaign);
  for (const auto& verdict : campaign.verdicts) shared.progress.done += verdict ? 1 : 0;
  for (const auto& verdict : campaign.verdicts)
    if (verdict) ++shared.progress.states[verdict->state];
  const auto is_covered = [&](std::size_t i) { return progression.breaker.covering(suite.cases[i].c) != nullptr; };
  for (;;) {
    const auto covered = std::ranges::stable_partition(put_last, [&](std::size_t i) { return !is_covered(i); });
    const std::vector<std::size_t> due(put_last.begin(), covered.begin());
    if (due.empty() || shared.is_over() || shared.has_enough()) break;
    put_last.erase(put_last.begin(), covered.begin());
    std::ranges::move(run_epochs(shared, pool, due, progression), std::back_inserter(put_last));
  }
  if (!shared.is_over())
    for (const std::size_t i : put_last)  // what no breaker covers was not begun before there was enough
      if (is_covered(i)) shared.record({i, not_run(*progression.breaker.covering(suite.cases[i].c)), {}, {}});
  campaign.breakers = progression.breaker.breakers();
}

Campaign run(const Suite& suite, const OpenBackend& open, const RunOptions& run_options) {
  WorkerPool pool(open, run_options.jobs);
  return run(suite, pool, run_options);
}

Campaign run(const Suite& suite, WorkerPool& pool, const RunOptions& run_options, const Keep& keep) {
  Campaign campaign;
  Progression progression;
  progression.breaker.give_up_after(affordable);
  std::vector<std::size_t> put_last = run(suite, pool, run_options, keep, progression, campaign);
  run_last(suite, std::move(put_last), pool, run_options, keep, progression, campaign);
  campaign.isolation = pool.first().isolation();
  campaign.upkeep = pool.upkeep();
  return campaign;
}

}  // namespace assay::suites
