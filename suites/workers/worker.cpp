// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/worker.h"

#include "reference/onnx_io.h"
#include "suites/sandbox/process.h"
#include "suites/text/printable.h"
#include "suites/workers/frame.h"

#include <algorithm>
#include <utility>

namespace assay::suites {

using oracles::Outcome;
using Kind = Outcome::Kind;

// One request and what has come back of its answer.
struct Worker::Exchange {
  enum class Progress { incomplete, complete, garbled };

  Exchange(const Request* requested, const Limits& within) : request(requested), limits(within) {}

  const Request* request = nullptr;  // null: the worker shall describe itself
  const Limits& limits;

  std::string header_line = {};
  Outgoing outgoing = {};
  std::string incoming = {};
  std::size_t header = std::string::npos;  // its length with the newline, once it is there
  Introduction introduction = {};
  AnswerHeader answer = {};
  std::string problem = {};  // of a garbled answer
  bool was_read = true;      // any of the request

  std::chrono::milliseconds limit() const {
    if (!request) return limits.describe;
    return (request->limit.count() ? std::min(request->limit, limits.run) : limits.run) + request->allowance;
  }
  std::size_t expected() const { return header + total(answer.sets); }
  Progress look();
  std::string read_header(std::string_view line);  // what is wrong with it
  std::string where_it_stopped() const;
};

namespace {

constexpr auto grace = std::chrono::milliseconds(500);  // to die, after the reply pipe was closed or stdin was

// "10 s", "1.28 s", "300 ms": from a second on in seconds, so that hangs cut off under several limits read alike but
// for the number.
std::string in_words(std::chrono::milliseconds limit) {
  const auto count = limit.count();
  if (count < 1000) return std::to_string(count) + " ms";
  std::string words = std::to_string(count / 1000);
  if (count % 1000 == 0) return words + " s";
  words += "." + std::to_string(1000 + count % 1000).substr(1);
  return words.substr(0, words.find_last_not_of('0') + 1) + " s";
}

std::string in_words(std::size_t bytes) {
  return bytes >> 20 ? std::to_string(bytes >> 20) + " MiB" : std::to_string(bytes) + " bytes";
}

// Calls take(set, part) for each part of an answer; what it takes exception to is a garbled answer.
template <class F>
Outcome each_part(const Sizes& sizes, std::string_view body, Outcome outcome, F&& take) {
  for (std::size_t set = 0; set < sizes.size(); ++set)
    for (std::size_t part = 0; part < sizes[set].size(); ++part) {
      const std::string problem = take(outcome, set, body.substr(0, sizes[set][part]));
      if (!problem.empty())
        return Outcome::failure(Kind::garbled, "output " + std::to_string(part) + " of set " + std::to_string(set) +
                                                   " is no TensorProto: " + printable(problem));
      body.remove_prefix(sizes[set][part]);
    }
  return outcome;
}

Outcome outputs_of(const Sizes& sizes, std::string_view body) {
  Outcome outputs;
  outputs.sets.resize(sizes.size());
  return each_part(sizes, body, std::move(outputs), [](Outcome& outcome, std::size_t set, std::string_view part) {
    Result<Tensor> tensor = decode_tensor(part);
    if (!tensor) return tensor.error();
    outcome.sets[set].push_back(*std::move(tensor));
    return std::string();
  });
}

// Of a worker that answers shapes.
Outcome types_of(const Sizes& sizes, std::string_view body) {
  Outcome shapes;
  shapes.kind = Kind::shapes;
  shapes.types.resize(sizes.size());
  return each_part(sizes, body, std::move(shapes), [](Outcome& outcome, std::size_t set, std::string_view part) {
    Result<TensorType> type = decode_type(part);
    if (!type) return type.error();
    outcome.types[set].push_back(*std::move(type));
    return std::string();
  });
}

// A worker that cannot write to a third descriptor describes itself on stdout and says so, as the last line so far;
// what it printed before is log.
std::optional<Introduction> introduction_on_stdout(std::string_view log) {
  const std::optional<std::string_view> line = last_object(log);
  if (!line) return std::nullopt;
  Result<Introduction> parsed = parse_introduction(*line);
  if (!parsed || !parsed->replies_on_stdout) return std::nullopt;
  return *std::move(parsed);
}

}  // namespace

std::string Worker::Exchange::read_header(std::string_view line) {
  if (!request) {
    Result<Introduction> parsed = parse_introduction(line);
    if (!parsed) return parsed.error();
    introduction = *std::move(parsed);
    return introduction.replies_on_stdout ? "it wants to reply on stdout, and says so elsewhere" : "";
  }
  Result<AnswerHeader> parsed = parse_answer(line);
  if (!parsed) return parsed.error();
  answer = *std::move(parsed);
  if (answer.id != request->id)
    return "it answers " + printable(answer.id, 40) + ", asked was " + printable(request->id, 40);
  if (answer.kind == Kind::outputs && answer.sets.size() != request->sets.size())
    return std::to_string(answer.sets.size()) + " sets of outputs for " + std::to_string(request->sets.size()) +
           " of inputs";
  if (total(answer.sets) > limits.answer)
    return "an answer of " + in_words(total(answer.sets)) + ", the limit is " + in_words(limits.answer);
  return "";
}

Worker::Exchange::Progress Worker::Exchange::look() {
  if (header == std::string::npos) {
    const std::size_t newline = incoming.find('\n');
    if (std::min(newline, incoming.size()) > header_limit) problem = "a header line of more than 1 MiB";
    if (!problem.empty()) return Progress::garbled;
    if (newline == std::string::npos) return Progress::incomplete;
    header = newline + 1;
    problem = read_header(std::string_view(incoming).substr(0, newline));
    if (problem.empty()) incoming.reserve(expected());  // else it doubles, and needs more than is allowed for
  }
  if (problem.empty() && incoming.size() > expected())
    problem = std::to_string(incoming.size() - expected()) + " bytes more than its sizes say";
  if (!problem.empty()) return Progress::garbled;
  return incoming.size() == expected() ? Progress::complete : Progress::incomplete;
}

std::string Worker::Exchange::where_it_stopped() const {
  if (incoming.empty()) return "without an answer";
  if (header == std::string::npos) return "in the middle of the header";
  return "after " + std::to_string(incoming.size() - header) + " of " + std::to_string(expected() - header) +
         " bytes of its answer";
}

Worker::Worker(std::string name, std::vector<std::string> command, const Limits& limits)
    : name_(std::move(name)), command_(std::move(command)), limits_(limits) {}

Worker::~Worker() {
  if (process_) process_->finish(grace);
}

const Description& Worker::describe() {
  if (description_) return *description_;
  const std::optional<Outcome> failure = start();
  if (!failure) return *description_;
  std::string by_hand;
  for (const std::string& word : command_) by_hand += ' ' + printable(word);
  throw InputError(printable(name_) + ": the worker did not describe itself: " + failure->because +
                   "; try by hand:" + by_hand);
}

void Worker::submit(const Request& request) {
  expects(!exchange_, "a worker runs one request at a time");
  describe();
  pose(request);
}

Outcome Worker::answer() {
  expects(exchange_ != nullptr, "an answer follows a request");
  std::optional<Outcome> failure = not_sent_ ? std::move(not_sent_) : converse(*exchange_);
  // What a worker does before it read any of the request it does over the one before: it is run afresh, once.
  if (failure && !exchange_->was_read) {
    pose(*exchange_->request);
    failure = not_sent_ ? std::move(not_sent_) : converse(*exchange_);
  }
  const std::unique_ptr<Exchange> exchange = std::move(exchange_);
  if (failure) return *std::move(failure);
  note_answer();
  return outcome_of(*exchange);
}

// Starts a worker where there is none, or none that is fresh enough, and sends what it takes without waiting.
void Worker::pose(const Request& request) {
  exchange_.reset();
  not_sent_ = is_ready() && (!request.fresh || is_fresh_) ? std::nullopt : start();
  is_fresh_ = false;
  exchange_ = std::make_unique<Exchange>(&request, limits_);
  if (not_sent_) return;
  process_->allow(allowed_ = memory_for(request));
  process_->forget_log();
  exchange_->header_line = run_line(request);
  exchange_->outgoing.add(exchange_->header_line);
  exchange_->outgoing.add(request.model);
  for (const auto& set : request.sets)
    for (const std::string& part : set) exchange_->outgoing.add(part);
  process_->send(exchange_->outgoing);
}

// A share of the limit is for what the case takes: a runtime that fills half of it alone has the whole.
std::size_t Worker::memory_for(const Request& request) const {
  if (request.memory_share <= 1) return limits_.memory;
  const std::size_t share = limits_.memory / request.memory_share;
  return process_->resident_bytes() < share / 2 ? share : limits_.memory;
}

Outcome Worker::outcome_of(const Exchange& exchange) {
  const AnswerHeader& answer = exchange.answer;
  if (answer.kind != Kind::outputs) return Outcome::failure(answer.kind, printable(answer.because));
  const std::string_view body = std::string_view(exchange.incoming).substr(exchange.header);
  Outcome outcome = description_->answers_shapes ? types_of(answer.sets, body) : outputs_of(answer.sets, body);
  if (outcome.kind == Kind::garbled) process_->kill();
  return outcome;
}

void Worker::note_answer() {
  if (++answers_ == 1 && !process_->is_over()) first_bytes_ = process_->resident_bytes();
}

ResourceUse Worker::upkeep_of_process() const {
  if (!process_ || process_->is_over() || answers_ == 0) return {};
  const Int grown = static_cast<Int>(process_->resident_bytes()) - static_cast<Int>(first_bytes_);
  return {0, answers_, std::max<Int>(0, grown)};
}

ResourceUse Worker::upkeep() const {
  ResourceUse all = retired_;
  all += upkeep_of_process();
  all.processes = starts_;
  return all;
}

bool Worker::begins_afresh_quickly() const { return process_ && process_->forks(); }

bool Worker::has_served_its_time() const {
  if (limits_.recycle_models > 0 && answers_ >= limits_.recycle_models) return true;
  return answers_ > 0 && process_->watched_bytes() > first_bytes_ + limits_.recycle_growth;
}

// Alive, listening, and silent since its last answer: what it said since cannot be the answer to the next request.
bool Worker::is_ready() {
  if (!process_ || process_->is_over()) return false;
  if (has_served_its_time()) {
    retired_ += upkeep_of_process();
    process_->finish(grace);
    return false;
  }
  Outgoing nothing;
  std::string incoming;
  if (process_->wait(nothing, incoming, Clock::now()).is_quiet() && process_->is_listening()) return true;
  process_->kill();
  return false;
}

std::unique_ptr<Process> Worker::opened() const {
  return std::make_unique<Process>(command_, Bounds{limits_.memory, limits_.tasks}, limits_.isolation,
                                   Process::Offer::forks);
}

// Forks a process where the program does that; else takes the spare one, or starts the program again.
std::optional<Outcome> Worker::start() {
  retired_ += upkeep_of_process();
  const bool takes_spare = spare_ != nullptr;
  if (!process_ || !process_->fork()) {
    process_.reset();
    process_ = takes_spare ? std::move(spare_) : opened();
  }
  isolation_ = words(process_->isolation());
  ++starts_;
  answers_ = 0;
  allowed_ = limits_.memory;
  is_fresh_ = true;
  Exchange exchange(nullptr, limits_);
  exchange.header_line = describe_line();
  exchange.outgoing.add(exchange.header_line);
  if (std::optional<Outcome> failure = converse(exchange)) return takes_spare ? start() : failure;
  if (!description_) description_ = std::move(exchange.introduction.description);
  if (!process_->forks() && starts_ > 1) spare_ = opened();  // one that was started again will be again
  return std::nullopt;
}

std::optional<Outcome> Worker::converse(Exchange& exchange) {
  std::optional<Outcome> failure = await(exchange);
  if (failure) process_->kill();
  return failure;
}

// What it does is over; what it did says the rest of its log.
Outcome Worker::failed(Kind kind, std::string because) {
  process_->kill();
  const std::string words = printable(process_->last_words(), 300);
  if (!words.empty()) because += "; its last words: " + words;
  return Outcome::failure(kind, std::move(because));
}

// The reply pipe is closed, and the answer is not complete.
Outcome Worker::ended(const Exchange& exchange) {
  process_->finish(grace);
  if (process_->excess() == LimitExceeded::memory)
    return failed(Kind::out_of_memory, "more than " + in_words(allowed_) + " of memory resident");
  if (process_->excess() == LimitExceeded::tasks)
    return failed(Kind::crashed, "more than " + std::to_string(limits_.tasks) + " processes and threads");
  const std::string ending = process_->ending();
  const bool has_crashed = process_->has_failed() || (!ending.empty() && exchange.incoming.empty());
  return failed(has_crashed ? Kind::crashed : Kind::garbled,
                (ending.empty() ? "closed its reply pipe" : ending) + " " + exchange.where_it_stopped());
}

// Where the worker has chosen stdout, its description is found there.
bool Worker::is_introduced_on_stdout(Exchange& exchange) {
  if (exchange.request || !exchange.incoming.empty()) return false;
  auto introduction = introduction_on_stdout(process_->out().text());
  if (!introduction) return false;
  exchange.introduction = *std::move(introduction);
  process_->take_replies_from_stdout();
  return true;
}

// Deadline: ends the wait for an answer, and does not count the time in which the worker stands in line for a
// processor, so that no machine with too much to do makes a hang of it; eight times the limit is the end. An answer
// within an eighth of the limit costs no look at that.
class Worker::Deadline {
 public:
  Deadline(const Process& process, std::chrono::milliseconds limit)
      : process_(process), limit_(limit), start_(Clock::now()), until_(start_ + limit / 8) {}
  Clock::time_point until() const { return until_; }
  bool has_passed() {
    const auto now = Clock::now();
    if (now < until_) return false;
    QueuedTimes queued = process_.queued();
    if (is_looked_at_) {
      const auto late = longest_queued(queued_, queued);
      if (late < limit_ / 16 || now >= start_ + 8 * limit_) return true;
      until_ = now + late;
    } else {
      until_ = start_ + limit_;
    }
    is_looked_at_ = true;
    queued_ = std::move(queued);
    return false;
  }

 private:
  const Process& process_;
  std::chrono::milliseconds limit_;
  Clock::time_point start_, until_;
  QueuedTimes queued_;
  bool is_looked_at_ = false;
};

// Nothing, once the exchange holds a complete answer.
std::optional<Outcome> Worker::await(Exchange& exchange) {
  using Progress = Exchange::Progress;
  Deadline deadline(*process_, exchange.limit());
  bool is_answered = false;
  for (;;) {
    const auto event = process_->wait(exchange.outgoing, exchange.incoming, deadline.until());
    if (event.arrived) {
      const Progress progress = exchange.look();
      if (progress == Progress::garbled) {
        exchange.was_read = process_->unread_bytes() < exchange.outgoing.sent();
        return Outcome::failure(Kind::garbled, exchange.problem);
      }
      is_answered = progress == Progress::complete;
    }
    const bool is_over = event.closed || event.exited;
    if (is_answered && (is_over || exchange.outgoing.is_empty())) return std::nullopt;
    if (is_introduced_on_stdout(exchange)) return std::nullopt;
    const bool is_late = !is_over && deadline.has_passed();
    exchange.was_read = !(is_over || is_late) || process_->unread_bytes() < exchange.outgoing.sent();
    if (is_over) return ended(exchange);
    if (is_late) {
      was_asleep_ = process_->processor_time() < exchange.limit() / 8;
      return failed(Kind::timed_out, "no answer within " + in_words(exchange.limit()));
    }
  }
}

}  // namespace assay::suites
