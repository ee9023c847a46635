// SPDX-License-Identifier: Apache-2.0
#include "generators/draw.h"

#include <catch2/catch.hpp>

#include <string>

namespace assay::generators {
namespace {

// As many draws as there are ends, from ranges of any size.
std::string draws() {
  std::string all;
  for (Int i = 0; i < 60; ++i) all += std::to_string(between(-i * i * i, (Int{1} << (i % 62)) + i)) + " ";
  return all + std::to_string(chance(50)) + std::to_string(weighted<int>({{3, 1}, {0, 2}, {5, 3}})) + pick({"a", "b"});
}

}  // namespace

TEST_CASE("Draw: a Drawing gives the numbers that rc::gen::exec gives", "[draw]") {
  const rc::Gen<std::string> kept = rc::gen::resize(rc::kNominalSize, rc::gen::exec([] { return draws(); }));
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const rc::Random random(seed);
    const std::string direct = [&] {
      const Drawing drawing(random);
      return draws();
    }();
    REQUIRE(direct == kept(random).value());
  }
}

TEST_CASE("Draw: a Drawing within a Drawing leaves the outer one where it was", "[draw]") {
  const rc::Random outer(1), inner(2);
  const Drawing drawing(outer);
  const std::string first = draws();
  const Drawing again(outer);
  CHECK(draws() == first);
  const Int next = between(0, 1'000'000'000);
  const Drawing third(outer);
  CHECK(draws() == first);
  {
    const Drawing nested(inner);
    CHECK(draws() != first);
  }
  CHECK(between(0, 1'000'000'000) == next);
}

}  // namespace assay::generators
