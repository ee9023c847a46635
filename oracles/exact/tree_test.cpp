// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/tree.h"

#include "oracles/exact/operands.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

namespace assay::oracles {
namespace {

Tree number(double value) { return operand(scalar_of(value)); }
const Policy& fused() { return required_policies(DType::f32).front(); }

std::vector<Scalar> scalars(const std::vector<float>& x) {
  std::vector<Scalar> all;
  for (const float each : x) all.push_back(scalar_of(static_cast<double>(each)));
  return all;
}

// Tells whether a computed value lies within the error of the exact one.
bool is_within(const Tree& tree, float got) {
  const Element element = computed(*tree, DType::f64, {fused()});
  return element.kind != Kind::finite ||
         abs(ratio(scalar_of(static_cast<double>(got))) - element.value) <= element.required.budget;
}

TEST_CASE("Tree: a value stays a fraction as long as every node is one", "[tree]") {
  const Group group(scalars({0, 0, 3}));
  CHECK(group.mean()->fraction() == Ratio{{1, 0}, 1});
  CHECK(group.variance()->fraction() == Ratio{{2, 0}, 1});
  CHECK(group.mean_of_squares()->fraction() == Ratio{{3, 0}, 1});
  const Tree third = number(1) / number(3), square = third * third;
  CHECK(over_root(number(2), square)->fraction() == Ratio{{6, 0}, 1});
  CHECK_FALSE(inverse_root(group.variance())->fraction());
  CHECK((inverse_root(group.variance()) * number(0) + third)->value(96).is_positive());
}

TEST_CASE("Tree: an irrational value lies between its ends", "[tree]") {
  const Real half = (inverse_root(number(2)) * inverse_root(number(2)))->value(192);
  CHECK(half.lower() <= Dyadic::power_of_two(-1));
  CHECK(Dyadic::power_of_two(-1) <= half.upper());
  CHECK_FALSE(half.is_exact());
}

TEST_CASE("Tree: nothing is proven of the root of what may be nothing", "[tree]") {
  CHECK(std::isinf(inverse_root(number(0))->error(fused())));
  CHECK(std::isinf(over_root(number(0), number(0))->error(fused())));
  const Group equal(scalars({3, 3, 3}));  // one pass may leave less than nothing
  CHECK(std::isinf(inverse_root(equal.variance())->error(fused())));
  CHECK(std::isfinite(inverse_root(equal.variance() + number(1))->error(fused())));
}

TEST_CASE("Tree: what does not fit a node breaks down, and so does all that needs it", "[tree]") {
  const Tree large = number(0x1p100) * number(0x1p100);
  CHECK(large->breaks_down(fused()));
  CHECK((number(1) / large)->breaks_down(fused()));
  CHECK_FALSE(large->breaks_down(required_policies(DType::f64).front()));
  const Group vast({scalar_of(0x1p1000), scalar_of(-0x1p1000)}), tiny({scalar_of(0x1p-1000)});
  CHECK(vast.sum_of_squares()->breaks_down(required_policies(DType::f64).front()));
  CHECK(std::isinf(inverse_root(tiny.sum_of_squares())->error(required_policies(DType::f64).front())));
}

TEST_CASE("Tree: moments and what is normalized in float32 lie within their errors, in every legitimate way",
          "[tree]") {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const float mean : {0.0F, 1.0F, 100.0F, 10'000.0F})
    for (const int n : {2, 3, 4, 17, 256}) {
      std::vector<float> x;
      for (int i = 0; i < n; ++i) x.push_back(mean + normal(random));
      const auto count = static_cast<float>(n);
      float sum = 0, squares = 0, running = 0, deviations = 0;
      for (int i = 0; i < n; ++i) {
        const float own = x[static_cast<std::size_t>(i)], before = own - running;
        sum += own;
        squares += own * own;
        running += before / static_cast<float>(i + 1);
        deviations += before * (own - running);
      }
      const Group group(scalars(x));
      const float average = sum / count;
      float two_passes = 0;
      for (const float each : x) two_passes += (each - average) * (each - average);
      INFO("mean " << mean << ", n " << n);
      CHECK(is_within(group.mean(), average));
      CHECK(is_within(group.mean(), running));
      CHECK(is_within(group.variance(), squares / count - average * average));
      CHECK(is_within(group.variance(), deviations / count));
      CHECK(is_within(group.variance(), two_passes / count));
      const float deviation = std::sqrt(deviations / count + 0.25F), k = 3 / deviation;
      const Tree own = operand(scalars({x[0]}).front()), spread = group.variance() + number(0.25);
      const Tree factor = number(3) * inverse_root(spread);
      CHECK(is_within(over_root(own - group.mean(), spread), (x[0] - running) / deviation));
      CHECK(is_within(folded(own, group.mean(), factor, number(5)), x[0] * k + (5 - running * k)));
    }
}

}  // namespace
}  // namespace assay::oracles
