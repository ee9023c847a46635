// SPDX-License-Identifier: Apache-2.0
#include "suites/planning/suite.h"

#include "generators/generators.h"
#include "reference/sequence.h"
#include "reference/testing/run_size.h"
#include "suites/sandbox/process.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <span>

namespace assay::suites {
namespace {

const std::string pool = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2";
const std::string conv = "Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~lit:1,10";

std::string complaint(std::string_view text) {
  try {
    read_cases(text, "x.cases");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string as_text(const std::vector<SuiteCase>& cases) {
  return joined(cases, "", [](const SuiteCase& p) { return p.line + "\n"; });
}

// Plans the whole suite of that length once for all tests: it takes seconds, and ten times as long under the
// sanitizers.
const Suite& whole(Length length) {
  static std::map<Length, Suite> known;
  if (!known.contains(length)) {
    SuiteRequest request;
    request.length = length;
    known[length] = plan("suites", request);
  }
  return known[length];
}

TEST_CASE("a case file holds comments, labels, lines and expectations", "[suite]") {
  const auto cases = read_cases("# why\n\n[v.C3] " + conv + " => 21,32,43\r\n  " + pool + "\n", "conv.cases");
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].line == conv);
  CHECK(cases[0].origin == "conv.cases:3 [v.C3]");
  CHECK(cases[0].expected == "21,32,43");
  CHECK(cases[1].line == pool);
  CHECK(cases[1].origin == "conv.cases:4");
  CHECK_FALSE(cases[1].expected);
}

TEST_CASE("a bad line of a case file is named with its number", "[suite]") {
  CHECK(complaint("# one\nConv-11 nonsense\n").starts_with("x.cases:2: "));
  CHECK(complaint("[v.C1 " + conv).starts_with("x.cases:1: the label"));
  CHECK(complaint(conv + " => 1, 2").find("without spaces") != std::string::npos);
}

TEST_CASE("the suite hash does not depend on the order, and does on an expectation", "[suite]") {
  auto cases = read_cases(conv + "\n" + pool + "\n", "x");
  const std::string hash = suite_hash(cases);
  std::ranges::reverse(cases);
  CHECK(suite_hash(cases) == hash);
  cases[0].expected = "1";
  CHECK(suite_hash(cases) != hash);
}

TEST_CASE("the hash of a version is SHA-256 of its sorted lines, that of a suite is over those", "[suite]") {
  const auto cases = read_cases(conv + " => 21,32,43\n" + pool, "x");
  const std::string of_conv = sha256(conv + " => 21,32,43\n"), of_pool = sha256(pool + "\n");
  CHECK(version_hashes(cases) ==
        std::map<OpVersion, std::string>{{{"", "Conv", 11}, of_conv}, {{"", "AveragePool", 19}, of_pool}});
  // 'A' sorts before 'C'.
  CHECK(suite_hash(cases) == sha256(of_pool + "  AveragePool-19\n" + of_conv + "  Conv-11\n"));
}

// Pairs of a version of the first operators and a type of its first input.
Int pairs() {
  Int count = 0;
  for (const Operator* op : std::span(operators()).first(5))
    for (const Definition& definition : op->versions())
      count += static_cast<Int>(definition.types_of(definition.data().type).size());
  return count;
}

TEST_CASE("generated cases of the first operators are spread evenly over versions and types", "[suite]") {
  SuiteRequest request;
  request.generated = 10 * pairs();
  request.selection.operators = {"Conv", "AveragePool", "DeformConv", "QLinearConv", "com.microsoft:NhwcConv"};
  std::map<std::string, Int> counts;
  for (const SuiteCase& p : generated_cases(request)) {
    const std::string origin = p.origin.substr(p.origin.find(": ") + 2);  // "Conv-11 f32 #3"
    ++counts[origin.substr(0, origin.find(' ', origin.find(' ') + 1))];
  }
  CHECK(static_cast<Int>(counts.size()) == pairs());
  for (const auto& [share, count] : counts) {
    INFO(share);
    CHECK(count == 10);
  }
}

TEST_CASE("a later operator adds 40 to 160 cases a version, in all of its types, and changes no other", "[suite]") {
  std::map<OpVersion, Int> counts;
  std::map<OpVersion, std::set<std::string>> types;
  SuiteRequest request;
  request.selection.operators = {"Relu"};
  for (const SuiteCase& p : generated_cases(request)) {
    ++counts[p.c.version];
    const std::string origin = p.origin.substr(p.origin.find(text(p.c.version)));
    types[p.c.version].insert(origin.substr(origin.find(' ') + 1, origin.find(' ', origin.find(' ') + 1)));
  }
  CHECK(counts.size() == 4);
  for (const auto& [version, count] : counts) {
    INFO(text(version));
    CHECK(count >= 40);
    CHECK(count <= 160);
    CHECK(types[version].size() >= find_definition(version)->types_of("T").size());
  }
}

TEST_CASE("the default suite breaks every constraint that can be broken alone", "[suite]") {
  std::map<std::string, Int> counts;
  Int near_misses = 0, all = 0;
  for (const SuiteCase& p : whole(Length::standard).cases) {
    if (!p.origin.starts_with("seed ")) continue;
    ++all;
    const auto violated = p.c.definition().violated(p.c.call());
    if (violated.empty()) continue;
    ++near_misses;
    ++counts[text(p.c.version) + "." + violated.front()];
  }
  CHECK(all > 9 * default_generated / 10);
  CHECK(near_misses * 100 > all * 10);
  CHECK(near_misses * 100 < all * 25);
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      for (const std::string& id : generators::breakable(definition)) {
        INFO(text(definition.version) << "." << id);
        CHECK(counts[text(definition.version) + "." + id] > 0);
      }
}

TEST_CASE("the same seed gives the same cases and another one others", "[suite]") {
  SuiteRequest request;
  request.generated = 58;
  const std::string once = as_text(generated_cases(request));
  CHECK(as_text(generated_cases(request)) == once);
  request.seed = 2;
  CHECK(as_text(generated_cases(request)) != once);
}

TEST_CASE("a selection takes operators by name or version, and types of the first input", "[suite]") {
  SuiteRequest request;
  request.selection.operators = {"Conv-11", "AveragePool"};
  request.selection.types = {DType::f16};
  const std::vector<SuiteCase> cases = generated_cases(request);
  CHECK(cases.size() > 500);
  for (const SuiteCase& p : cases) {
    INFO(p.line);
    CHECK((text(p.c.version) == "Conv-11" || p.c.version.name == "AveragePool"));
    CHECK(p.line.find(" X=f16[") != std::string::npos);
  }
}

// A baseline of the whole suite knows what a run of a part finds.
TEST_CASE("a selection is exactly that part of the whole suite", "[suite]") {
  SuiteRequest whole;
  whole.seed = 3;
  whole.generated = 900;
  for (const auto length : {Length::standard, Length::abridged}) {
    if (length == Length::standard && one_in() > 1) continue;  // of which more is planned
    whole.length = length;
    const Suite all = plan("suites", whole);
    Int types = 0;
    for (const Selection& selection : {Selection{{"AveragePool-22"}, {}}, Selection{{"QLinearConv", "Conv-1"}, {}},
                                       Selection{{}, {DType::f16}}, Selection{{"Conv"}, {DType::f32, DType::bf16}}}) {
      SuiteRequest request = whole;
      request.selection = selection;
      std::vector<std::string> part, expected;
      for (const SuiteCase& p : plan("suites", request).cases) part.push_back(p.line + p.origin);
      for (const SuiteCase& p : all.cases) {
        const auto first = p.c.node.inputs.find(p.c.definition().data().name);
        const DType type = first != p.c.node.inputs.end() ? first->second.type.dtype
                           : p.c.definition().inputs.empty()
                               ? p.c.definition().type_of(p.c.call(), p.c.definition().data())
                               : p.c.definition().types_of(p.c.definition().data().type).front();
        const bool has_type = selection.types.empty() || selection.types.contains(type);
        if (selection.admits(p.c.definition()) && has_type) expected.push_back(p.line + p.origin);
        types += !selection.types.empty() && has_type;
      }
      CHECK(part == expected);
    }
    CHECK(types > 100);
  }
}

TEST_CASE("every version has a case under other names and one into bound outputs", "[suite]") {
  for (const Length length : {Length::abridged, Length::standard}) {
    std::map<OpVersion, std::map<std::string_view, int>> counts;
    for (const SuiteCase& each : whole(length).cases) ++counts[each.c.version][each.presented_by];
    for (const auto& [version, count] : counts) {
      INFO(text(version));
      CHECK(count.at("names=") == 1);
      CHECK(count.at("outputs=") == 1);
    }
  }
}

TEST_CASE("the short suite is a part of the default one, and that of the full one", "[suite]") {
  SuiteRequest request;
  request.selection.operators = {"Conv-11", "Equal", "Softmax-13", "TopK-11", "NhwcConv"};
  const auto lines = [&](Length length) {
    request.length = length;
    std::set<std::string> all;
    for (const SuiteCase& p : plan("suites", request).cases) all.insert(p.line);
    return all;
  };
  const std::set<std::string> few = lines(Length::abridged), usual = lines(Length::standard),
                              many = lines(Length::full);
  CHECK(std::ranges::includes(usual, few));
  CHECK(std::ranges::includes(many, usual));
  CHECK(many.size() > 6 * usual.size());
}

TEST_CASE("the full suite has every finite input of functions in types of 16 bits", "[suite]") {
  SuiteRequest request;
  request.length = Length::full;
  request.selection.operators = {"Tanh", "Add"};
  std::set<std::string> found;
  for (const SuiteCase& p : plan("suites", request).cases)
    if (p.origin == "every input") found.insert(p.line);
  CHECK(found ==
        std::set<std::string>{
            "Tanh-1 opset=1 ir=8 input=f16[31744]~bits:0", "Tanh-1 opset=1 ir=8 input=f16[31744]~bits:32768",
            "Tanh-6 opset=6 ir=8 input=f16[31744]~bits:0", "Tanh-6 opset=6 ir=8 input=f16[31744]~bits:32768",
            "Tanh-13 opset=13 ir=8 input=f16[31744]~bits:0", "Tanh-13 opset=13 ir=8 input=f16[31744]~bits:32768",
            "Tanh-13 opset=13 ir=8 input=bf16[32640]~bits:0", "Tanh-13 opset=13 ir=8 input=bf16[32640]~bits:32768"});
  for (const std::string& each : found) CHECK_FALSE(has_nonfinite_data(*parse_case(each)));
}

TEST_CASE("a part of the suite says that it is not complete", "[suite]") {
  CHECK(whole(Length::standard).complete);
  SuiteRequest request;
  request.generated = 29;
  CHECK_FALSE(plan("suites", request).complete);
  request.selection.operators = {"Conv"};
  CHECK_FALSE(plan("suites", request).complete);
}

TEST_CASE("the short suite is 1,500 cases of the first operators, whatever seed and number were asked for", "[suite]") {
  const Suite& suite = whole(Length::abridged);
  const std::set<std::string> first{"Conv", "AveragePool", "DeformConv", "QLinearConv", "NhwcConv"};
  const auto is_first = [&](const SuiteCase& p) { return first.contains(p.c.version.name); };
  CHECK(std::ranges::count_if(suite.cases, is_first) == 1500);
  CHECK(suite.name == "assay short");
  CHECK_FALSE(suite.complete);
  std::set<std::string> versions;
  for (const SuiteCase& p : suite.cases)
    if (p.origin.starts_with("seed")) versions.insert(text(p.c.version));
  std::size_t all = 0;
  for (const Operator* op : operators()) all += op->versions().size();
  CHECK(versions.size() == all);
  SuiteRequest request;
  request.length = Length::abridged;
  request.seed = 7;
  request.generated = 10;
  CHECK(plan("suites", request).hash == suite.hash);
  request.selection.operators = {"Conv-11"};
  CHECK(plan("suites", request).cases.size() < 300);
}

TEST_CASE("a suite limited to a profile holds cases within it, and says what kept the others out", "[suite][profile]") {
  SuiteRequest request;
  request.profile = find_profile("sonnx");
  request.generated = 300;
  const Suite suite = plan("suites", request);
  CHECK(suite.name == "assay sonnx");
  CHECK(suite.profile == request.profile);
  CHECK_FALSE(suite.complete);
  std::map<std::string, Int> shares, pinned;
  Int near_misses = 0;
  for (const SuiteCase& p : suite.cases) {
    INFO(p.line);
    CHECK(outside(*suite.profile, p.c) == std::vector<std::string>{});
    CHECK(line(spelt_out(p.c)) == p.line);
    ++(p.origin.starts_with("seed") ? shares : pinned)[text(p.c.version)];
    near_misses += !p.c.is_legal();
  }
  CHECK(shares == std::map<std::string, Int>{{"Conv-1", 90}, {"Conv-11", 90}, {"Conv-22", 120}});
  CHECK(pinned["Conv-11"] > 0);
  CHECK(near_misses > 30);
  for (const char* reason : {"Conv.R1", "Conv.R2", "Conv.R3", "AveragePool is not specified"})
    CHECK(suite.left_out.at(reason) > 0);
  CHECK(plan("suites", request).hash == suite.hash);
  request.generated = default_generated;
  CHECK(plan("suites", request).complete);
  request.length = Length::abridged;
  CHECK_THROWS_WITH(plan("suites", request), Catch::Contains("the short suite has no profile"));
}

TEST_CASE("a pinned case spelt out keeps its label and its expectation", "[suite][profile]") {
  const TemporaryDirectory here;
  std::filesystem::create_directory(here.path() / "conformance");
  const std::string image = "Conv-11 opset=11 ir=8 X=f32[1,1,2,2]~iota:1 W=f32[1,1,2,2]~lit:1,10,100,1000";
  std::ofstream(here.path() / "conformance" / "conv.cases") << "[v.C1] " << image << " => 4321\n" << conv << "\n";
  SuiteRequest request;
  request.profile = find_profile("sonnx");
  request.generated = 0;
  const Suite suite = plan(here.path(), request);
  REQUIRE(suite.cases.size() == 1);
  CHECK(suite.cases[0].line ==
        image + " auto_pad=NOTSET dilations=1,1 group=1 kernel_shape=2,2 pads=0,0,0,0 strides=1,1");
  CHECK(suite.cases[0].origin == "conformance/conv.cases:1 [v.C1], spelt out");
  CHECK(suite.cases[0].expected == "4321");
  CHECK(suite.left_out == std::map<std::string, Int>{{"Conv.R1", 1}, {"Conv.R5", 1}});
}

TEST_CASE("every line of a suite is there once", "[suite]") {
  auto lines = transformed<std::string>(whole(Length::standard).cases, &SuiteCase::line);
  std::ranges::sort(lines);
  CHECK(std::ranges::adjacent_find(lines) == lines.end());
}

}  // namespace
}  // namespace assay::suites
