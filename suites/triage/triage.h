// SPDX-License-Identifier: Apache-2.0
// Triage: the failures of a campaign as findings. A few of each kind are run again, alone, shrunk to a case on paper
// and explained; they stand for the rest. The gravest come first, where time is short.
#pragma once

#include "suites/campaign/campaign.h"
#include "suites/campaign/verdict_bytes.h"
#include "suites/triage/causes.h"

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace assay::suites {

// A failure of a campaign, by the index of its case.
struct Failure {
  std::uint64_t index = 0;
  SuiteCase planned;
  Told told;
  Signature signature;
};

Failure failure_of(std::uint64_t index, const SuiteCase& planned, const oracles::Outcome& outcome,
                   const oracles::Verdict& verdict, const oracles::Judgement& judgement);

struct Sorting {
  std::size_t examples = 3;  // of each signature, the first ones, are looked at again and shrunk
  // Runs for one failure; 0: it is not shrunk.
  int most_runs = 200;
  int most_runs_of_errors = 30;  // where each costs a process
  int most_runs_of_hangs = 30;   // where each costs a second, or much memory
  int most_runs_of_refusals = 200;
  std::chrono::milliseconds limit{10'000};  // for an answer, under which a hang that was shrunk is confirmed
  // Keeps what is not looked at by then as it was found.
  std::optional<std::chrono::steady_clock::time_point> until = {};
};

// A failure that is looked at again, and how many failures it stands for.
struct Example {
  const Failure* failure;
  Int stands_for;
};
// The first `most` failures of each signature, by index; the last of them stands for the rest.
std::vector<Example> examples_of(std::span<const Failure> failures, std::size_t most);

// The examples as findings, in the order of their indices, each with how many failures it stands for.
std::vector<Finding> findings_of(std::span<const Failure> failures, WorkerPool& pool, const RunOptions& run_options,
                                 std::span<const WrongModel> models, const Sorting& sorting = {});

// What a session broke, as a finding of the version of its last case: the campaign has brought it twice more. None of
// another mark.
std::optional<Finding> finding_of_session(const SuiteCase& planned, const Mark& mark);

inline constexpr std::size_t no_cause = static_cast<std::size_t>(-1);
// Names the cause of each failure, by its index: that of its own finding, else that of the last finding that looks the
// same; `no_cause` where nothing like it was looked at again.
std::vector<std::size_t> cause_of_each(std::span<const Failure> failures, std::span<const Finding> findings,
                                       std::span<const Cause> causes);

// Failures sorted into causes.
struct Sorted {
  std::vector<Failure> failures;      // by index
  std::vector<Finding> findings;      // those that were looked at again
  std::vector<Cause> causes;          // of these, the gravest first
  std::vector<std::size_t> cause_of;  // by failure, as cause_of_each
};
Sorted sorted(std::vector<Failure> failures, std::vector<Finding> findings, std::span<const WrongModel> models);

// Runs a case, alone in a fresh process where `is_fresh` asks for one and that costs milliseconds, and judges what
// comes back. `limit`: for the answer; 0: the backend's own.
RunCase run_case(Backend& backend, const RunOptions& run_options, std::chrono::milliseconds limit = {},
                 bool is_fresh = true);

// Calls work(0) … work(count - 1) with the sessions of the crew, side by side, until `conduct.stop`.
void side_by_side(WorkerPool& pool, const RunOptions& run_options, std::string_view stage, std::size_t count,
                  const std::function<void(std::size_t, Backend&)>& work);

}  // namespace assay::suites
