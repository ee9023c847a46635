// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/error_map.h"

#include "oracles/judging/expected.h"

#include <catch2/catch.hpp>

namespace assay::oracles {
namespace {

Case read(const std::string& line) { return *parse_case(line); }

// The right outputs of a case, to be spoiled.
Outcome right(const Case& c) {
  Outcome outcome;
  for (int set = 0; set < data_sets; ++set) {
    const auto answer = std::move(oracle_of(c.version).answer(c.call(), operands(c, set), {}, {}).front());
    Tensor tensor({answer->dtype(), answer->shape()});
    for (Int i = 0; i < tensor.elements(); ++i)
      tensor.as<float>()[static_cast<std::size_t>(i)] = static_cast<float>(approximate(answer->element(i).value));
    outcome.sets.push_back({std::move(tensor)});
  }
  return outcome;
}

std::optional<ErrorMap> drawn(const Case& c, const Outcome& outcome, Int most = 4096) {
  return picture(c, outcome, judge(c, outcome), {}, most);
}

const std::string pool = "AveragePool-19 opset=19 ir=8 X=f32[1,2,4,5]~iota:1 kernel_shape=1,1";

TEST_CASE("a picture shows which elements are wrong, and by how much", "[picture]") {
  const Case c = read(pool);
  Outcome outcome = right(c);
  CHECK_FALSE(drawn(c, outcome));
  float& spoiled = outcome.sets[0][0].as<float>()[39];  // [0,1,3,4]: 40
  REQUIRE(spoiled == 40);
  spoiled = 41;
  const std::optional<ErrorMap> seen = drawn(c, outcome);
  REQUIRE(seen);
  CHECK(seen->axes == std::vector<std::string>{"N", "C", "D1", "D2"});
  CHECK(seen->cells == std::string(39, '.') + "w");
  CHECK(seen->ulp.back() == 262144.0);  // ulp(40) is 2^-18
  REQUIRE(seen->worst.size() == 1);
  CHECK(seen->worst[0].index == Shape{0, 1, 3, 4});
  CHECK(seen->worst[0].got == "0x1.48p+5");
  CHECK(seen->worst[0].want == "0x1.4p+5");
  CHECK(seen->worst[0].lower == "0x1.4p+5");
}

TEST_CASE("a large output is drawn around its worst element", "[picture]") {
  const Case c = read(pool);
  Outcome outcome = right(c);
  outcome.sets[1][0].as<float>()[39] += 1;
  const std::optional<ErrorMap> seen = drawn(c, outcome, 10);
  REQUIRE(seen);
  CHECK(seen->set == 1);
  CHECK(volume(seen->extent) <= 10);
  CHECK(seen->begin[3] + seen->extent[3] == 5);
  CHECK(seen->cells.back() == 'w');
}

TEST_CASE("what is no number has no distance, and comes first", "[picture]") {
  const Case c = read(pool);
  Outcome outcome = right(c);
  outcome.sets[0][0].as<float>()[3] = std::numeric_limits<float>::quiet_NaN();
  outcome.sets[0][0].as<float>()[2] += 1;
  const std::optional<ErrorMap> seen = drawn(c, outcome);
  REQUIRE(seen);
  CHECK(seen->cells.substr(0, 5) == "..ws.");
  CHECK_FALSE(seen->ulp[3]);
  CHECK(seen->worst[0].got == "nan");
}

TEST_CASE("of another shape both shapes are told, and no values", "[picture]") {
  const Case c = read(pool);
  Outcome outcome = right(c);
  outcome.sets[0][0] = Tensor({DType::f32, {1, 2, 3, 5}});
  const std::optional<ErrorMap> seen = drawn(c, outcome);
  REQUIRE(seen);
  CHECK(seen->answered == Shape{1, 2, 3, 5});
  CHECK(seen->cells.empty());
}

TEST_CASE("channels come last where the operator has them last", "[picture]") {
  const Case c = read("com.microsoft:NhwcConv-1 opset=1 ir=8 X=f32[1,3,3,1]~iota:1 W=f32[1,1,1,1]~const:1");
  Outcome outcome = right(c);
  outcome.sets[0][0].as<float>()[0] += 1;
  const std::optional<ErrorMap> seen = drawn(c, outcome);
  REQUIRE(seen);
  CHECK(seen->axes == std::vector<std::string>{"N", "D1", "D2", "C"});
}

}  // namespace
}  // namespace assay::oracles
