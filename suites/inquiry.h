// SPDX-License-Identifier: Apache-2.0
// Inquiry: what one job does about the cases it was handed. It says what to ask next, judges what came back, and asks
// again where that is owed: a failing case three times, a refused pack in halves, some cases in another presentation or
// beside the related questions of a law.
#pragma once

#include "oracles/verdict.h"
#include "suites/campaign.h"
#include "suites/laws.h"
#include "suites/presentations.h"
#include "suites/signature.h"
#include "suites/suite.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::suites {

struct Question {
  enum class Purpose { first, alone, again, twice, otherwise, law };
  Purpose purpose = Purpose::first;
  std::vector<std::size_t> cases;            // of the suite; several only where they are nodes of one model
  std::optional<Presentation> presentation;  // of `otherwise`
  // Of `law`: which of its related questions.
  std::shared_ptr<const LawAsked> law = {};
  std::size_t part = 0;
  std::vector<Operands> data = {};  // of a case that is asked as it stands: drawn when it is asked, judged by
};

// A case that is done with.
struct Conclusion {
  std::size_t index = 0;
  oracles::Verdict verdict;
  std::vector<Mark> marks;
  oracles::Outcome outcome;  // what the verdict is about
};

class Inquiry {
 public:
  Inquiry(const Suite& suite, const Conduct& conduct, const Description& backend)
      : suite_(suite), conduct_(conduct), backend_(backend) {}

  void take(std::vector<std::size_t> cases);
  // What is owed before anything new is taken; nothing where all is concluded.
  std::optional<Question> next();
  Ask ask_of(Question& question) const;
  // The cases this answer settles. Throws BrokenPromise naming the case.
  std::vector<Conclusion> conclude(Question question, oracles::Outcome outcome);

 private:
  struct Open {
    oracles::Outcome outcome;
    oracles::Verdict verdict;
    std::vector<Mark> marks;
    std::deque<Question> owed;
    std::vector<std::string> repeats;  // how the repetitions ended
    std::vector<Tensor> lawful;        // the answers to the related questions of one law
  };

  const Planned& planned(const Question& question) const { return suite_.cases[question.cases.front()]; }
  void settle_pack(const Question& question, const oracles::Outcome& outcome, std::vector<Conclusion>& done);
  void settle(std::size_t index, Answered&& answered, std::vector<Conclusion>& done);
  void compare_with_pack(std::size_t index, std::vector<Mark>& marks, const oracles::Verdict& alone);
  void note_repetition(Open& open, const Planned& planned, const oracles::Outcome& outcome);
  void note_twice(Open& open, const oracles::Outcome& outcome);
  void note_presentation(Open& open, const Planned& planned, const Presentation& other,
                         const oracles::Outcome& outcome);
  void owe_laws(std::size_t index, std::deque<Question>& owed, std::vector<Mark>& marks) const;
  void note_law(Open& open, const Planned& planned, const Question& question, oracles::Outcome outcome);
  void proceed(std::size_t index, std::vector<Conclusion>& done);
  std::deque<Question> owed_for(std::size_t index, const Answered& answered) const;

  const Suite& suite_;
  const Conduct& conduct_;
  const Description& backend_;
  std::deque<Question> questions_;
  std::map<std::size_t, Open> open_;
  std::map<std::size_t, std::string> in_pack_;  // how a case ended beside others, before it is asked alone
};

}  // namespace assay::suites
