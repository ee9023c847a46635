// SPDX-License-Identifier: Apache-2.0
// assay-bench-growth: how the cost of a case grows with its size, and what memory assay holds as cases go by.
//
//   assay-bench-growth [CASES]   CASES small generated ones over our own kernels, in this process (default 200000)
#include "reference/case_view.h"
#include "suites/campaign/campaign.h"
#include "suites/planning/stream.h"
#include "suites/workers/worker.h"
#include "tools/held_memory.h"
#include "tools/processor_time.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace assay {
namespace {

// The least of several, for at least 30 ms in all.
template <class F>
double least_seconds(F&& f) {
  double least = 1e9, all = 0;
  for (int turn = 0; turn < 3 || all < 0.03; ++turn) {
    const double start = processor_seconds();
    f();
    const double took = processor_seconds() - start;
    least = std::min(least, took);
    all += took;
  }
  return least;
}

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

suites::OpenBackend ours() {
  return [] { return suites::open_backend("reference:inprocess"); };
}

// Asked and judged, from the line on.
void print_size(const char* what, Int channels, Int maps, Int side, Int kernel) {
  const std::string c = std::to_string(channels), m = std::to_string(maps), s = std::to_string(side),
                    k = std::to_string(kernel);
  const std::string line = "Conv-22 opset=22 ir=10 X=f32[1," + c + "," + s + "," + s + "]~normal:1 W=f32[" + m + "," +
                           c + "," + k + "," + k + "]~normal:2";
  const suites::SuiteCase planned{case_of(line), line, "", {}};
  const auto backend = ours()();
  const suites::Request request = suites::request_of(planned, {});
  const oracles::Outcome outcome = backend->run(request);
  const double run_case = least_seconds([&] { suites::request_of(planned, {}); });
  const double running = least_seconds([&] { backend->run(request); });
  const double judging =
      least_seconds([&] { suites::judged(planned, outcome, backend->describe(), oracles::Level::L2); });
  const Int out = side - kernel + 1;
  const auto products = static_cast<double>(data_sets * maps * out * out * channels * kernel * kernel);
  std::printf("  %-9s %4lld %12.0f %10.1f %10.1f %10.1f %14.2f\n", what,
              static_cast<long long>(what[0] == 'c'   ? channels
                                     : what[0] == 't' ? kernel * kernel
                                                      : maps * out * out),
              products, 1e6 * run_case, 1e6 * running, 1e6 * judging, 1e9 * judging / products);
}

void print_sizes() {
  std::printf("  %-9s %4s %12s %10s %10s %10s %14s\n", "grows", "", "products", "ask us", "run us", "judge us",
              "judge ns/prod.");
  for (const Int side : {10, 18, 34, 66}) print_size("elements", 8, 8, side, 3);
  for (const Int kernel : {1, 2, 4, 8}) print_size("taps", 8, 8, 15 + kernel, kernel);
  for (const Int channels : {4, 16, 64, 256}) print_size("channels", channels, 8, 18, 3);
}

void print_memory(Int cases) {
  constexpr Int block = 2048;
  suites::WorkerPool pool(ours(), 1);
  suites::Stream stream({}, 1);
  double least = 1e9, most = 0;
  Int requested = 0, told = 0;
  const double start = processor_seconds();
  std::printf("  %10s %10s %12s\n", "cases", "MiB", "us/case");
  while (requested < cases) {
    suites::Suite suite;
    while (suite.cases.size() < block && requested + static_cast<Int>(suite.cases.size()) < cases)
      suite.cases.push_back(stream.next());
    suites::run(suite, pool, {});
    requested += static_cast<Int>(suite.cases.size());
    const double now = resident_mib();
    if (requested >= cases / 10) {
      least = std::min(least, now);
      most = std::max(most, now);
    }
    if (requested * 10 / cases == told) continue;
    told = requested * 10 / cases;
    std::printf("  %10lld %10.1f %12.1f\n", static_cast<long long>(requested), now,
                1e6 * (processor_seconds() - start) / static_cast<double>(requested));
  }
  std::printf("  after the first tenth between %.1f and %.1f MiB\n", least, most);
}

}  // namespace
}  // namespace assay

int main(int count, char** words) {
  assay::hold_freed_memory();
  try {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    const assay::Int cases = count > 1 ? std::atoll(words[1]) : 200'000;
    if (cases <= 0) throw assay::InputError("how many cases? a number above 0, as in assay-bench-growth 200000");
    assay::print_sizes();
    assay::print_memory(cases);
    return 0;
  } catch (const assay::InputError& error) {
    std::fprintf(stderr, "assay-bench-growth: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay-bench-growth: %s\n", error.what());
    return 3;
  }
}
