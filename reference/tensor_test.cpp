// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor.h"

#include "reference/recipe.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

Tensor filled(const char* recipe, const TensorType& type, int set = 0) {
  return fill(*parse_recipe(recipe), type, set);
}

const std::byte* place(const Tensor& tensor) { return tensor.bytes().data(); }

}  // namespace

TEST_CASE("Copies of a tensor share their elements until one of them is changed", "[tensor]") {
  Tensor original = filled("iota:1", {DType::f32, {5}});
  Tensor copy = original;
  CHECK(place(copy) == place(original));
  CHECK(copy == original);
  copy.as<float>()[4] = 7;
  CHECK(place(copy) != place(original));
  CHECK(std::as_const(original).as<float>()[4] == 5);
  CHECK(std::as_const(copy).as<float>()[3] == 4);
  CHECK(copy != original);
  const std::byte* const own = place(copy);
  copy.as<float>()[4] = 5;
  CHECK(place(copy) == own);  // nobody shares it: written in place
  CHECK(copy == original);
}

TEST_CASE("The last of two copies is changed in place", "[tensor]") {
  Tensor tensor = filled("iota:1", {DType::i8, {3}});
  const std::byte* const before = place(tensor);
  {
    const Tensor copy = tensor;
    CHECK(place(copy) == before);
  }
  tensor.as<std::int8_t>()[0] = 9;
  CHECK(place(tensor) == before);
}

TEST_CASE("A tensor without elements, and one that was moved from, has none", "[tensor]") {
  CHECK(Tensor().elements() == 0);
  CHECK(Tensor({DType::f64, {3, 0}}).bytes().empty());
  CHECK(Tensor({DType::f64, {3, 0}}) != Tensor({DType::f64, {0, 3}}));
  Tensor tensor({DType::f64, {3}});
  const Tensor taken = std::move(tensor);
  CHECK(tensor.bytes().empty());  // NOLINT(bugprone-use-after-move)
  CHECK(taken == Tensor({DType::f64, {3}}));
}

// Elements are drawn some thousands at a time.
TEST_CASE("A long tensor is one sequence", "[tensor]") {
  constexpr Int most = 20000;
  for (const char* recipe : {"normal:5", "special:6", "odd5:7", "lit:1,2,3", "hold:4,5", "iota:-3", "const:2"}) {
    INFO(recipe);
    for (const int set : {0, 1}) {
      const Tensor whole = filled(recipe, {DType::f32, {most}}, set);
      for (const Int count : {1, 4095, 4096, 4097, 8192, 12289}) {
        const Tensor part = filled(recipe, {DType::f32, {count}}, set);
        CHECK(std::ranges::equal(part.bytes(), whole.bytes().first(part.bytes().size())));
      }
    }
  }
  const Tensor iota = filled("iota:-3", {DType::i32, {most}}, 1), literal = filled("lit:1,2,3", {DType::u8, {most}});
  const Tensor balanced = filled("zerosum:8", {DType::f64, {most}}),
               hot = filled("onehot:4999", {DType::f32, {most}}, 1);
  for (Int i = 0; i < most; ++i) {
    const auto at = static_cast<std::size_t>(i);
    REQUIRE(iota.as<std::int32_t>()[at] == 3 - i);
    REQUIRE(literal.as<std::uint8_t>()[at] == 1 + i % 3);
    REQUIRE(hot.as<float>()[at] == (i == 5000 ? 1 : 0));
    if (i % 2) REQUIRE(balanced.as<double>()[at] == -balanced.as<double>()[at - 1]);
  }
}

}  // namespace assay
