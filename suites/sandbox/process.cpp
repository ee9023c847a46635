// SPDX-License-Identifier: Apache-2.0
#include "suites/sandbox/process.h"

#include "reference/result.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <future>
#include <mutex>
#include <poll.h>
#include <queue>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace assay::suites {
namespace {

constexpr int reply_descriptor = 3;
constexpr auto patience = std::chrono::seconds(2);  // for what was killed to be gone

// Empties any pipe of a dead child, and ends although a descendant that left the group goes on writing.
constexpr int most_reads = 256;

using Delivery = std::packaged_task<std::unique_ptr<Sandbox>()>;

// One thread starts all children and lives as long as the program: PR_SET_PDEATHSIG follows the thread that forked,
// not the program.
class Nursery {
 public:
  static Nursery& instance() {
    static Nursery* const nursery = new Nursery;  // its thread may outlive the statics
    return *nursery;
  }

  std::unique_ptr<Sandbox> start(const SpawnOptions& spawn) {
    Delivery delivery([&] { return std::make_unique<Sandbox>(spawn); });
    std::future<std::unique_ptr<Sandbox>> cell = delivery.get_future();
    {
      const std::lock_guard lock(mutex_);
      deliveries_.push(std::move(delivery));
    }
    arrived_.notify_one();
    return cell.get();
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
      arrived_.wait(lock, [&] { return !deliveries_.empty(); });
      Delivery delivery = std::move(deliveries_.front());
      deliveries_.pop();
      lock.unlock();
      delivery();
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::queue<Delivery> deliveries_;
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

std::vector<std::string> environment_with(const std::vector<std::string>& ours) {
  std::vector<std::string> all = ours;
  for (char** each = environ; *each; ++each) {
    const std::string_view entry = *each;
    const std::string_view name = entry.substr(0, entry.find('=') + 1);
    if (std::ranges::none_of(ours, [&](const std::string& own) { return own.starts_with(name); }))
      all.emplace_back(entry);
  }
  return all;
}

int milliseconds_until(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "assay-XXXXXX").string();
  if (error || !::mkdtemp(pattern.data()))
    throw InputError("no temporary directory can be made in " + pattern +
                     ": set TMPDIR to a folder that can be written");
  path_ = pattern;
}

void TemporaryDirectory::clear() const {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path_, ignored))
    std::filesystem::remove_all(entry.path(), ignored);
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

Process::Process(const std::vector<std::string>& command, const Bounds& bounds, Isolation best, Offer offer)
    : bounds_(bounds) {
  Ends ends;
  SpawnOptions spawn;
  spawn.program = find_program(command.at(0));
  spawn.arguments.assign(command.begin() + 1, command.end());
  std::vector<std::string> ours{"TMPDIR=" + directory_.path().string(),
                                "ASSAY_REPLY_FD=" + std::to_string(reply_descriptor)};
  if (offer == Offer::forks) ours.push_back("ASSAY_FORK_FD=" + std::to_string(fork_descriptor));
  spawn.environment = environment_with(ours);
  spawn.descriptors = {ends.in.read.number(), ends.out.write.number(), ends.err.write.number(),
                       ends.reply.write.number(), server_.for_program().number()};
  spawn.best = best;
  spawn.most_tasks = bounds.tasks + 64;  // the watch comes first, and says why
  cell_ = Nursery::instance().start(spawn);
  watched_ = std::make_unique<MonitoredProcess>(*cell_, bounds);
  server_.has_started();
  take(std::move(ends));
}

void Process::take(Ends ends) {
  in_ = std::move(ends.in.write);
  reply_ = std::move(ends.reply.read);
  out_ = std::move(ends.out.read);
  err_ = std::move(ends.err.read);
  for (const Descriptor* ours : {&in_, &reply_, &out_, &err_}) set_nonblocking(*ours);
}

bool Process::forks() {
  if (!is_forked_ && server_.is_there()) {
    is_forked_ = true;
    cell_->note_fork_server();
  }
  return is_forked_;
}

bool Process::fork() {
  if (!forks()) return false;
  kill();
  if (!cell_->is_clear()) return false;
  directory_.clear();
  Ends ends;
  if (!server_.fork(
          {ends.in.read.number(), ends.out.write.number(), ends.err.write.number(), ends.reply.write.number()}))
    return false;
  take(std::move(ends));
  forget_log();
  watched_ = std::make_unique<MonitoredProcess>(*cell_, bounds_);
  escaped_.clear();
  status_.reset();
  is_listening_ = true;
  is_over_ = false;
  return true;
}

Process::~Process() {
  kill();
  cell_->close();
}

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
                                    {news().number(), POLLIN, 0}}};
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

std::size_t Process::resident_bytes() const { return cell_->usage(SIZE_MAX).resident; }

std::chrono::milliseconds Process::processor_time() const {
  return std::chrono::milliseconds(cell_->usage(SIZE_MAX).ticks * 1000 /
                                   static_cast<std::size_t>(::sysconf(_SC_CLK_TCK)));
}

std::size_t Process::watched_bytes() const { return watched_->resident(); }

void Process::allow(std::size_t memory) { watched_->allow(memory); }

LimitExceeded Process::excess() const { return watched_->excess(); }

void Process::note_ending(std::chrono::milliseconds within) {
  if (is_forked_ && !status_) status_ = server_.ending(within);
}

// A child that is killed is gone when the program says so; what it started may take a moment longer.
void Process::end_child() {
  note_ending(std::chrono::milliseconds(0));
  const bool has_ended = status_.has_value();
  if (has_ended && cell_->is_clear()) return;
  cell_->clear();
  if (!has_ended) server_.ending(patience);
  for (const auto until = Clock::now() + patience; !cell_->is_clear() && Clock::now() < until;)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Process::kill() {
  if (std::exchange(is_over_, true)) return;
  watched_->end();
  if (is_forked_) {
    end_child();
  } else {
    cell_->close();
    status_ = cell_->status();
  }
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
  if (!is_over_) {
    if (forks()) {
      note_ending(grace);
    } else {
      pollfd watched{news().number(), POLLIN, 0};
      ::poll(&watched, 1, static_cast<int>(grace.count()));
    }
    escaped_ = cell_->escaped(is_forked_ ? server_.child() : cell_->program());
  }
  kill();
}

bool Process::has_failed() const { return is_over_ && status_.value_or(0) != 0; }

std::string Process::ending() const {
  if (!is_over_ || !status_) return "";
  const int status = *status_;
  if (WIFEXITED(status)) return "ended with exit code " + std::to_string(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
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
