// SPDX-License-Identifier: Apache-2.0
#include "suites/planning/stream.h"

#include "generators/convolution.h"
#include "generators/generators.h"
#include "reference/operator.h"
#include "suites/planning/coverage.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

namespace assay::suites {
namespace {

const Selection few{{"AveragePool-19", "Conv-22"}, {}};

std::vector<SuiteCase> first(Stream stream, std::uint64_t count) {
  std::vector<SuiteCase> cases;
  while (stream.index() < count) cases.push_back(stream.next());
  return cases;
}

Int pairs(const std::vector<SuiteCase>& cases) {
  Coverage coverage;
  for (const SuiteCase& planned : cases)
    if (planned.c.is_legal()) coverage.add(planned.c);
  return coverage.pairs_seen();
}

}  // namespace

TEST_CASE("Stream: the case of an index is the same however one comes there", "[stream]") {
  const std::uint64_t count = 2 * steering_epoch + 40;
  const std::vector<SuiteCase> walked = first(Stream(few, 3), count);
  for (const std::uint64_t start : {std::uint64_t{6}, steering_epoch + 1, 2 * steering_epoch + 2}) {
    Stream shard(few, 3);
    while (shard.index() < start) shard.skip();
    for (std::uint64_t at = start; at < count; ++at) {
      if ((at - start) % 7 != 0) {
        shard.skip();
        continue;
      }
      const SuiteCase planned = shard.next();
      REQUIRE(planned.line == walked[at].line);
      REQUIRE(planned.origin == "fuzz 3:" + std::to_string(at));
    }
  }
}

TEST_CASE("Stream: after the steered indices a case depends on its index alone", "[stream]") {
  Stream steered(few, 1), unsteered(few, 1, Stream::Steering::off);
  while (steered.index() < steered_indices) steered.skip();
  while (unsteered.index() < steered_indices) unsteered.skip();
  for (int i = 0; i < 50; ++i) CHECK(steered.next().line == unsteered.next().line);
}

TEST_CASE("Stream: steering asks for more pairs of features in as many cases", "[stream]") {
  const std::uint64_t count = 3 * steering_epoch;
  const Int without = pairs(first(Stream({}, 1, Stream::Steering::off), count));
  const Int with = pairs(first(Stream({}, 1), count));
  INFO(with << " pairs with steering, " << without << " without");
  CHECK(with > without + without / 30);
}

TEST_CASE("Stream: pairs of features asked for after so many cases", "[.][steering]") {
  for (const Stream::Steering steering : {Stream::Steering::off, Stream::Steering::on}) {
    Stream stream({}, 1, steering);
    Coverage coverage;
    for (const std::uint64_t mark : {1'000, 5'000, 20'000}) {
      while (stream.index() < mark) coverage.add(stream.next().c);
      std::cout << (steering == Stream::Steering::on ? "steered   " : "unsteered ") << mark << " cases:";
      Int seen = 0, possible = 0;
      for (const CoverageRow& row : coverage.table().rows) {
        std::cout << " " << text(row.version) << " " << row.seen << "/" << row.possible;
        seen += row.seen;
        possible += row.possible;
      }
      std::cout << " all " << seen << "/" << possible << "\n";
      CHECK(seen <= possible);
    }
  }
}

TEST_CASE("Stream: operators get the same share, and an eighth breaks one constraint, each in its turn", "[stream]") {
  std::map<std::string, std::vector<std::string>> broken;
  std::map<std::string, int> legal;
  for (const SuiteCase& planned : first(Stream(few, 2, Stream::Steering::off), 4000)) {
    const std::vector<std::string> violated = planned.c.definition().violated(planned.c.call());
    REQUIRE(violated.size() <= 1);
    const std::string version = text(planned.c.version);
    if (violated.empty())
      ++legal[version];
    else
      broken[version].push_back(violated.front());
  }
  for (const char* version : {"AveragePool-19", "Conv-22"}) {
    CHECK(legal[version] + broken[version].size() == 2000);
    CHECK(broken[version].size() >= 2000 / 8 - 10);
    const std::string word = version;
    const OpVersion named{"", word.substr(0, word.find('-')), std::stoi(word.substr(word.find('-') + 1))};
    for (const std::string& id : generators::breakable(*find_definition(named))) {
      INFO(version << " " << id);
      CHECK(std::ranges::count(broken[version], id) >= 5);
    }
  }
}

TEST_CASE("Stream: of legal cases an eighth are as deployed models have them", "[stream]") {
  for (const char* op : {"QLinearConv", "com.microsoft:NhwcConv", "DeformConv-22"}) {
    Int legal = 0, deployed = 0;
    for (const SuiteCase& planned : first(Stream({{op}, {}}, 2, Stream::Steering::off), 800)) {
      if (!planned.c.is_legal()) continue;
      ++legal;
      const Case conv = generators::conv_of(planned.c);
      const Shape& w = conv.node.inputs.at("W").type.shape;
      bool is_plain = std::all_of(w.begin() + 2, w.end(), [](Int extent) { return extent == 1; });
      for (const auto& [name, source] : planned.c.sources)
        is_plain &= (source.initializer || name == planned.c.definition().data().name) &&
                    (!name.ends_with("_scale") || planned.c.node.inputs.at(name).type.shape.empty());
      deployed += is_plain;
    }
    INFO(op << ": " << deployed << " of " << legal);
    CHECK(deployed * 10 > legal);
  }
}

TEST_CASE("Stream: the types of a version share the constraints between them", "[stream]") {
  const Selection pool{{"AveragePool-19"}, {}};
  std::set<std::string> broken;
  for (const SuiteCase& planned : first(Stream(pool, 1, Stream::Steering::off), std::size_t{3} * 8 * 4))
    for (std::string& id : planned.c.definition().violated(planned.c.call())) broken.insert(std::move(id));
  CHECK(broken.size() == generators::breakable(*find_definition({"", "AveragePool", 19})).size());
}

TEST_CASE("Stream: another seed draws other cases, and none of the suite of its number", "[stream]") {
  std::set<std::string> lines;
  for (const SuiteCase& planned : first(Stream(few, 1), 300)) lines.insert(planned.line);
  SuiteRequest request;
  request.selection = few;
  request.generated = 10 * default_generated;
  std::size_t again = 0, in_suite = 0;
  for (const SuiteCase& planned : first(Stream(few, 2), 300)) again += lines.contains(planned.line);
  for (const SuiteCase& planned : generated_cases(request)) in_suite += lines.contains(planned.line);
  CHECK(again <= 3);
  CHECK(in_suite <= 3);
}

TEST_CASE("Stream: a selection without a case is refused", "[stream]") {
  CHECK_THROWS_AS(Stream({{"Convolution"}, {}}, 1), InputError);
}

}  // namespace assay::suites
