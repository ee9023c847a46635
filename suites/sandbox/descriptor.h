// SPDX-License-Identifier: Apache-2.0
// Descriptor: an open file descriptor, closed with its owner, and the pipe made of two.
#pragma once

#include <utility>

namespace assay::suites {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;  // poll ignores negative numbers
};

// Closed on exec. Throws InputError when there are no descriptors left.
struct Pipe {
  Descriptor read, write;
  Pipe();
};

// A pair of connected sockets that keep messages apart. Closed on exec. Throws InputError likewise.
struct SocketPair {
  Descriptor ours, theirs;
  SocketPair();
};

void set_nonblocking(const Descriptor& descriptor);

}  // namespace assay::suites
