// SPDX-License-Identifier: Apache-2.0
// What a worker may do to the machine, through a worker and through whole campaigns. The lies are told by
// testing/liar.py; what they do to the protocol is in worker_test.cpp.
#include "suites/sandbox/process.h"

#include "reference/onnx_io.h"
#include "suites/campaign/campaign.h"
#include "suites/workers/places.h"
#include "suites/workers/worker.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace assay::suites {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Kind = oracles::Outcome::Kind;
namespace fs = std::filesystem;

std::vector<std::string> liar(const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> command = {python(), "-S", "suites/testing/liar.py"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

Request submit(const std::string& behaviour) {
  Request request;
  request.id = "case of " + behaviour;
  request.model = behaviour;
  request.sets.assign(2, {encode_tensor(Tensor({DType::f32, {3}}), "Y")});
  return request;
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Living processes that were started with this temporary directory, whatever they did to their group and session since.
int survivors(const std::string& directory) {
  int count = 0;
  std::error_code gone;
  for (fs::directory_iterator process("/proc", gone), end; !gone && process != end; process.increment(gone)) {
    const std::string stat = content(process->path() / "stat");
    const std::size_t state = stat.rfind(") ");
    if (state == std::string::npos || stat[state + 2] == 'Z' || stat[state + 2] == 'X') continue;
    if (content(process->path() / "environ").find("TMPDIR=" + directory + '\0') != std::string::npos) ++count;
  }
  return count;
}

// A killed process takes a moment to be gone.
bool has_survivors(const std::string& directory) {
  for (const auto deadline = Clock::now() + 2s; Clock::now() < deadline; std::this_thread::yield())
    if (survivors(directory) == 0) return false;
  return true;
}

// Namespaces where they are to be had, and what is left where they are not.
Isolation either() { return GENERATE(Isolation::pid_namespace, Isolation::subreaper); }

struct Torture {
  std::string behaviour, ends_as;
};

const std::vector<Torture>& tortures() {
  static const std::vector<Torture> all = {
      {"segfaults", "crashed"},
      {"aborts with words", "crashed"},
      {"exits 0", "crashed"},
      {"exits 7", "crashed"},
      {"loops", "timed out"},
      {"hangs", "timed out"},
      {"answers too late", "timed out"},
      {"endless log", "timed out"},
      {"giant frame", "timed out"},
      {"half, hangs", "timed out"},
      {"allocates 100 GB", "out of memory"},
      {"eats memory", "out of memory"},
      {"fork bomb", "crashed"},
      {"dies with a child", "crashed"},
      {"closes every pipe", "garbled"},
      {"closes the reply pipe", "garbled"},
      {"half, exits 0", "garbled"},
      {"half a header, exits 0", "garbled"},
      {"endless header", "garbled"},
      {"giant size", "garbled"},
      {"wrong id", "garbled"},
      {"answers twice", "garbled"},
      {"NaN in JSON", "garbled"},
      {"deep JSON", "garbled"},
      {"no tensor", "garbled"},
      {"boundless tensor", "garbled"},
      {"hostile words", "refused"},
      {"chatty", ""},             // an answer, and a wrong one: the inputs
      {"leaves a daemon", ""},    // the same
      {"answers and dies", ""},   // the same
      {"answers and hangs", ""},  // the same, and the next case is not blamed for it
      {"closes its stdin", ""},   // the same
      {"speaks up later", ""},    // the same
  };
  return all;
}

// Every torture, and after each a case that is answered as it should be.
Suite torture_chamber() {
  Suite suite;
  for (std::size_t i = 0; i < 2 * tortures().size(); ++i) {
    const std::string line =
        "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:" + std::to_string(i + 1) + " kernel_shape=2";
    suite.cases.push_back(read_cases(line, "torture").front());
  }
  return suite;
}

// What the liar does, by case id; it has no implementation of the others.
void write_script(const Suite& suite, const fs::path& path) {
  std::ofstream script(path);
  script << "{";
  for (std::size_t i = 0; i < tortures().size(); ++i)
    script << (i ? ",\n" : "") << '"' << case_id(suite.cases[2 * i].line) << "\":\"" << tortures()[i].behaviour << '"';
  script << "}";
}

// The address sanitizer keeps what was freed, so that it may complain of its use.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kept = std::size_t{1} << 30;
#else
constexpr std::size_t kept = 0;
#endif

std::size_t own_peak() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) << 10;
}

}  // namespace

TEST_CASE("Process: a worker is as isolated as it is told to be, and says so", "[process]") {
  const Isolation requested = either();
  Worker worker("liar", liar(), {.isolation = requested});
  CHECK(worker.isolation().empty());
  worker.describe();
  CHECK(worker.isolation() == words(worker.process()->isolation()));
  if (requested == Isolation::subreaper) CHECK(worker.process()->isolation() == requested);
}

TEST_CASE("Process: a worker finds itself in /proc", "[process]") {
  Worker worker("liar", liar(), {.isolation = either()});
  CHECK(worker.run(submit("looks at itself")).because.empty());
}

TEST_CASE("Process: a worker runs in a group of its own", "[process]") {
  Worker worker("liar", liar(), {.isolation = either()});
  worker.describe();
  CHECK(::getpgid(worker.process()->init()) != ::getpgrp());
}

TEST_CASE("Process: a daemon that left the session of its worker ends with it", "[process]") {
  std::string directory;
  {
    Worker worker("liar", liar(), {.isolation = either()});
    CHECK(worker.run(submit("leaves a daemon")).kind == Kind::outputs);
    directory = worker.process()->directory();
    CHECK(survivors(directory) == 2);
  }
  CHECK_FALSE(has_survivors(directory));
}

TEST_CASE("Process: a daemon does not outlive a worker that dies", "[process]") {
  Worker worker("liar", liar(), {.isolation = either()});
  CHECK(worker.run(submit("leaves a daemon")).kind == Kind::outputs);
  const std::string directory = worker.process()->directory();
  CHECK(worker.run(submit("segfaults")).kind == Kind::crashed);
  CHECK_FALSE(has_survivors(directory));
}

TEST_CASE("Process: a fork bomb is counted and ended, and no process of it is left", "[process]") {
  Worker worker("liar", liar(), {.tasks = 64, .isolation = either()});
  worker.describe();
  const std::string directory = worker.process()->directory();
  const oracles::Outcome outcome = worker.run(submit("fork bomb"));
  CHECK(outcome.kind == Kind::crashed);
  CHECK_THAT(outcome.because, Contains("more than 64 processes and threads"));
  CHECK_FALSE(has_survivors(directory));
  CHECK(worker.run(submit("honest")).kind == Kind::outputs);
}

TEST_CASE("Process: memory is watched while nobody waits for the worker", "[process]") {
  Worker worker("liar", liar(), {.memory = std::size_t{128} << 20, .isolation = either()});
  worker.describe();
  const Request request = submit("allocates 100 GB");
  worker.submit(request);
  const Process& process = *worker.process();
  for (const auto deadline = Clock::now() + 10s; Clock::now() < deadline && process.excess() == LimitExceeded::none;)
    std::this_thread::yield();
  CHECK(process.excess() == LimitExceeded::memory);
  const oracles::Outcome outcome = worker.answer();
  CHECK(outcome.kind == Kind::out_of_memory);
  CHECK_THAT(outcome.because, Contains("more than 128 MiB of memory resident"));
}

TEST_CASE("Process: a worker is replaced after so many answers", "[process]") {
  Worker worker("liar", liar(), {.recycle_models = 3});
  for (int i = 0; i < 10; ++i) CHECK(worker.run(submit("honest")).kind == Kind::outputs);
  CHECK(worker.session() == 4);
  CHECK(worker.upkeep().processes == 4);
  CHECK(worker.upkeep().answers == 10);
}

TEST_CASE("Process: a worker that grows is replaced between two requests, and nothing is held against it",
          "[process]") {
  Worker worker("liar", liar(), {.recycle_growth = std::size_t{100} << 20});
  int before = 0;
  for (int i = 0; i < 24; ++i) {  // 32 MiB each: after the first, four make more than 100
    before = worker.session();
    CHECK(worker.run(submit("grows")).kind == Kind::outputs);
    const auto& process = *worker.process();
    for (const auto deadline = Clock::now() + 2s; Clock::now() < deadline;)
      if (process.watched_bytes() + (16u << 20) > process.resident_bytes()) break;
  }
  CHECK(before >= 4);
  CHECK(before <= 6);
  // 24 answers, of which the first of each process is where its growth begins.
  const ResourceUse upkeep = worker.upkeep();
  CHECK(upkeep.answers == 24);
  const Int grown = (24 - upkeep.processes) * (Int{32} << 20);
  CHECK(upkeep.grown_bytes > grown - (Int{40} << 20));
  CHECK(upkeep.grown_bytes < grown + (Int{40} << 20));
}

TEST_CASE("Process: a worker ends with us, however we end", "[process]") {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  FILE* const output = ::popen(("exec '" + self + "' '[.process-host]' 2>/dev/null").c_str(), "r");
  REQUIRE(output);
  std::string said(4096, '\0');
  said.resize(std::fread(said.data(), 1, said.size(), output));
  const int status = ::pclose(output);
  CHECK(WIFSIGNALED(status));
  const std::size_t at = said.find("DIRECTORY ");
  REQUIRE(at != std::string::npos);
  const std::string directory = said.substr(at + 10, said.find('\n', at) - at - 10);
  CHECK_FALSE(has_survivors(directory));
  fs::remove_all(directory);
}

// The host of the test above: it dies with a worker at work and a daemon beside it.
TEST_CASE("Process: a host that is killed", "[.process-host]") {
  Worker worker("liar", liar());
  worker.run(submit("leaves a daemon"));
  const Request request = submit("hangs");
  worker.submit(request);
  std::printf("DIRECTORY %s\n", worker.process()->directory().c_str());
  std::fflush(stdout);
  ::raise(SIGKILL);
}

TEST_CASE("Process: under every torture each case ends in one state, the others as if nothing had been",
          "[process][torture]") {
  const TemporaryDirectory folder;
  const Suite suite = torture_chamber();
  write_script(suite, folder.path() / "script.json");
  // A process of the liar has 9 MiB: the bomb exceeds its tasks before its memory.
  const Limits limits = {.run = 2s, .memory = std::size_t{256} << 20, .tasks = 24};
  const OpenBackend open = [&] {
    return std::make_unique<Worker>("liar", liar({"--script", folder.path() / "script.json"}), limits);
  };
  RunOptions run_options;
  run_options.jobs = 4;
  run_options.presenting = VariantSampling::none;
  const std::size_t before = own_peak();
  const Campaign campaign = run(suite, open, run_options);
  CHECK(own_peak() < before + kept + (std::size_t{64} << 20));
  REQUIRE(campaign.is_complete());
  for (std::size_t i = 0; i < tortures().size(); ++i) {
    const auto& [behaviour, ends_as] = tortures()[i];
    const oracles::Verdict& verdict = *campaign.verdicts[2 * i];
    INFO(behaviour << ": " << oracles::name(verdict.state) << " " << verdict.because << " " << verdict.detail);
    CHECK(campaign.verdicts[2 * i + 1]->state == oracles::State::unsupported);
    if (ends_as.empty()) {
      CHECK(verdict.state == oracles::State::fail);
    } else {
      CHECK(verdict.state == (ends_as == "refused" ? oracles::State::refused : oracles::State::error));
      if (ends_as != "refused") CHECK(verdict.because == ends_as);
    }
    CHECK(verdict.detail.size() < 2000);
    CHECK(std::ranges::none_of(verdict.detail, [](char c) { return '\0' <= c && c < ' '; }));
  }
}

TEST_CASE("Process: what a worker sends costs us no more than we allow", "[process]") {
  Worker worker("liar", liar(), {.run = 500ms});
  worker.describe();
  const std::size_t before = own_peak();
  CHECK(worker.run(submit("endless header")).kind == Kind::garbled);
  CHECK(worker.run(submit("endless log")).kind == Kind::timed_out);
  CHECK(worker.run(submit("giant frame")).kind == Kind::timed_out);
  CHECK(own_peak() < before + kept + (std::size_t{32} << 20));
}

TEST_CASE("Process: of an answer no more is kept than its limit", "[process]") {
  Worker worker("liar", liar(), {.answer = std::size_t{64} << 20});
  worker.describe();
  const std::size_t before = own_peak();
  const oracles::Outcome outcome = worker.run(submit("endless answer"));
  CHECK(outcome.kind == Kind::garbled);
  CHECK_THAT(outcome.because, Contains("an answer of 3072 MiB, the limit is 64 MiB"));
  CHECK(own_peak() < before + kept + (std::size_t{32} << 20));
}

}  // namespace assay::suites
