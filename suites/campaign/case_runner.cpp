// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/case_runner.h"

#include "oracles/exact/enclosure.h"
#include "oracles/judging/judge.h"
#include "reference/onnx_io.h"

#include <iterator>
#include <numeric>

namespace assay::suites {
namespace {

using oracles::Outcome;
using oracles::State;
using oracles::Verdict;
using Purpose = CaseRun::Purpose;

constexpr const char* broken_law = "breaks law";

Outcome only_first_set(Outcome outcome) {
  if (!outcome.sets.empty()) outcome.sets.resize(1);
  if (!outcome.types.empty()) outcome.types.resize(1);
  return outcome;
}

Verdict judged_on_first_set(const Case& c, Outcome outcome, const Description& backend, oracles::Level level) {
  return oracles::judge(c.call(), {operands(c, 0)}, only_first_set(std::move(outcome)),
                        judgement_of(level, backend.arithmetic));
}

// Tells whether the second set of data, wrongly, gets the answer to the first.
bool repeats_first_answer(const SuiteCase& planned, const Outcome& outcome, const Verdict& verdict) {
  return verdict.state == State::fail && verdict.evidence && verdict.evidence->set > 0 && outcome.sets.size() > 1 &&
         outcome.sets[0] == outcome.sets[1] && operands(planned.c, 0) != operands(planned.c, 1);
}

// The answers of one model of several nodes, each with so many outputs; nothing where they are not that.
std::optional<std::vector<Outcome>> taken_apart(const Outcome& packed, const std::vector<std::size_t>& outputs) {
  std::vector<Outcome> apart(outputs.size());
  for (const std::vector<Tensor>& set : packed.sets) {
    if (set.size() != std::accumulate(outputs.begin(), outputs.end(), std::size_t{0})) return std::nullopt;
    auto next = set.begin();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto end = next + static_cast<std::ptrdiff_t>(outputs[i]);
      apart[i].sets.emplace_back(next, end);
      next = end;
    }
  }
  return apart;
}

// What is true of a pack must be run again alone only where something is amiss.
bool is_settled_in_pack(State state) {
  return state == State::pass || state == State::contested || state == State::unscored;
}

template <class F>
auto naming(const SuiteCase& planned, F&& f) {
  try {
    return f();
  } catch (const std::logic_error& broken) {
    throw BrokenPromise("case " + planned.line + ": " + broken.what());
  }
}

}  // namespace

void CaseRunner::take(std::vector<std::size_t> cases) { case_runs_.push_back({Purpose::first, std::move(cases), {}}); }

std::optional<CaseRun> CaseRunner::next() {
  if (case_runs_.empty()) return std::nullopt;
  CaseRun case_run = std::move(case_runs_.front());
  case_runs_.pop_front();
  return case_run;
}

Request CaseRunner::request_of(CaseRun& case_run) const {
  if (case_run.cases.size() == 1) {
    return naming(planned(case_run), [&] {
      if (case_run.law) {
        const Case& related = case_run.law->related[case_run.part];
        Request request = suites::request_of({related, line(related), "", {}}, conduct_);
        request.sets.resize(1);
        return request;
      }
      if (!case_run.presentation) {
        std::vector<Operands> data = all_operands(planned(case_run).c);
        if (!is_large(planned(case_run).moved_bytes)) case_run.data = data;
        Request request = suites::request_of(planned(case_run), std::move(data), conduct_);
        if (case_run.purpose == Purpose::twice) request.sets.at(1) = request.sets.at(0);
        return request;
      }
      const ModelVariant& other = *case_run.presentation;
      std::vector<Operands> data = all_operands(other.c);
      if (is_large(planned(case_run).moved_bytes)) data.resize(1);
      Request request = suites::request_of(other.c, line(other.c), std::move(data), conduct_, other.settings);
      request.allowance = time_to_move(planned(case_run).moved_bytes);
      return request;
    });
  }
  std::vector<const Case*> cases;
  std::string lines;
  for (std::size_t index : case_run.cases) {
    cases.push_back(&suite_.cases[index].c);
    lines += suite_.cases[index].line + "\n";
  }
  Request request = suites::request_of(planned(case_run), conduct_);
  request.id = case_id(lines);
  request.model = packed_model_of(cases);
  for (int set = 0; set < data_sets; ++set) {
    auto& parts = request.sets[static_cast<std::size_t>(set)];
    parts.clear();
    for (const Case* c : cases) std::ranges::move(graph_inputs(*c, set), std::back_inserter(parts));
  }
  return request;
}

Steps CaseRunner::steps_of(const CaseRun& case_run) const {
  if (case_run.law) return {{line(case_run.law->related[case_run.part]), conduct_.settings}};
  if (case_run.presentation) return {{line(case_run.presentation->c), case_run.presentation->settings}};
  Steps steps;
  for (const std::size_t index : case_run.cases) steps.push_back({suite_.cases[index].line, conduct_.settings});
  return steps;
}

void CaseRunner::note_run(CaseRun& case_run, int process) {
  if (process != session_.process)
    session_ = {process, std::make_shared<Steps>()};
  else if (case_run.session == session_.steps)
    return;  // it was run there already
  case_run.session = session_.steps;
  case_run.before = session_.steps->size();
  for (Step& step : steps_of(case_run)) session_.steps->push_back(std::move(step));
}

Steps CaseRunner::before(const CaseRun& case_run) {
  if (!case_run.session) return {};
  const auto begin = case_run.session->begin();
  return {begin, begin + static_cast<std::ptrdiff_t>(case_run.before)};
}

// Adds the mark that `put` puts for an outcome. One that breaches conformance stands as it is only where it comes alone
// as well: else what ran before may have damaged the process, and the session is the finding.
void CaseRunner::note(Open& open, CaseRun& case_run, const Outcome& outcome, const Put& put) {
  const std::size_t marks = open.marks.size();
  const auto has_breach = [&] { return open.marks.size() > marks && open.marks.back().breaches; };
  put(outcome);
  if (!has_breach() || case_run.before == 0) return;
  const Mark first = open.marks.back();
  open.marks.resize(marks);
  const Request request = request_of(case_run);
  put(confirmation_.run_alone(request));
  const bool was_cut_off = outcome.kind == Outcome::Kind::timed_out || outcome.kind == Outcome::Kind::out_of_memory;
  if (has_breach() || was_cut_off) return;
  const std::size_t kept = open.marks.size();
  const auto fails = [&](const Outcome& again) {
    put(again);
    const bool is_so = open.marks.size() > kept && open.marks.back().breaches;
    open.marks.resize(kept);
    return is_so;
  };
  if (case_run.purpose == Purpose::twice)
    open.marks.push_back(first);  // no line runs one data set twice
  else
    open.marks.push_back(confirmation_.mark_of_session(before(case_run), steps_of(case_run).front(), request, first,
                                                       fails, experience_));
}

std::vector<CaseResult> CaseRunner::conclude(CaseRun case_run, Outcome outcome) {
  std::vector<CaseResult> done;
  if (case_run.cases.size() > 1) {
    settle_pack(case_run, outcome, done);
    return done;
  }
  const std::size_t index = case_run.cases.front();
  naming(planned(case_run), [&] {
    if (case_run.purpose == Purpose::first || case_run.purpose == Purpose::alone) {
      if (case_run.data.empty()) case_run.data = all_operands(planned(case_run).c);
      Verdict verdict = judged(planned(case_run), std::move(case_run.data), outcome, backend_, conduct_.level);
      settle(case_run, {std::move(outcome), std::move(verdict)}, done);
      return;
    }
    Open& open = open_.at(index);
    if (case_run.purpose == Purpose::twice)
      note(open, case_run, outcome, [&](const Outcome& o) { note_twice(open, o); });
    if (case_run.purpose == Purpose::otherwise)
      note(open, case_run, outcome,
           [&](const Outcome& o) { note_presentation(open, planned(case_run), *case_run.presentation, o); });
    if (case_run.purpose == Purpose::law) note_law(open, planned(case_run), case_run, std::move(outcome));
    proceed(index, done);
  });
  return done;
}

// One refused node refuses the whole model, one crash takes all with it: halves are run until each case had its say.
void CaseRunner::settle_pack(const CaseRun& case_run, const Outcome& outcome, std::vector<CaseResult>& done) {
  const std::vector<std::size_t>& cases = case_run.cases;
  std::optional<std::vector<Outcome>> apart;
  if (outcome.kind == Outcome::Kind::outputs) {
    std::vector<std::size_t> outputs;
    for (const std::size_t each : cases) outputs.push_back(suite_.cases[each].c.call().requested_outputs().size());
    apart = taken_apart(outcome, outputs);
  }
  if (!apart) {
    const auto middle = cases.begin() + static_cast<std::ptrdiff_t>(cases.size() / 2);
    case_runs_.push_front({case_run.purpose, {middle, cases.end()}, {}});
    case_runs_.push_front({case_run.purpose, {cases.begin(), middle}, {}});
    return;
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const SuiteCase& planned = suite_.cases[cases[i]];
    naming(planned, [&] {
      Verdict verdict = judged(planned, (*apart)[i], backend_, conduct_.level);
      if (is_settled_in_pack(verdict.state)) {
        settle({case_run.purpose, {cases[i]}, {}}, {std::move((*apart)[i]), std::move(verdict)}, done);
      } else {
        in_pack_[cases[i]] = in_words(verdict);
        case_runs_.push_front({Purpose::alone, {cases[i]}, {}});
      }
    });
  }
}

// A node is the same node beside others.
void CaseRunner::compare_with_pack(std::size_t index, std::vector<Mark>& marks, const Verdict& alone) {
  const auto found = in_pack_.find(index);
  if (found == in_pack_.end()) return;
  if (found->second != in_words(alone))
    marks.push_back(
        {"differs", "pack", found->second + " beside other nodes, " + in_words(alone) + " alone", true, ""});
  in_pack_.erase(found);
}

// Tells whether the session kept the answer to the first set of data: the second one alone gets another.
bool CaseRunner::is_stale(const SuiteCase& planned, const Answered& answered) {
  if (!repeats_first_answer(planned, answered.outcome, answered.verdict)) return false;
  const Outcome alone = confirmation_.run_alone(suites::request_of(planned, {operands(planned.c, 1)}, conduct_));
  return alone.kind != Outcome::Kind::outputs || alone.sets.front() != answered.outcome.sets.front();
}

void CaseRunner::settle(const CaseRun& case_run, Answered&& answered, std::vector<CaseResult>& done) {
  const std::size_t index = case_run.cases.front();
  const SuiteCase& planned = suite_.cases[index];
  std::vector<Mark> marks;
  if (needs_confirmation(planned.c.version, answered.verdict, experience_)) {
    Confirmed confirmed =
        confirmation_.confirm(planned, std::move(answered), before(case_run), case_run.case_limits, experience_);
    answered = std::move(confirmed.answered);
    marks = std::move(confirmed.marks);
  }
  auto& [outcome, verdict] = answered;
  compare_with_pack(index, marks, verdict);
  if (is_stale(planned, answered))
    marks.push_back({"stale session", "second set of data", "it got the answer to the first set", true, ""});
  std::deque<CaseRun> owed = owed_for(index, answered);
  if (verdict.state == State::pass && outcome.kind == Outcome::Kind::outputs && verdict.violated.empty())
    owe_laws(index, owed, marks);
  open_[index] = {std::move(outcome), std::move(verdict), std::move(marks), std::move(owed), {}};
  proceed(index, done);
}

std::deque<CaseRun> CaseRunner::owed_for(std::size_t index, const Answered& answered) const {
  const Verdict& verdict = answered.verdict;
  std::deque<CaseRun> owed;
  if (verdict.state == State::error || verdict.state == State::unsupported) return owed;
  if (oracles::is_random(suite_.cases[index].c.call())) return owed;  // it may differ
  for (ModelVariant& other : presentations(suite_.cases[index], conduct_.settings, backend_, conduct_.presenting))
    owed.push_back({Purpose::otherwise, {index}, std::move(other)});
  const bool is_picked = conduct_.presenting == VariantSampling::all || (!owed.empty() && owed.back().presentation);
  // A refusal twice shows nothing; large answers would be a fourth copy.
  const bool has_bits = answered.outcome.kind == Outcome::Kind::outputs && !is_large(suite_.cases[index].moved_bytes);
  if (is_picked && is_settled_in_pack(verdict.state) && has_bits) owed.push_back({Purpose::twice, {index}, {}});
  return owed;
}

// Only beside a case that passes: elsewhere the failure is told already.
void CaseRunner::owe_laws(std::size_t index, std::deque<CaseRun>& owed, std::vector<Mark>& marks) const {
  const SuiteCase& planned = suite_.cases[index];
  if (conduct_.laws == LawSampling::none || oracles::is_random(planned.c.call())) return;
  const std::string id = case_id(planned.line);
  if (!is_picked(id, conduct_.laws)) return;
  if (std::string against = inference_against_text(planned.c); !against.empty())
    marks.push_back({"inference differs", "onnx", std::move(against), false, ""});
  for (RelatedCases& each : related_cases(planned.c, id, conduct_.laws)) {
    const auto law = std::make_shared<const RelatedCases>(std::move(each));
    for (std::size_t part = 0; part < law->related.size(); ++part)
      owed.push_back({Purpose::law, {index}, {}, law, part});
  }
}

// The same session, inputs and threads twice must be bitwise equal (decisions 7).
void CaseRunner::note_twice(Open& open, const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::outputs && outcome.sets.size() == 2 && outcome.sets[0] == outcome.sets[1]) return;
  if (outcome.kind == Outcome::Kind::shapes && outcome.types.size() == 2 && outcome.types[0] == outcome.types[1])
    return;
  const std::string detail = outcome.kind == Outcome::Kind::outputs
                                 ? "the same data twice gave different bits"
                                 : std::string(name(outcome.kind)) + ": " + outcome.because;
  open.marks.push_back({"unstable", "twice in one session", detail, true, ""});
}

void CaseRunner::note_presentation(Open& open, const SuiteCase& planned, const ModelVariant& other,
                                   const Outcome& outcome) {
  const oracles::Level level = conduct_.level;
  const bool is_whole = other.shares_all_data() && outcome.sets.size() != 1;
  const Verdict first = is_whole ? open.verdict : judged_on_first_set(planned.c, open.outcome, backend_, level);
  const Verdict second = is_whole ? judged({other.c, "", "", {}}, outcome, backend_, level)
                                  : judged_on_first_set(other.c, outcome, backend_, level);
  if (first.state == second.state && first.because == second.because) return;
  // Nothing was claimed of one of them: an extent that was left open is no other answer.
  if (first.state == State::unscored || second.state == State::unscored) return;
  std::string detail = in_words(second) + " instead of " + in_words(first);
  if (!second.detail.empty()) detail += ": " + second.detail;
  open.marks.push_back({"differs", other.name, detail, is_finding(second.state), line(other.c)});
}

// How a law is broken where every one of its cases is alone in a process; empty where it is kept then.
std::string CaseRunner::breach_alone(const SuiteCase& planned, const RelatedCases& law) {
  std::vector<Tensor> answers;
  const auto add = [&](const SuiteCase& requested, std::size_t sets) {
    Request request = suites::request_of(requested, conduct_);
    request.sets.resize(sets);
    Outcome outcome = confirmation_.run_alone(std::move(request));
    const bool is_answered =
        outcome.kind == Outcome::Kind::outputs && outcome.sets.size() == sets && outcome.sets[0].size() == 1;
    if (is_answered) answers.push_back(std::move(outcome.sets[0][0]));
  };
  add(planned, data_sets);
  for (const Case& related : law.related) add({related, line(related), "", {}}, 1);
  if (answers.size() != law.related.size() + 1) return "";
  return breach_of_law(planned.c, law, answers, backend_.arithmetic);
}

// A related case that is refused, or takes longer than it may, says nothing about the law; one that kills the
// worker is a finding of its own.
void CaseRunner::note_law(Open& open, const SuiteCase& planned, CaseRun& case_run, Outcome outcome) {
  const RelatedCases& law = *case_run.law;
  const bool is_answered = outcome.kind == Outcome::Kind::outputs && outcome.sets.size() == 1 &&
                           outcome.sets[0].size() == open.outcome.sets[0].size();
  if (case_run.part == 0) open.lawful = {open.outcome.sets[0][0]};
  if (is_answered) open.lawful.push_back(std::move(outcome.sets[0][0]));
  std::string breach;
  if (outcome.kind == Outcome::Kind::crashed) {
    const auto crashes = [](const Outcome& o) { return o.kind == Outcome::Kind::crashed; };
    const Request request = request_of(case_run);
    const Outcome alone = case_run.before == 0 ? outcome : confirmation_.run_alone(request);
    if (crashes(alone))
      breach = "a related case: crashed: " + alone.because;
    else
      open.marks.push_back(confirmation_.mark_of_session(
          before(case_run), steps_of(case_run).front(), request,
          {"", "crashed", "a case of law " + std::string(law.law) + " crashed: " + outcome.because, true, ""}, crashes,
          experience_));
  }
  if (is_answered && open.lawful.size() == law.related.size() + 1 &&
      !breach_of_law(planned.c, law, open.lawful, backend_.arithmetic).empty())
    breach = breach_alone(planned, law);
  if (!breach.empty())
    open.marks.push_back({broken_law, std::string(law.law), std::move(breach), true, line(law.related[case_run.part])});
  if (!is_answered) std::erase_if(open.owed, [&](const CaseRun& q) { return q.law == case_run.law; });
}

void CaseRunner::proceed(std::size_t index, std::vector<CaseResult>& done) {
  Open& open = open_.at(index);
  if (!open.owed.empty()) {
    case_runs_.push_front(std::move(open.owed.front()));
    open.owed.pop_front();
    return;
  }
  done.push_back({index, std::move(open.verdict), std::move(open.marks), std::move(open.outcome)});
  open_.erase(index);
}

}  // namespace assay::suites
