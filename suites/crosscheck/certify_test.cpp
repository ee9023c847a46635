// SPDX-License-Identifier: Apache-2.0
// The planted bugs by a stranger's road: served by a worker, certified by the tool, read from its report.
#include "reference/testing/run_size.h"
#include "suites/mutation/family.h"
#include "suites/mutation/mutants.h"
#include "suites/mutation/variants.h"
#include "suites/planning/suite.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace assay::mutation {
namespace {

using nlohmann::json;

std::filesystem::path build_folder() {
  const char* told = std::getenv("ASSAY_BUILD");
  return told ? told : "build/dev";
}

// As the command line names it: the domain in front where it is not ONNX's own.
std::string full_name(const std::string& op) {
  for (const Operator* known : operators())
    if (known->name() == op && !known->domain().empty()) return known->domain() + ":" + op;
  return op;
}

// Returns what --cases has to be for the operator to get about `wanted` cases of these types, any if empty.
std::string cases_for(const std::string& op, std::size_t wanted, const std::set<DType>& types = {}) {
  const std::size_t got = suites::generated_cases({.selection = {{full_name(op)}, types}}).size();
  return std::to_string(static_cast<std::size_t>(suites::default_generated) * wanted / got);
}

// A multiplier of 15 bits is one step off in one output of ten thousand.
std::string cases_of(const std::string& op) { return cases_for(op, op == "QLinearConv" ? 600 : 200); }

// Tells whether a bug or a variant is certified: one in twenty-four is, and under ASSAY_FULL one in three.
bool is_drawn(std::size_t index) { return index % (is_full_run() ? 3 : 24 * one_in()) == 0; }

// The report of a certification of one implementation, a short one; `implementation` is an option of the reference
// worker.
json report_on(const std::string& implementation, const std::string& op, const std::string& required) {
  const std::filesystem::path report = build_folder() / "crosscheck_certify_test.json";
  std::filesystem::remove(report);
  const std::string tools = (build_folder() / "tools").string();
  const std::string command = tools + "/assay certify --backend 'exec:" + tools + "/assay-worker-reference " +
                              implementation + "' --ops " + full_name(op) + required + " --jobs 1 --report " +
                              report.string() + " >" + report.string() + ".log 2>&1";
  INFO(command);
  REQUIRE(std::system(command.c_str()) != -1);
  std::ifstream written(report);
  REQUIRE(written);
  return json::parse(written);
}

json report_on(const std::string& implementation, const std::string& op) {
  return report_on(implementation, op, " --cases " + cases_of(op));
}

// Counts the cases in a state, those on special values among them.
std::size_t total(const json& report, oracles::State state) {
  const std::string word(name(state));
  return report.at("totals").value(word, std::size_t{0}) + report.at("special").value(word, std::size_t{0});
}

// How many verdicts are as bad as `least` or worse.
std::size_t caught(const json& report, oracles::State least) {
  std::size_t count = total(report, oracles::State::fail) + total(report, oracles::State::error);
  if (least != oracles::State::fail) count += total(report, oracles::State::below);
  if (least == oracles::State::contested) count += total(report, oracles::State::contested);
  return count;
}

}  // namespace

// Bugs that follow from definitions are many and alike: mutants_test has them all.
constexpr std::size_t one_derived_in = 5;
bool is_derived(const Mutant& m) {
  const auto op = std::ranges::find(operators(), m.op, &Operator::name);
  return op != operators().end() &&
         std::ranges::any_of(derived_bugs(**op), [&](const Bug& bug) { return bug.mutant.id == m.id; });
}

TEST_CASE("certify catches planted bugs with a few hundred generated cases, rare ones with 2,000", "[certify]") {
  std::size_t index = 0, derived = 0;
  for (const Mutant& m : mutants()) {
    if (is_derived(m) && derived++ % one_derived_in != 0) continue;
    if (m.expected == oracles::State::pass || !is_drawn(index++)) continue;
    // A few failures show that it is caught; of an arithmetic every case has to be weighed.
    const std::string enough = m.is_named_arithmetic ? "" : " --max-failures 20";
    json report = report_on("--mutant " + m.id, m.op, " --cases " + cases_of(m.op) + enough);
    if (caught(report, m.expected) == 0)
      report =
          report_on("--mutant " + m.id, m.op, " --cases " + cases_for(m.op, 2000, {m.types.begin(), m.types.end()}));
    INFO(m.id << ": " << m.description << "\n" << report.at("totals"));
    CHECK(caught(report, m.expected) > 0);
    if (m.is_named_arithmetic) CHECK(total(report, oracles::State::fail) == 0);
  }
}

TEST_CASE("certify finds a second rounding where correct rounding is asked for, and only there", "[certify]") {
  std::size_t index = 0;
  for (const Mutant& m : mutants()) {
    if (m.expected != oracles::State::pass || !is_drawn(index++)) continue;
    INFO(m.id);
    const std::string narrow =
        " --types f16,bf16 --cases " + cases_for(m.op, 3000, {DType::f16, DType::bf16}) + " --level ";
    CHECK(caught(report_on("--mutant " + m.id, m.op, narrow + "L2"), oracles::State::below) == 0);
    const json strict = report_on("--mutant " + m.id, m.op, narrow + "L0");
    CHECK(total(strict, oracles::State::below) > 0);
    CHECK(total(strict, oracles::State::fail) == 0);
  }
}

TEST_CASE("certify finds nothing in a correct variant and no breach in a weaker one", "[certify]") {
  std::size_t index = 0;
  for (const Variant& v : variants())
    for (const Operator* op : operators()) {
      if (!variant(v.name, op->versions().back().version) || !is_drawn(index++)) continue;
      const json report = report_on("--variant " + v.name, op->name());
      INFO(v.name << " " << op->name() << "\n" << report.at("totals"));
      CHECK(caught(report, oracles::State::fail) == 0);
      if (v.level == oracles::Level::L2) CHECK(caught(report, oracles::State::below) == 0);
      if (v.level == oracles::Level::L2 && v.reading.empty()) CHECK(caught(report, oracles::State::contested) == 0);
    }
}

}  // namespace assay::mutation
