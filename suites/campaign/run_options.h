// SPDX-License-Identifier: Apache-2.0
// Asking: one case put to a backend and judged, and how a campaign goes about it.
#pragma once

#include "oracles/exact/accuracy.h"
#include "oracles/judging/judge.h"
#include "suites/planning/laws.h"
#include "suites/planning/suite.h"
#include "suites/workers/backend.h"

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

struct Progress {
  std::string_view stage = "run";   // what is done to the cases
  std::size_t done = 0, total = 0;  // total: 0 where only a budget ends it
  std::map<oracles::State, std::size_t> states;
  std::size_t kinds = 0;           // of failures, told apart by signature; fuzz
  std::optional<double> coverage;  // share of the pairs of features that were covered; fuzz
};

// What is said beside a verdict (decisions 1).
struct Mark {
  std::string name;       // "unstable", "session", "differs", "stale session", "breaks law" or "inference differs"
  std::string by;         // what showed it: "repeated", "crashed", "twice in one session", "shapes=absent", a law
  std::string detail;     // in one line
  bool breaches = false;  // it does not conform
  std::string line;       // the other case where it is another case or a session, else empty
};
// The state that a session counts as, of the version of its last case (decisions 1); none of another mark.
std::optional<oracles::State> session_state(const Mark& mark);

// How one case is run, beside what its line says. Backends take other paths by it, and must end the same.
struct Settings {
  int threads = 1;                   // inside the backend
  std::string optimization = "all";  // of the graph: all, extended, basic or none
  int names = 0;                     // of producer, graph, nodes and tensors, and the order of attributes; 0: our own
  bool binds_outputs = false;        // outputs go into buffers that were there before, between guard bytes
  bool operator==(const Settings&) const = default;
};
// Those that are not as by default: "threads=2 optimization=none names=3 outputs=bound".
std::string text(const Settings& settings);
// Reads one of these words into `settings`; false where it is none.
bool read_setting(std::string_view word, Settings& settings);

// How many other ways of running a case a campaign tries.
enum class VariantSampling { none, sample, all };

// How to go about it. Only `level` and the configuration of the backend may change a verdict.
struct RunOptions {
  oracles::Level level = oracles::Level::L2;
  int jobs = 1;
  Settings settings;
  std::map<std::string, std::string> options;  // of the backend's own, such as it declares
  std::string model;  // where stored data come from, in the words of a command line: "--model FILE"
  int pack = 1;       // legal cases in one model, for runtimes that are slow to load
  VariantSampling presenting = VariantSampling::sample;
  LawSampling laws = LawSampling::none;
  bool exhaustive = false;                        // no circuit breaker: every case is run
  std::function<void(const Progress&)> progress;  // called by one thread at a time
  const std::atomic<bool>* stop = nullptr;        // once true what is under way is dropped
  const std::atomic<bool>* enough = nullptr;      // once true no further case is begun; what was begun is finished
};

// `data`: the operands of every set, as `all_operands` draws them; without, they are drawn. A set goes once it is
// encoded.
Request request_of(const SuiteCase& planned, const RunOptions& run_options);
Request request_of(const SuiteCase& planned, std::vector<Operands> data, const RunOptions& run_options);
Request request_of(const Case& c, std::string_view line, std::vector<Operands> data, const RunOptions& run_options,
                   const Settings& settings);
// Why the declared capabilities exclude a case; empty where they do not.
std::string excluded_by(const Description& backend, const Case& c);
// Gives what a run asks of a verdict: of a large output that no filter speaks for it looks at a sample.
oracles::Judgement judgement_of(oracles::Level level, const oracles::Arithmetic& arithmetic);
// A refusal of what the backend declared it cannot do is `unsupported`.
oracles::Verdict judged(const SuiteCase& planned, oracles::Outcome outcome, const Description& backend,
                        oracles::Level level);
oracles::Verdict judged(const SuiteCase& planned, std::vector<Operands> data, oracles::Outcome outcome,
                        const Description& backend, oracles::Level level);
// Throws InputError for an option that the backend did not declare: nobody would read it, and a report would say what
// is not so.
void expect_declared(const Description& backend, const std::map<std::string, std::string>& options);
// Asks one case once and judges it.
oracles::Verdict certify(const SuiteCase& planned, Backend& backend, const RunOptions& run_options);

}  // namespace assay::suites
