// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/element_sample.h"
#include "oracles/exact/enclosure.h"
#include "reference/operator.h"
#include "reference/recipe.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace assay;
using namespace assay::oracles;

namespace {

// A 1x1 kernel of weight 1 over one plane: the output is the sample itself.
struct Sampling {
  Node node;
  Operands in;

  Sampling(DType dtype, const Shape& plane, const char* x, const char* offset) {
    Shape data{1, 1}, weights{1, 1}, moves{1, static_cast<Int>(plane.size())};
    for (const Int extent : plane) {
      data.push_back(extent);
      moves.push_back(extent);
      weights.push_back(1);
    }
    add("X", {dtype, data}, x);
    add("W", {dtype, weights}, "const:1");
    add("offset", {dtype, moves}, offset);
  }

  void add(const char* name, const TensorType& type, const char* recipe) {
    node.input(name, type);
    in.emplace_back(fill(*parse_recipe(recipe), type));
  }

  Call call() const { return find_operator("", "DeformConv")->call(22, node); }
  std::unique_ptr<Answer> answer(const Readings& readings = {}) const {
    return std::move(oracle_of({"", "DeformConv", 22}).answer(call(), in, readings, {}).front());
  }
  double at(Int i, const Readings& readings = {}) const { return approximate(answer(readings)->element(i).value); }
};

}  // namespace

// spec A.4, over 1..9 as 3x3.
TEST_CASE("A sample between cells blends its neighbours, zeros outside included", "[DeformConv][A20]") {
  const Sampling up(DType::f32, {3, 3}, "iota:1", "lit:-0.5,-0.5,-0.5,-0.5,-0.5,-0.5,-0.5,-0.5,-0.5,0,0,0,0,0,0,0,0,0");
  const double blended[] = {.5, 1, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5};
  for (Int i = 0; i < 9; ++i) {
    CHECK(up.at(i) == blended[i]);
    CHECK(up.at(i, Readings().with("A20", "hard-zero")) == (i < 3 ? 0 : blended[i]));
  }
  const Operands& operands = up.in;
  CHECK(oracle_of({"", "DeformConv", 22}).touched(up.call(), &operands, every_element) ==
        std::vector<std::string>{"A20"});
}

TEST_CASE("A coordinate beyond the border by less than a double tells is still beyond it", "[DeformConv][A20]") {
  const auto touched = [](const char* offsets) {
    const Sampling s(DType::f64, {4}, "iota:1", offsets);
    return oracle_of({"", "DeformConv", 22}).touched(s.call(), &s.in, every_element);
  };
  // 3 + 1.0000000000000004 is 4 + 2^-51, in f64 4: rounding may carry it to the far side of the last cell's neighbour.
  CHECK(touched("lit:0,0,0,1.0000000000000004") == std::vector<std::string>{"A20"});
  CHECK(touched("lit:0,0,0,0") == std::vector<std::string>{});
  CHECK(touched("lit:0,0,0,0.5") == std::vector<std::string>{"A20"});
  CHECK(touched("lit:0,0,0,2") == std::vector<std::string>{});  // farther than any neighbour
}

TEST_CASE("Quarter offsets over small integers are exact: no room at all, in any narrower arithmetic", "[DeformConv]") {
  const Sampling quarters(DType::f32, {3, 3}, "iota:1", "lit:0.25,-0.75,1.5,0,2.25");
  for (Int i = 0; i < 9; ++i) {
    CHECK(quarters.answer()->element(i).required.budget.is_zero());
    for (const Tolerance& wider : quarters.answer()->wider(i)) {
      INFO(wider.arithmetic);
      CHECK(wider.budget.is_zero());
    }
  }
}

TEST_CASE("A far coordinate brings its rounding error into the budget", "[DeformConv]") {
  // Near cell 200 of a wide image f32 keeps 16 bits of fraction: u |h| = 2^-24 * 200.
  const Sampling wide(DType::f32, {1, 256}, "normal:1", "uniform:3");
  const Element e = wide.answer()->element(200);
  const double without = 20 * 0x1p-24 * approximate(e.magnitude);
  CHECK(approximate(e.required.budget) > 10 * without);
}

TEST_CASE("The budget covers an evaluation in f32, in one axis to three", "[DeformConv]") {
  const auto sampled = [](const Sampling& s, Int i, const Shape& plane) {
    const std::size_t axes = plane.size();
    const Int count = volume(plane);
    const auto x = s.in[0]->as<float>(), offset = s.in[2]->as<float>();
    std::vector<float> p(axes);
    Int rest = i;
    for (std::size_t a = axes; a-- > 0; rest /= plane[a])
      p[a] = static_cast<float>(rest % plane[a]) + offset[static_cast<std::size_t>(static_cast<Int>(a) * count + i)];
    float sum = 0;
    for (std::size_t corner = 0; corner < std::size_t{1} << axes; ++corner) {
      float weight = 1;
      Int flat = 0;
      bool inside = true;
      for (std::size_t a = 0; a < axes; ++a) {
        const float floor = std::floor(p[a]);
        const bool high = corner >> a & 1;
        weight *= high ? p[a] - floor : 1 - (p[a] - floor);
        const Int cell = static_cast<Int>(floor) + (high ? 1 : 0);
        inside = inside && cell >= 0 && cell < plane[a];
        flat = flat * plane[a] + cell;
      }
      if (inside) sum += weight * x[static_cast<std::size_t>(flat)];
    }
    return sum;
  };
  double tightest = 0;
  for (const Shape& plane : {Shape{300}, Shape{7, 60}, Shape{5, 4, 11}}) {
    const Sampling s(DType::f32, plane, "normal:1", "normal:3");
    const auto answer = s.answer();
    for (Int i = 0; i < volume(plane); ++i) {
      const Element e = answer->element(i);
      const double error = std::abs(static_cast<double>(sampled(s, i, plane)) - approximate(e.value));
      const double budget = approximate(e.required.budget);
      REQUIRE(error <= budget + std::abs(approximate(e.value)) * 0x1p-40);
      if (budget > 0) tightest = std::max(tightest, error / budget);
    }
  }
  CHECK(tightest > 0.02);  // not a bound so wide that it says nothing
}

TEST_CASE("An infinity: blended, beside a zero weight, and beyond the border", "[DeformConv][A21]") {
  // Zero offsets: every other corner has weight 0. Sandbox 0 is inf; cell 1 does not touch it, cell -1 would be
  // outside.
  const Sampling s(DType::f32, {3}, "lit:inf,2,3", "const:0");
  CHECK(s.answer()->element(0).kind == Kind::positive_infinity);
  CHECK(s.answer()->element(1).kind == Kind::finite);
  CHECK(s.answer()->element(1).nan_admitted.empty());
  const Sampling before(DType::f32, {3}, "lit:1,inf,3", "const:0");
  CHECK(before.answer()->element(0).nan_admitted == "A21");
  CHECK(Sampling(DType::f32, {3}, "iota:1", "const:nan").answer()->element(0).kind == Kind::unscored);
  // A sample at -1: between the cell outside, with weight 1, and cell 0, with weight 0.
  const Sampling edge(DType::f32, {3}, "lit:inf,2,3", "const:-1");
  CHECK(edge.answer()->element(0).kind == Kind::finite);
  CHECK(edge.answer()->element(0).nan_admitted == "A21");
  CHECK(Sampling(DType::f32, {3}, "lit:1,inf,3", "const:-1").answer()->element(0).nan_admitted.empty());
  // At 3, one cell behind the last, both neighbours are outside.
  CHECK(Sampling(DType::f32, {3}, "lit:1,2,inf", "const:1").answer()->element(2).nan_admitted.empty());
  // In f16 the base 4095 is 4096: whether such a sample is at -1 or at 0 depends on where coordinates are rounded.
  Shape line{4096};
  const Sampling coarse(DType::f16, line, "lit:inf", "const:-4096");
  CHECK(coarse.answer()->element(4095).kind == Kind::unscored);
}
