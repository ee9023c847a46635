// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/enclosure.h"
#include "reference/operator.h"
#include "reference/recipe.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace assay;
using namespace assay::oracles;

namespace {

// One 1x1 convolution of one channel: the accumulator is x - x_zero alone, and with a bias anything.
struct Requantised {
  Node node;
  Operands in;
  Shape shape{1, 1, 1};

  Requantised(Int bias, float sx, float sw, float sy, Int zero) {
    add("x", {DType::u8, {1, 1, 1}}, 0);
    add("x_scale", {DType::f32, {}}, static_cast<double>(sx));
    add("x_zero_point", {DType::u8, {}}, 0);
    add("w", {DType::u8, {1, 1, 1}}, 1);
    add("w_scale", {DType::f32, {}}, static_cast<double>(sw));
    add("w_zero_point", {DType::u8, {}}, 0);
    add("y_scale", {DType::f32, {}}, static_cast<double>(sy));
    add("y_zero_point", {DType::u8, {}}, static_cast<double>(zero));
    add("B", {DType::i32, {1}}, static_cast<double>(bias));
  }

  void add(const char* name, const TensorType& type, double value) {
    node.input(name, type);
    Tensor t(type);
    if (type.dtype == DType::f32) t.as<float>()[0] = static_cast<float>(value);
    if (type.dtype == DType::u8) t.as<std::uint8_t>()[0] = static_cast<std::uint8_t>(value);
    if (type.dtype == DType::i32) t.as<std::int32_t>()[0] = static_cast<std::int32_t>(value);
    in.emplace_back(std::move(t));
  }

  std::unique_ptr<Answer> answer(const Readings& readings = {}) const {
    const Call call = find_operator("", "QLinearConv")->call(10, node);
    return std::move(oracle_of(call.definition().version).answer(call, in, readings, {}).front());
  }
  Element element(const Readings& readings = {}) const { return answer(readings)->element(0); }
};

Int whole(const Scalar& s) { return s.as_integer(); }
Int low(const Element& e) { return whole(e.required.range->lower); }
Int high(const Element& e) { return whole(e.required.range->upper); }
Readings adding_first() { return Readings().with("A16", "add-then-round"); }

}  // namespace

TEST_CASE("Ties go to even before the zero point is added, and after it under the other reading",
          "[QLinearConv][A16]") {
  // 5 * 0.5 = 2.5: rounded 2, plus 1 is 3; 2.5 + 1 = 3.5 rounds to 4.
  const Requantised tie(5, 0.5, 1, 1, 1);
  CHECK(whole(*tie.element().nearest) == 3);
  CHECK(whole(*tie.element(adding_first()).nearest) == 4);
}

TEST_CASE("Where nothing rounds one value is admitted, ties included", "[QLinearConv]") {
  for (Int a = 0; a < 200; ++a) {
    const Element e = Requantised(a, 0.25, 1, 0.5, 3).element();
    REQUIRE(low(e) == high(e));
    REQUIRE(low(e) == whole(*e.nearest));
  }
}

TEST_CASE("Two values are admitted only within 5 u |v| of a tie", "[QLinearConv]") {
  // v = a * 0.1f / 1: 0.1f = 13421773 * 2^-27, so a = 5 gives 0.5 + 2^-28 * 5, nearer to the tie than 5 u / 2.
  const Element near_tie = Requantised(5, 0.1f, 1, 1, 0).element();
  CHECK((low(near_tie) == 0 && high(near_tie) == 1));
  const Element clear = Requantised(7, 0.1f, 1, 1, 0).element();
  CHECK((low(clear) == 1 && high(clear) == 1));
}

TEST_CASE("The proven interval holds every listed order of evaluation, in f32 and f64", "[QLinearConv]") {
  Generator random(3);
  int ambiguous = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Int a = static_cast<Int>(random.below(1 << 20)) - (1 << 19);
    const auto scale = [&] { return static_cast<float>(1 + random.below(1 << 23)) * 0x1p-23f; };
    const float sx = scale(), sw = scale(), sy = static_cast<float>(std::abs(a) + 1) * scale() * 0x1p-6f;
    const Element e = Requantised(a, sx, sw, sy, 100).element();
    REQUIRE(e.kind == Kind::finite);
    REQUIRE(e.reason.empty());
    ambiguous += low(e) != high(e) ? 1 : 0;
    const auto check = [&]<class F>(F real) {
      const Int q = std::clamp<Int>(static_cast<Int>(std::rint(std::clamp<F>(real, -1e6, 1e6))) + 100, 0, 255);
      REQUIRE((low(e) <= q && q <= high(e)));
    };
    const auto fa = static_cast<float>(a);
    check(sx * sw / sy * fa);
    check(sx / sy * sw * fa);
    check(sw / sy * sx * fa);
    check(fa * sx * sw / sy);
    check(sx * sw * fa / sy);
    const double da = static_cast<double>(a), dx = sx, dw = sw, dy = sy;
    check(dx * dw / dy * da);
    check(da * dx * dw / dy);
  }
  CHECK(ambiguous < 20);  // about 5e-5 of random elements lie that near to a tie (numerics 2.9)
}

TEST_CASE("An accumulator beyond 32 bits is a number, wrapped or saturated only by reading", "[QLinearConv][A17]") {
  Requantised beyond(2147483647, 0x1p-24f, 1, 1, 0);
  beyond.in[0]->as<std::uint8_t>()[0] = 255;  // 2147483647 + 255 = 2^31 + 254: 128.00002 when scaled
  CHECK(whole(*beyond.element().nearest) == 128);
  CHECK(whole(*beyond.element(Readings().with("A17", "wrap32")).nearest) == 0);
  CHECK(whole(*beyond.element(Readings().with("A17", "saturate32")).nearest) == 128);
  CHECK(oracle_of({"", "QLinearConv", 10}).touched_reads_data);
}

TEST_CASE("A scale of zero, or an intermediate outside the normal range, is not scored", "[QLinearConv]") {
  CHECK(Requantised(5, 0, 1, 1, 0).element().kind == Kind::unscored);
  CHECK(Requantised(5, 0x1.8p-100f, 0x1.8p-100f, 0x1.4p-120f, 0).element().kind == Kind::unscored);
}
