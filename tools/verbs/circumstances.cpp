// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/circumstances.h"

#include "tools/processor_time.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

namespace assay::tools {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> is_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "written by a signal handler");
volatile std::sig_atomic_t first_interrupt = 0;  // in seconds, 0 before it

std::sig_atomic_t monotonic_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::sig_atomic_t>(now.tv_sec);
}

// Ends the process at a second interrupt. One within two seconds of the first is the same one: timeout(1) signals the
// process and then its group.
void on_interrupt(int signal) {
  is_interrupted = true;
  if (first_interrupt == 0) {
    first_interrupt = monotonic_seconds();
  } else if (monotonic_seconds() - first_interrupt > 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string row; std::getline(cpuinfo, row);)
    if (row.starts_with("model name") && row.find(": ") != std::string::npos) return row.substr(row.find(": ") + 2);
  return "unknown";
}

}  // namespace

const std::atomic<bool>& interrupted() { return is_interrupted; }

void heed_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

int jobs_or_processors(int jobs) {
  return jobs > 0 ? jobs : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Stopwatch::Stopwatch() : started_(now_in_utc()), processor_start_(processor_seconds()) {}

reports::Run Stopwatch::run(int jobs) const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return {started_, seconds, jobs, cpu_model(), "", processor_seconds() - processor_start_};
}

fs::path suites_folder(const std::string& named) {
  if (!named.empty()) {
    if (!fs::is_directory(fs::path(named) / "conformance"))
      throw InputError("no conformance/ in " + named + "; --suites names a folder like the project's suites/");
    return named;
  }
  std::error_code ignored;
  if (const char* home = std::getenv("ASSAY_HOME"); home && fs::is_directory(fs::path(home) / "suites" / "conformance"))
    return fs::path(home) / "suites";
  for (fs::path place : {fs::read_symlink("/proc/self/exe", ignored).parent_path(), fs::current_path(ignored)})
    for (; place.has_relative_path(); place = place.parent_path())
      for (const fs::path& project : {place, place / "share/assay"})
        if (fs::is_directory(project / "suites" / "conformance")) return project / "suites";
  throw InputError("cannot find suites/conformance; call assay inside the project or name the folder with --suites");
}

}  // namespace assay::tools
