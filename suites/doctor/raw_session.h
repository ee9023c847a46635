// SPDX-License-Identifier: Apache-2.0
// RawSession: a worker spoken to in raw bytes. Worker (worker.h) hides what went wrong behind an Outcome and starts the
// program afresh; whoever wants to know what a program does with the protocol looks here.
#pragma once

#include "suites/sandbox/process.h"
#include "suites/workers/frame.h"
#include "suites/workers/worker.h"

#include <chrono>
#include <deque>
#include <string>
#include <vector>

namespace assay::suites::doctor {

// Holds what came back for one request.
struct Reply {
  enum class State { complete, garbled, silent, ended };
  State state = State::complete;
  std::string problem;  // of a reply that is not complete, in words
  std::string line;     // the header without its newline, as far as it came
  AnswerHeader answer;
  std::vector<std::vector<std::string>> sets;  // per data set, the parts

  bool is_complete() const { return state == State::complete; }
};

// How a worker ended after its stdin was closed.
struct Exit {
  bool by_itself = false;  // else it was killed
  bool failed = false;     // ended by a signal or with an exit code that is not 0
  std::string ending;      // "ended with exit code 0"
  std::chrono::milliseconds took{0};
  std::vector<pid_t> survivors;  // descendants that had left its process group
};

class RawSession {
 public:
  RawSession(const std::vector<std::string>& command, const Limits& limits);

  // Queued; goes out while anything is waited for.
  void send(std::string bytes);
  void send(const Request& request) { send(run_line(request)), send_body(request); }
  void send_body(const Request& request);
  // Waits until the worker has read everything sent so far, at most `patience`.
  bool is_read(std::chrono::milliseconds patience);
  // Waits until bytes came that nobody has taken yet, at most `patience`.
  bool has_more(std::chrono::milliseconds patience);

  // A reply to `describe`: `line` only. It may come on stdout where it says so.
  Reply introduction();
  // The next answer; that it is the one for `id` is for the caller to see.
  Reply answer();
  Reply submit(const Request& request) { return send(request), answer(); }

  bool is_usable() const { return is_usable_; }  // every reply so far was complete
  bool replies_on_stdout() const { return on_stdout_; }
  // What came on the descriptor for replies and is part of no reply, or on stdout so far.
  std::string_view untaken() const { return incoming_; }
  std::string_view log() const { return process_.out().text(); }

  Exit close(std::chrono::milliseconds patience);

 private:
  bool step(Clock::time_point until);  // false when no more can come
  Reply failure(Reply::State state, std::string problem, std::string line = "");
  Reply silence(std::chrono::milliseconds limit, std::string line);
  Reply end(const std::string& where, std::string line);
  bool await_line(Clock::time_point deadline);
  std::string take_line();
  bool moved_to_stdout();

  Process process_;
  Limits limits_;
  std::deque<std::string> sent_;
  Outgoing outgoing_;
  std::string incoming_;
  bool is_over_ = false, is_usable_ = true, on_stdout_ = false;
};

}  // namespace assay::suites::doctor
