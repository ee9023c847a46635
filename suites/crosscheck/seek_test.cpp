// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/seek.h"

#include "suites/mutation/kernel_trial.h"
#include "suites/mutation/mutants.h"
#include "suites/mutation/variants.h"

#include <catch2/catch.hpp>

namespace assay::mutation {
namespace {

using suites::WorstCase;
using MakeKernel = std::function<std::optional<Kernel>(const OpVersion&)>;

suites::RunCase run_case(const MakeKernel& kernel) {
  return [kernel](const Case& c) {
    KernelTrial exam(c);
    oracles::Outcome outcome = exam.answer(*kernel(c.version));
    oracles::Verdict verdict = exam.mark(outcome);
    return suites::Answered{std::move(outcome), std::move(verdict)};
  };
}

suites::RunCase sequential() {
  return run_case([](const OpVersion& version) { return variant("sequential", version); });
}

const suites::Selection pools{{"AveragePool-19"}, {DType::f32}}, convolutions{{"Conv-11"}, {DType::f32}};

double share(const WorstCase& peak) { return peak.answered.verdict.worst_share; }

}  // namespace

TEST_CASE("Seeking: what a correct kernel uses of the budget is at most all of it", "[seek]") {
  for (std::uint64_t island = 0; island < 16; ++island) {
    const WorstCase peak = suites::climb({}, 1, island, sequential(), 40);
    INFO(line(peak.c) << " uses " << share(peak));
    CHECK(peak.runs == 40);
    CHECK(share(peak) <= 1 + 1e-9);
    CHECK(peak.answered.verdict.state != oracles::State::fail);
    CHECK(peak.answered.verdict.state != oracles::State::below);
  }
}

TEST_CASE("Seeking: climbing finds larger errors than as many cases taken as they come", "[seek]") {
  for (const suites::Selection& selection : {pools, convolutions}) {
    int higher = 0;
    double climbed = 0, sampled = 0;
    for (std::uint64_t island = 0; island < 10; ++island) {
      const double up = share(suites::climb(selection, 2, island, sequential(), 60));
      const double flat = share(suites::sample(selection, 2, island, sequential(), 60));
      higher += up > flat;
      climbed += up;
      sampled += flat;
    }
    INFO("of 10 islands " << higher << " are higher; " << climbed << " against " << sampled);
    CHECK(higher >= 8);
    CHECK(climbed > 1.2 * sampled);
  }
}

TEST_CASE("Seeking: arithmetic too weak for its level is caught by every island", "[seek]") {
  const suites::RunCase weak =
      run_case([](const OpVersion& version) { return mutant("conv-accumulates-in-f16", version); });
  int higher = 0;
  for (std::uint64_t island = 0; island < 6; ++island) {
    const WorstCase up = suites::climb({{"Conv-11"}, {DType::f16}}, 3, island, weak, 40);
    const WorstCase flat = suites::sample({{"Conv-11"}, {DType::f16}}, 3, island, weak, 40);
    INFO(line(up.c) << " uses " << share(up) << ", sampling " << share(flat));
    CHECK(share(up) > 1);
    higher += share(up) > share(flat);
  }
  CHECK(higher >= 5);
}

TEST_CASE("Seeking: an island is a function of seed and number", "[seek]") {
  const WorstCase a = suites::climb(pools, 4, 2, sequential(), 20), b = suites::climb(pools, 4, 2, sequential(), 20);
  CHECK(line(a.c) == line(b.c));
  CHECK(share(a) == share(b));
  CHECK(line(suites::climb(pools, 4, 3, sequential(), 20).c) != line(a.c));
}

TEST_CASE("Seeking: where nothing is rounded there is nothing to seek", "[seek]") {
  CHECK_THROWS_AS(suites::climb({{"QLinearConv"}, {}}, 1, 0, sequential()), InputError);
}

}  // namespace assay::mutation
