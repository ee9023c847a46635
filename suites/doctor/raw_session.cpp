// SPDX-License-Identifier: Apache-2.0
#include "suites/doctor/raw_session.h"

#include "suites/text/printable.h"

#include <algorithm>
#include <optional>

namespace assay::suites::doctor {
namespace {

using namespace std::chrono_literals;

constexpr auto tick = 20ms;
constexpr auto second_thoughts = 2s;  // for who has written something like a reply to the wrong place
constexpr auto grace = 500ms;         // to die, after the reply pipe was closed

std::string in_words(std::chrono::milliseconds limit) {
  const auto count = limit.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

}  // namespace

RawSession::RawSession(const std::vector<std::string>& command, const Limits& limits)
    : process_(command), limits_(limits) {}

void RawSession::send(std::string bytes) {
  sent_.push_back(std::move(bytes));  // a deque: what it holds stays where it is
  outgoing_.add(sent_.back());
}

void RawSession::send_body(const Request& request) {
  send(request.model);
  for (const auto& set : request.sets)
    for (const std::string& part : set) send(part);
}

bool RawSession::step(Clock::time_point until) {
  const Process::Event event = process_.wait(outgoing_, incoming_, until);
  is_over_ = is_over_ || event.closed || event.exited;
  return !is_over_;
}

bool RawSession::is_read(std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!is_over_ && Clock::now() < deadline) {
    if (outgoing_.is_empty() && process_.unread_bytes() == 0) return true;
    step(std::min(deadline, Clock::now() + 1ms));
  }
  return false;
}

bool RawSession::has_more(std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (incoming_.empty() && !is_over_ && Clock::now() < deadline) step(deadline);
  return !incoming_.empty();
}

Reply RawSession::failure(Reply::State state, std::string problem, std::string line) {
  is_usable_ = false;
  return {state, std::move(problem), std::move(line), {}, {}};
}

Reply RawSession::silence(std::chrono::milliseconds limit, std::string line) {
  return failure(Reply::State::silent, "no complete reply within " + in_words(limit), std::move(line));
}

Reply RawSession::end(const std::string& where, std::string line) {
  process_.finish(grace);
  std::string text = (process_.ending().empty() ? "it closed its reply pipe" : "it " + process_.ending()) + " " + where;
  const std::string words = printable(process_.last_words(), 300);
  if (!words.empty()) text += "; its last words: " + words;
  return failure(Reply::State::ended, text, std::move(line));
}

bool RawSession::await_line(Clock::time_point deadline) {
  std::size_t seen = 0;
  for (;;) {
    if (incoming_.find('\n', seen) != std::string::npos) return true;
    seen = incoming_.size();
    if (seen > header_limit || is_over_ || Clock::now() >= deadline) return false;
    step(deadline);
  }
}

std::string RawSession::take_line() {
  const std::size_t newline = incoming_.find('\n');
  std::string line = incoming_.substr(0, newline);
  incoming_.erase(0, newline + 1);
  return line;
}

bool RawSession::moved_to_stdout() {
  const std::optional<std::string_view> line = last_object(process_.out().text());
  if (!line) return false;
  const Result<Introduction> parsed = parse_introduction(*line);
  if (parsed && !parsed->replies_on_stdout) return false;
  if (!parsed && line->find("\"replies\"") == std::string::npos) return false;
  incoming_ = std::string(*line) + '\n';
  process_.take_replies_from_stdout();
  return on_stdout_ = true;
}

Reply RawSession::introduction() {
  const auto begun = Clock::now(), deadline = begun + limits_.describe;
  while (!await_line(std::min(deadline, Clock::now() + tick))) {
    if (!on_stdout_ && incoming_.empty() && moved_to_stdout()) continue;
    if (incoming_.size() > header_limit)
      return failure(Reply::State::garbled, "a header line of more than 1 MiB", incoming_.substr(0, 200));
    if (is_over_) return end("before it described itself", incoming_);
    if (incoming_.empty() && Clock::now() > begun + second_thoughts && last_object(process_.out().text()))
      return failure(Reply::State::silent, "nothing on the descriptor for replies");
    if (Clock::now() >= deadline) return silence(limits_.describe, incoming_);
  }
  return {.state = Reply::State::complete, .problem = {}, .line = take_line(), .answer = {}, .sets = {}};
}

Reply RawSession::answer() {
  const auto deadline = Clock::now() + limits_.run;
  if (!await_line(deadline)) {
    const std::string begun = incoming_.substr(0, 200);
    if (incoming_.size() > header_limit)
      return failure(Reply::State::garbled, "a header line of more than 1 MiB", begun);
    if (is_over_) return end(incoming_.empty() ? "without an answer" : "in the middle of the header", begun);
    return silence(limits_.run, begun);
  }
  std::string line = take_line();
  Result<AnswerHeader> parsed = parse_answer(line);
  if (!parsed) return failure(Reply::State::garbled, parsed.error(), std::move(line));
  const std::size_t expected = total(parsed->sets);
  while (incoming_.size() < expected && !is_over_ && Clock::now() < deadline) step(deadline);
  if (incoming_.size() < expected) {
    const std::string where =
        "after " + std::to_string(incoming_.size()) + " of " + std::to_string(expected) + " bytes of its answer";
    if (is_over_) return end(where, std::move(line));
    Reply reply = silence(limits_.run, std::move(line));
    reply.problem += "; it stopped " + where;
    return reply;
  }
  Reply reply{.state = Reply::State::complete, .problem = {}, .line = std::move(line), .answer = *parsed, .sets = {}};
  std::size_t from = 0;
  for (const auto& sizes : reply.answer.sets) {
    auto& parts = reply.sets.emplace_back();
    for (const std::size_t size : sizes) parts.push_back(incoming_.substr(std::exchange(from, from + size), size));
  }
  incoming_.erase(0, expected);
  return reply;
}

Exit RawSession::close(std::chrono::milliseconds patience) {
  const auto begun = Clock::now();
  process_.finish(patience);
  Exit farewell;
  farewell.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
  farewell.ending = process_.ending();
  farewell.by_itself = !farewell.ending.empty();
  farewell.failed = process_.has_failed();
  farewell.survivors = process_.escaped();
  is_over_ = true;
  is_usable_ = false;
  return farewell;
}

}  // namespace assay::suites::doctor
