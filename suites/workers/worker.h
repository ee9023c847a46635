// SPDX-License-Identifier: Apache-2.0
// Worker: a backend behind the protocol of tools/backends/README.md, in a process of its own. Whatever that process
// does is an Outcome; after anything but an answer it is killed and the next request starts a new one.
#pragma once

#include "suites/sandbox/sandbox.h"
#include "suites/workers/backend.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::suites {

struct Limits {
  std::chrono::milliseconds describe = std::chrono::seconds(120);  // imports are slow
  std::chrono::milliseconds run = std::chrono::seconds(10);
  std::size_t memory = std::size_t{4} << 30;  // resident bytes of the worker and all it starts, watched every 20 ms
  std::size_t tasks = 4096;                   // its processes and threads
  std::size_t answer = std::size_t{4} << 30;  // bytes of one answer, all parts together
  // A new worker takes over between two requests when the old one has answered so many (0: never), or has grown by so
  // many bytes since its first answer. That is no finding.
  int recycle_models = 0;
  std::size_t recycle_growth = std::size_t{1} << 30;
  Isolation isolation = Isolation::pid_namespace;  // the first to be tried

  double run_seconds() const { return std::chrono::duration<double>(run).count(); }
};

class Process;

// Not for several threads at once; each thread has its own.
class Worker : public Backend {
 public:
  // `name` is what the user called it. The program starts at the first request.
  Worker(std::string name, std::vector<std::string> command, const Limits& limits = {});
  ~Worker() override;

  // Throws InputError, in one line that says what to do, when the program cannot be started or does not describe
  // itself.
  const Description& describe() override;
  // Both throw only what describe() throws, and where no process can be started for reasons that are not the worker's.
  // The time limit counts from the call of answer(), so that a worker is not blamed for what the host did meanwhile.
  void submit(const Request& request) override;
  oracles::Outcome answer() override;

  std::string isolation() const override { return isolation_; }
  ResourceUse upkeep() const override;
  int session() const override { return starts_; }
  bool begins_afresh_quickly() const override;
  bool was_asleep() const override { return was_asleep_; }
  const Process* process() const { return process_.get(); }

 private:
  struct Exchange;
  class Deadline;
  void pose(const Request& request);
  std::unique_ptr<Process> opened() const;
  std::optional<oracles::Outcome> start();
  std::optional<oracles::Outcome> converse(Exchange& exchange);
  std::optional<oracles::Outcome> await(Exchange& exchange);
  oracles::Outcome failed(oracles::Outcome::Kind kind, std::string because);
  oracles::Outcome outcome_of(const Exchange& exchange);
  oracles::Outcome ended(const Exchange& exchange);
  bool is_introduced_on_stdout(Exchange& exchange);
  bool is_ready();
  bool has_served_its_time() const;
  std::size_t memory_for(const Request& request) const;
  void note_answer();
  ResourceUse upkeep_of_process() const;

  std::string name_;
  std::vector<std::string> command_;
  Limits limits_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<Process> spare_;  // of a program that does not fork: it warms up while the other works
  std::optional<Description> description_;
  std::unique_ptr<Exchange> exchange_;        // what was sent and is not answered
  std::optional<oracles::Outcome> not_sent_;  // why that request could not be put
  int starts_ = 0, answers_ = 0;              // answers of this process
  bool is_fresh_ = false;                     // it was sent nothing yet
  bool was_asleep_ = false;
  std::size_t first_bytes_ = 0;  // resident after the first of them
  std::size_t allowed_ = 0;      // bytes resident, while it has this request
  ResourceUse retired_;          // of the processes before this one that served their time
  std::string isolation_;
};

// The worker a user names on the command line, as worker_names.h reads it. Throws InputError for an unknown name.
std::unique_ptr<Backend> open_backend(const std::string& name, const Limits& limits = {});

}  // namespace assay::suites
