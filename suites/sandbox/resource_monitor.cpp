// SPDX-License-Identifier: Apache-2.0
#include "suites/sandbox/resource_monitor.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <set>
#include <thread>

namespace assay::suites {
namespace {

using namespace std::chrono_literals;

constexpr auto tick = 20ms;
constexpr auto soon = 2ms;  // memory is touched at up to 10 GiB/s

// A fork bomb of root is held by nothing but this thread, which must not queue behind it. Refused to most users; theirs
// is held by RLIMIT_NPROC.
void come_first() {
  const sched_param lowest{.sched_priority = 1};
  ::pthread_setschedparam(::pthread_self(), SCHED_RR, &lowest);
}

class ResourceMonitor {
 public:
  static ResourceMonitor& instance() {
    static ResourceMonitor* const watch = new ResourceMonitor;  // its thread may outlive the statics
    return *watch;
  }

  void add(MonitoredProcess& watched) {
    const std::lock_guard lock(mutex_);
    watched_.insert(&watched);
    arrived_.notify_one();
  }

  void remove(MonitoredProcess& watched) {
    const std::lock_guard lock(mutex_);
    watched_.erase(&watched);
  }

 private:
  ResourceMonitor() {
    std::thread([this] { serve(); }).detach();
  }

  [[noreturn]] void serve() {
    come_first();
    for (;;) {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [&] { return !watched_.empty(); });
      bool is_urgent = false;
      for (MonitoredProcess* each : watched_) is_urgent |= each->look();
      lock.unlock();
      std::this_thread::sleep_for(is_urgent ? soon : tick);
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::set<MonitoredProcess*> watched_;
};

}  // namespace

MonitoredProcess::MonitoredProcess(const Sandbox& cell, const Bounds& bounds)
    : cell_(cell), memory_(bounds.memory), tasks_(bounds.tasks) {
  ResourceMonitor::instance().add(*this);
}

void MonitoredProcess::end() { ResourceMonitor::instance().remove(*this); }

bool MonitoredProcess::look() {
  if (excess_ != LimitExceeded::none) return false;
  const std::size_t memory = memory_;
  const Usage usage = cell_.usage(tasks_);
  resident_ = usage.resident;
  if (usage.resident > memory) excess_ = LimitExceeded::memory;
  if (usage.tasks > tasks_) excess_ = LimitExceeded::tasks;  // the cause, where both are exceeded
  if (excess_ == LimitExceeded::memory) cell_.clear();
  if (excess_ == LimitExceeded::tasks) cell_.kill();  // at once: what forks on outruns who ends it one by one
  return usage.resident > memory / 2;
}

}  // namespace assay::suites
