// SPDX-License-Identifier: Apache-2.0
// Sandbox: where a worker lives. Whatever it starts it starts inside, and nothing of it is left when the cell is
// closed.
//
//   pid_namespace   as root: a pid and a mount namespace with a /proc of its own
//   user_namespace  else: the same in a user namespace, in which RLIMIT_NPROC counts this worker alone
//   subreaper       where the kernel or a container refuses both: orphans come back to the init process, and are
//   searched for
//
// Between us and the worker stands the init process, a fork of ours: init of the namespace, so that the worker is not
// (an init ignores its own abort), and the one who tells how the worker ended.
#pragma once

#include "suites/sandbox/descriptor.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace assay::suites {

enum class Isolation { pid_namespace, user_namespace, subreaper };
std::string_view words(Isolation isolation);  // for the report

// Counts what is in a cell, the init process aside, and a program that only forks.
struct Usage {
  std::size_t resident = 0;  // bytes
  std::size_t tasks = 0;     // processes and threads
  std::size_t ticks = 0;     // of processor time, as sysconf(_SC_CLK_TCK) has them
};

using QueuedTimes = std::map<pid_t, std::chrono::nanoseconds>;
// Returns how long the thread stood in line in between that stood there longest.
std::chrono::nanoseconds longest_queued(const QueuedTimes& before, const QueuedTimes& now);

struct SpawnOptions {
  std::string program;                              // a path
  std::vector<std::string> arguments, environment;  // without the program; "KEY=VALUE"
  std::array<int, 5> descriptors;                   // become 0 to 4
  Isolation best = Isolation::pid_namespace;        // the first to be tried
  std::size_t most_tasks = 0;                       // enforced by the kernel where it can
};

class Sandbox {
 public:
  // Throws InputError when the program cannot be started.
  explicit Sandbox(const SpawnOptions& spawn);
  ~Sandbox() { close(); }
  Sandbox(Sandbox&&) = delete;

  // Readable once the worker has ended.
  const Descriptor& news() const { return news_; }
  // Stops counting above `enough` tasks.
  Usage usage(std::size_t enough) const;
  // Returns how long each thread that lives has stood in line for a processor; empty where the kernel does not count.
  QueuedTimes queued() const;
  // Living descendants that left the process group of `leader`, by the numbers they have inside.
  std::vector<pid_t> escaped(pid_t leader) const;
  // The program that was started, by the number it has inside.
  pid_t program() const { return worker_; }
  // From now on the program itself is no worker but forks them: it is not counted, and clear() spares it.
  void note_fork_server() { is_fork_server_ = true; }
  // Ends everything inside but a program that forks. Another thread may call it, as it may kill() and census().
  void clear() const;
  // Tells whether nothing but a program that forks is left.
  bool is_clear() const;
  // Ends everything inside.
  void kill() const;
  // Ends everything inside and returns when it has ended.
  void close();
  // How the worker ended, as waitpid has it; nothing while it runs and where close() ended it.
  std::optional<int> status() const { return status_; }
  Isolation isolation() const { return isolation_; }
  pid_t init() const { return init_; }

 private:
  bool start(const SpawnOptions& spawn, Isolation isolation);
  void listen();
  std::vector<pid_t> everyone() const;
  std::vector<pid_t> descendants() const;
  void end(std::vector<pid_t> (Sandbox::*who)() const) const;
  void signal(pid_t descendant, int number) const;
  std::string stat_of(pid_t descendant) const;
  std::string folder_of(pid_t descendant) const;

  Isolation isolation_ = Isolation::subreaper;
  pid_t init_ = -1, worker_ = -1;
  Descriptor handle_;  // of the init process: signals sent to it never reach another process
  Descriptor news_;
  Descriptor proc_;  // as the descendants see it
  std::optional<int> status_;
  bool is_closed_ = false;
  std::atomic<bool> is_fork_server_ = false;
};

}  // namespace assay::suites
