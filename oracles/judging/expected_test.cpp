// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/expected.h"

#include "reference/case_view.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace assay::oracles {
namespace {

std::optional<Tensor> expected_of(const std::string& line, int set = 0) {
  const std::optional<std::vector<Tensor>> outputs = expected(case_of(line), set);
  return outputs ? std::optional(outputs->front()) : std::nullopt;
}

template <class T>
std::vector<double> numbers(const Tensor& tensor) {
  return {tensor.as<T>().begin(), tensor.as<T>().end()};
}

}  // namespace

TEST_CASE("The right answer is rounded once into the type of the output", "[expected]") {
  // (1 + 2) / 2 and so on; the second data set is the negated first.
  const std::string pool = "AveragePool-19 opset=19 ir=8 X=f16[1,1,4]~iota:1 kernel_shape=2";
  CHECK(numbers<Float16>(*expected_of(pool)) == std::vector{1.5, 2.5, 3.5});
  CHECK(numbers<Float16>(*expected_of(pool, 1)) == std::vector{-1.5, -2.5, -3.5});
  // 1/3 in binary16 is 0x1.554p-2.
  const std::string third = "AveragePool-19 opset=19 ir=8 X=f16[1,1,3]~lit:1,0,0 kernel_shape=3";
  CHECK(numbers<Float16>(*expected_of(third)) == std::vector{0x1.554p-2});
}

TEST_CASE("Quantised answers are integers of their type", "[expected]") {
  const std::string q2 =
      "QLinearConv-10 opset=10 ir=8 x=u8[1,1,8]~hold:1,2,3,4,5,6,7,8 x_scale=f32[]~hold:0.5 x_zero_point=u8[]~hold:0 "
      "w=u8[1,1,1]~hold:1 w_scale=f32[]~hold:1 w_zero_point=u8[]~hold:0 y_scale=f32[]~hold:1 y_zero_point=u8[]~hold:1";
  CHECK(numbers<std::uint8_t>(*expected_of(q2)) == std::vector<double>{1, 2, 3, 3, 3, 4, 5, 5});  // spec A.3, Q2
}

TEST_CASE("What is no number is written as decided, and what is not scored is not written", "[expected]") {
  const Tensor padded = *expected_of("AveragePool-22 opset=22 ir=10 X=f32[1,1,2]~lit:3,inf kernel_shape=1 pads=1,1");
  CHECK(std::isnan(padded.as<float>()[0]));
  CHECK_FALSE(std::signbit(padded.as<float>()[0]));
  CHECK(padded.as<float>()[1] == 3);
  CHECK(std::isinf(padded.as<float>()[2]));
  CHECK_FALSE(expected_of("Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~iota:1 group=2"));
}

}  // namespace assay::oracles
