// SPDX-License-Identifier: Apache-2.0
// Campaign: one run of a suite over a backend. Each case is asked once, judged once, and ends in one verdict at its
// own index, so verdicts do not depend on the number of jobs (decisions 7).
#pragma once

#include "oracles/judge.h"
#include "suites/backend.h"
#include "suites/suite.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::suites {

// Opens one more session with the backend under test: every job has its own.
using OpenBackend = std::function<std::unique_ptr<Backend>()>;

struct Progress {
  std::size_t done = 0, total = 0;
  std::map<oracles::State, std::size_t> states;
};

// How to go about it. Only `level`, `threads` and `optimization` may change a verdict.
struct Conduct {
  oracles::Level level = oracles::Level::L2;
  int jobs = 1;
  int threads = 1;                                // inside the backend
  std::string optimization = "all";               // of the backend: all, extended, basic or none
  std::map<std::string, std::string> options;     // further ones, which the backend has to have declared
  std::function<void(const Progress&)> progress;  // called by one thread at a time
  const std::atomic<bool>* stop = nullptr;        // once true no further case is begun
};

struct Campaign {
  Description backend;
  std::vector<std::optional<oracles::Verdict>> verdicts;  // by index of the suite; empty where interrupted before
  bool is_complete() const;
};

// Throws what opening the backend throws; a broken promise names the case it happened at.
Campaign run(const Suite& suite, const OpenBackend& open, const Conduct& conduct);

Ask ask_of(const Planned& planned, const Conduct& conduct);
// Why the declared capabilities exclude a case; empty where they do not.
std::string excluded_by(const Description& backend, const Case& c);
// Asks and judges one case. A refusal of what the backend declared it cannot do is `unsupported`.
oracles::Verdict certify(const Planned& planned, Backend& backend, const Conduct& conduct);

}  // namespace assay::suites
