// SPDX-License-Identifier: Apache-2.0
// Fork server: a worker's program that, once its runtime is loaded, forks a process for every session. That takes
// milliseconds where a start takes hundreds, so a case can be run first in a fresh process whenever that matters. Both
// ends of the socket between host and program; tools/backends/README.md, "Fork", has the messages.
#pragma once

#include "suites/sandbox/descriptor.h"

#include <array>
#include <chrono>
#include <optional>
#include <sys/types.h>

namespace assay::suites {

inline constexpr int fork_descriptor = 4;  // of the program; ASSAY_FORK_FD names it

// The host's end.
class ForkServer {
 public:
  const Descriptor& for_program() const { return sockets_.theirs; }
  // Closes the program's end here: with it the socket ends when the program does.
  void has_started() { sockets_.theirs.close(); }

  // Tells whether the program said that it forks, which it does before it describes itself.
  bool is_there();
  // The process that answers, by its number inside the cell.
  pid_t child() const { return child_; }
  // Has the program fork a process with these descriptors as 0 to 3. False where it does not.
  bool fork(const std::array<int, 4>& descriptors);
  // Readable when the child has ended or the program has gone.
  const Descriptor& news() const { return sockets_.ours; }
  // How the child ended, as waitpid has it, told within so long; nothing where it runs still or the program has gone.
  std::optional<int> ending(std::chrono::milliseconds within);

 private:
  bool hear(std::chrono::milliseconds within);

  SocketPair sockets_;
  bool is_gone_ = false;
  pid_t child_ = 0;
  std::optional<int> status_;
};

// The program's end. Returns at once where nobody wants forks or a fork is not safe: another thread runs, or a device
// is open. Else it stays, forks a process for every request, and returns in each of these.
void fork_on_request();

}  // namespace assay::suites
