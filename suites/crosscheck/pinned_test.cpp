// SPDX-License-Identifier: Apache-2.0
// What stands behind `=>` in the pinned cases is derived by hand from the text or taken from the micro-vectors of the
// standard's readers; the oracle and the kernel must both give it.
#include "oracles/judging/finding.h"
#include "oracles/judging/judge.h"
#include "reference/case_view.h"
#include "reference/operator.h"
#include "suites/planning/suite.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

using namespace assay;

namespace {

bool is_expected(const oracles::Element& element, const oracles::Scalar& want, DType dtype) {
  using oracles::Kind;
  const bool nan = want.is == oracles::Scalar::Class::nan;
  switch (element.kind) {
    case Kind::finite: {
      const oracles::Scalar got =
          element.nearest ? *element.nearest : rounded(element.value, oracles::format_of(dtype));
      return oracles::written(got, dtype) == oracles::written(want, dtype) || (got.is_zero() && want.is_zero());
    }
    case Kind::nan: return nan;
    case Kind::nan_or_zero: return nan || want.is_zero();
    case Kind::unscored: return false;
    case Kind::text: return same(*element.nearest, want) || (element.says_same && element.says_same(*want.text));
    case Kind::one_of:
      return std::ranges::any_of(element.options, [&](const oracles::Scalar& each) { return same(each, want); });
    default:
      return want.is == oracles::Scalar::Class::infinite && want.negative == (element.kind == Kind::negative_infinity);
  }
}

}  // namespace

TEST_CASE("The oracle gives the expectation of every pinned case", "[pinned]") {
  Int expectations = 0;
  for (const suites::SuiteCase& planned : suites::pinned_cases("suites")) {
    if (!planned.expected) continue;
    ++expectations;
    INFO(planned.origin << ": " << planned.line);
    const Call call = planned.c.call();
    REQUIRE(call.definition().violated(call).empty());
    const oracles::Answers answers = oracles::oracle_of(planned.c.version).answer(call, operands(planned.c, 0), {}, {});
    std::istringstream outputs(*planned.expected);
    std::string list;
    for (std::size_t output = 0; std::getline(outputs, list, ';'); ++output) {
      REQUIRE(output < answers.size());
      const oracles::Answer& answer = *answers[output];
      const Result<Recipe> values = parse_recipe((answer.dtype() == DType::string ? "text:" : "lit:") + list);
      REQUIRE(values);
      REQUIRE(1 + std::ranges::count(list, ',') == volume(answer.shape()));
      const Tensor want = fill(*values, {answer.dtype(), answer.shape()});
      for (Int i = 0; i < want.elements(); ++i) {
        INFO("output " << output << ", element " << i);
        CHECK(is_expected(answer.element(i), oracles::scalar(want, i), answer.dtype()));
      }
    }
  }
  CHECK(expectations > 200);
}

TEST_CASE("The reference kernel passes every legal pinned case, and the engine gives its bits", "[pinned]") {
  for (const suites::SuiteCase& planned : suites::pinned_cases("suites")) {
    const Call call = planned.c.call();
    if (!call.definition().violated(call).empty()) continue;
    INFO(planned.origin << ": " << planned.line);
    oracles::Outcome outcome;
    for (int set = 0; set < data_sets; ++set) {
      const std::vector<std::optional<Tensor>> in = operands(planned.c, set);
      const std::vector<const Tensor*> pointers = views(in);
      outcome.sets.push_back(call.definition().kernel(call, pointers).requested());
      CHECK((call.definition().fast(call, pointers, 2).requested() == outcome.sets.back()));
    }
    const oracles::State state = oracles::judge(planned.c, outcome).state;
    CHECK((state == oracles::State::pass || state == oracles::State::unscored));
  }
}
