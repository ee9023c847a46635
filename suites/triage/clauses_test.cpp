// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/clauses.h"

#include <catch2/catch.hpp>

namespace assay::suites {
namespace {

using Ids = std::vector<std::string>;

Ids of(const std::string& line) { return clauses_of(*parse_case(line)); }

TEST_CASE("a legal case rests on the clauses that speak of what it has", "[clauses]") {
  CHECK(of("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2").empty());
  CHECK(of("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 auto_pad=SAME_UPPER kernel_shape=2 dilations=2") ==
        Ids{"A2", "A12", "A30"});
  CHECK(of("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 pads=0,2") == Ids{"A12", "A15"});
}

TEST_CASE("a near miss rests on the constraints it breaks", "[clauses]") {
  CHECK(of("Conv-11 opset=11 ir=8 X=f32[1,3,4]~iota:1 W=f32[2,1,2]~sign:1 group=3") == Ids{"Conv.C6"});
}

}  // namespace
}  // namespace assay::suites
