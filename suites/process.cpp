// SPDX-License-Identifier: Apache-2.0
#include "suites/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 leaves the C linkage out; harmless where it does not
}

#include "reference/result.h"
#include "suites/printable.h"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/error.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <mutex>
#include <queue>
#include <thread>

namespace assay::suites {
namespace {

namespace bp = boost::process;

constexpr int reply_descriptor = 3;

// Empties any pipe of a dead child, and ends although a descendant that left the group goes on writing.
constexpr int most_reads = 256;

std::string reason(int error) { return std::generic_category().message(error); }

// Our ends of the pipes lie above the numbers the child gives to its own.
Descriptor above_standard(int number) {
  Descriptor low(number);
  Descriptor high(::fcntl(number, F_DUPFD_CLOEXEC, 10));
  if (!high.is_open()) throw InputError("no more file descriptors: raise `ulimit -n` or lower --jobs");
  return high;
}

struct Pipe {
  Descriptor read, write;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw InputError("no pipe for a worker: " + reason(errno));
    read = above_standard(ends[0]);
    write = above_standard(ends[1]);
  }
};

void set_nonblocking(const Descriptor& descriptor) {
  ::fcntl(descriptor.number(), F_SETFL, ::fcntl(descriptor.number(), F_GETFL) | O_NONBLOCK);
}

// What happens in the child between fork and exec: only calls that are safe after a fork in a program with threads.
struct ChildSetup : bp::extend::handler {
  std::array<int, 4> descriptors;  // become 0 to 3
  pid_t host = ::getpid();

  template <class Executor>
  void on_exec_setup(Executor&) const {
    for (int number = 0; number < static_cast<int>(descriptors.size()); ++number)
      ::dup2(descriptors[static_cast<std::size_t>(number)], number);
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != host) ::_exit(EXIT_FAILURE);  // the host died before the line above
    constexpr rlimit no_core_dumps{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core_dumps);
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
  }

  // Boost only polls once for a child that could not exec, and may leave it a zombie.
  template <class Executor>
  void on_error(Executor& executor, const std::error_code&) const {
    if (executor.pid > 0) ::waitpid(executor.pid, nullptr, 0);
  }
};

// One thread starts all children and lives as long as the program: PR_SET_PDEATHSIG follows the thread that forked,
// not the program, and Boost's pipe for exec errors leaks into any child forked at the same time.
class Nursery {
 public:
  static Nursery& instance() {
    static Nursery* const nursery = new Nursery;  // its thread may outlive the statics
    return *nursery;
  }

  pid_t start(std::packaged_task<pid_t()> birth) {
    std::future<pid_t> id = birth.get_future();
    {
      const std::lock_guard lock(mutex_);
      births_.push(std::move(birth));
    }
    arrived_.notify_one();
    return id.get();
  }

 private:
  Nursery() {
    // A worker that dies while we write to it is an outcome, not a reason to die.
    if (const auto old = ::signal(SIGPIPE, SIG_IGN); old != SIG_DFL && old != SIG_ERR) ::signal(SIGPIPE, old);
    std::thread([this] { serve(); }).detach();
  }

  [[noreturn]] void serve() {
    for (;;) {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [&] { return !births_.empty(); });
      std::packaged_task<pid_t()> birth = std::move(births_.front());
      births_.pop();
      lock.unlock();
      birth();
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::queue<std::packaged_task<pid_t()>> births_;
};

bool is_program(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// As execvp: a name without a slash is looked for in PATH.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (is_program(name)) return name;
  } else if (const char* path = std::getenv("PATH")) {
    std::string_view folders = path;
    while (!folders.empty()) {
      const std::size_t end = std::min(folders.find(':'), folders.size());
      const auto candidate = std::filesystem::path(folders.substr(0, end)) / name;
      if (is_program(candidate)) return candidate.string();
      folders.remove_prefix(std::min(end + 1, folders.size()));
    }
  }
  const bool exists = std::filesystem::exists(name) && name.find('/') != std::string::npos;
  throw InputError(printable(name) + (exists ? " is not a program: make it executable" : ": there is no such program"));
}

pid_t spawn(const std::vector<std::string>& command, const std::filesystem::path& directory, const ChildSetup& setup) {
  const std::string program = find_program(command.at(0));
  bp::environment environment = boost::this_process::environment();
  environment["TMPDIR"] = directory.string();
  environment["ASSAY_REPLY_FD"] = std::to_string(reply_descriptor);
  const std::vector<std::string> arguments(command.begin() + 1, command.end());
  std::error_code error;
  bp::child child(bp::exe = program, bp::args = arguments, environment, setup, error);
  if (error) throw InputError(printable(program) + " cannot be started: " + error.message());
  child.detach();  // its end is ours to watch
  return child.id();
}

// The threads of a process and the children each of them started.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code gone;
  const std::string tasks = "/proc/" + std::to_string(parent) + "/task";
  for (std::filesystem::directory_iterator task(tasks, gone), end; !gone && task != end; task.increment(gone)) {
    std::ifstream list(task->path() / "children");
    for (pid_t child; list >> child;) children.push_back(child);
  }
  return children;
}

std::size_t resident_pages(pid_t id) {
  std::ifstream statm("/proc/" + std::to_string(id) + "/statm");
  std::size_t size = 0, resident = 0;
  statm >> size >> resident;
  for (const pid_t child : children_of(id)) resident += resident_pages(child);
  return resident;
}

int milliseconds_until(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

}  // namespace

void Descriptor::close() {
  if (is_open()) ::close(std::exchange(number_, -1));
}

TemporaryDirectory::TemporaryDirectory() {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "assay-XXXXXX").string();
  if (error || !::mkdtemp(pattern.data()))
    throw InputError("no temporary directory can be made in " + pattern +
                     ": set TMPDIR to a folder that can be written");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Tail::append(std::string_view bytes) {
  text_.append(bytes.substr(bytes.size() - std::min(bytes.size(), limit)));
  if (text_.size() > 2 * limit) text_.erase(0, text_.size() - limit);
}

std::string_view Tail::last_line() const {
  std::string_view text = text_;
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return {};
  text = text.substr(0, last + 1);
  const std::size_t newline = text.find_last_of("\r\n");
  return newline == std::string_view::npos ? text : text.substr(newline + 1);
}

void Outgoing::add(std::string_view bytes) {
  if (!bytes.empty()) views_.push_back({const_cast<char*>(bytes.data()), bytes.size()});
}

bool Outgoing::write_to(int descriptor) {
  while (!is_empty()) {
    const auto count = static_cast<int>(std::min<std::size_t>(views_.size() - next_, IOV_MAX));
    const ssize_t result = ::writev(descriptor, &views_[next_], count);
    if (result < 0) return errno == EAGAIN || errno == EINTR;
    sent_ += static_cast<std::size_t>(result);
    for (auto sent = static_cast<std::size_t>(result); sent > 0;) {
      iovec& view = views_[next_];
      const std::size_t part = std::min(sent, view.iov_len);
      view = {static_cast<char*>(view.iov_base) + part, view.iov_len - part};
      sent -= part;
      if (view.iov_len == 0) ++next_;
    }
  }
  return true;
}

Process::Process(const std::vector<std::string>& command) {
  Pipe in, reply, out, err;
  ChildSetup setup;
  setup.descriptors = {in.read.number(), out.write.number(), err.write.number(), reply.write.number()};
  id_ =
      Nursery::instance().start(std::packaged_task<pid_t()>([&] { return spawn(command, directory_.path(), setup); }));
  in_ = std::move(in.write);
  reply_ = std::move(reply.read);
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  for (const Descriptor* ours : {&in_, &reply_, &out_, &err_}) set_nonblocking(*ours);
  alive_ = Descriptor(::pidfd_open(id_, 0));  // ready to be read when the child has ended
}

Process::~Process() { kill(); }

void Process::take_replies_from_stdout() {
  reply_ = std::move(out_);
  out_.close();
}

bool Process::receive(std::string& incoming) {
  std::array<char, 1 << 16> chunk;
  const ssize_t count = ::read(reply_.number(), chunk.data(), chunk.size());
  if (count > 0) incoming.append(chunk.data(), static_cast<std::size_t>(count));
  if (count == 0) reply_.close();
  return count > 0;
}

void Process::read_log(Descriptor& from, Tail& log) {
  std::array<char, 1 << 14> chunk;
  const ssize_t count = ::read(from.number(), chunk.data(), chunk.size());
  if (count > 0) log.append({chunk.data(), static_cast<std::size_t>(count)});
  if (count == 0) from.close();
}

void Process::send(Outgoing& outgoing) {
  if (!outgoing.is_empty() && is_listening_) is_listening_ = outgoing.write_to(in_.number());
}

Process::Event Process::wait(Outgoing& outgoing, std::string& incoming, Clock::time_point until) {
  Event event;
  send(outgoing);
  const short sending = outgoing.is_empty() ? 0 : POLLOUT;  // an error is reported in any case
  std::array<pollfd, 5> watched = {{{is_listening_ ? in_.number() : -1, sending, 0},
                                    {reply_.number(), POLLIN, 0},
                                    {out_.number(), POLLIN, 0},
                                    {err_.number(), POLLIN, 0},
                                    {alive_.number(), POLLIN, 0}}};
  if (::poll(watched.data(), watched.size(), milliseconds_until(until)) <= 0) return event;
  if (watched[0].revents & POLLERR) is_listening_ = false;
  if (watched[2].revents) read_log(out_, out_log_);
  if (watched[3].revents) read_log(err_, err_log_);
  if (watched[1].revents) event.arrived = receive(incoming);
  if (watched[4].revents) {
    event.exited = true;
    kill();
    for (int reads = 0; reads < most_reads && reply_.is_open() && receive(incoming); ++reads) event.arrived = true;
  }
  event.closed = !reply_.is_open();
  return event;
}

std::size_t Process::unread_bytes() const {
  int bytes = 0;
  ::ioctl(in_.number(), FIONREAD, &bytes);  // Linux tells it at either end of a pipe, and after the reader's death
  return static_cast<std::size_t>(bytes);
}

std::size_t Process::resident_bytes() const {
  return resident_pages(id_) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void Process::reap() {
  if (std::exchange(is_reaped_, true)) return;
  while (::waitpid(id_, &status_, 0) < 0 && errno == EINTR) continue;
}

void Process::kill() {
  if (is_reaped_) return;
  siginfo_t ended{};
  is_killed_ = ::waitid(P_PID, static_cast<id_t>(id_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
  // Before the leader is reaped its number, and so the group's, belongs to nobody else.
  ::kill(-id_, SIGKILL);
  reap();
  for (const auto& [from, log] : {std::pair{&out_, &out_log_}, std::pair{&err_, &err_log_}}) {
    for (int reads = 0; from->is_open() && reads < most_reads; ++reads) {
      pollfd watched{from->number(), POLLIN, 0};
      if (::poll(&watched, 1, 0) <= 0) break;
      read_log(*from, *log);
    }
  }
}

void Process::finish(std::chrono::milliseconds grace) {
  in_.close();
  is_listening_ = false;
  pollfd watched{alive_.number(), POLLIN, 0};
  if (alive_.is_open()) ::poll(&watched, 1, static_cast<int>(grace.count()));
  kill();
}

bool Process::has_failed() const { return is_reaped_ && !is_killed_ && status_ != 0; }

std::string Process::ending() const {
  if (!is_reaped_ || is_killed_) return "";
  if (WIFEXITED(status_)) return "ended with exit code " + std::to_string(WEXITSTATUS(status_));
  const int number = WTERMSIG(status_);
  const char* name = ::sigabbrev_np(number);
  const char* description = ::sigdescr_np(number);
  if (!name || !description) return "died by signal " + std::to_string(number);
  return "died by SIG" + std::string(name) + " (" + description + ")";
}

std::string_view Process::last_words() const {
  const std::string_view words = err_log_.last_line();
  return words.empty() ? out_log_.last_line() : words;
}

void Process::forget_log() {
  out_log_.clear();
  err_log_.clear();
}

}  // namespace assay::suites
