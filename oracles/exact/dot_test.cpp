// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/dot.h"

#include "oracles/exact/operands.h"
#include "reference/recipe.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <stdexcept>

using namespace assay;
using namespace assay::oracles;

namespace {

struct Operation {
  Scalars a, b;
  Dot dot;

  Operation(DType dtype, const char* a_recipe, const char* b_recipe, Int count)
      : a(scalars(fill(*parse_recipe(a_recipe), {dtype, {count}}))),
        b(scalars(fill(*parse_recipe(b_recipe), {dtype, {count}}))) {
    for (Int i = 0; i < count; ++i) dot.terms.push_back({a.at(i), b.at(i), i, i});
  }
};

const Tolerance& named(const std::vector<Tolerance>& all, std::string_view part) {
  for (const Tolerance& tolerance : all)
    if (tolerance.arithmetic.find(part) != std::string::npos) return tolerance;
  throw std::out_of_range(std::string(part));
}

}  // namespace

TEST_CASE("Exact data leave no room: the budget is zero while A <= 2^p g", "[dot]") {
  // 8 products of odd 11-bit integers stay below 8 * 2^22 = 2^25; 2 stay below 2^23.
  CHECK(enclose(Operation(DType::f32, "odd11:1", "odd11:2", 2).dot, DType::f32).required.budget.is_zero());
  CHECK(enclose(Operation(DType::f32, "small:1", "small:2", 100).dot, DType::f32).required.budget.is_zero());
  CHECK(!enclose(Operation(DType::f32, "odd20:1", "odd20:2", 8).dot, DType::f32).required.budget.is_zero());
}

TEST_CASE("The boundary of the collapse is 2^p g itself", "[dot]") {
  // (2^24 - 1) + 1 = 2^24 is reached exactly; one more unit could round.
  Operation at(DType::f32, "lit:16777215,1", "const:1", 2), beyond(DType::f32, "lit:16777215,1,1", "const:1", 3);
  CHECK(enclose(at.dot, DType::f32).required.budget.is_zero());
  CHECK(!enclose(beyond.dot, DType::f32).required.budget.is_zero());
}

TEST_CASE("The L2 budget is n u A to first order, with a term for products that underflow", "[dot]") {
  const Operation ordinary(DType::f32, "normal:1", "normal:2", 50);
  const Element e = enclose(ordinary.dot, DType::f32);
  CHECK(e.terms == 50);
  const double ratio = approximate(e.required.budget) / (50 * 0x1p-24 * approximate(e.magnitude));
  CHECK((1 <= ratio && ratio < 1.00001));
  const Element tiny = enclose(Operation(DType::f32, "subnormal:1", "uniform:2", 4).dot, DType::f32);
  CHECK(approximate(tiny.required.budget) >= 4 * 0x1p-150);
}

TEST_CASE("Special values are those that every order gives", "[dot]") {
  const auto kind = [](const char* a, const char* b) {
    return enclose(Operation(DType::f32, a, b, 2).dot, DType::f32).kind;
  };
  CHECK(kind("lit:nan,1", "const:1") == Kind::nan);
  CHECK(kind("lit:inf,1", "lit:0,1") == Kind::nan);
  CHECK(kind("lit:inf,-inf", "const:1") == Kind::nan);
  CHECK(kind("lit:inf,inf", "lit:1,-1") == Kind::nan);
  CHECK(kind("lit:inf,1", "const:2") == Kind::positive_infinity);
  CHECK(kind("lit:inf,1", "const:-2") == Kind::negative_infinity);
  CHECK(kind("lit:3e38,3e38", "const:1") == Kind::unscored);
  CHECK(kind("lit:1e38,1e38", "const:1") == Kind::finite);
}

TEST_CASE("An average is exact only where its divisor is a power of two", "[dot]") {
  Operation two(DType::f32, "small:1", "const:1", 2), three(DType::f32, "small:1", "const:1", 3);
  for (Operation* operation : {&two, &three}) {
    for (Term& term : operation->dot.terms) term.b.reset();
    operation->dot.averaged = true;
    operation->dot.divisor = static_cast<Int>(operation->dot.terms.size());
  }
  CHECK(enclose(two.dot, DType::f32).required.budget.is_zero());
  CHECK(!enclose(three.dot, DType::f32).required.budget.is_zero());
  two.dot.divisor = 0;
  CHECK(enclose(two.dot, DType::f32).kind == Kind::nan_or_zero);
}

TEST_CASE("Every wider arithmetic collapses too on data that is exact for it", "[dot]") {
  const Operation integers(DType::f32, "small:1", "small:2", 9);
  for (const Tolerance& tolerance : widen(integers.dot, DType::f32, {})) {
    INFO(tolerance.arithmetic);
    CHECK(tolerance.budget.is_zero());
    CHECK_FALSE(tolerance.may_overflow);
  }
  const Operation signs(DType::bf16, "sign:1", "sign:2", 200);
  CHECK(named(widen(signs.dot, DType::bf16, {}), "every operation in bf16").budget.is_zero());
}

TEST_CASE("Wider arithmetic has room where operands do not fit, by as much as they change", "[dot]") {
  // One product of 13-bit odd integers: TF32 keeps 11 bits, truncation may change each by 2^-10.
  Operation one(DType::f32, "lit:4097", "lit:4099", 1);
  const auto wider = widen(one.dot, DType::f32, {});
  const double product = 4097.0 * 4099.0;
  CHECK(approximate(named(wider, "TF32").budget) >= product * ((1 + 0x1p-10) * (1 + 0x1p-10) - 1));
  CHECK(approximate(named(wider, "bf16").budget) >= product * ((1 + 0x1p-7) * (1 + 0x1p-7) - 1));
  CHECK(approximate(named(wider, "bf16").budget) <= product * 0.016);
  // Nothing is subnormal here: flushing leaves only the rounding of the product, 2u by truncation.
  CHECK(approximate(named(wider, "subnormals flushed, f32").budget) <= product * 0x1.01p-23);
}

TEST_CASE("Narrow accumulation proves nothing from n u = 1 on", "[dot]") {
  const Operation enough(DType::bf16, "normal:1", "normal:2", 100), many(DType::bf16, "normal:1", "normal:2", 300);
  CHECK_FALSE(named(widen(enough.dot, DType::bf16, {}), "every operation").vacuous);
  CHECK(named(widen(many.dot, DType::bf16, {}), "every operation").vacuous);
}

TEST_CASE("An f64 model may be computed in f32, one level down", "[dot]") {
  const Operation fine(DType::f64, "normal:1", "normal:2", 10);
  const auto wider = widen(fine.dot, DType::f64, {});
  float single = 0;
  for (const Term& t : fine.dot.terms)
    single += static_cast<float>(approximate({t.a.value(), 1})) * static_cast<float>(approximate({t.b->value(), 1}));
  const Element e = enclose(fine.dot, DType::f64);
  const double error = std::abs(static_cast<double>(single) - approximate(e.value));
  CHECK(error > approximate(e.required.budget));
  CHECK(error <= approximate(named(wider, "f64 computed in f32").budget));
}

TEST_CASE("gamma bounds nu / (1 - nu) from above", "[dot]") {
  for (Int n = 1; n < (Int{1} << 23); n = n * 3 + 1) {
    const Ratio nu{Dyadic{n, -24}, 1};
    const Dyadic g = gamma(n, -24);
    // g (1 - nu) >= nu
    CHECK(Ratio{g * (Dyadic{1, 0} - Dyadic{n, -24}), 1} >= nu);
  }
}

TEST_CASE("A scaled dot has two roundings more, and none where every order is exact", "[dot]") {
  const auto scaled = [](Operation of, double alpha) {
    of.dot.scale = scalar_of(alpha);
    return enclose(of.dot, DType::f32);
  };
  const Element exact = scaled(Operation(DType::f32, "lit:1,2,3", "lit:4,5,6", 3), 0.5);
  CHECK(approximate(exact.value) == 16);
  CHECK(exact.required.budget.is_zero());
  // 0.3 has 24 bits, so its product with an odd 12-bit integer has 36.
  CHECK_FALSE(scaled(Operation(DType::f32, "lit:4095", "const:1", 1), 0.3F).required.budget.is_zero());
  const Element ordinary = scaled(Operation(DType::f32, "normal:1", "normal:2", 50), 3);
  const double ratio = approximate(ordinary.required.budget) / (52 * 0x1p-24 * approximate(ordinary.magnitude));
  CHECK((1 <= ratio && ratio < 1.00001));
  // The sum before it is scaled is beyond f32, and so is what a scaled operand might be.
  CHECK(scaled(Operation(DType::f32, "lit:1e20", "lit:1e20", 1), 0x1p-60).kind == Kind::unscored);
  CHECK(scaled(Operation(DType::f32, "lit:1e-20", "lit:1e30", 1), 0x1p40).kind == Kind::unscored);
  CHECK(scaled(Operation(DType::f32, "lit:inf", "const:1", 1), -2).kind == Kind::negative_infinity);
  CHECK(scaled(Operation(DType::f32, "lit:inf", "lit:0x1p-120", 1), 0x1p-20).kind == Kind::unscored);
}

TEST_CASE("What is added to a scaled dot is not scaled", "[dot]") {
  Operation of(DType::f32, "lit:1,2,3", "lit:4,5,6", 3);
  of.dot.scale = scalar_of(0.5);
  of.dot.added.push_back({scalar_of(7), scalar_of(-3), 0, 0});
  const Element element = enclose(of.dot, DType::f32);
  CHECK(approximate(element.value) == -5);
  CHECK(approximate(element.magnitude) == 37);
  CHECK(element.terms == 4);
  CHECK(element.required.budget.is_zero());
}
