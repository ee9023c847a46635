// SPDX-License-Identifier: Apache-2.0
#include "oracles/case_class.h"

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
