// SPDX-License-Identifier: Apache-2.0
// Parallel: work that several threads share item by item.
#pragma once

#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

namespace assay {

// Calls f(item, job) for items 0 … count - 1, each job taking the next that is left; job 0 is this thread. After an
// exception none is begun any more, and it is thrown again once all have ended.
template <class F>
void in_parallel(std::size_t count, std::size_t jobs, F&& f) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&](std::size_t job) {
    try {
      for (std::size_t i = next++; i < count; i = next++) f(i, job);
    } catch (...) {
      next = count;
      throw;
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t job = 1; job < std::min(jobs, count); ++job)
    others.push_back(std::async(std::launch::async, work, job));
  work(0);
  for (std::future<void>& other : others) other.get();
}

}  // namespace assay
