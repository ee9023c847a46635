// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/element_sample.h"
#include "oracles/exact/enclosure.h"
#include "reference/operator.h"
#include "reference/recipe.h"

#include <catch2/catch.hpp>

using namespace assay;
using namespace assay::oracles;

namespace {

const OpVersion version{"com.microsoft", "NhwcConv", 1};

Call call(const Node& node) { return find_operator("com.microsoft", "NhwcConv")->call(1, node); }

}  // namespace

TEST_CASE("X and Y are channels-last, W by the layout of A24", "[NhwcConv][A24]") {
  const Node ohwi = Node().input("X", Shape{1, 5, 6, 3}).input("W", Shape{4, 3, 2, 3});
  CHECK(oracle_of(version).shape(call(ohwi), {}) == Shape{1, 3, 5, 4});
  // Read as M x C/group x k… these are 3 channels of a 2 x 3 kernel: 5 - 2 + 1 by 6 - 3 + 1.
  CHECK(oracle_of(version).shape(call(ohwi), Readings().with("A24", "OIHW")) == Shape{1, 4, 4, 4});
  CHECK(oracle_of(version).touched(call(ohwi), nullptr, every_element) == std::vector<std::string>{"A24"});
  const Node only =
      Node().input("X", Shape{1, 5, 6, 3}).input("W", Shape{4, 3, 2, 3}).attribute("kernel_shape", Ints{3, 2});
  CHECK_FALSE(oracle_of(version).shape(call(only), Readings().with("A24", "OIHW")));
}

TEST_CASE("Channels meet their own weights", "[NhwcConv]") {
  // Two cells of two channels, one tap: y = 1*x0 + 10*x1.
  const Node node = Node().input("X", Shape{1, 2, 2}).input("W", Shape{1, 1, 2});
  const Operands in{fill(*parse_recipe("lit:1,2,3,4"), {DType::f32, {1, 2, 2}}),
                    fill(*parse_recipe("lit:1,10"), {DType::f32, {1, 1, 2}})};
  const auto answer = std::move(oracle_of(version).answer(call(node), in, {}, {}).front());
  CHECK(answer->shape() == Shape{1, 2, 1});
  CHECK(approximate(answer->element(0).value) == 21);
  CHECK(approximate(answer->element(1).value) == 43);
}
