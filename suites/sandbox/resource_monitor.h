// SPDX-License-Identifier: Apache-2.0
// ResourceMonitor: one thread of ours that counts the memory and the tasks of every cell, and ends a cell that has too
// much of either, also while nobody waits for its worker.
#pragma once

#include "suites/sandbox/sandbox.h"

#include <atomic>
#include <cstddef>

namespace assay::suites {

struct Bounds {
  std::size_t memory = std::size_t{4} << 30;  // resident bytes
  std::size_t tasks = 4096;                   // processes and threads
};

enum class LimitExceeded { none, memory, tasks };

// A cell under watch until end() or its destruction, which has to be before the cell is closed.
class MonitoredProcess {
 public:
  MonitoredProcess(const Sandbox& cell, const Bounds& bounds);
  ~MonitoredProcess() { end(); }
  MonitoredProcess(MonitoredProcess&&) = delete;
  void end();

  LimitExceeded excess() const { return excess_; }    // why the cell was ended
  std::size_t resident() const { return resident_; }  // when it was looked at last
  bool look();  // by the thread of the watch; true where it should look again soon
  void allow(std::size_t memory) { memory_ = memory; }  // resident bytes from now on

 private:
  const Sandbox& cell_;
  std::atomic<std::size_t> memory_;
  std::size_t tasks_;
  std::atomic<LimitExceeded> excess_ = LimitExceeded::none;
  std::atomic<std::size_t> resident_ = 0;
};

}  // namespace assay::suites
