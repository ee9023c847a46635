// SPDX-License-Identifier: Apache-2.0
// Each lapse of testing/lame.py is found, by the check that is there for it and by no other.
#include "suites/doctor/doctor.h"

#include "reference/testing/run_size.h"
#include "suites/workers/places.h"
#include "suites/workers/worker_names.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <unistd.h>

namespace assay::suites::doctor {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Status = Observation::Status;

std::vector<std::string> lame(const std::string& lapse) {
  std::vector<std::string> command = {python(), "-S", "suites/testing/lame.py", lapse};
  if (lapse == "holds a lock")
    command.push_back((std::filesystem::temp_directory_path() / ("assay-lock-" + std::to_string(::getpid()))).string());
  return command;
}

// A slow machine shall not make a hanging worker of an honest one.
Limits patient_limits() { return {.describe = 60s, .run = 60s}; }
Limits impatient_limits() { return {.describe = 4s, .run = 4s}; }

bool hangs(const std::string& lapse) {
  static const std::vector<std::string> hanging = {
      "never describes itself",  "replies on stdout unasked", "hangs on no model", "waits after nonsense", "dances",
      "forgets what it has read"};
  return std::ranges::count(hanging, lapse) > 0;
}

std::vector<Observation> with_status(const std::vector<Observation>& findings, Status status) {
  std::vector<Observation> all;
  std::ranges::copy_if(findings, std::back_inserter(all),
                       [&](const Observation& finding) { return finding.status == status; });
  return all;
}

std::string listed(const std::vector<Observation>& findings) {
  std::string text;
  for (const Observation& finding : findings)
    text += finding.check + ": sent " + finding.sent + "; got " + finding.got + "; do " + finding.advice + "\n";
  return text;
}

const Observation& finding_of(const std::vector<Observation>& findings, const std::string& check) {
  const auto found = std::ranges::find(findings, check, &Observation::check);
  REQUIRE(found != findings.end());
  return *found;
}

struct Lapse {
  std::string name, check, got;
};

const std::vector<Lapse> lapses = {
    {"cannot start", "describes itself", "no module named 'moon'"},
    {"never describes itself", "describes itself", "no complete reply within 4 s"},
    {"replies on stdout unasked", "describes itself", "on stdout it wrote {"},
    {"another protocol", "describes itself", "\"assay\":1"},
    {"no name", "describes itself", "backend"},
    {"misspelt arithmetic", "arithmetic", "acumulator"},
    {"misspelt capabilities", "capabilities", "opset"},
    {"operators without versions", "capabilities", "AveragePool"},
    {"types of numpy", "capabilities", "float32"},
    {"options as text", "options it declares", "\"options\""},
    {"another version each time", "describes itself again", "\"version\""},
    {"one way to describe", "ignores new keys in describe", "unknown key"},
    {"talks on stdout", "answers a model", "running a model"},
    {"ids of its own", "answers a model", "an answer with the id 1"},
    {"crashes", "answers a model", "SIGSEGV"},
    {"a newline behind", "nothing but frames", "1 bytes more"},
    {"stale outputs", "several data sets", "the answer to data set 0 again"},
    {"two sets only", "several data sets", "\"sets\" with 2"},
    {"ids in ASCII", "ids come back", "caf? ?? ?"},
    {"no new keys", "ignores new keys", "unknown key later"},
    {"finds keys by place", "any spelling of JSON", "that is no question"},
    {"one level of optimisation", "options", "cannot do that"},
    {"dies of options", "options with strange values", "KeyError: turbo"},
    {"swaps bytes of f64", "f64 comes back", "expected were those of the input"},
    {"bf16 as f16", "bf16 comes back", "an output of type f16, the model says bf16"},
    {"dies of empty tensors", "an extent of 0", "exit code 9"},
    {"makes inputs up", "an absent input", "outputs"},
    {"small buffers", "megabytes both ways", "exit code 9"},
    {"answers early", "reads before it answers", "the beginning of an answer"},
    {"headers in one read", "requests in pieces", "no newline"},
    {"forgets what it has read", "requests in a queue", "no complete reply"},
    {"answers for any operator", "an unknown operator", "outputs"},
    {"long reasons", "a long reason", "more than 1 MiB"},
    {"raw reasons", "a long reason", "not JSON"},
    {"answers anything", "bytes that are no model", "outputs"},
    {"hangs on no model", "bytes that are no model", "no complete reply within 4 s"},
    {"answers half a model", "half a model", "outputs"},
    {"answers an empty model", "an empty model", "outputs"},
    {"answers half a tensor", "half a tensor", "outputs"},
    {"pads tensors", "a tensor too short", "outputs"},
    {"answers without inputs", "an input too few", "outputs"},
    {"waits after nonsense", "a line that is no JSON", "no complete reply"},
    {"dances", "an unknown ask", "no complete reply"},
    {"outlives stdin", "stdin ends", "lives on"},
    {"outlives half a question", "stdin ends within a request", "lives on"},
    {"holds a lock", "two side by side", "somebody holds the lock"},
    {"leaves a daemon", "leaves nothing behind", "had left its process group"},
};

void check(const Lapse& lapse, const std::vector<Observation>& findings) {
  const std::vector<Observation> wrong = with_status(findings, Status::wrong);
  INFO(lapse.name << "\n" << listed(wrong));
  CHECK(wrong.size() == 1);
  if (wrong.size() != 1) return;
  CHECK(wrong[0].check == lapse.check);
  CHECK_THAT(wrong[0].got, Contains(lapse.got));
  CHECK(!wrong[0].sent.empty());
  CHECK(!wrong[0].advice.empty());
  CHECK(std::ranges::none_of(wrong[0].sent + wrong[0].got, [](char c) { return '\0' <= c && c < ' '; }));
}

}  // namespace

TEST_CASE("doctor: every lapse is found by its own check and by no other", "[doctor]") {
  std::vector<std::vector<Observation>> seen(lapses.size());
  std::atomic<std::size_t> next = 0;
  const auto examine_some = [&] {  // most of it is waiting
    for (std::size_t i; (i = next++ * one_in()) < lapses.size();)
      seen[i] = examine(lame(lapses[i].name), hangs(lapses[i].name) ? impatient_limits() : patient_limits());
  };
  std::vector<std::future<void>> jobs;
  for (int job = 0; job < 12; ++job) jobs.push_back(std::async(std::launch::async, examine_some));
  for (std::future<void>& job : jobs) job.get();
  for (std::size_t i = 0; i < lapses.size(); i += one_in()) check(lapses[i], seen[i]);
}

TEST_CASE("doctor: who keeps the protocol hears nothing, replies on stdout or not", "[doctor]") {
  const auto findings = examine(lame(GENERATE(as<std::string>(), "", "replies on stdout")), patient_limits());
  INFO(listed(with_status(findings, Status::wrong)));
  CHECK(with_status(findings, Status::wrong).empty());
  CHECK(findings.size() == check_names().size());
  CHECK(finding_of(findings, "requests in a queue").status == Status::ok);
}

TEST_CASE("doctor: our own workers and the example keep the protocol", "[doctor]") {
  const std::string example = "exec:" + python() + " tools/backends/example.py";
  const std::string backend = GENERATE_COPY(as<std::string>(), "reference", "onnxruntime", example);
  const auto findings = examine(command_of(backend), patient_limits());
  INFO(backend << "\n" << listed(with_status(findings, Status::wrong)));
  CHECK(with_status(findings, Status::wrong).empty());
  for (const char* check : {"answers a model", "i32 goes in", "f16 comes back", "weights as parts", "forks"})
    CHECK(finding_of(findings, check).status == Status::ok);
  if (backend != "reference") return;
  const std::string all = std::to_string(operators().size());
  CHECK_THAT(finding_of(findings, "each operator").got, Contains("answers " + all + " of " + all + ": "));
}

TEST_CASE("doctor: a worker written from the protocol document alone keeps it", "[doctor]") {
  const auto findings = examine({"perl", "tools/backends/examples/average_pool.pl"}, patient_limits());
  INFO(listed(with_status(findings, Status::wrong)));
  CHECK(with_status(findings, Status::wrong).empty());
  CHECK(finding_of(findings, "f32 comes back").status == Status::ok);
}

TEST_CASE("doctor: a crash over bytes that are no model is worth a note", "[doctor]") {
  const auto findings = examine(lame("crashes on no model"), patient_limits());
  CHECK(with_status(findings, Status::wrong).empty());
  const Observation& finding = finding_of(findings, "bytes that are no model");
  CHECK(finding.status == Status::note);
  CHECK_THAT(finding.got, Contains("SIGSEGV"));
}

TEST_CASE("doctor: of a worker that answers no model only the frames are seen, and it says so", "[doctor]") {
  const auto findings = examine(lame("refuses everything"), patient_limits());
  CHECK(with_status(findings, Status::wrong).empty());
  const Observation& finding = finding_of(findings, "answers a model");
  CHECK(finding.status == Status::skipped);
  CHECK_THAT(finding.got, Contains("turned away all") && Contains("AveragePool-22"));
  CHECK(finding_of(findings, "several data sets").status == Status::skipped);
  CHECK(finding_of(findings, "stdin ends").status == Status::ok);
}

TEST_CASE("doctor: each operator is run, and what is turned away is named with its reason", "[doctor]") {
  const auto refuser = examine(lame("refuses everything"), patient_limits());
  const Observation& refused = finding_of(refuser, "each operator");
  CHECK(refused.status == Status::ok);
  CHECK_THAT(refused.got, Contains("answers 0 of ") && Contains("; not ") && Contains(" (refused: "));
  const auto crasher = examine(lame("crashes"), patient_limits());
  const Observation& crashed = finding_of(crasher, "each operator");
  CHECK(crashed.status == Status::note);
  CHECK_THAT(crashed.got, Contains("broken off by ") && Contains("SIGSEGV"));
  CHECK(crashed.sent.starts_with("the model "));
}

TEST_CASE("doctor: a value that an option declares is run", "[doctor]") {
  const auto findings = examine(lame("options of its own"), patient_limits());
  const Observation& finding = finding_of(findings, "each option it declares");
  INFO(finding.got);
  CHECK(finding.status == Status::ok);
  CHECK_THAT(finding.got, Contains("1 asked"));
}

TEST_CASE("doctor: a program that is not there, or cannot be run, is a finding", "[doctor]") {
  const auto findings =
      examine({GENERATE(as<std::string>(), "no-such-program", "suites/testing/lame.py")}, patient_limits());
  REQUIRE(with_status(findings, Status::wrong).size() == 1);
  CHECK(findings[0].check == "starts");
  CHECK(with_status(findings, Status::skipped).size() + 1 == findings.size());
}

TEST_CASE("doctor: the protocol document names every check in the section that has its rule", "[doctor]") {
  std::ifstream file("tools/backends/README.md");
  const std::string document((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const CheckName& name : check_names()) {
    INFO(name.check << ", section " << name.section);
    const std::size_t begin = document.find("\n### " + std::string(name.section) + "\n");
    REQUIRE(begin != std::string::npos);
    const std::size_t end = document.find("\n##", begin + 4);
    CHECK_THAT(document.substr(begin, end - begin), Contains("`" + std::string(name.check) + "`"));
  }
}

}  // namespace assay::suites::doctor
