// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/case_class.h"

#include <catch2/catch.hpp>

using namespace assay;
using namespace assay::oracles;

namespace {

std::string_view class_in(const std::string& line) { return class_of(*parse_case(line)); }

}  // namespace

TEST_CASE("A case has one class", "[case_class]") {
  CHECK(class_in("AveragePool-11 opset=11 ir=8 X=f32[1,1,5]~iota:1 auto_pad=VALID kernel_shape=2 strides=2 "
                 "ceil_mode=1") == "valid-contested");
  CHECK(class_in("Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,3]~const:1") == "valid-core");
  CHECK(class_in("Conv-11 opset=11 ir=8 X=f32[0,1,4]~iota:1 W=f32[1,1,3]~const:1") == "valid-degenerate");
  CHECK(class_in("Conv-11 opset=11 ir=8 X=f32[1,1,4]~special:1 W=f32[1,1,3]~const:1") == "nonfinite");
  CHECK(class_in("Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,3]~const:1 group=2") == "invalid-static");
}

TEST_CASE("The nature of a case: what it breaks, or the rulings it touches, and the same class", "[case_class]") {
  const Classification near_miss =
      nature_of(*parse_case("Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,3]~const:1 group=2"));
  CHECK(near_miss.violated == std::vector<std::string>{"C3", "C6"});
  CHECK(near_miss.touched.empty());
  CHECK(near_miss.case_class == "invalid-static");
  const Classification legal =
      nature_of(*parse_case("Conv-11 opset=11 ir=8 X=f32[1,1,6]~iota:1 W=f32[1,1,1]~lit:2 strides=3"));
  CHECK(legal.violated.empty());
  CHECK(legal.touched.empty());
  CHECK(legal.case_class == "valid-core");
  const Case contested = *parse_case(
      "AveragePool-11 opset=11 ir=8 X=f32[1,1,5]~iota:1 auto_pad=VALID kernel_shape=2 strides=2 ceil_mode=1");
  CHECK(nature_of(contested).touched == touched(contested));
  CHECK_FALSE(nature_of(contested).touched.empty());
  CHECK(nature_of(contested).case_class == class_of(contested));
}
