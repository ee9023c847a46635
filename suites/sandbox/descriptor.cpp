// SPDX-License-Identifier: Apache-2.0
#include "suites/sandbox/descriptor.h"

#include "reference/result.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace assay::suites {
namespace {

// Our ends of the pipes lie above the numbers a child gives to its own.
Descriptor above_standard(int number) {
  Descriptor low(number);
  Descriptor high(::fcntl(number, F_DUPFD_CLOEXEC, 10));
  if (!high.is_open()) throw InputError("no more file descriptors: raise `ulimit -n` or lower --jobs");
  return high;
}

}  // namespace

void Descriptor::close() {
  if (is_open()) ::close(std::exchange(number_, -1));
}

Pipe::Pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw InputError("no pipe for a worker: " + std::generic_category().message(errno));
  read = above_standard(ends[0]);
  write = above_standard(ends[1]);
}

SocketPair::SocketPair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw InputError("no socket for a worker: " + std::generic_category().message(errno));
  ours = above_standard(ends[0]);
  theirs = above_standard(ends[1]);
}

void set_nonblocking(const Descriptor& descriptor) {
  ::fcntl(descriptor.number(), F_SETFL, ::fcntl(descriptor.number(), F_GETFL) | O_NONBLOCK);
}

}  // namespace assay::suites
