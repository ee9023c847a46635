// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/confirmation.h"

#include "reference/onnx_io.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace assay::suites {
namespace {

using oracles::Outcome;
using oracles::State;
using oracles::Verdict;
using std::chrono::milliseconds;

constexpr std::string_view between_steps = " ; ";
constexpr int most_sessions = 48;         // that are run to find the shortest
constexpr int most_hanging_sessions = 6;  // each costs the whole limit
constexpr int times_confirmed = 2;        // of the shortest: alone it does not fail, in the session it does
constexpr Int enough_answers = 200;       // to know how long they take
constexpr Int few_answers = 5;            // to guess it
constexpr auto least_patience = milliseconds(1000), least_guess = milliseconds(2000);
constexpr auto least_in_session = milliseconds(250);  // where something hung: what takes longer is run alone
constexpr int times_the_usual = 10;
constexpr std::size_t enough_operators = 5;  // that hang, or eat memory, for any to be expected to

// The same end of the same case: what is confirmed is the kind of failure, of values their bits.
bool ends_alike(const Answered& a, const Answered& b) {
  if (a.verdict.state != b.verdict.state || a.verdict.because != b.verdict.because) return false;
  if (a.verdict.state == State::error || a.verdict.state == State::refused) return true;
  return same_bits(a.outcome, b.outcome);
}

bool is_breach(State state) { return state == State::fail || state == State::below || state == State::error; }

std::string reason_of(const Verdict& verdict) { return reason_pattern(verdict.detail); }

// A finding of the operator version of the last case of a session (decisions 1).
Mark session_mark(const Steps& session, const Verdict& in_session, const Verdict& alone) {
  const std::size_t before = session.size() - 1;
  return {"session", in_session.because,
          in_words(in_session) + " after " + std::to_string(before) + (before == 1 ? " case" : " cases") +
              " in the same process, alone " + in_words(alone) +
              (in_session.detail.empty() ? "" : ": " + in_session.detail),
          true, session_text(session)};
}

}  // namespace

std::string in_words(const Verdict& verdict) {
  std::string words(name(verdict.state));
  if (!verdict.because.empty() && verdict.because != words) words += " (" + verdict.because + ")";
  return words;
}

bool same_bits(const Outcome& a, const Outcome& b) {
  return a.kind == b.kind && a.sets == b.sets && a.types == b.types;
}

std::string session_text(const Steps& steps) {
  std::string out;
  for (const Step& step : steps) {
    if (!out.empty()) out += between_steps;
    if (const std::string settings = text(step.settings); !settings.empty()) out += "[" + settings + "] ";
    out += step.line;
  }
  return out;
}

Result<Steps> parse_session(std::string_view text) {
  Steps steps;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(between_steps), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + between_steps.size(), text.size()));
    Step step;
    if (part.starts_with('[')) {
      const std::size_t close = part.find("] ");
      if (close == std::string_view::npos) return Error{"a step begins with [ and lacks ]"};
      for (std::string_view words = part.substr(1, close - 1); !words.empty();) {
        const std::size_t blank = std::min(words.find(' '), words.size());
        if (!read_setting(words.substr(0, blank), step.settings))
          return Error{"'" + std::string(words.substr(0, blank)) + "' is no setting of a step; write threads=2, " +
                       "optimization=none, names=3 or outputs=bound"};
        words.remove_prefix(std::min(blank + 1, words.size()));
      }
      part.remove_prefix(close + 2);
    }
    const Result<Case> c = parse_case(part);
    if (!c) return Error{c.error()};
    step.line = line(*c);
    steps.push_back(std::move(step));
  }
  if (steps.empty()) return Error{"a session without a case"};
  return steps;
}

Request request_of(const Step& step, const RunOptions& run_options, bool is_first) {
  Result<Case> c = parse_case(step.line);
  expects(static_cast<bool>(c), "a step is a line that was run");
  Request request = request_of(*c, step.line, all_operands(*c), run_options, step.settings);
  request.fresh = is_first;
  return request;
}

void Pace::note(milliseconds time) {
  const auto count = static_cast<std::uint64_t>(std::max<Int>(time.count(), 1));
  ++answers_[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(count - 1)), answers_.size() - 1)];
}

void Pace::add(const Pace& other) {
  for (std::size_t i = 0; i < answers_.size(); ++i) answers_[i] += other.answers_[i];
}

Int Pace::answers() const { return std::accumulate(answers_.begin(), answers_.end(), Int{0}); }

milliseconds Pace::usual() const {
  Int slower = answers();
  for (std::size_t i = 0; i < answers_.size(); ++i)
    if ((slower -= answers_[i]) * 100 <= answers()) return milliseconds(Int{1} << i);
  return milliseconds(0);
}

void Experience::add(const Experience& other) {
  refusals.insert(other.refusals.begin(), other.refusals.end());
  hangs.insert(other.hangs.begin(), other.hangs.end());
  eaters.insert(other.eaters.begin(), other.eaters.end());
  has_late_answers = has_late_answers || other.has_late_answers;
  is_asleep = is_asleep && other.is_asleep;
  for (const Steps& each : other.culprits)
    if (std::ranges::find(culprits, each) == culprits.end()) culprits.push_back(each);
}

milliseconds Experience::patience() const {
  if (pace.answers() >= enough_answers) return std::max(least_patience, times_the_usual * pace.usual());
  if (pace.answers() < few_answers || hangs.empty()) return milliseconds(0);
  return std::max(least_guess, times_the_usual * pace.usual());
}

CaseLimits Experience::in_session() const {
  CaseLimits case_limits{patience(), eaters.empty() ? 1 : share_of_eaters};
  if (!hangs.empty() && pace.answers() >= enough_answers)
    case_limits.limit = std::max(least_in_session, times_the_usual * pace.usual());
  return case_limits;
}

// Where one answered late, others may as well.
bool Experience::is_general(const std::set<std::string>& operators) const {
  return operators.size() >= enough_operators && !has_late_answers;
}

CaseLimits Experience::case_limits(const Case& c) const {
  const std::string op = operator_name(c.version);
  const Breaker* like = breaker ? breaker->resembled(c) : nullptr;
  const bool eats = eaters.contains(op) || (like && like->because == "out of memory");
  const bool hangs_so = like ? like->because == "timed out" : hangs.contains(op);
  return {!eats && (hangs_so || is_general(hangs)) ? patience() : milliseconds(0),
          eats || is_general(eaters) ? share_of_eaters : 1};
}

// Tells whether a case that was ended under this may answer within what it has alone.
bool CaseLimits::cuts_off(const Outcome& outcome, const CaseLimits& alone) const {
  if (outcome.kind == Outcome::Kind::timed_out) return limit.count() > 0 && limit != alone.limit;
  return outcome.kind == Outcome::Kind::out_of_memory && memory_share > alone.memory_share;
}

bool needs_confirmation(const OpVersion& version, const Verdict& verdict, const Experience& experience) {
  return is_breach(verdict.state) ||
         (verdict.state == State::refused && !experience.refusals.contains({version, reason_of(verdict)}));
}

Outcome Confirmation::run(const Request& request) {
  Outcome outcome = backend_.run(request);
  was_interrupted_ = was_interrupted_ || (conduct_.stop && *conduct_.stop);
  return outcome;
}

// Runs a case and judges it, unless its answer is one whose verdict is known.
Answered Confirmation::run_alone(const SuiteCase& planned, const Answered& known, const CaseLimits& case_limits,
                                 bool is_fresh) {
  std::vector<Operands> data = all_operands(planned.c);
  Request request = suites::request_of(planned, data, conduct_);
  request.fresh = is_fresh;
  request.limit = case_limits.limit;
  request.memory_share = case_limits.memory_share;
  Outcome outcome = run(request);
  if (outcome.kind == Outcome::Kind::outputs && same_bits(outcome, known.outcome))
    return {std::move(outcome), known.verdict};
  Verdict verdict = judged(planned, std::move(data), outcome, description_, conduct_.level);
  return {std::move(outcome), std::move(verdict)};
}

Confirmed Confirmation::confirm(const SuiteCase& planned, Answered first, const Steps& before, const CaseLimits& given,
                                Experience& experience) {
  const CaseLimits alone = experience.case_limits(planned.c);
  const bool was_cut_off = given.cuts_off(first.outcome, alone);
  Confirmed confirmed{{}, {}};
  const auto began = std::chrono::steady_clock::now();
  confirmed.answered = before.empty() && !was_cut_off ? first : run_alone(planned, first, alone);
  if (first.outcome.kind == Outcome::Kind::outputs && oracles::is_random(planned.c.call()))
    return confirmed;  // it may end otherwise each time, and every one is as good
  if (was_cut_off && confirmed.answered.verdict.state != State::error)
    experience.has_late_answers |= std::chrono::steady_clock::now() - began > experience.patience();
  const bool comes_alone = ends_alike(first, confirmed.answered);
  if (confirmed.answered.verdict.state == State::refused)
    experience.refusals.insert({planned.c.version, reason_of(confirmed.answered.verdict)});
  learn(planned.c, confirmed.answered.outcome.kind, alone, experience);
  if (is_breach(confirmed.answered.verdict.state)) repeat(planned, first, comes_alone && !before.empty(), confirmed);
  const bool both_wrong = first.verdict.state == confirmed.answered.verdict.state;  // of values that drift
  if (comes_alone || !confirmed.marks.empty() || was_cut_off) return confirmed;
  const std::string ends = "first " + in_words(first.verdict) + ", alone " + in_words(confirmed.answered.verdict);
  const EndsSo ends_so = [&](bool is_fresh) {
    const Verdict last = run_alone(planned, first, {}, is_fresh).verdict;
    return last.state == first.verdict.state && last.because == first.verdict.because;
  };
  const int most = first.outcome.kind == Outcome::Kind::timed_out ? most_hanging_sessions : most_sessions;
  const Steps session = both_wrong ? Steps{} : shortest(before, ends_so, most, experience);
  if (session.empty()) {
    confirmed.marks.push_back({"unstable", "repeated", ends, true, ""});
    return confirmed;
  }
  Steps whole = session;
  whole.push_back({planned.line, conduct_.settings});
  confirmed.marks.push_back(session_mark(whole, first.verdict, confirmed.answered.verdict));
  return confirmed;
}

// Notes what ended a case under the full limits.
void Confirmation::learn(const Case& c, Outcome::Kind kind, const CaseLimits& alone, Experience& experience) const {
  const std::string op = operator_name(c.version);
  if (kind == Outcome::Kind::timed_out) {
    experience.is_asleep = experience.is_asleep && backend_.was_asleep();
    if (alone.limit.count() == 0) experience.hangs.insert(op);
  } else if (kind == Outcome::Kind::out_of_memory) {
    if (alone.memory_share == 1) experience.eaters.insert(op);
  }
}

Outcome Confirmation::run_alone(Request request) {
  request.fresh = true;
  request.limit = milliseconds(0);
  return run(request);
}

// Runs a case that breaks conformance alone again, to see that it stays so: a crash twice more, in processes of its
// own; a value in a second process, which may be the session's, and in the last one once more. A hang or a memory limit
// has cost enough.
void Confirmation::repeat(const SuiteCase& planned, const Answered& first, bool came_in_session, Confirmed& confirmed) {
  const Answered& alone = confirmed.answered;
  if (alone.outcome.kind == Outcome::Kind::timed_out || alone.outcome.kind == Outcome::Kind::out_of_memory) return;
  std::string ends = "first " + in_words(first.verdict) + ", then";
  const auto ends_so_again = [&](bool is_fresh) {
    const Answered again = run_alone(planned, alone, {}, is_fresh);
    ends += (ends.ends_with("then") ? " " : ", ") + in_words(again.verdict);
    return std::pair(ends_alike(alone, again), again.verdict);
  };
  const bool is_error = alone.verdict.state == State::error;
  bool is_steady = (came_in_session && !is_error) || ends_so_again(true).first;
  if (is_error) {
    is_steady = is_steady && ends_so_again(true).first;
  } else if (is_steady) {
    const auto [again_alike, second] = ends_so_again(false);
    if (again_alike) return;
    const bool alone_again = ends_so_again(true).first;
    // Wrong values that drift at the second run are the same failure.
    if (alone_again && second.state == alone.verdict.state && second.because == alone.verdict.because) return;
    // The same case after itself: a session, where it ends otherwise whenever it is run twice.
    const Verdict once_more = ends_so_again(false).second;
    if (alone_again && once_more.state == second.state && once_more.because == second.because) {
      const Step step{planned.line, conduct_.settings};
      confirmed.marks.push_back(session_mark({step, step}, second, alone.verdict));
      return;
    }
    is_steady = false;
  }
  if (!is_steady) confirmed.marks.push_back({"unstable", "repeated", ends, true, ""});
}

// Runs the cases of a session again, and then the one it broke.
bool Confirmation::brings(const Steps& before, const EndsSo& ends_so) {
  --sessions_left_;
  bool is_first = true;
  for (const Step& step : before) {
    const Outcome outcome = run(request_of(step, conduct_, std::exchange(is_first, false)));
    const bool ended = outcome.kind == Outcome::Kind::crashed || outcome.kind == Outcome::Kind::timed_out ||
                       outcome.kind == Outcome::Kind::out_of_memory || outcome.kind == Outcome::Kind::garbled;
    if (ended || was_interrupted_) return false;
  }
  return ends_so(false);
}

// Delta debugging over what ran before: a culprit that is known, then the last case alone, the last two, four …, then
// without each part of these. Empty where not even all of it brings the failure again, or only by chance.
Steps Confirmation::shortest(const Steps& before, const EndsSo& ends_so, int most_runs, Experience& experience) {
  if (before.empty() || backend_.session() == 0) return {};
  sessions_left_ = most_runs;
  for (const Steps& culprit : experience.culprits)
    if (std::ranges::find(before, culprit.back()) != before.end() && brings(culprit, ends_so)) return culprit;
  Steps found;
  for (std::size_t size = 1; found.empty() && sessions_left_ > 0; size *= 2) {
    const std::size_t taken = std::min(size, before.size());
    Steps tail(before.end() - static_cast<std::ptrdiff_t>(taken), before.end());
    if (brings(tail, ends_so)) found = std::move(tail);
    if (taken == before.size()) break;
  }
  for (std::size_t part = found.size() / 2; part > 0; part /= 2)
    for (std::size_t at = 0; at < found.size() && found.size() > 1 && sessions_left_ > 0;) {
      Steps without = found;
      const auto from = without.begin() + static_cast<std::ptrdiff_t>(at);
      without.erase(from, from + static_cast<std::ptrdiff_t>(std::min(part, without.size() - at)));
      if (!without.empty() && brings(without, ends_so))
        found = std::move(without);
      else
        at += part;
    }
  for (int again = 0; again < times_confirmed && !found.empty(); ++again)
    if (ends_so(true) || !brings(found, ends_so)) return {};
  if (!found.empty()) experience.culprits.push_back(found);
  return found;
}

Mark Confirmation::mark_of_session(const Steps& before, const Step& last, const Request& request, const Mark& first,
                                   const std::function<bool(const Outcome&)>& fails, Experience& experience) {
  Outcome::Kind kind = Outcome::Kind::outputs;
  const EndsSo ends_so = [&](bool is_fresh) {
    Request again = request;
    again.fresh = is_fresh;
    again.limit = milliseconds(0);
    const Outcome outcome = run(again);
    kind = outcome.kind;
    return fails(outcome);
  };
  Steps session = shortest(before, ends_so, most_sessions, experience);
  if (session.empty()) return {"unstable", first.by, first.detail + "; not again alone", true, ""};
  const std::string after = std::to_string(session.size()) + (session.size() == 1 ? " case" : " cases");
  session.push_back(last);
  return {"session", kind == Outcome::Kind::outputs ? "value" : std::string(name(kind)),
          first.detail + ", after " + after + " in the same process and not alone", true, session_text(session)};
}

}  // namespace assay::suites
