// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/errors.h"

#include <catch2/catch.hpp>

#include <limits>

namespace assay::suites {
namespace {

using oracles::State;

oracles::Verdict off(State state, double ulp, double share) {
  oracles::Verdict verdict;
  verdict.state = state;
  verdict.elements = 4;
  verdict.worst_ulp = ulp;
  verdict.worst_share = share;
  return verdict;
}

TEST_CASE("errors are counted by power of two, those outside the level apart", "[errors]") {
  Errors errors;
  errors.add(off(State::pass, 0, 0));
  errors.add(off(State::pass, 0.75, 0.25));
  errors.add(off(State::contested, 0.5, 0));
  errors.add(off(State::below, 3, 1.5));
  errors.add(off(State::fail, std::numeric_limits<double>::infinity(), 0));
  errors.add(off(State::fail, 0, 0));  // a NaN
  CHECK(errors.cases == 6);
  CHECK(errors.exact == 1);
  CHECK(errors.special == 1);
  CHECK(errors.ulp == std::map<int, Errors::Bin>{{-1, {2, 0}}, {1, {0, 1}}, {Errors::last_bin, {0, 1}}});
  CHECK(errors.share == std::map<int, Errors::Bin>{{-2, {1, 0}}, {0, {0, 1}}});
}

TEST_CASE("what no value was judged of is not counted", "[errors]") {
  Errors errors;
  errors.add(off(State::refused, 0, 0));
  oracles::Verdict shape = off(State::fail, 0, 0);
  shape.elements = 0;
  errors.add(shape);
  oracles::Verdict unscored = off(State::pass, 0, 0);
  unscored.unscored = unscored.elements;
  errors.add(unscored);
  CHECK(errors == Errors());
}

TEST_CASE("errors of two parts are those of the whole", "[errors]") {
  Errors a, b, whole;
  for (const auto& verdict : {off(State::pass, 0.75, 0.25), off(State::below, 3, 1.5)})
    a.add(verdict), whole.add(verdict);
  for (const auto& verdict : {off(State::pass, 0, 0), off(State::pass, 2.5, 0.3)}) b.add(verdict), whole.add(verdict);
  a.merge(b);
  CHECK(a == whole);
}

}  // namespace
}  // namespace assay::suites
