// SPDX-License-Identifier: Apache-2.0
#include "suites/kept_outcomes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

namespace assay::suites {
namespace {

Conclusion wrong(std::size_t index, Int elements, oracles::State state = oracles::State::fail) {
  Conclusion conclusion;
  conclusion.index = index;
  conclusion.verdict.state = state;
  conclusion.outcome.sets.push_back({Tensor({DType::f32, {elements}})});
  return conclusion;
}

TEST_CASE("within a budget the smallest outcomes are kept, in whatever order they came", "[kept]") {
  std::vector<Conclusion> all{wrong(0, 10), wrong(1, 2), wrong(2, 30), wrong(3, 3), wrong(4, 10), wrong(5, 1)};
  std::ranges::sort(all, {}, &Conclusion::index);
  do {
    KeptOutcomes kept(std::size_t{4} * 20);
    for (const Conclusion& each : all) kept.see(each);
    std::vector<bool> has;
    for (std::size_t i = 0; i < all.size(); ++i) has.push_back(kept.of(i) != nullptr);
    REQUIRE(has == std::vector<bool>{true, true, false, true, false, true});
  } while (std::ranges::next_permutation(all, {}, &Conclusion::index).found);
}

TEST_CASE("what was right is not kept", "[kept]") {
  KeptOutcomes kept;
  kept.see(wrong(0, 1, oracles::State::pass));
  CHECK(kept.of(0) == nullptr);
}

}  // namespace
}  // namespace assay::suites
