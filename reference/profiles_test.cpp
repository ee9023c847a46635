// SPDX-License-Identifier: Apache-2.0
#include "reference/profiles.h"

#include "reference/case_view.h"

#include <catch2/catch.hpp>

namespace assay {
namespace {

using Tags = std::vector<std::string>;

Tags sonnx_outside(const std::string& text) { return outside(*find_profile("sonnx"), case_of(text)); }

const std::string inputs = "Conv-11 opset=11 ir=8 X=f32[1,4,5,5]~small:1 W=f32[4,4,3,3]~small:2 ";
const std::string within = inputs + "auto_pad=NOTSET dilations=1,1 group=1 kernel_shape=3,3 pads=0,0,0,0 strides=1,1";

TEST_CASE("SONNX: a Conv over images with everything written lies within", "[profile]") {
  CHECK(sonnx_outside(within) == Tags{});
  CHECK(
      sonnx_outside("Conv-11 opset=11 ir=8 X=f32[1,4,5,5]~small:1 W=f32[4,1,3,3]~small:2 auto_pad=NOTSET dilations=1,1 "
                    "group=4 kernel_shape=3,3 pads=1,1,1,1 strides=2,1") == Tags{});
}

TEST_CASE("SONNX R1: two spatial axes", "[profile]") {
  CHECK(sonnx_outside("Conv-11 opset=11 ir=8 X=f32[1,4,5,5,5]~small:1 W=f32[4,4,3,3,3]~small:2 auto_pad=NOTSET "
                      "dilations=1,1,1 group=1 kernel_shape=3,3,3 pads=0,0,0,0,0,0 strides=1,1,1") ==
        Tags{"Conv.R1", "Conv.R5"});
  CHECK(sonnx_outside("Conv-11 opset=11 ir=8 X=f32[1,4,5]~small:1 W=f32[4,4,3]~small:2 auto_pad=NOTSET dilations=1 "
                      "group=1 kernel_shape=3 pads=0,0 strides=1,1") == Tags{"Conv.R1"});
  CHECK(sonnx_outside("Conv-11 opset=11 ir=8 X=f32[1,4,5,5]~small:1 W=f32[4,4,3]~small:2 auto_pad=NOTSET dilations=1,1 "
                      "group=1 kernel_shape=3 pads=0,0,0,0 strides=1,1") == Tags{"Conv.R1"});
}

TEST_CASE("SONNX R2: auto_pad is NOTSET", "[profile]") {
  for (const char* word : {"VALID", "SAME_UPPER", "SAME_LOWER"})
    CHECK(sonnx_outside(inputs + "auto_pad=" + word +
                        " dilations=1,1 group=1 kernel_shape=3,3 pads=0,0,0,0 strides=1,1") == Tags{"Conv.R2"});
}

TEST_CASE("SONNX R3: one group, or one per channel of X", "[profile]") {
  CHECK(
      sonnx_outside("Conv-11 opset=11 ir=8 X=f32[1,4,5,5]~small:1 W=f32[4,2,3,3]~small:2 auto_pad=NOTSET dilations=1,1 "
                    "group=2 kernel_shape=3,3 pads=0,0,0,0 strides=1,1") == Tags{"Conv.R3"});
}

TEST_CASE("SONNX R4: every attribute has an explicit value", "[profile]") {
  const std::string attributes[] = {"auto_pad=NOTSET",  "dilations=1,1", "group=1",
                                    "kernel_shape=3,3", "pads=0,0,0,0",  "strides=1,1"};
  for (const std::string& absent : attributes) {
    std::string some;
    for (const std::string& each : attributes) some += each == absent ? "" : " " + each;
    INFO(some);
    CHECK(sonnx_outside(inputs.substr(0, inputs.size() - 1) + some) == Tags{"Conv.R4"});
  }
  CHECK(sonnx_outside(inputs + "auto_pad=NOTSET dilations=[] group=1 kernel_shape=3,3 pads=0,0,0,0 strides=1,1") ==
        Tags{"Conv.R4"});
  CHECK(sonnx_outside(inputs + "auto_pad=SAME_UPPER") == Tags{"Conv.R2", "Conv.R4"});
}

TEST_CASE("SONNX R5: strides has two elements", "[profile]") {
  CHECK(sonnx_outside(inputs + "auto_pad=NOTSET dilations=1,1 group=1 kernel_shape=3,3 pads=0,0,0,0 strides=1,1,1") ==
        Tags{"Conv.R5"});
}

TEST_CASE("SONNX specifies Conv in every version, and no other operator of ours", "[profile]") {
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      CHECK((find_profile("sonnx")->part(definition.version) != nullptr) ==
            (definition.version.domain.empty() && definition.version.name == "Conv"));
  CHECK(sonnx_outside("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2") ==
        Tags{"AveragePool is not specified"});
  CHECK(find_profile("SONNX") == nullptr);
}

TEST_CASE("What is no Conv at all lies within no profile", "[profile]") {
  CHECK(sonnx_outside("Conv-11 opset=11 ir=8 X=f32[1,4,5,5]~small:1") == Tags{"breaks Conv.G1"});
}

TEST_CASE("Spelt out, a profile selects the same cases", "[profile]") {
  const Case plain = case_of(inputs + "pads=0,0,0,0"), full = spelt_out(plain);
  CHECK(line(full) == within);
  CHECK(line(spelt_out(full)) == within);
  CHECK(line(spelt_out(case_of(inputs + "group=1 strides=[]"))) == within);
  for (const char* list : {"dilations", "kernel_shape", "pads", "strides"})
    CHECK(plain.call().ints(list) == full.call().ints(list));
  CHECK(full.is_legal());
}

}  // namespace
}  // namespace assay
