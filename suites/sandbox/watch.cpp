// SPDX-License-Identifier: Apache-2.0
#include "suites/sandbox/watch.h"

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

class Watch {
 public:
  static Watch& instance() {
    static Watch* const watch = new Watch;  // its thread may outlive the statics
    return *watch;
  }

  void add(Watched& watched) {
    const std::lock_guard lock(mutex_);
    watched_.insert(&watched);
    arrived_.notify_one();
  }

  void remove(Watched& watched) {
    const std::lock_guard lock(mutex_);
    watched_.erase(&watched);
  }

 private:
  Watch() {
    std::thread([this] { serve(); }).detach();
  }

  [[noreturn]] void serve() {
    come_first();
    for (;;) {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [&] { return !watched_.empty(); });
      bool is_urgent = false;
      for (Watched* each : watched_) is_urgent |= each->look();
      lock.unlock();
      std::this_thread::sleep_for(is_urgent ? soon : tick);
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::set<Watched*> watched_;
};

}  // namespace

Watched::Watched(const Cell& cell, const Bounds& bounds) : cell_(cell), memory_(bounds.memory), tasks_(bounds.tasks) {
  Watch::instance().add(*this);
}

void Watched::end() { Watch::instance().remove(*this); }

bool Watched::look() {
  if (excess_ != Excess::none) return false;
  const std::size_t memory = memory_;
  const Census census = cell_.census(tasks_);
  resident_ = census.resident;
  if (census.resident > memory) excess_ = Excess::memory;
  if (census.tasks > tasks_) excess_ = Excess::tasks;  // the cause, where both are exceeded
  if (excess_ == Excess::memory) cell_.clear();
  if (excess_ == Excess::tasks) cell_.kill();  // at once: what forks on outruns who ends it one by one
  return census.resident > memory / 2;
}

}  // namespace assay::suites
