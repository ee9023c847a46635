// SPDX-License-Identifier: Apache-2.0
#include "suites/sandbox/fork_server.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::suites {
namespace {

constexpr std::size_t longest_message = 64;
constexpr auto patience = std::chrono::seconds(2);  // for a fork

// The descriptors that travel with a message.
struct Passed {
  std::array<int, 4> numbers{-1, -1, -1, -1};
};

msghdr message_of(iovec& words, std::array<char, CMSG_SPACE(sizeof(Passed))>& control) {
  msghdr message{};
  message.msg_iov = &words;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  return message;
}

bool send_fork(int socket, const Passed& passed) {
  char text[] = "fork";
  iovec words{text, sizeof text - 1};
  std::array<char, CMSG_SPACE(sizeof(Passed))> control{};
  const msghdr message = message_of(words, control);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof passed);
  std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) > 0;
}

// Waits for a request; nothing once the host has gone.
std::optional<Passed> next_request(int socket) {
  char text[longest_message];
  iovec words{text, sizeof text};
  std::array<char, CMSG_SPACE(sizeof(Passed))> control{};
  msghdr message = message_of(words, control);
  ssize_t size = 0;
  while ((size = ::recvmsg(socket, &message, 0)) < 0 && errno == EINTR) continue;
  const cmsghdr* header = size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(Passed))) return std::nullopt;
  Passed passed;
  std::memcpy(&passed, CMSG_DATA(header), sizeof passed);
  return passed;
}

void tell(int socket, const char* word, int number) {
  std::array<char, longest_message> text{};
  const int size = std::snprintf(text.data(), text.size(), "%s %d", word, number);
  ::send(socket, text.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL);
}

bool has_other_threads() {
  int count = 0;
  std::error_code ignored;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) ++count;
  return count != 1;
}

// A device that a runtime has opened knows its process: a fork would share what is one process's own.
bool has_open_device() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
    if (target.starts_with("/dev/nvidia") || target.starts_with("/dev/dri/") || target.starts_with("/dev/kfd"))
      return true;
  }
  return false;
}

// Runs in a forked process until it returns into the worker. It leads a group of its own, so that what leaves it is
// seen. The first child has the descriptors of the program, the others those that came with the request.
void become_child(int socket, const std::optional<Passed>& passed) {
  ::close(socket);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!passed) return;
  for (int number = 0; number < 4; ++number) ::dup2(passed->numbers[static_cast<std::size_t>(number)], number);
  for (const int number : passed->numbers) ::close(number);
}

// Closes what belongs to the child: a pipe of it shall end with it.
void let_go_of(const std::optional<Passed>& passed) {
  if (passed) {
    for (const int number : passed->numbers) ::close(number);
    return;
  }
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int number = 0; number < 4; ++number) ::dup2(nothing, number);  // those that come later have other numbers
  ::close(nothing);
}

}  // namespace

bool ForkServer::hear(std::chrono::milliseconds within) {
  pollfd watched{sockets_.ours.number(), POLLIN, 0};
  if (is_gone_ || ::poll(&watched, 1, static_cast<int>(within.count())) <= 0) return false;
  std::array<char, longest_message> text{};
  const ssize_t size = ::recv(sockets_.ours.number(), text.data(), text.size() - 1, MSG_DONTWAIT);
  if (size == 0) is_gone_ = true;
  if (size <= 0) return false;
  int number = 0;
  if (std::sscanf(text.data(), "forked %d", &number) == 1) {
    child_ = number;
    status_.reset();
  } else if (std::sscanf(text.data(), "ended %d", &number) == 1) {
    status_ = number;
  }
  return true;
}

bool ForkServer::is_there() {
  while (child_ == 0 && hear(std::chrono::milliseconds(0))) continue;
  return child_ > 0 && !is_gone_;
}

bool ForkServer::fork(const std::array<int, 4>& descriptors) {
  if (!is_there() || !send_fork(sockets_.ours.number(), {descriptors})) return false;
  child_ = 0;
  while (child_ == 0 && hear(patience)) continue;
  return child_ > 0;
}

std::optional<int> ForkServer::ending(std::chrono::milliseconds within) {
  while (!status_ && hear(within)) continue;
  return status_;
}

void fork_on_request() {
  const char* named = std::getenv("ASSAY_FORK_FD");
  if (!named || has_other_threads() || has_open_device()) return;
  const int socket = std::atoi(named);
  std::optional<Passed> passed;  // none for the first child
  do {
    int told[2];  // closed once the host knows of the child: nothing that the child does may come before
    if (::pipe(told) != 0) ::_exit(EXIT_FAILURE);
    const pid_t child = ::fork();
    if (child == 0) {
      char nothing = 0;
      ::close(told[1]);
      while (::read(told[0], &nothing, 1) < 0 && errno == EINTR) continue;
      ::close(told[0]);
      return become_child(socket, passed);
    }
    let_go_of(passed);
    tell(socket, "forked", child);
    ::close(told[0]);
    ::close(told[1]);
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    tell(socket, "ended", status);
    passed = next_request(socket);
  } while (passed);
  ::_exit(EXIT_SUCCESS);
}

}  // namespace assay::suites
