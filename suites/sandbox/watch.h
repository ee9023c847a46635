// SPDX-License-Identifier: Apache-2.0
// Watch: one thread of ours that counts the memory and the tasks of every cell, and ends a cell that has too much of
// either, also while nobody waits for its worker.
#pragma once

#include "suites/sandbox/cell.h"

#include <atomic>
#include <cstddef>

namespace assay::suites {

struct Bounds {
  std::size_t memory = std::size_t{4} << 30;  // resident bytes
  std::size_t tasks = 4096;                   // processes and threads
};

enum class Excess { none, memory, tasks };

// A cell under watch until end() or its destruction, which has to be before the cell is closed.
class Watched {
 public:
  Watched(const Cell& cell, const Bounds& bounds);
  ~Watched() { end(); }
  Watched(Watched&&) = delete;
  void end();

  Excess excess() const { return excess_; }           // why the cell was ended
  std::size_t resident() const { return resident_; }  // when it was looked at last
  bool look();  // by the thread of the watch; true where it should look again soon
  void allow(std::size_t memory) { memory_ = memory; }  // resident bytes from now on

 private:
  const Cell& cell_;
  std::atomic<std::size_t> memory_;
  std::size_t tasks_;
  std::atomic<Excess> excess_ = Excess::none;
  std::atomic<std::size_t> resident_ = 0;
};

}  // namespace assay::suites
