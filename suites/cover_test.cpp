// SPDX-License-Identifier: Apache-2.0
#include "suites/cover.h"

#include "suites/suite.h"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include <algorithm>

namespace assay::suites {
namespace {

// Generated cases of one operator version, legal and near misses.
const std::vector<Case>& cases_of(const std::string& version) {
  static std::map<std::string, std::vector<Case>> known;
  if (known.contains(version)) return known[version];
  Request request;
  request.selection.operators = {version};
  for (const Planned& planned : generated_cases(request)) known[version].push_back(planned.c);
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
