// SPDX-License-Identifier: Apache-2.0
// CaseRunner: what one job does about the cases it was handed. It says what to run next, judges what came back, and
// sees to what is owed: a failing case is confirmed (confirmation.h), a refused pack run in halves, some cases run
// in another presentation or beside the related cases of a law.
#pragma once

#include "oracles/judging/verdict.h"
#include "suites/campaign/confirmation.h"
#include "suites/campaign/model_variants.h"
#include "suites/campaign/signature.h"
#include "suites/planning/laws.h"
#include "suites/planning/suite.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::suites {

struct CaseRun {
  enum class Purpose { first, alone, twice, otherwise, law };
  Purpose purpose = Purpose::first;
  std::vector<std::size_t> cases;            // of the suite; several only where they are nodes of one model
  std::optional<ModelVariant> presentation;  // of `otherwise`
  // Names one of the related cases of `law`.
  std::shared_ptr<const RelatedCases> law = {};
  std::size_t part = 0;
  // Holds what a case that runs as it stands is judged by: drawn when it runs, of a large one once more afterwards.
  std::vector<Operands> data = {};
  // Where it was run: what ran in the same process before.
  std::shared_ptr<Steps> session = {};
  std::size_t before = 0;
  CaseLimits case_limits = {};  // there
};

// A case that is done with.
struct CaseResult {
  std::size_t index = 0;
  oracles::Verdict verdict;
  std::vector<Mark> marks;
  oracles::Outcome outcome;  // what the verdict is about
};

class CaseRunner {
 public:
  // `session`: of the process that runs its cases.
  CaseRunner(const Suite& suite, const RunOptions& run_options, const Description& backend, Experience& experience,
             Confirmation& confirmation, Session& session)
      : suite_(suite),
        conduct_(run_options),
        backend_(backend),
        experience_(experience),
        confirmation_(confirmation),
        session_(session) {}

  void take(std::vector<std::size_t> cases);
  // What is owed before anything new is taken; nothing where all is concluded.
  std::optional<CaseRun> next();
  Request request_of(CaseRun& case_run) const;
  // Notes that a case was put to the process of this number, or that this one took it over.
  void note_run(CaseRun& case_run, int process);
  // The cases this answer settles. Throws BrokenPromise naming the case.
  std::vector<CaseResult> conclude(CaseRun case_run, oracles::Outcome outcome);

 private:
  struct Open {
    oracles::Outcome outcome;
    oracles::Verdict verdict;
    std::vector<Mark> marks;
    std::deque<CaseRun> owed;
    std::vector<Tensor> lawful;  // the answers to the related cases of one law
  };

  const SuiteCase& planned(const CaseRun& case_run) const { return suite_.cases[case_run.cases.front()]; }
  void settle_pack(const CaseRun& case_run, const oracles::Outcome& outcome, std::vector<CaseResult>& done);
  bool is_stale(const SuiteCase& planned, const Answered& answered);
  void settle(const CaseRun& case_run, Answered&& answered, std::vector<CaseResult>& done);
  Steps steps_of(const CaseRun& case_run) const;
  void compare_with_pack(std::size_t index, std::vector<Mark>& marks, const oracles::Verdict& alone);
  static Steps before(const CaseRun& case_run);
  using Put = std::function<void(const oracles::Outcome&)>;  // puts the mark of an outcome, if it has one
  void note(Open& open, CaseRun& case_run, const oracles::Outcome& outcome, const Put& put);
  void note_twice(Open& open, const oracles::Outcome& outcome);
  void note_presentation(Open& open, const SuiteCase& planned, const ModelVariant& other,
                         const oracles::Outcome& outcome);
  void owe_laws(std::size_t index, std::deque<CaseRun>& owed, std::vector<Mark>& marks) const;
  void note_law(Open& open, const SuiteCase& planned, CaseRun& case_run, oracles::Outcome outcome);
  std::string breach_alone(const SuiteCase& planned, const RelatedCases& law);
  void proceed(std::size_t index, std::vector<CaseResult>& done);
  std::deque<CaseRun> owed_for(std::size_t index, const Answered& answered) const;

  const Suite& suite_;
  const RunOptions& conduct_;
  const Description& backend_;
  Experience& experience_;
  Confirmation& confirmation_;
  std::deque<CaseRun> case_runs_;
  Session& session_;
  std::map<std::size_t, Open> open_;
  std::map<std::size_t, std::string> in_pack_;  // how a case ended beside others, before it is run alone
};

}  // namespace assay::suites
