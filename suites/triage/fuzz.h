// SPDX-License-Identifier: Apache-2.0
// Fuzz campaign: the cases of a stream, in order, until there were enough; what came back is kept in a store, and
// at the end the failures are shrunk and sorted into causes. Verdicts and findings are a function of the seed, the
// number of cases and the backend: not of jobs, shards, interruptions or time (decisions 7).
#pragma once

#include "suites/campaign/campaign.h"
#include "suites/campaign/errors.h"
#include "suites/campaign/store.h"
#include "suites/planning/coverage.h"
#include "suites/planning/shard.h"
#include "suites/planning/stream.h"
#include "suites/triage/seek.h"
#include "suites/triage/triage.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

struct FuzzPlan {
  Selection selection;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> cases;          // of all shards together
  std::optional<std::chrono::seconds> budget;  // for all of it: `time_to_run` of it runs new cases
  std::chrono::milliseconds limit{10'000};     // for an answer
  Shard shard;
  std::vector<SuiteCase> regressions;  // run first; index 0 is the first of them
  std::uint64_t islands = 0;           // of all shards together, sought on when the cases are run
};

// Tells how much of a budget runs new cases: three quarters, or less where one that hangs at the end, in its session
// and alone, needs more than the rest; a quarter at least. What is left is for shrinking what failed.
std::chrono::duration<double> time_to_run(std::chrono::duration<double> budget, std::chrono::milliseconds limit);

// What the store of a plan is called by. Two runs may share a store where all of it is the same.
Identity identity_of(const FuzzPlan& plan, const std::string& backend, const Description& description,
                     const RunOptions& run_options, std::string_view tool_version);

// Asks what the store does not hold yet. True when the plan was carried out, false when `conduct.stop` ended it.
bool fuzz(const FuzzPlan& plan, WorkerPool& pool, const RunOptions& run_options, Store& store);

// What the verdicts of a store come to.
struct Tally {
  std::uint64_t runs = 0;
  std::map<OpVersion, std::map<oracles::State, Int>> states;
  std::map<oracles::State, Int> special;  // NaN, infinities, integer overflow: in no other number, but for errors
  std::map<OpVersion, std::map<DType, std::map<oracles::State, Int>>> types;  // of the first input
  std::map<OpVersion, std::map<DType, Errors>> errors;
  std::map<std::string, std::map<std::string, Int>> followed;  // ruling -> reading -> cases
  std::map<std::string, Int> marks;                            // that break conformance
};

// Everything a report about a store says, before anything is shrunk.
struct Harvest {
  Tally tally;
  std::vector<Failure> failures;  // breaches of any kind, by index
  std::vector<Failure> marked;    // cases with a mark, by index
  Coverage coverage;              // of the cases of the store, and the readings they showed
};
// Under `strict` a contested case is a failure as well; under it or `counts_special` special values are.
Harvest harvest(const Store& store, bool strict, bool counts_special);

// The peaks of this shard's islands, in their order; fewer where `run_options.stop` ended it, or `until` came first.
std::vector<WorstCase> seek(const FuzzPlan& plan, WorkerPool& pool, const RunOptions& run_options,
                            std::optional<std::chrono::steady_clock::time_point> until = {});
// Peaks that breach are failures after all others, of indices that no stream reaches.
void add_peaks(Harvest& harvest, const std::vector<WorstCase>& peaks, const oracles::Judgement& judgement, bool strict);
// "index 17", or "island 3" of a peak.
std::string origin_of(std::uint64_t index);

}  // namespace assay::suites
