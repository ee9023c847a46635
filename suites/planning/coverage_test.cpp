// SPDX-License-Identifier: Apache-2.0
#include "suites/planning/coverage.h"

#include "generators/generators.h"
#include "reference/case_view.h"
#include "reference/operator.h"
#include "reference/testing/run_size.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace assay::suites {
namespace {

Coverage of(const std::vector<Case>& cases) {
  Coverage coverage;
  for (const Case& c : cases) coverage.add(c);
  return coverage;
}

std::vector<Case> drawn(const Definition& definition, std::uint64_t count) {
  const std::vector<DType>& types = definition.types_of(definition.data().type);
  std::vector<Case> cases;
  for (std::uint64_t i = 0; i < count; ++i)
    cases.push_back(generators::legal(definition, types[i % types.size()], 5, i));
  return cases;
}

bool names(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

const char* const plain = "AveragePool-7 opset=7 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 strides=1";

}  // namespace

TEST_CASE("Coverage: a pair is seen once a case has both values", "[coverage]") {
  Coverage coverage = of({case_of(plain)});
  const std::vector<CoverageRow> rows = coverage.table(10'000).rows;
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].legal == 1);
  CHECK(rows[0].seen == coverage.pairs_seen());
  CHECK(names(rows[0].unseen_values, "strides: left out"));
  CHECK(!names(rows[0].unseen_values, "strides: all 1"));

  // One value is another: every pair with it is new, and nothing else.
  const CoverageValues other = aspects_of(case_of("AveragePool-7 opset=7 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2"));
  CHECK(coverage.gain(aspects_of(case_of(plain))) == 0);
  CHECK(coverage.gain(other) == other.values.size() - 1);
  coverage.add(other);
  CHECK(coverage.gain(other) == 0);
}

TEST_CASE("Coverage: what two cases have only apart is listed as unseen", "[coverage]") {
  const Coverage coverage =
      of({case_of(plain), case_of("AveragePool-7 opset=7 ir=8 X=f32[2,1,4]~iota:1 kernel_shape=2 strides=2")});
  const CoverageRow row = coverage.table(10'000).rows.at(0);
  CHECK(names(row.unseen_pairs, "strides: all 1, batch: > 1"));
  CHECK(!names(row.unseen_pairs, "strides: all 1, batch: 1"));
}

TEST_CASE("Coverage: no legal case has a pair that is called impossible", "[coverage]") {
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions()) {
      const Coverage coverage = of(drawn(definition, thinned(count(600, 2'000))));
      const CoverageRow row = coverage.table().rows.at(0);
      INFO(text(definition.version));
      CHECK(row.seen == coverage.pairs_seen());
      CHECK(row.seen < row.possible);
    }
}

TEST_CASE("Coverage: is of a set of cases, so order and shards do not matter", "[coverage]") {
  const Definition& definition = *find_definition({"", "AveragePool", 19});
  std::vector<Case> cases = drawn(definition, 200);
  cases.push_back(*generators::near_miss(definition, DType::f32, "W5", 1, 0));
  const CoverageTable whole = of(cases).table();
  std::ranges::reverse(cases);
  CHECK(of(cases).table() == whole);

  Coverage parts[3];
  for (std::size_t i = 0; i < cases.size(); ++i) parts[i % 3].add(cases[i]);
  parts[2].merge(parts[0]);
  parts[2].merge(parts[1]);
  CHECK(parts[2].table() == whole);
  CHECK(Coverage::of(whole).table() == whole);
}

TEST_CASE("Coverage: constraints are broken by near misses, rulings touched by cases and followed by backends",
          "[coverage]") {
  const Definition& definition = *find_definition({"", "Conv", 11});
  Coverage coverage;
  coverage.add(*generators::near_miss(definition, DType::f32, "W2", 1, 0));
  CoverageRow row = coverage.table().rows.at(0);
  CHECK(row.near_misses == 1);
  CHECK(row.broken == std::vector<std::string>{"W2"});
  CHECK(names(row.unbroken, "C3"));
  CHECK(!names(row.unbroken, "G3"));                     // no line can break it
  CHECK(row.touched == std::vector<std::string>{"A4"});  // which another reading lifts

  // SAME_* with a stride beyond the kernel: the clamp of A3.
  coverage.add(case_of("Conv-11 opset=11 ir=8 X=f32[1,1,6]~iota:1 W=f32[1,1,1]~lit:2 auto_pad=SAME_UPPER strides=3"));
  coverage.follow(definition.version, "A14", "skip");
  row = coverage.table().rows.at(0);
  CHECK(names(row.touched, "A3"));
  CHECK(names(row.touched, "A14"));
  CHECK(row.followed.at("A14").contains("skip"));
}

}  // namespace assay::suites
