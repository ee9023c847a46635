// SPDX-License-Identifier: Apache-2.0
// Campaign: one run of a suite over a backend. Each case ends in one verdict at its own index, so verdicts do not
// depend on the number of jobs (decisions 7). What is asked beside that leaves marks, never another verdict.
#pragma once

#include "oracles/judge.h"
#include "suites/backend.h"
#include "suites/laws.h"
#include "suites/presentations.h"
#include "suites/suite.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

// Opens one more session with the backend under test: every job has its own.
using OpenBackend = std::function<std::unique_ptr<Backend>()>;

struct Progress {
  std::string_view stage = "asked";  // what is done to the cases
  std::size_t done = 0, total = 0;   // total: 0 where only a budget ends it
  std::map<oracles::State, std::size_t> states;
  std::size_t kinds = 0;           // of failures, told apart by signature; fuzz
  std::optional<double> coverage;  // share of the pairs of features that were asked; fuzz
};

// What is said beside a verdict (decisions 1).
struct Mark {
  std::string name;       // "unstable", "differs", "stale session", "breaks law" or "inference differs"
  std::string by;         // what showed it: "repeated", "twice in one session", "shapes=absent", "pack", a law
  std::string detail;     // in one line
  bool breaches = false;  // it does not conform
  std::string line;       // the other question where it is another case, else empty
};

// How to go about it. Only `level` and the configuration of the backend may change a verdict.
struct Conduct {
  oracles::Level level = oracles::Level::L2;
  int jobs = 1;
  int threads = 1;                             // inside the backend
  std::string optimization = "all";            // of the backend: all, extended, basic or none
  std::map<std::string, std::string> options;  // of its own, such as it declares
  int pack = 1;                                // legal cases in one model, for runtimes that are slow to load
  Presenting presenting = Presenting::sample;
  Lawfulness laws = Lawfulness::none;
  std::function<void(const Progress&)> progress;  // called by one thread at a time
  const std::atomic<bool>* stop = nullptr;        // once true what is under way is dropped
  const std::atomic<bool>* enough = nullptr;      // once true no further case is begun; what was begun is finished
};

struct Campaign {
  Description backend;
  std::vector<std::optional<oracles::Verdict>> verdicts;  // by index of the suite; empty where interrupted before
  std::vector<std::vector<Mark>> marks;                   // beside them, as many
  std::string isolation = {};                             // how the backend was kept from the rest, in words
  Upkeep upkeep = {};
  bool is_complete() const;
};

// The sessions with a backend, one per job, kept from one suite to the next.
class Crew {
 public:
  // Opens the first session, the others when they are needed. Throws what opening throws.
  Crew(OpenBackend open, int jobs);
  const Description& describe() { return members_.front()->describe(); }
  Backend& first() { return *members_.front(); }
  std::size_t size() const { return members_.size(); }
  Upkeep upkeep() const;  // of all of them, so far
  // Of one job; opens it where that has not been done.
  Backend& member(std::size_t job);

 private:
  OpenBackend open_;
  std::vector<std::unique_ptr<Backend>> members_;
};

struct Conclusion;

// Throws what opening the backend throws, and InputError for an option the backend did not declare; a broken promise
// names the case it happened at. `keep` is told of every case that is done with, by one thread at a time.
Campaign run(const Suite& suite, Crew& crew, const Conduct& conduct,
             const std::function<void(const Conclusion&)>& keep = {});
Campaign run(const Suite& suite, const OpenBackend& open, const Conduct& conduct);

// `data`: the operands of every set, as `all_operands` draws them; without, they are drawn.
Ask ask_of(const Planned& planned, const Conduct& conduct);
Ask ask_of(const Planned& planned, const std::vector<Operands>& data, const Conduct& conduct);
// Throws InputError for an option that the backend did not declare: nobody would read it, and a report would say what
// is not so.
void expect_declared(const Description& backend, const std::map<std::string, std::string>& options);
// Why the declared capabilities exclude a case; empty where they do not.
std::string excluded_by(const Description& backend, const Case& c);
// A refusal of what the backend declared it cannot do is `unsupported`.
oracles::Verdict judged(const Planned& planned, oracles::Outcome outcome, const Description& backend,
                        oracles::Level level);
oracles::Verdict judged(const Planned& planned, std::vector<Operands> data, oracles::Outcome outcome,
                        const Description& backend, oracles::Level level);
// Asks one case once and judges it.
oracles::Verdict certify(const Planned& planned, Backend& backend, const Conduct& conduct);

}  // namespace assay::suites
