// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/worker.h"

#include "reference/onnx_io.h"
#include "suites/sandbox/process.h"
#include "suites/workers/places.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace assay::suites {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Kind = oracles::Outcome::Kind;

std::vector<std::string> liar(std::vector<std::string> arguments = {}) {
  std::vector<std::string> command = {python(), "-S", "suites/testing/liar.py"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

Tensor ramp(Int elements, float first) {
  Tensor tensor({DType::f32, {elements}});
  for (float& element : tensor.as<float>()) element = first++;
  return tensor;
}

// Two data sets of one input each; the liar's honest answer is these inputs.
Request submit(const std::string& behaviour, Int elements = 3) {
  Request request;
  request.id = "case of " + behaviour;
  request.model = behaviour;
  for (const float first : {1.f, 100.f}) request.sets.push_back({encode_tensor(ramp(elements, first), "Y")});
  return request;
}

void check_honest(Worker& worker, const Request& request, Int elements = 3) {
  const oracles::Outcome outcome = worker.run(request);
  INFO(outcome.because);
  REQUIRE(outcome.kind == Kind::outputs);
  CHECK(outcome.sets == std::vector<std::vector<Tensor>>{{ramp(elements, 1)}, {ramp(elements, 100)}});
}

struct Lie {
  std::string behaviour;
  Kind kind;
  std::string because;
};

void check(Worker& worker, const Lie& lie) {
  INFO(lie.behaviour);
  const oracles::Outcome outcome = worker.run(submit(lie.behaviour));
  CHECK(outcome.kind == lie.kind);
  CHECK_THAT(outcome.because, Contains(lie.because));
  CHECK(outcome.sets.empty());
  CHECK(outcome.because.size() < 1000);
  CHECK(std::ranges::none_of(outcome.because, [](char c) { return '\0' <= c && c < ' '; }));
  check_honest(worker, submit("honest"));
}

// Zombies do not count: who reaps an orphan is not our business.
bool has_living_members(pid_t group) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (!std::getline(file, text) || text.rfind(')') == std::string::npos) continue;
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    std::string state;
    pid_t parent = 0, its_group = 0;
    fields >> state >> parent >> its_group;
    if (its_group == group && state != "Z" && state != "X") return true;
  }
  return false;
}

// A killed process takes a moment to be gone.
bool is_gone(pid_t group) {
  for (const auto deadline = Clock::now() + 1s; Clock::now() < deadline; std::this_thread::yield())
    if (!has_living_members(group)) return true;
  return false;
}

// Counts the processes that have this word on their command line.
int running_with(const std::string& word) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string words(std::istreambuf_iterator<char>(file), {});
    count += words.find(word) != std::string::npos;
  }
  return count;
}

constexpr Limits short_limits = {.describe = 60s, .run = 300ms};

}  // namespace

TEST_CASE("Worker: an honest worker's outputs arrive, case after case, from one process", "[worker]") {
  Worker worker("liar", liar());
  CHECK(worker.describe().backend == "liar");
  for (int i = 0; i < 5; ++i) check_honest(worker, submit("honest"));
  check_honest(worker, submit("piecemeal"));
  CHECK(worker.session() == 1);
}

TEST_CASE("Worker: a request is worked on while the host does something else", "[worker]") {
  Worker worker("liar", liar());
  worker.describe();
  const Request request = submit("writes into its folder");
  worker.submit(request);
  const auto left = worker.process()->directory() / "left";
  for (const auto deadline = Clock::now() + 10s; Clock::now() < deadline && !std::filesystem::exists(left);)
    std::this_thread::yield();
  CHECK(std::filesystem::exists(left));
  CHECK(worker.answer().kind == Kind::outputs);
  CHECK(worker.session() == 1);
}

TEST_CASE("Worker: the host's time between request and answer is not the worker's", "[worker]") {
  Worker worker("liar", liar(), short_limits);
  const Request request = submit("honest", 1 << 21);  // its answer fills the pipe until the host reads it
  worker.describe();
  worker.submit(request);
  std::this_thread::sleep_for(600ms);  // twice the limit
  CHECK(worker.answer().kind == Kind::outputs);
  CHECK(worker.session() == 1);
}

TEST_CASE("Worker: a request is not sent before the last one was answered", "[worker]") {
  Worker worker("liar", liar());
  const Request request = submit("honest");
  CHECK_THROWS_AS(worker.answer(), BrokenPromise);
  worker.submit(request);
  CHECK_THROWS_AS(worker.submit(request), BrokenPromise);
  CHECK(worker.answer().kind == Kind::outputs);
}

TEST_CASE("Worker: frames larger than any pipe travel both ways", "[worker]") {
  Worker worker("liar", liar());
  check_honest(worker, submit("honest", 1 << 21), 1 << 21);
  CHECK(worker.session() == 1);
}

TEST_CASE("Worker: chatter on stdout and stderr, even of frames, disturbs no answer", "[worker]") {
  Worker worker("liar", liar());
  check_honest(worker, submit("chatty"));
  check_honest(worker, submit("honest"));
  CHECK(worker.session() == 1);
}

TEST_CASE("Worker: a worker without a third descriptor may ask for frames on stdout", "[worker]") {
  Worker worker("liar", liar({"on stdout"}));
  CHECK(worker.describe().version == "1");
  check_honest(worker, submit("honest"));
  check(worker, {"extra bytes", Kind::garbled, "4 bytes more than its sizes say"});
}

TEST_CASE("Worker: a refusal keeps its kind and its reason, on one printable line", "[worker]") {
  Worker worker("liar", liar());
  CHECK(worker.run(submit("refuses")).because == "no thanks\\u{001b}[31m\\u{202e}");
  check(worker, {"refuses", Kind::refused, "no thanks"});
  check(worker, {"refuses at length", Kind::refused, "..."});
  check(worker, {"not implemented", Kind::unsupported, "no kernel"});
  CHECK(worker.session() == 1);
}

TEST_CASE("Worker: a worker that dies has crashed, and its last words are told", "[worker]") {
  Worker worker("liar", liar());
  check(worker, {"segfaults", Kind::crashed, "died by SIGSEGV (Segmentation fault) without an answer"});
  check(worker, {"aborts with words", Kind::crashed, "SIGABRT (Aborted)"});
  check(worker, {"aborts with words", Kind::crashed, "its last words: free(): invalid \\u{0007}pointer"});
  check(worker, {"exits 7", Kind::crashed, "ended with exit code 7 without an answer"});
  check(worker, {"exits 0", Kind::crashed, "ended with exit code 0 without an answer"});
  check(worker, {"half, segfaults", Kind::crashed, "died by SIGSEGV (Segmentation fault) in the middle of the header"});
  CHECK(worker.session() == 7);
}

TEST_CASE("Worker: a program that was started again has another one warm, and leaves neither behind", "[worker]") {
  const std::string mark = "warm-" + std::to_string(::getpid());
  {
    Worker worker("liar", liar({mark}));
    check_honest(worker, submit("honest"));
    CHECK(running_with(mark) == 1);  // one that never dies needs no other
    for (int times = 0; times < 3; ++times) {
      CHECK(worker.run(submit("segfaults")).kind == Kind::crashed);
      check_honest(worker, submit("honest"));
      CHECK(running_with(mark) == 2);
    }
    CHECK(worker.session() == 4);
  }
  for (const auto deadline = Clock::now() + 1s; Clock::now() < deadline && running_with(mark) > 0;)
    std::this_thread::yield();
  CHECK(running_with(mark) == 0);
}

TEST_CASE("Worker: an answer that was complete before the worker died counts, and the next case is not blamed",
          "[worker]") {
  Worker worker("liar", liar());
  check_honest(worker, submit("answers and dies"));
  check_honest(worker, submit("honest"));
  check_honest(worker, submit("closes its stdin"));
  check_honest(worker, submit("honest"));
  CHECK(worker.session() == 3);
}

TEST_CASE("Worker: a worker that hangs after its answer costs the next case time, not its verdict", "[worker]") {
  Worker worker("liar", liar(), short_limits);
  check_honest(worker, submit("answers and hangs"));
  check_honest(worker, submit("honest"));
  CHECK(worker.session() == 2);
}

TEST_CASE("Worker: what breaks the frame is garbled", "[worker]") {
  const auto lie = GENERATE(values<Lie>({
      {"no JSON", Kind::garbled, "the header is not JSON: hello\\u{0000}\\xff world"},
      {"deep JSON", Kind::garbled, "the header nests too deep"},
      {"no object", Kind::garbled, "the header is not a JSON object: [1]"},
      {"giant header", Kind::garbled, "a header line of more than 1 MiB"},
      {"half a header, exits 0", Kind::garbled, "ended with exit code 0 in the middle of the header"},
      {"half, exits 0", Kind::garbled, "ended with exit code 0 "},
      {"closes the reply pipe", Kind::garbled, "closed its reply pipe without an answer"},
      {"wrong id", Kind::garbled, "it answers another, asked was case of wrong id"},
      {"no id", Kind::garbled, "\"id\" is missing"},
      {"no outcome", Kind::garbled, "the outcome is \"\"; known are outputs refused unsupported"},
      {"unknown outcome", Kind::garbled, "the outcome is \"\\u{202e}perhaps\""},
      {"refuses without a reason", Kind::garbled, "refused without \"because\""},
      {"no sizes", Kind::garbled, "\"sets\" is not an array of arrays of sizes"},
      {"negative size", Kind::garbled, "a size is not a whole number"},
      {"fractional size", Kind::garbled, "a size is not a whole number"},
      {"deep size", Kind::garbled, "a size is not a whole number but a JSON array"},
      {"giant size", Kind::garbled, "a part of 1099511627776 bytes: the limit is 2 GiB"},
      {"sizes too large", Kind::garbled, "ended with exit code 0 after"},
      {"sizes too small", Kind::garbled, "2 bytes more than its sizes say"},  // one per set
      {"extra bytes", Kind::garbled, "4 bytes more than its sizes say"},
      {"answers twice", Kind::garbled, "bytes more than its sizes say"},
      {"one set too few", Kind::garbled, "1 sets of outputs for 2 of inputs"},
      {"one set too many", Kind::garbled, "3 sets of outputs for 2 of inputs"},
      {"no tensor", Kind::garbled, "output 0 of set 0 is no TensorProto"},
      {"empty tensor", Kind::garbled, "output 0 of set 0 is no TensorProto"},
      {"boundless tensor", Kind::garbled, "output 0 of set 0 is no TensorProto"},
  }));
  Worker worker("liar", liar());
  check(worker, lie);
}

TEST_CASE("Worker: a set without outputs is an answer; the judge counts them", "[worker]") {
  Worker worker("liar", liar());
  const oracles::Outcome outcome = worker.run(submit("no outputs"));
  CHECK(outcome.kind == Kind::outputs);
  CHECK(outcome.sets == std::vector<std::vector<Tensor>>(2));
}

TEST_CASE("Worker: an answer above the limit is not waited for", "[worker]") {
  Worker worker("liar", liar(), {.answer = 20});
  const oracles::Outcome outcome = worker.run(submit("honest"));
  CHECK(outcome.kind == Kind::garbled);
  CHECK_THAT(outcome.because, Contains("the limit is 20 bytes"));
}

TEST_CASE("Worker: a worker that does not answer in time has timed out", "[worker]") {
  Worker worker("liar", liar(), short_limits);
  check(worker, {"hangs", Kind::timed_out, "no answer within 300 ms"});
  check(worker, {"half, hangs", Kind::timed_out, "no answer within 300 ms"});
}

TEST_CASE("Worker: a worker that stands in line for a processor is not late", "[worker]") {
  if (!std::filesystem::exists("/proc/self/schedstat")) return;  // the kernel does not count that time
  cpu_set_t all, one;
  REQUIRE(::sched_getaffinity(0, sizeof(all), &all) == 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  REQUIRE(::sched_setaffinity(0, sizeof(one), &one) == 0);  // of this thread, and of what it starts
  std::vector<std::unique_ptr<Worker>> others;  // sessions of their own, of which each has its share of the processor
  for (int i = 0; i < 4; ++i) {
    others.push_back(std::make_unique<Worker>("liar", liar()));
    others.back()->submit(submit("loops"));
  }
  for (const Isolation isolation : {Isolation::pid_namespace, Isolation::subreaper}) {
    Worker worker("liar", liar(), {.run = 1s, .isolation = isolation});
    const auto start = std::chrono::steady_clock::now();
    check_honest(worker, submit("works"));
    CHECK(std::chrono::steady_clock::now() - start > 1200ms);  // at a fifth of the speed
    check(worker, {"hangs", Kind::timed_out, "no answer within 1 s"});
  }
  ::sched_setaffinity(0, sizeof(all), &all);
}

TEST_CASE("Worker: what was cut off names the limit it had, and not a longer one", "[worker]") {
  Worker worker("liar", liar(), {.run = 60s});
  check_honest(worker, submit("honest"));
  for (const auto& [limit, words] :
       {std::pair{200ms, "200 ms"}, std::pair{1200ms, "1.2 s"}, std::pair{1000ms, "1 s"}}) {
    Request cut = submit("hangs");
    cut.limit = limit;
    CHECK(worker.run(cut).because == "no answer within " + std::string(words));
  }
}

TEST_CASE("Worker: a late answer is never taken for the next one", "[worker]") {
  Worker worker("liar", liar(), short_limits);
  check(worker, {"answers late", Kind::timed_out, "no answer within 300 ms"});
  CHECK(worker.session() == 2);
}

TEST_CASE("Worker: what is said between two requests is not taken for an answer", "[worker]") {
  Worker worker("liar", liar());
  check_honest(worker, submit("speaks up later"));
  std::this_thread::sleep_for(300ms);  // the liar's 50 ms have passed
  check_honest(worker, submit("honest"));
  CHECK(worker.session() == 2);
}

TEST_CASE("Worker: memory above the limit ends the worker, by the name of what happened", "[worker]") {
  Worker worker("liar", liar(), {.memory = std::size_t{128} << 20});
  check(worker, {"eats memory", Kind::out_of_memory, "more than 128 MiB of memory resident"});
}

TEST_CASE("Worker: a request may be given a part of the memory, and what exceeds that names the part", "[worker]") {
  Worker worker("liar", liar(), {.memory = std::size_t{1} << 30});
  Request poor = submit("eats memory");
  poor.memory_share = 4;
  CHECK(worker.run(poor).because == "more than 256 MiB of memory resident");
  check(worker, {"eats memory", Kind::out_of_memory, "more than 1024 MiB of memory resident"});
}

TEST_CASE("Worker: no process of its group and no temporary file is left behind", "[worker]") {
  const auto ending = GENERATE(values<std::string>({"honest", "hangs with a child", "dies with a child", "segfaults"}));
  pid_t group = 0;
  std::filesystem::path folder;
  {
    Worker worker("liar", liar(), short_limits);
    check_honest(worker, submit("writes into its folder"));
    group = worker.process()->init();
    folder = worker.process()->directory();
    CHECK(std::filesystem::exists(folder / "left"));
    worker.run(submit(ending));
  }
  INFO(ending);
  CHECK(is_gone(group));
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("Worker: a worker outlives the thread that started it", "[worker]") {
  Worker worker("liar", liar());
  std::thread([&] { worker.describe(); }).join();
  check_honest(worker, submit("honest"));
  CHECK(worker.session() == 1);
}

TEST_CASE("Worker: threads that start workers at once do not get into each other's pipes", "[worker]") {
  std::vector<std::thread> threads;
  std::vector<oracles::Outcome> outcomes(4);
  for (oracles::Outcome& outcome : outcomes)
    threads.emplace_back([&outcome] {
      Worker worker("liar", liar());
      worker.run(submit("segfaults"));
      outcome = worker.run(submit("honest"));
    });
  for (std::thread& thread : threads) thread.join();
  for (const oracles::Outcome& outcome : outcomes) CHECK(outcome.kind == Kind::outputs);
}

TEST_CASE("Worker: a description says what the judge has to know", "[worker]") {
  Worker worker("liar", liar({"in full"}));
  const Description& description = worker.describe();
  CHECK(description.arithmetic.accumulator == DType::f64);
  CHECK(description.arithmetic.tf32);
  CHECK_FALSE(description.arithmetic.winograd);
  CHECK(description.operators == std::set<std::string>{"Conv-11"});
  CHECK(description.types == std::set<std::string>{"f32"});
  CHECK(description.newest_opset == 21);
}

TEST_CASE("Worker: one that cannot describe itself is an input error of one line that says why", "[worker]") {
  struct Wrong {
    std::string how, why;
  };
  const auto wrong = GENERATE(values<Wrong>({
      {"exits",
       "ended with exit code 1 without an answer; its last words: ModuleNotFoundError: no module named 'moon'"},
      {"hangs", "no answer within 300 ms"},
      {"garbage", "the header is not JSON: moo"},
      {"another protocol", "\"assay\":1, the version of the protocol, is missing"},
      {"an option without values", "\"options\": precision is not an array of strings"},
      {"misspelt arithmetic", "\"arithmetic\" declares acumulator; known are accumulator"},
  }));
  Limits limits = short_limits;
  if (wrong.how == "hangs") limits.describe = 300ms;
  Worker worker("liar", liar({wrong.how}), limits);
  CHECK_THROWS_AS(worker.describe(), InputError);
  CHECK_THROWS_WITH(worker.run(submit("honest")),
                    Contains("liar: the worker did not describe itself: " + wrong.why) && Contains("; try by hand: "));
}

TEST_CASE("Worker: a worker that cannot start again after a crash is an outcome, not an exception", "[worker]") {
  const auto flag = std::filesystem::temp_directory_path() / ("assay-once-" + std::to_string(::getpid()));
  Worker worker("liar", liar({"once", flag.string()}));
  CHECK(worker.run(submit("segfaults")).kind == Kind::crashed);
  const oracles::Outcome outcome = worker.run(submit("honest"));
  CHECK(outcome.kind == Kind::crashed);
  CHECK_THAT(outcome.because, Contains("its last words: not again"));
  std::filesystem::remove(flag);
}

TEST_CASE("Worker: a program that is not there is an input error", "[worker]") {
  CHECK_THROWS_WITH(Worker("x", {"no-such-program"}).describe(), Contains("no-such-program: there is no such program"));
  CHECK_THROWS_WITH(Worker("x", {"./no/such/program"}).describe(), Contains("there is no such program"));
  CHECK_THROWS_WITH(Worker("x", {"./README.md"}).describe(), Contains("./README.md"));
  CHECK_THROWS_WITH(Worker("x", {"suites/testing/liar.py"}).describe(), Contains("make it executable"));
}

}  // namespace assay::suites
