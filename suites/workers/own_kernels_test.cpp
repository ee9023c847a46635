// SPDX-License-Identifier: Apache-2.0
// Our own kernels in this process: what they answer is what their worker answers, and what they throw is an outcome.
#include "suites/workers/own_kernels.h"

#include "reference/case_view.h"
#include "reference/onnx_io.h"
#include "suites/campaign/campaign.h"
#include "suites/workers/worker.h"
#include "suites/workers/worker_names.h"

#include <catch2/catch.hpp>

#include <new>
#include <stdexcept>

namespace assay::suites {
namespace {

using oracles::Outcome;

SuiteCase planned(const char* text) { return {case_of(text), text, "", {}}; }

const char* const legal = "Conv-11 opset=11 ir=8 X=f32[1,1,4]~lit:1,2,3,4 W=f32[1,1,2]~lit:1,1";

Outcome answered(const OpenKernel& open, const Request& request) { return InProcess("ours", open).run(request); }

OpenKernel throwing(auto thrown) {
  return [=](const Definition&) -> FastKernel {
    return [=](const Call&, std::span<const Tensor* const>, int) -> Tensor { throw thrown; };
  };
}

}  // namespace

TEST_CASE("own kernels: legal cases, near misses and strange models get the worker's answer", "[own_kernels]") {
  const auto worker = open_backend("reference"), here = open_backend("reference:inprocess");
  CHECK(here->describe().backend == worker->describe().backend);
  CHECK(here->describe().version == worker->describe().version);
  CHECK(here->describe().device == worker->describe().device);
  SuiteRequest selection;
  selection.seed = 5;
  selection.generated = 300;
  std::size_t refused = 0;
  const auto check = [&](const Request& request) {
    const Outcome theirs = worker->run(request), ours = here->run(request);
    CHECK(ours.kind == theirs.kind);
    CHECK(ours.because == theirs.because);
    CHECK(ours.sets == theirs.sets);
    refused += ours.kind == Outcome::Kind::refused;
  };
  for (const SuiteCase& each : generated_cases(selection)) {
    INFO(each.line);
    check(request_of(each, {}));
  }
  CHECK(refused > 20);
  Request request = request_of(planned(legal), {});
  request.sets[1].pop_back();
  check(request);
  request.model = "no model";
  check(request);
  const Case b = planned(legal).c;
  request = request_of(planned(legal), {});
  request.model = packed_model_of({&b, &b});
  for (auto& set : request.sets) {
    const std::vector<std::string> of_one = set;
    set.insert(set.end(), of_one.begin(), of_one.end());
  }
  check(request);
  REQUIRE(here->run(request).kind == Outcome::Kind::outputs);
  CHECK(here->run(request).sets.at(0).size() == 2);
}

TEST_CASE("own kernels: what a kernel throws ends no campaign", "[own_kernels]") {
  const Request request = request_of(planned(legal), {});
  const Outcome broken = answered(throwing(std::logic_error("a promise")), request);
  CHECK(broken.kind == Outcome::Kind::crashed);
  CHECK(broken.because == "a promise");
  CHECK(answered(throwing(std::bad_alloc()), request).kind == Outcome::Kind::out_of_memory);
  const Outcome refused = answered(throwing(InputError("not this one")), request);
  CHECK(refused.kind == Outcome::Kind::refused);
  CHECK(refused.because == "not this one");
}

TEST_CASE("own kernels: a kernel keeps its session over the sets of one request, and no longer", "[own_kernels]") {
  const OpenKernel counting = [](const Definition&) -> FastKernel {
    return [requested = 0.f](const Call&, std::span<const Tensor* const>, int) mutable {
      Tensor y({DType::f32, {1}});
      y.as<float>()[0] = requested++;
      return y;
    };
  };
  InProcess backend("counting", counting);
  const Request request = request_of(planned(legal), {});
  for (int turn = 0; turn < 2; ++turn) {
    const Outcome outcome = backend.run(request);
    REQUIRE(outcome.sets.size() == 2);
    CHECK(outcome.sets[0][0].as<float>()[0] == 0.f);
    CHECK(outcome.sets[1][0].as<float>()[0] == 1.f);
  }
}

TEST_CASE("own kernels: the one without a process has no command", "[own_kernels]") {
  CHECK_FALSE(is_worker("reference:inprocess"));
  CHECK(is_worker("reference"));
  CHECK_THROWS_AS(command_of("reference:inprocess"), InputError);
}

}  // namespace assay::suites
