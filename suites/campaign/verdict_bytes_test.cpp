// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/verdict_bytes.h"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include <bit>
#include <limits>

namespace assay::suites {
namespace {

using oracles::Evidence;
using oracles::Level;
using oracles::State;
using oracles::Verdict;

// Any bytes, not only UTF-8.
std::string words() { return *rc::gen::arbitrary<std::string>(); }

Readings drawn_readings() {
  Readings readings;
  const int departures = *rc::gen::inRange(0, 3);
  for (int i = 0; i < departures; ++i) readings = readings.with("A" + std::to_string(i), words());
  return readings;
}

Evidence drawn_evidence() {
  Evidence evidence;
  evidence.set = *rc::gen::inRange(0, 9);
  evidence.output = *rc::gen::inRange<Int>(0, 9);
  evidence.index = *rc::gen::container<Shape>(rc::gen::arbitrary<Int>());
  for (std::string* each : {&evidence.got, &evidence.want, &evidence.lower, &evidence.upper, &evidence.exact,
                            &evidence.budget, &evidence.arithmetic})
    *each = words();
  const int taps = *rc::gen::inRange(0, 3);
  for (int i = 0; i < taps; ++i) evidence.taps.push_back({{words(), words()}, words()});
  return evidence;
}

double measure() {
  return *rc::gen::oneOf(rc::gen::arbitrary<double>(),
                         rc::gen::element(0.0, -0.0, 0.1, std::numeric_limits<double>::infinity(),
                                          std::numeric_limits<double>::denorm_min(), 1e300, 16777217.0));
}

Verdict drawn() {
  Verdict verdict;
  verdict.state =
      *rc::gen::elementOf(std::vector<State>(std::begin(oracles::all_states), std::end(oracles::all_states)));
  verdict.because = words();
  verdict.detail = words();
  if (*rc::gen::arbitrary<bool>())
    verdict.level = *rc::gen::element(Level::L0, Level::L1, Level::L2, Level::L2t, Level::L3, Level::widest);
  verdict.readings = drawn_readings();
  const int others = *rc::gen::inRange(0, 3);
  for (int i = 0; i < others; ++i) verdict.also.push_back(drawn_readings());
  verdict.followed["A" + words()] = words();
  verdict.violated = *rc::gen::container<std::vector<std::string>>(rc::gen::arbitrary<std::string>());
  verdict.elements = *rc::gen::arbitrary<Int>();
  verdict.unscored = *rc::gen::arbitrary<Int>();
  verdict.exact = *rc::gen::arbitrary<Int>();
  verdict.worst_q = measure();
  verdict.worst_ulp = measure();
  verdict.worst_share = measure();
  if (*rc::gen::arbitrary<bool>()) verdict.evidence = drawn_evidence();
  if (*rc::gen::arbitrary<bool>()) verdict.touched = {"A" + words(), words()};
  return verdict;
}

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

void check_same(const Evidence& a, const Evidence& b) {
  RC_ASSERT(a.set == b.set);
  RC_ASSERT(a.output == b.output);
  RC_ASSERT(a.index == b.index);
  RC_ASSERT(a.got + "|" + a.want + "|" + a.lower + "|" + a.upper ==
            b.got + "|" + b.want + "|" + b.lower + "|" + b.upper);
  RC_ASSERT(a.exact + "|" + a.budget + "|" + a.arithmetic == b.exact + "|" + b.budget + "|" + b.arithmetic);
  RC_ASSERT(a.taps.size() == b.taps.size());
  for (std::size_t i = 0; i < a.taps.size(); ++i) {
    RC_ASSERT(a.taps[i].where == b.taps[i].where);
    RC_ASSERT(a.taps[i].factors == b.taps[i].factors);
  }
}

TEST_CASE("a verdict comes back as it was, to the last bit", "[store]") {
  rc::prop("told_by(bytes_of(v)) = v", [] {
    const Verdict v = drawn();
    const Result<Told> told = told_by(bytes_of({v, {}}));
    RC_ASSERT(static_cast<bool>(told));
    RC_ASSERT(told->marks.empty());
    const Verdict* back = &told->verdict;
    RC_ASSERT(back->state == v.state);
    RC_ASSERT(back->because == v.because);
    RC_ASSERT(back->detail == v.detail);
    RC_ASSERT(back->level == v.level);
    RC_ASSERT(back->readings == v.readings);
    RC_ASSERT(back->also == v.also);
    RC_ASSERT(back->followed == v.followed);
    RC_ASSERT(back->violated == v.violated);
    RC_ASSERT(back->touched == v.touched);
    RC_ASSERT(back->elements == v.elements);
    RC_ASSERT(back->unscored == v.unscored);
    RC_ASSERT(back->exact == v.exact);
    RC_ASSERT(same_bits(back->worst_q, v.worst_q));
    RC_ASSERT(same_bits(back->worst_ulp, v.worst_ulp));
    RC_ASSERT(same_bits(back->worst_share, v.worst_share));
    RC_ASSERT(back->evidence.has_value() == v.evidence.has_value());
    if (v.evidence) check_same(*back->evidence, *v.evidence);
  });
}

TEST_CASE("marks come back beside the verdict", "[store]") {
  const Mark unstable{"unstable", "repeated", "the second answer differs \xff", true, ""};
  const Mark differs{"differs", "shapes=absent", "", false, "Conv-11 opset=11"};
  const Result<Told> told = told_by(bytes_of({Verdict(), {unstable, differs}}));
  REQUIRE(told);
  REQUIRE(told->marks.size() == 2);
  CHECK(told->marks[0].name == "unstable");
  CHECK(told->marks[0].by == "repeated");
  CHECK(told->marks[0].detail == unstable.detail);
  CHECK(told->marks[0].breaches);
  CHECK_FALSE(told->marks[1].breaches);
  CHECK(told->marks[1].line == "Conv-11 opset=11");
}

TEST_CASE("bytes that are no verdict are an error", "[store]") {
  CHECK_FALSE(told_by(""));
  CHECK_FALSE(told_by("not cbor"));
  CHECK_FALSE(told_by("\x80"));  // an empty list
  const std::string whole = bytes_of({Verdict(), {}});
  for (std::size_t length = 0; length < whole.size(); ++length) CHECK_FALSE(told_by(whole.substr(0, length)));
}

}  // namespace
}  // namespace assay::suites
