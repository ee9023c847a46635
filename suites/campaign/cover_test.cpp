// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/cover.h"

#include "reference/sequence.h"
#include "suites/planning/suite.h"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include <algorithm>

namespace assay::suites {
namespace {

// Generated cases of one operator version, legal and near misses.
const std::vector<Case>& cases_of(const std::string& version) {
  static std::map<std::string, std::vector<Case>> known;
  if (known.contains(version)) return known[version];
  SuiteRequest request;
  request.selection.operators = {version};
  for (const SuiteCase& planned : generated_cases(request)) known[version].push_back(planned.c);
  return known[version];
}

// How well the cover of what a predicate describes describes it.
Cover cover_of(const std::string& truth, const std::string& version) {
  const Predicate holds = *parse_predicate(truth);
  std::vector<Case> inside, outside;
  for (const Case& c : cases_of(version)) (holds.holds(c) ? inside : outside).push_back(c);
  INFO(truth);
  REQUIRE_FALSE(inside.empty());
  REQUIRE_FALSE(outside.empty());
  Cover found = cover(inside, outside);
  CHECK(std::ranges::all_of(inside, [&](const Case& c) { return found.when.holds(c); }));
  return found;
}

TEST_CASE("a bug of few conditions is found again", "[cover]") {
  for (const char* truth : {"auto_pad in (SAME_LOWER, SAME_UPPER) and any(dilations) > 1", "type(X) == f16",
                            "any(pads) >= kernel_shape and type(X) == f32", "ceil_mode == 1 and rank(X) == 4"}) {
    INFO(truth << " became " << cover_of(truth, "AveragePool-19").when.text());
    CHECK(cover_of(truth, "AveragePool-19").also == 0);
  }
  CHECK(cover_of("group > 1 and has(B) and not initializer(W)", "Conv-11").also == 0);
}

TEST_CASE("where every case breaks there is nothing to tell apart, and the predicate is empty", "[cover]") {
  CHECK(cover(cases_of("Conv-1"), {}).when.text().empty());
}

// The pieces of what a predicate describes: they hold for nothing outside.
Pieces told_of(const std::string& truth, const std::string& version) {
  const Predicate holds = *parse_predicate(truth);
  std::vector<Case> inside, outside;
  for (const Case& c : cases_of(version)) (holds.holds(c) ? inside : outside).push_back(c);
  Pieces found = told_apart(inside, outside);
  for (const Predicate& when : found.all)
    CHECK(std::ranges::none_of(outside, [&](const Case& c) { return when.holds(c); }));
  return found;
}

std::string texts(const Pieces& pieces) { return joined(pieces.all, " | ", &Predicate::text); }

TEST_CASE("what a type and the data bring is told by type and data, and not by shapes that came with them", "[cover]") {
  for (const char* truth : {"type(X) == f64 and recipe(X) in (normal, small)", "type(X) == f16 and recipe(X) == small",
                            "recipe(X) in (normal, pattern, small)"}) {
    const Pieces found = told_of(truth, "AveragePool-19");
    INFO(truth << " became " << texts(found));
    CHECK(found.left_over.empty());
    CHECK(found.all.size() == 1);
    for (const char* word : {"dim(", "rank(", "shape(", "elements("})
      CHECK(texts(found).find(word) == std::string::npos);
  }
  const std::string told = texts(told_of("type(X) == f64 and recipe(X) in (normal, small)", "AveragePool-19"));
  CHECK_THAT(told,
             Catch::Matchers::Contains("type(X) == f64") && Catch::Matchers::Contains("recipe(X) in (normal, small)"));
}

TEST_CASE("what attributes or shapes bring is told by them", "[cover]") {
  for (const char* truth :
       {"any(strides) > 2", "auto_pad == VALID and type(X) == f32", "any(shape(X)) == 0", "rank(X) == 5"}) {
    const Pieces found = told_of(truth, "AveragePool-19");
    INFO(truth << " became " << texts(found));
    CHECK(found.left_over.empty());
  }
}

TEST_CASE("what no claim describes is left over: no predicate is made up", "[cover]") {
  int made_up = 0;
  for (std::size_t seed = 0; seed < 20; ++seed) {
    std::vector<Case> inside, outside;
    const std::vector<Case>& all = cases_of("AveragePool-19");
    for (std::size_t i = 0; i < all.size(); ++i)
      ((i * 2654435761 + seed * 40503) % 997 < 40 ? inside : outside).push_back(all[i]);
    REQUIRE(inside.size() > 3);
    const Pieces found = told_apart(inside, outside);
    INFO(texts(found));
    made_up += found.all.empty() ? 0 : 1;
    CHECK(found.left_over.size() + 3 >= inside.size());
  }
  CHECK(made_up <= 3);  // one of twenty by chance, for each number of claims
}

TEST_CASE("a few cases tell nothing, and where nothing passes there is nothing to tell apart", "[cover]") {
  const std::vector<Case>& all = cases_of("AveragePool-19");
  CHECK(told_apart({all[5]}, {all.begin() + 6, all.end()}).left_over == std::vector<std::size_t>{0});
  const Pieces everywhere = told_apart(all, {});
  REQUIRE(everywhere.all.size() == 1);
  CHECK(everywhere.all[0].text().empty());
}

TEST_CASE("whatever breaks, the cover holds for all of it and counts what else it holds for", "[cover]") {
  rc::prop("for any few cases inside", [] {
    const auto& all = cases_of(*rc::gen::element<std::string>("AveragePool-22", "Conv-22", "QLinearConv-10"));
    std::vector<Case> inside{all[*rc::gen::inRange<std::size_t>(0, all.size())]}, outside;
    for (const Case& c : all) (*rc::gen::inRange(0, 30) == 0 ? inside : outside).push_back(c);
    Cover found = cover(inside, outside);
    const auto holds = [&](const Case& c) { return found.when.holds(c); };
    RC_ASSERT(std::ranges::all_of(inside, holds));
    RC_ASSERT(found.also == static_cast<std::size_t>(std::ranges::count_if(outside, holds)));
    const Definition* const definition = &inside.front().definition();
    RC_ASSERT(!found.when.mistake({&definition, 1}));
  });
}

}  // namespace
}  // namespace assay::suites
