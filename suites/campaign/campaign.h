// SPDX-License-Identifier: Apache-2.0
// Campaign: one run of a suite over a backend. Each case ends in one verdict at its own index, so verdicts do not
// depend on the number of jobs (decisions 7). What is run beside that leaves marks, never another verdict.
//
// Cases are run in epochs, and an epoch in lots: consecutive cases that one job runs in one process, which begins
// afresh where that costs milliseconds. So what a session holds, and what the circuit breaker puts last, are functions
// of the indices of the cases and the outcomes of whole epochs, whatever the number of jobs.
#pragma once

#include "suites/campaign/confirmation.h"
#include "suites/planning/suite.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::suites {

// Opens one more session with the backend under test: every job has its own.
using OpenBackend = std::function<std::unique_ptr<Backend>()>;

struct Campaign {
  Description backend;
  std::vector<std::optional<oracles::Verdict>> verdicts;  // by index of the suite; empty where interrupted before
  std::vector<std::vector<Mark>> marks;                   // beside them, as many
  std::vector<Breaker> breakers = {};                     // what keeps cases from being run
  std::string isolation = {};                             // how the backend was kept from the rest, in words
  ResourceUse upkeep = {};
  bool is_complete() const;
};

// The sessions with a backend, kept from one suite to the next. A job has two: one runs case after case, the other runs
// what has to be alone in a process.
class WorkerPool {
 public:
  // Opens the first session, the others when they are needed. Throws what opening throws.
  WorkerPool(OpenBackend open, int jobs);
  const Description& describe() { return members_.front()->describe(); }
  Backend& first() { return *members_.front(); }
  std::size_t size() const { return jobs_; }
  std::size_t most() const { return members_.size(); }  // jobs there may be where most of them wait
  ResourceUse upkeep() const;                           // of all of them, so far
  // Of one job; opened where that has not been done.
  Backend& member(std::size_t job);
  Backend& second(std::size_t job);

 private:
  OpenBackend open_;
  std::size_t jobs_;
  std::vector<std::unique_ptr<Backend>> members_, seconds_;
};

// What a campaign knows from one suite to the next.
struct Progression {
  std::size_t epochs = 0;  // that are over
  CircuitBreaker breaker;
  Experience experience;
  std::vector<Session> sessions = {};  // by job

  // Learns how the case of an index ended in an earlier run of the same campaign, told in the order of the indices.
  void note(const SuiteCase& planned, std::size_t index, const oracles::Verdict& verdict);
};

struct CaseResult;
using Keep = std::function<void(const CaseResult&)>;

// Runs the cases of a suite, those aside that a breaker covers: their indices are returned, for `run_last`. Throws what
// opening the backend throws, and InputError for an option the backend did not declare; a broken promise names the case
// it happened at. `keep` is told of every case that is done with, by one thread at a time.
std::vector<std::size_t> run(const Suite& suite, WorkerPool& pool, const RunOptions& run_options, const Keep& keep,
                             Progression& progression, Campaign& campaign);
// Runs what no breaker covers any more; the rest is not run.
void run_last(const Suite& suite, std::vector<std::size_t> put_last, WorkerPool& pool, const RunOptions& run_options,
              const Keep& keep, Progression& progression, Campaign& campaign);

// All of it.
Campaign run(const Suite& suite, WorkerPool& pool, const RunOptions& run_options, const Keep& keep = {});
Campaign run(const Suite& suite, const OpenBackend& open, const RunOptions& run_options);

}  // namespace assay::suites
