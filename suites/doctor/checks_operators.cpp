// SPDX-License-Identifier: Apache-2.0
// What a worker does with each operator, and how it may be run: in forked processes, into buffers that are given.
#include "generators/generators.h"
#include "generators/shrink.h"
#include "oracles/judging/case_class.h"
#include "suites/campaign/run_options.h"
#include "suites/doctor/checks.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <optional>

namespace assay::suites::doctor {
namespace {

using oracles::Outcome;
using Kind = Outcome::Kind;

constexpr std::uint64_t drawn = 32, batch = 8;  // of the first eight in which one is plain the smallest is run
constexpr std::size_t most_named = 8;           // operator versions, and reasons of those that are turned away
constexpr std::size_t most_broken = 2;          // each may cost the time limit

// Returns the smallest plain case of a version among a few of one type, where the worker declares to take any; of an
// operator all of whose cases rest on a ruling, such as Bernoulli, one that does. The smallest are looked at first: to
// tell whether a large one is plain takes long.
std::optional<Case> tiny_case(const Definition& definition, DType type, const Description& worker) {
  std::optional<Case> contested;
  for (std::uint64_t first = 0; first < drawn; first += batch) {
    std::vector<Case> cases;
    for (std::uint64_t i = 0; i < batch; ++i) cases.push_back(generators::legal(definition, type, 1, first + i));
    std::ranges::stable_sort(cases, {}, [](const Case& c) { return generators::size_of(c); });
    for (Case& c : cases) {
      if (!excluded_by(worker, c).empty()) continue;
      const std::string_view case_class = oracles::nature_of(c).case_class;
      if (case_class == "valid-core") return std::move(c);
      if (case_class == "valid-contested" && !contested) contested = std::move(c);
    }
  }
  return contested;
}

struct Tried {
  Case c;
  Outcome outcome;
};

// Runs a tiny case of the newest version that the worker takes any of, type after type and float32 first, until one is
// answered, or ends the worker; nothing where it takes no version.
std::optional<Tried> tried(const Operator& op, const Description& description, Worker& worker) {
  std::optional<Tried> last;
  for (auto version = op.versions().rbegin(); version != op.versions().rend() && !last; ++version) {
    std::vector<DType> types = version->types_of(version->data().type);
    std::ranges::stable_partition(types, [](DType type) { return type == DType::f32; });
    for (const DType type : types) {
      const std::optional<Case> c = tiny_case(*version, type, description);
      if (!c) continue;
      last = {*c, worker.run(request_of(SuiteCase{*c, line(*c), "", {}}, {}))};
      if (last->outcome.kind != Kind::refused && last->outcome.kind != Kind::unsupported) return last;
    }
  }
  return last;
}

bool is_broken(const Outcome& outcome) {
  return outcome.kind != Kind::outputs && outcome.kind != Kind::shapes && outcome.kind != Kind::refused &&
         outcome.kind != Kind::unsupported;
}

// "A, B and 3 more".
std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < std::min(words.size(), most_named); ++i) out += (i == 0 ? "" : ", ") + words[i];
  return words.size() > most_named ? out + " and " + std::to_string(words.size() - most_named) + " more" : out;
}

// Looks at the worker as campaigns start it; one that does not describe itself to them has its own finding.
CheckResult with_worker(TestedWorker& under_test, CheckResult (*look)(TestedWorker&, Worker&)) {
  under_test.dismiss();  // a worker may hold what there is once
  Worker worker("the worker", under_test.command(), under_test.limits());
  try {
    worker.describe();
  } catch (const InputError& unusable) {
    return skipped(unusable.what());
  }
  return look(under_test, worker);
}

// It judges no answer: that an operator is turned away, or ends the runtime, may be the runtime's own doing.
CheckResult each_operator(TestedWorker& under_test, Worker& worker) {
  std::vector<std::string> answered, turned_away, broken;
  std::string line_of_broken;
  std::size_t runs = 0;
  for (const Operator* op : operators()) {
    const std::optional<Tried> last = tried(*op, under_test.description(), worker);
    if (!last) continue;
    ++runs;
    const auto& [c, outcome] = *last;
    const std::string words = text(c.version) + " (" + std::string(name(outcome.kind)) +
                              (outcome.because.empty() ? "" : ": " + printable(outcome.because, 80)) + ")";
    if (outcome.kind == Kind::outputs || outcome.kind == Kind::shapes) {
      answered.push_back(text(c.version));
    } else if (!is_broken(outcome)) {
      turned_away.push_back(words);
    } else {
      if (broken.empty()) line_of_broken = line(c);
      broken.push_back(words);
      if (broken.size() == most_broken) break;
    }
  }
  if (runs == 0) return skipped("what it declares to support excludes every operator");
  std::string got = "answers " + std::to_string(answered.size()) + " of " + std::to_string(runs);
  if (!answered.empty()) got += ": " + listed(answered);
  if (!turned_away.empty()) got += "; not " + listed(turned_away);
  if (broken.empty()) return ok(got);
  return note("the model " + line_of_broken, got + "; broken off by " + listed(broken),
              "a worker that dies over a legal model is started again; `assay certify` says what else does that");
}

CheckResult given_buffers(TestedWorker& under_test) {
  if (!under_test.description().binds_outputs)
    return ok("it declares no binds_outputs: outputs are where it puts them");
  IdentityRequest echo = under_test.good();
  echo.what += R"( with "outputs":"bound")";
  echo.request.binds_outputs = true;
  under_test.must_answer(echo);
  return ok("outputs go into buffers that were there before");
}

CheckResult forks(TestedWorker& under_test, Worker& worker) {
  if (!worker.begins_afresh_quickly()) return ok("it does not: a fresh process starts the program again");
  IdentityRequest echo = under_test.good();
  echo.request.fresh = true;
  for (int process = 0; process < 2; ++process) {
    const int before = worker.session();
    const Outcome outcome = worker.run(echo.request);
    const bool is_first = process == 0;
    if (outcome.kind != Kind::outputs && outcome.kind != Kind::shapes)
      return wrong(echo.what + (is_first ? " to the first process it forked" : " to the next process it forked"),
                   std::string(name(outcome.kind)) + ": " + outcome.because,
                   "a forked process answers as the program does: it takes the four descriptors as its 0 to 3, and no "
                   "thread may have run before the fork");
    if (!is_first && worker.session() == before)
      return wrong("the message fork", "no other process", "wait for fork on the socket, and fork again");
  }
  return ok("it forks: a fresh process costs milliseconds");
}

}  // namespace

std::vector<Check> checks_of_operators() {
  using enum Prerequisite;
  return {{"each operator", "Run", [](TestedWorker& p) { return with_worker(p, each_operator); }, description},
          {"outputs in given buffers", "Options", given_buffers},
          {"forks", "Fork", [](TestedWorker& p) { return with_worker(p, forks); }}};
}

}  // namespace assay::suites::doctor
