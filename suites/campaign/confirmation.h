// SPDX-License-Identifier: Apache-2.0
// Confirmation: a crash, a hang or a wrong value counts against a case only when it comes alone, first in a fresh
// process (decisions 1). What comes only after other cases is a finding about the session: the shortest one that
// brings it again is looked for and marked. What comes neither way again is unstable.
#pragma once

#include "suites/campaign/breaker.h"
#include "suites/campaign/run_options.h"
#include "suites/campaign/signature.h"
#include "suites/planning/suite.h"

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::suites {

// One case as it was run in a session.
struct Step {
  std::string line;
  Settings settings = {};
  bool operator==(const Step&) const = default;
};
using Steps = std::vector<Step>;

// What ran in a process so far, for as long as it lives.
struct Session {
  int process = -1;
  std::shared_ptr<Steps> steps = std::make_shared<Steps>();
};

// Steps as one line, "A ; [threads=2] B", and back.
std::string session_text(const Steps& steps);
Result<Steps> parse_session(std::string_view text);
// Runs a step, the first of a session in a fresh process.
Request request_of(const Step& step, const RunOptions& run_options, bool is_first);

// How long answers take, in classes of 1, 2, 4, … milliseconds.
class Pace {
 public:
  void note(std::chrono::milliseconds time);
  void add(const Pace& other);
  Int answers() const;
  // A time within which 99 of 100 answers came.
  std::chrono::milliseconds usual() const;

 private:
  std::array<Int, 24> answers_{};
};

inline constexpr std::size_t share_of_eaters = 8;  // of the memory, for what is known to eat all of it

// What a case may take: the time for its answer, 0 for all there is, and one part in so many of the memory.
struct CaseLimits {
  std::chrono::milliseconds limit{0};
  std::size_t memory_share = 1;

  bool cuts_off(const oracles::Outcome& outcome, const CaseLimits& alone) const;
};

// What a job knows of the backend: what earlier epochs showed, and what it saw since.
struct Experience {
  const CircuitBreaker* breaker = nullptr;               // may be none
  std::set<std::pair<OpVersion, std::string>> refusals;  // reasons that were given alone too
  std::set<std::string> hangs;                           // operators of which one hung for the full limit, alone
  std::set<std::string> eaters;   // operators of which one ate all the memory it could get, alone
  bool has_late_answers = false;  // one that was cut off in a session answered alone, and took longer than our patience
  std::vector<Steps> culprits;    // what sessions held before the case they broke
  Pace pace;                      // of earlier epochs
  bool is_asleep = true;          // what hung used next to no processor time

  void add(const Experience& other);  // but the pace
  // A multiple of what answers take, at least a second; 0, the full limit, until enough of them are known. Fewer are
  // enough where something hung already.
  std::chrono::milliseconds patience() const;
  // What a case may take in a session, after which it is run alone: where something hung, or ate memory, less than it
  // has there.
  CaseLimits in_session() const;
  // What it may take alone: the full limits, unless the cause of its hanging, or of its eating memory, was confirmed
  // under them: that of a breaker, its operator, or so many operators that the backend does so with any. What crashes
  // or eats memory gets the time to do so.
  CaseLimits case_limits(const Case& c) const;

 private:
  bool is_general(const std::set<std::string>& operators) const;
};

struct Confirmed {
  Answered answered;  // what the case earns alone
  std::vector<Mark> marks;
};

class Confirmation {
 public:
  // `backend` runs nothing else.
  Confirmation(Backend& backend, const RunOptions& run_options, const Description& description)
      : backend_(backend), conduct_(run_options), description_(description) {}

  // `before` is what ran in the same process first; empty where the case was alone already. `given`: what it might take
  // there.
  Confirmed confirm(const SuiteCase& planned, Answered first, const Steps& before, const CaseLimits& given,
                    Experience& experience);
  // Returns the mark of a failure that `request`, the last step, brought after `before` and does not bring alone: the
  // shortest session that brings it, or `unstable`. `first`: how it was told; `fails`: whether an outcome is that.
  Mark mark_of_session(const Steps& before, const Step& last, const Request& request, const Mark& first,
                       const std::function<bool(const oracles::Outcome&)>& fails, Experience& experience);
  // Holds what comes back for one case alone, first in a fresh process.
  oracles::Outcome run_alone(Request request);
  // Tells whether an interrupt came before the end of a run: it reaches the worker as well, and what that did is no
  // finding.
  bool was_interrupted() const { return was_interrupted_; }

 private:
  oracles::Outcome run(const Request& request);
  void learn(const Case& c, oracles::Outcome::Kind kind, const CaseLimits& alone, Experience& experience) const;
  Answered run_alone(const SuiteCase& planned, const Answered& known, const CaseLimits& case_limits,
                     bool is_fresh = true);
  // Runs the last case of a session, and tells whether it ends as it did there.
  using EndsSo = std::function<bool(bool is_fresh)>;
  Steps shortest(const Steps& before, const EndsSo& ends_so, int most_runs, Experience& experience);
  bool brings(const Steps& before, const EndsSo& ends_so);
  void repeat(const SuiteCase& planned, const Answered& first, bool came_in_session, Confirmed& confirmed);

  Backend& backend_;
  const RunOptions& conduct_;
  const Description& description_;
  int sessions_left_ = 0;
  bool was_interrupted_ = false;
};

// Tells whether a verdict has to be confirmed: a breach, or a refusal whose reason was not given alone yet.
bool needs_confirmation(const OpVersion& version, const oracles::Verdict& verdict, const Experience& experience);

// "fail (value)".
std::string in_words(const oracles::Verdict& verdict);
bool same_bits(const oracles::Outcome& a, const oracles::Outcome& b);

}  // namespace assay::suites
