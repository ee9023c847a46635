// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/plainness.h"

#include "reference/case_view.h"
#include "suites/triage/shrinker.h"

#include <catch2/catch.hpp>

namespace assay::suites {
namespace {

Plainness of(const std::string& line) { return plainness_of(case_of(line)); }

// A backend that is asked for the shape alone, and fails wherever `fails` says so.
template <class F>
RunCase failing(F&& fails) {
  return [fails](const Case& c) {
    Answered answered;
    answered.verdict.state = fails(c) ? oracles::State::refused : oracles::State::pass;
    answered.verdict.because = "refused";
    return answered;
  };
}

Case shrunk(const std::string& line, const RunCase& run_case) {
  const Case c = case_of(line);
  return shrink(c, run_case(c), run_case).c;
}

}  // namespace

TEST_CASE("What may be disputed of a case: unclear clauses, empty extents, NaN", "[plainness]") {
  const Plainness plain = of("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2");
  CHECK(plain.unclear.empty());
  CHECK_FALSE(plain.is_empty);
  CHECK_FALSE(plain.is_nonfinite);
  // One cell, windows that begin in front of it and end behind it: no window covers anything (A9).
  CHECK(of("AveragePool-19 opset=19 ir=8 X=f32[1,1,1]~iota:1 auto_pad=SAME_UPPER kernel_shape=2 dilations=2")
            .is_nonfinite);
  CHECK(of("AveragePool-19 opset=19 ir=8 X=f32[1,1,5]~iota:1 auto_pad=SAME_LOWER kernel_shape=1 strides=3").unclear ==
        std::vector<std::string>{"A3"});
  CHECK(of("Conv-11 opset=11 ir=8 X=f32[1,0,4]~iota:1 W=f32[2,0,2]~const:1").is_empty);
  CHECK(of("AveragePool-1 opset=1 ir=8 X=f32[1,1,4]~lit:1,nan kernel_shape=2").is_nonfinite);
  CHECK(of("AveragePool-1 opset=1 ir=8 X=f32[1,1,4]~special:1 kernel_shape=2").is_nonfinite);
}

TEST_CASE("A case is as plain as another where it has nothing disputable that the other lacks", "[plainness]") {
  const Plainness none, a{{"A3"}, false, false}, b{{"A3", "A9"}, false, false}, empty{{}, true, false},
      nan{{}, false, true};
  CHECK(none.is_within(none));
  CHECK(none.is_within(b));
  CHECK(a.is_within(b));
  CHECK_FALSE(b.is_within(a));
  CHECK_FALSE(empty.is_within(b));
  CHECK_FALSE(nan.is_within(empty));
}

TEST_CASE("Shrinking stays on plain ground", "[plainness]") {
  // Fails wherever SAME_* meets a dilated kernel of two: the smallest such case has one cell, which no window covers,
  // and would be the average of nothing (A9).
  const auto same_dilated = failing([](const Case& c) {
    return c.call().text("auto_pad").starts_with("SAME") && c.call().ints("dilations") == Ints{2} &&
           c.call().ints("kernel_shape") == Ints{2};
  });
  const Case pool = shrunk(
      "AveragePool-19 opset=19 ir=8 X=f32[2,3,9]~small:3 auto_pad=SAME_UPPER kernel_shape=2 dilations=2", same_dilated);
  CHECK(plainness_of(pool).is_within({}));
  CHECK(pool.node.inputs.at("X").type.shape.back() > 1);
  // Fails whatever it is given: no extent becomes 0, and the data stay numbers.
  const auto always = failing([](const Case&) { return true; });
  const Case conv = shrunk("Conv-11 opset=11 ir=8 X=f32[2,4,6]~small:1 W=f32[6,2,3]~small:2 group=2 pads=1,1", always);
  CHECK_FALSE(plainness_of(conv).is_empty);
  CHECK_FALSE(plainness_of(conv).is_nonfinite);
}

TEST_CASE("What the found case rests on may stay, and what is gone does not come back", "[plainness]") {
  const auto empty = failing([](const Case& c) { return c.node.inputs.at("X").type.shape[1] == 0; });
  const Case conv = shrunk("Conv-11 opset=11 ir=8 X=f32[2,0,6]~small:1 W=f32[6,0,3]~small:2", empty);
  CHECK(plainness_of(conv).is_empty);
  const auto nan = failing([](const Case& c) { return plainness_of(c).is_nonfinite; });
  CHECK(plainness_of(shrunk("AveragePool-1 opset=1 ir=8 X=f32[2,1,6]~lit:1,nan,3 kernel_shape=2", nan)).is_nonfinite);
}

}  // namespace assay::suites
