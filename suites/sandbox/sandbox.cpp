// SPDX-License-Identifier: Apache-2.0
#include "suites/sandbox/sandbox.h"

#include "reference/result.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <set>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace assay::suites {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

// --- In the init process, a fork of a program with threads: system calls only, on what was made before the fork. ---

enum class Event : int { refused, not_started, started, ended };

struct Message {
  Event news = Event::refused;
  int value = 0;  // errno, the number of the worker as the init process sees it, or the status of waitpid
};

struct ChildSpec {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const int* descriptors;
  int news, failure_read, failure_write, host;
  Isolation isolation;
  const char *uid_map, *gid_map;
  rlim_t most_tasks;  // 0: no limit is set
};

// fork() without the handlers that glibc and libraries registered for it.
pid_t plain_fork(unsigned long flags, int* handle) {
  return static_cast<pid_t>(::syscall(SYS_clone, flags | SIGCHLD, nullptr, handle, nullptr, nullptr));
}

void tell(const ChildSpec& spec, Event news, int value) {
  const Message message{news, value};
  while (::write(spec.news, &message, sizeof message) < 0 && errno == EINTR) continue;
}

bool write_file(const char* path, const char* text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  const auto size = static_cast<ssize_t>(std::strlen(text));
  const bool is_written = file >= 0 && ::write(file, text, static_cast<std::size_t>(size)) == size;
  if (file >= 0) ::close(file);
  return is_written;
}

// Whoever we are outside, we are inside too: files stay as readable as they were.
bool keep_identity(const ChildSpec& spec) {
  return write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/uid_map", spec.uid_map) &&
         write_file("/proc/self/gid_map", spec.gid_map);
}

// Nothing mounted from here on is seen outside. In a chroot the root need not be a mount point; /proc is one.
bool keep_mounts_apart() {
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 ||
         ::mount(nullptr, "/proc", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
}

// Without a /proc of its own a worker that looks at /proc/<getpid()> would meet a stranger.
bool mount_own_proc() {
  return keep_mounts_apart() && ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

bool settle(const ChildSpec& spec) {
  switch (spec.isolation) {
    case Isolation::user_namespace: return keep_identity(spec) && mount_own_proc();
    case Isolation::pid_namespace: return mount_own_proc();
    case Isolation::subreaper: return ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
  }
  return false;
}

[[noreturn]] void become_worker(const ChildSpec& spec) {
  for (int number = 0; number < 5; ++number) ::dup2(spec.descriptors[number], number);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr rlimit no_core_dumps{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core_dumps);
  const rlimit tasks{spec.most_tasks, spec.most_tasks};
  if (spec.most_tasks > 0) ::setrlimit(RLIMIT_NPROC, &tasks);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(spec.program, spec.arguments, spec.environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t ignored = ::write(spec.failure_write, &error, sizeof error);
  ::_exit(EXIT_FAILURE);
}

// Holds nothing but the news pipe: a pipe of the worker shall end with the worker.
void let_go_of_all_but_news(ChildSpec& spec) {
  ::dup2(spec.news, 0);
  spec.news = 0;
  if (::syscall(SYS_close_range, 1u, ~0u, 0u) != 0)
    for (int number = 1; number < 65536; ++number) ::close(number);
}

bool is_ready(int descriptor) {
  pollfd watched{descriptor, POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

// It stays until nobody is left. As an init it takes all of its namespace with it when it is killed.
[[noreturn]] void be_init(ChildSpec spec) {
  ::prctl(PR_SET_NAME, "assay-init");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (is_ready(spec.host)) ::_exit(EXIT_FAILURE);  // the host died before the line above
  ::setpgid(0, 0);
  ::signal(SIGCHLD, SIG_DFL);
  if (!settle(spec)) {
    tell(spec, Event::refused, errno);
    ::_exit(EXIT_FAILURE);
  }
  const pid_t worker = plain_fork(0, nullptr);
  if (worker == 0) become_worker(spec);
  int error = worker < 0 ? errno : 0;
  ::close(spec.failure_write);
  if (worker > 0)
    while (::read(spec.failure_read, &error, sizeof error) < 0 && errno == EINTR) continue;
  let_go_of_all_but_news(spec);
  tell(spec, error ? Event::not_started : Event::started, error ? error : worker);
  for (int status = 0;;) {
    const pid_t ended = ::waitpid(-1, &status, __WALL);
    if (ended < 0 && errno != EINTR) ::_exit(EXIT_SUCCESS);
    if (ended != worker) continue;
    if (!error) tell(spec, Event::ended, status);
  }
}

// --- In the host. ---

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// Before 5.14 RLIMIT_NPROC counted every process of the user, wherever it was.
bool counts_tasks_by_namespace() {
  utsname names{};
  int major = 0, minor = 0;
  if (::uname(&names) != 0 || std::sscanf(names.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 14);
}

std::string own_map(unsigned id) { return std::to_string(id) + " " + std::to_string(id) + " 1"; }

unsigned long namespaces(Isolation isolation) {
  switch (isolation) {
    case Isolation::pid_namespace: return CLONE_NEWPID | CLONE_NEWNS;
    case Isolation::user_namespace: return CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS;
    case Isolation::subreaper: return 0;
  }
  return 0;
}

// Signals that arrive between fork and exec would run our handlers in the child.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(NoSignals&&) = delete;

 private:
  sigset_t before_;
};

template <class Number>
Number number_in(std::string_view text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string content(int folder, const std::string& path) {
  const Descriptor file(::openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(4096, '\0');
  const ssize_t size = file.is_open() ? ::read(file.number(), text.data(), text.size()) : 0;
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

std::vector<pid_t> numbers_in(int folder, const std::string& path) {
  std::vector<pid_t> numbers;
  const int opened = ::openat(folder, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(opened), ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr)
    if (const auto number = number_in<pid_t>(entry->d_name); number > 0) numbers.push_back(number);
  return numbers;
}

// The children that any of its threads started.
void add_children(pid_t parent, std::vector<pid_t>& all) {
  const std::string tasks = "/proc/" + std::to_string(parent) + "/task";
  for (const pid_t task : numbers_in(AT_FDCWD, tasks)) {
    const std::string list = content(AT_FDCWD, tasks + "/" + std::to_string(task) + "/children");
    for (std::size_t at = 0; at < list.size(); at = std::min(list.find(' ', at), list.size() - 1) + 1)
      all.push_back(number_in<pid_t>(std::string_view(list).substr(at)));
  }
}

struct Descendant {
  bool is_zombie = false;
  pid_t group = 0;
  Usage usage;
};

// From a line of /proc/…/stat, as proc(5) numbers its fields. The name, field 2, may hold anything.
Descendant described(std::string_view stat) {
  stat.remove_prefix(std::min(stat.rfind(')') + 1, stat.size()));
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  Descendant descendant;
  for (int field = 2; field <= 24 && !stat.empty(); ++field) {
    const std::size_t end = std::min(stat.find(' '), stat.size());
    const std::string_view word = stat.substr(0, end);
    if (field == 3) descendant.is_zombie = word == "Z" || word == "X";
    if (field == 5) descendant.group = number_in<pid_t>(word);
    if (field == 14 || field == 15) descendant.usage.ticks += number_in<std::size_t>(word);
    if (field == 20) descendant.usage.tasks = number_in<std::size_t>(word);
    if (field == 24) descendant.usage.resident = number_in<std::size_t>(word) * page;
    stat.remove_prefix(std::min(end + 1, stat.size()));
  }
  return descendant;
}

}  // namespace

std::string_view words(Isolation isolation) {
  switch (isolation) {
    case Isolation::pid_namespace: return "pid namespace";
    case Isolation::user_namespace: return "user and pid namespace";
    case Isolation::subreaper: return "subreaper, no namespace";
  }
  return "";
}

std::chrono::nanoseconds longest_queued(const QueuedTimes& before, const QueuedTimes& now) {
  std::chrono::nanoseconds longest(0);
  for (const auto& [thread, time] : now) {
    const auto known = before.find(thread);
    longest = std::max(longest, known == before.end() ? time : time - known->second);
  }
  return longest;
}

Sandbox::Sandbox(const SpawnOptions& spawn) {
  // What was refused once will be refused again.
  static std::atomic<Isolation> possible = Isolation::pid_namespace;
  for (Isolation next = std::max(spawn.best, possible.load());; next = Isolation(static_cast<int>(next) + 1)) {
    // Root in a user namespace of its own could not read the files of others any more.
    if (next == Isolation::user_namespace && ::geteuid() == 0) continue;
    if (start(spawn, next)) return;
    if (next == Isolation::subreaper) throw InputError(printable(spawn.program) + " cannot be started");
    possible = Isolation(static_cast<int>(next) + 1);
  }
}

// False where this kind of isolation is refused.
bool Sandbox::start(const SpawnOptions& spawn, Isolation isolation) {
  std::vector<std::string> arguments = spawn.arguments, environment = spawn.environment;
  arguments.insert(arguments.begin(), spawn.program);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  const std::string uid_map = own_map(::geteuid()), gid_map = own_map(::getegid());
  const bool has_limit = isolation == Isolation::user_namespace && counts_tasks_by_namespace();
  Pipe news, failure;
  const Descriptor host(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  const ChildSpec spec{spawn.program.c_str(),    argv.data(),         envp.data(),
                       spawn.descriptors.data(), news.write.number(), failure.read.number(),
                       failure.write.number(),   host.number(),       isolation,
                       uid_map.c_str(),          gid_map.c_str(),     has_limit ? spawn.most_tasks : 0};
  int handle = -1;
  {
    const NoSignals around;
    init_ = plain_fork(namespaces(isolation) | CLONE_PIDFD, &handle);
    if (init_ == 0) be_init(spec);
  }
  const int error = errno;
  if (init_ < 0 && isolation == Isolation::subreaper)
    throw InputError(printable(spawn.program) + " cannot be started: " + reason(error));
  if (init_ < 0) return false;
  handle_ = Descriptor(handle);
  isolation_ = isolation;
  news_ = std::move(news.read);
  news.write.close();
  failure.write.close();
  Message message;
  while (::read(news_.number(), &message, sizeof message) < 0 && errno == EINTR) continue;
  if (message.news == Event::started) {
    worker_ = message.value;
    set_nonblocking(news_);
    if (isolation != Isolation::subreaper) {
      const std::string root = "/proc/" + std::to_string(init_) + "/root";
      proc_ = Descriptor(::open((root + "/proc").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    return true;
  }
  close();
  is_closed_ = false;
  status_.reset();
  if (message.news == Event::not_started)
    throw InputError(printable(spawn.program) + " cannot be started: " + reason(message.value));
  return false;
}

// By the numbers they have in proc_, or else in our own /proc.
std::vector<pid_t> Sandbox::everyone() const {
  std::vector<pid_t> all;
  if (proc_.is_open()) {
    all = numbers_in(proc_.number(), ".");
    std::erase(all, 1);
  } else {
    add_children(init_, all);
    for (std::size_t i = 0; i < all.size(); ++i) add_children(pid_t{all[i]}, all);
  }
  return all;
}

// Without a program that only forks.
std::vector<pid_t> Sandbox::descendants() const {
  std::vector<pid_t> all = everyone();
  if (is_fork_server_) std::erase(all, worker_);
  return all;
}

// A process of another namespace is named by its entry in the /proc of that one.
void Sandbox::signal(pid_t descendant, int number) const {
  if (!proc_.is_open()) {
    ::kill(descendant, number);
    return;
  }
  const std::string name = std::to_string(descendant);
  const Descriptor entry(::openat(proc_.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (entry.is_open()) ::syscall(SYS_pidfd_send_signal, entry.number(), number, nullptr, 0);
}

std::string Sandbox::stat_of(pid_t descendant) const { return content(proc_.number(), folder_of(descendant) + "stat"); }

// Returns the folder of a descendant, below proc_ or, where that is not open, from the root.
std::string Sandbox::folder_of(pid_t descendant) const {
  return (proc_.is_open() ? "" : "/proc/") + std::to_string(descendant) + "/";
}

// Reads the second number of each /proc/…/schedstat, which counts nanoseconds.
QueuedTimes Sandbox::queued() const {
  QueuedTimes all;
  for (const pid_t descendant : descendants()) {
    const std::string tasks = folder_of(descendant) + "task";
    for (const pid_t task : numbers_in(proc_.number(), tasks)) {
      const std::string times = content(proc_.number(), tasks + "/" + std::to_string(task) + "/schedstat");
      if (const std::size_t second = times.find(' '); second != std::string::npos)
        all[task] = std::chrono::nanoseconds(number_in<std::int64_t>(std::string_view(times).substr(second + 1)));
    }
  }
  return all;
}

Usage Sandbox::usage(std::size_t enough) const {
  Usage sum;
  for (const pid_t descendant : descendants()) {
    const Usage one = described(stat_of(descendant)).usage;
    sum.resident += one.resident;
    sum.tasks += one.tasks;
    sum.ticks += one.ticks;
    if (sum.tasks > enough) break;
  }
  return sum;
}

std::vector<pid_t> Sandbox::escaped(pid_t leader) const {
  std::vector<pid_t> all = descendants();
  std::erase_if(all, [&](pid_t id) {
    const Descendant descendant = described(stat_of(id));
    return descendant.is_zombie || descendant.group == 0 || descendant.group == leader;
  });
  return all;
}

// Stopped first, so that none starts another while we look.
void Sandbox::end(std::vector<pid_t> (Sandbox::*who)() const) const {
  std::set<pid_t> stopped;
  for (std::size_t before = 1; before != stopped.size();) {
    before = stopped.size();
    for (const pid_t descendant : (this->*who)())
      if (stopped.insert(descendant).second) signal(descendant, SIGSTOP);
  }
  for (const pid_t descendant : stopped) signal(descendant, SIGKILL);
}

void Sandbox::clear() const { end(&Sandbox::descendants); }

bool Sandbox::is_clear() const {
  return std::ranges::all_of(descendants(), [&](pid_t id) {
    const std::string stat = stat_of(id);
    return stat.empty() || described(stat).is_zombie;
  });
}

void Sandbox::kill() const {
  // In a namespace the end of the init process is the end of all.
  if (isolation_ != Isolation::subreaper)
    ::syscall(SYS_pidfd_send_signal, handle_.number(), SIGKILL, nullptr, 0);
  else
    end(&Sandbox::everyone);
}

void Sandbox::listen() {
  Message message;
  if (news_.is_open() && ::read(news_.number(), &message, sizeof message) == sizeof message &&
      message.news == Event::ended)
    status_ = message.value;
}

void Sandbox::close() {
  if (init_ < 0 || std::exchange(is_closed_, true)) return;
  if (!status_) listen();
  if (!status_ && is_ready(handle_.number())) status_ = SIGKILL;  // a stranger ended the init process
  kill();
  int status = 0;
  if (isolation_ == Isolation::subreaper) {
    // The init process ends when its last child has.
    pollfd watched{handle_.number(), POLLIN, 0};
    ::poll(&watched, 1, 1000);
    ::syscall(SYS_pidfd_send_signal, handle_.number(), SIGKILL, nullptr, 0);
  }
  while (::waitpid(init_, &status, 0) < 0 && errno == EINTR) continue;
}

}  // namespace assay::suites
