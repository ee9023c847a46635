// SPDX-License-Identifier: Apache-2.0
// Process: a child in a cell with a temporary directory of its own, spoken to over pipes. Nothing of it outlives the
// object: what it started is killed with it, the directory removed.
#pragma once

#include "suites/sandbox/descriptor.h"
#include "suites/sandbox/fork_server.h"
#include "suites/sandbox/resource_monitor.h"
#include "suites/sandbox/sandbox.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <sys/uio.h>
#include <vector>

namespace assay::suites {

using Clock = std::chrono::steady_clock;

// A new directory, removed with all it holds.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::filesystem::path& path() const { return path_; }
  void clear() const;  // removes what it holds

 private:
  std::filesystem::path path_;
};

// The last words of a stream; a chatty child costs no more than this.
class Tail {
 public:
  void append(std::string_view bytes);
  void clear() { text_.clear(); }
  std::string_view text() const { return text_; }
  std::string_view last_line() const;  // that is not blank

 private:
  static constexpr std::size_t limit = std::size_t{1} << 16;
  std::string text_;
};

// What is still to be sent: views of bytes the sender keeps.
class Outgoing {
 public:
  void add(std::string_view bytes);
  bool is_empty() const { return next_ == views_.size(); }
  // Writes what fits; false when nobody will read the rest.
  bool write_to(int descriptor);
  std::size_t sent() const { return sent_; }

 private:
  std::vector<iovec> views_;
  std::size_t next_ = 0, sent_ = 0;
};

class Process {
 public:
  // The program is looked for in PATH. The child reads its requests on stdin and replies on descriptor 3, which
  // ASSAY_REPLY_FD names. Throws InputError when it cannot be started.
  // `offer`: whether the program is told that it may fork.
  enum class Offer { nothing, forks };
  explicit Process(const std::vector<std::string>& command, const Bounds& bounds = {},
                   Isolation best = Isolation::pid_namespace, Offer offer = Offer::nothing);
  ~Process();
  Process(Process&&) = delete;

  // Tells whether the program forks, once it has described itself: then this is its child, and fork() begins the next
  // one.
  bool forks();
  // Ends the child and begins another, with an empty temporary directory. False where that fails: then it takes a new
  // Process.
  bool fork();

  // Frames come on stdout from now on, as if on the reply pipe.
  void take_replies_from_stdout();

  struct Event {
    bool arrived = false;  // bytes were appended to `incoming`
    bool closed = false;   // no more will: the reply pipe is closed
    bool exited = false;   // no more will: the process has ended, and all it started with it
    bool is_quiet() const { return !arrived && !closed && !exited; }
  };
  void send(Outgoing& outgoing);  // what it takes without waiting
  // Waits until something happens, at most until `until`: sends, receives, collects the log. A time that has passed
  // looks without waiting.
  Event wait(Outgoing& outgoing, std::string& incoming, Clock::time_point until);

  bool is_listening() const { return is_listening_; }
  bool is_over() const { return is_over_; }
  std::size_t unread_bytes() const;                           // of what was sent to it
  std::size_t resident_bytes() const;                         // of the child and all it started, counted now
  std::chrono::milliseconds processor_time() const;           // that those which live have used
  QueuedTimes queued() const { return cell_->queued(); }      // of its threads
  std::size_t watched_bytes() const;                          // the same, up to 20 ms old and for nothing
  void allow(std::size_t memory);                             // resident bytes from now on
  LimitExceeded excess() const;                               // of which it was killed
  Isolation isolation() const { return cell_->isolation(); }  // how it is kept from the rest
  // Ends it and all it started now, and collects what is left in its log.
  void kill();
  // Lets the child end by itself, having closed its stdin; kills what is left after `grace`.
  void finish(std::chrono::milliseconds grace);
  // What had left its process group when finish() ended the rest; it was ended as well.
  const std::vector<pid_t>& escaped() const { return escaped_; }
  // How it ended: "died by SIGSEGV (Segmentation fault)" or "ended with exit code 3"; empty while it runs, and
  // where it was killed by us.
  std::string ending() const;
  bool has_failed() const;  // ended by a signal or with an exit code that is not zero

  const Tail& out() const { return out_log_; }
  std::string_view last_words() const;  // the last line of stderr, or else of stdout
  void forget_log();
  pid_t init() const { return cell_->init(); }
  const std::filesystem::path& directory() const { return directory_.path(); }

 private:
  // The pipes of one child, both ends of each.
  struct Ends {
    Pipe in, reply, out, err;
  };
  void take(Ends ends);
  const Descriptor& news() const { return is_forked_ ? server_.news() : cell_->news(); }
  void note_ending(std::chrono::milliseconds within);
  void end_child();
  void read_log(Descriptor& from, Tail& log);
  bool receive(std::string& incoming);

  TemporaryDirectory directory_;
  ForkServer server_;
  Bounds bounds_;
  Descriptor in_, reply_, out_, err_;
  Tail out_log_, err_log_;
  std::unique_ptr<Sandbox> cell_;
  std::unique_ptr<MonitoredProcess> watched_;
  std::vector<pid_t> escaped_;
  std::optional<int> status_;  // as waitpid has it; none while it runs, and where we ended it
  bool is_listening_ = true;
  bool is_over_ = false;
  bool is_forked_ = false;
};

}  // namespace assay::suites
