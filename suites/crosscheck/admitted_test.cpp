// SPDX-License-Identifier: Apache-2.0
// What a script compares an answer with, held to the judge: it never calls wrong what is none, and what is a breach it
// calls so.
#include "generators/generators.h"
#include "oracles/judging/expected.h"
#include "reference/testing/run_size.h"
#include "suites/mutation/kernel_trial.h"
#include "suites/mutation/mutants.h"
#include "suites/mutation/variants.h"

#include <catch2/catch.hpp>

#include <iostream>
#include <limits>

namespace assay::mutation {
namespace {

using oracles::Level;
using oracles::State;

constexpr std::uint64_t seed = 31;

// Of strings that may be said otherwise a script does not decide by these.
bool has_other_texts(const Case& c) {
  for (const std::vector<oracles::Admitted>& answer : oracles::admitted(c, 0, Level::widest, {}))
    if (std::ranges::any_of(answer, &oracles::Admitted::has_other_texts)) return true;
  return false;
}

bool is_admitted(const Case& c, const oracles::Outcome& outcome, Level level) {
  for (int set = 0; set < data_sets; ++set) {
    const auto& outputs = outcome.sets.at(static_cast<std::size_t>(set));
    if (!oracles::is_among(outputs, oracles::admitted(c, set, level, {}))) return false;
  }
  return true;
}

struct AnsweredCase {
  Case c;
  oracles::Outcome outcome;
  State state;
};

template <class Kernels, class MakeKernel>
std::vector<AnsweredCase> answers(const Kernels& kernels, std::size_t each, MakeKernel&& make) {
  std::vector<AnsweredCase> all;
  for (const auto& kernel : kernels)
    for (const auto& [subject, index] : sampled_versions("", each)) {
      const auto made = make(kernel, subject.definition->version);
      if (!made) continue;
      KernelTrial exam(generators::legal(*subject.definition, subject.type, seed, index));
      oracles::Outcome outcome = exam.answer(*made);
      if (outcome.kind != oracles::Outcome::Kind::outputs) continue;
      if (has_other_texts(exam.tested_case())) continue;
      const State state = exam.mark(outcome).state;
      all.push_back({exam.tested_case(), std::move(outcome), state});
    }
  return all;
}

}  // namespace

TEST_CASE("A right answer is admitted at the level asked for, a weaker one by what is no breach", "[admitted]") {
  std::map<State, std::size_t> seen;
  for (const AnsweredCase& each : answers(variants(), count(180, 600), [](const Variant&v, const OpVersion&version) {
         return variant(v.name, version);
       })) {
    INFO(line(each.c) << " " << oracles::name(each.state));
    ++seen[each.state];
    CHECK(each.state != State::fail);
    CHECK(is_admitted(each.c, each.outcome, Level::widest));
    if (each.state == State::pass || each.state == State::contested)
      CHECK(is_admitted(each.c, each.outcome, Level::L2));
    if (each.state == State::below) CHECK_FALSE(is_admitted(each.c, each.outcome, Level::L2));
  }
  CHECK(seen[State::pass] > 500);
  CHECK(seen[State::contested] > 0);
  CHECK(seen[State::below] > 0);
}

TEST_CASE("A breach is not admitted, but for numbers between zero and the smallest normal one", "[admitted]") {
  std::size_t fails = 0, hidden = 0, others = 0;
  for (const AnsweredCase& each : answers(
           mutants(), count(20, 200), [](const Mutant&m, const OpVersion&version) { return mutant(m.id, version); })) {
    const bool admitted = is_admitted(each.c, each.outcome, Level::widest);
    INFO(line(each.c) << " " << oracles::name(each.state));
    if (each.state != State::fail) {
      ++others;
      CHECK(admitted);
      continue;
    }
    // Of outputs that are right or wrong together each element may be among what its place admits.
    if (oracles::oracle_of(each.c.version).given) continue;
    ++fails;
    hidden += admitted ? 1 : 0;
    if (admitted) CHECK_FALSE(is_admitted(each.c, each.outcome, Level::L2));  // which a script then asks for
  }
  std::cout << fails << " breaches, " << hidden << " of them inside the hull; " << others << " other answers\n";
  CHECK(fails > 200);
  CHECK(100 * hidden < fails);
}

TEST_CASE("Of a label of which nothing is claimed any string is admitted", "[admitted]") {
  const Case c = *parse_case(
      "ai.onnx.ml:LinearClassifier-1 opset=1 ir=8 X=f32[1,1]~hold:nan coefficients=1,2 intercepts=0,0 "
      "classlabels_strings=a,b");
  const std::vector<std::vector<oracles::Admitted>> all = oracles::admitted(c, 0, Level::widest, {});
  REQUIRE(!all.empty());
  CHECK(all[0][0].unscored == 1);
  Tensor label({DType::string, {1}});
  label.as<std::string>()[0] = "anything";
  CHECK(oracles::is_among(label, {all[0][0]}));
}

TEST_CASE("What a backend rounds or moves as no text forbids is contested, below or unscored, never wrong",
          "[admitted]") {
  const auto state_of = [](const char* text, double answer) {
    KernelTrial trial(*parse_case(text));
    oracles::Outcome outcome = trial.answer(*variant("sequential", trial.tested_case().version));
    for (auto& set : outcome.sets)
      for_type(set[0].dtype(), [&]<class T>() {
        if constexpr (std::is_constructible_v<T, double>) set[0].as<T>()[0] = T(answer);
      });
    return trial.mark(outcome).state;
  };
  // N6: 1.5 is as near to 1 as to 2.
  constexpr const char* mean = "ReduceMean-13 opset=13 ir=8 data=i32[2]~hold:1,2";
  CHECK(state_of(mean, 1) == State::pass);
  CHECK(state_of(mean, 2) == State::contested);
  CHECK(state_of(mean, 3) == State::fail);
  // M33: with align_corners the coordinate 4.125 is beyond the last of five elements, which is the border.
  constexpr const char* sample =
      "GridSample-20 opset=20 ir=8 X=f32[1,1,1,5]~hold:1,2,3,5,8 grid=f32[1,1,1,2]~hold:1.0625,0 align_corners=1 "
      "mode=cubic padding_mode=border";
  CHECK(state_of(sample, 8) == State::contested);
  CHECK(state_of(sample, 7) == State::fail);
  // M43: half_pixel is what ONNX's own conversion makes of it.
  constexpr const char* resized = "Resize-10 opset=10 ir=8 X=f32[2]~hold:1,2 scales=f32[1]~values:0.5 mode=linear";
  CHECK(state_of(resized, 1.5) == State::contested);
  CHECK(state_of(resized, 2) == State::fail);
  // Powers by functions where p is 1, and squares that overflow in f16.
  constexpr const char* summed = "GlobalLpPool-22 opset=22 ir=10 X=f32[1,1,3]~hold:2,7,2 p=1";
  CHECK(state_of(summed, 11.000001) == State::below);
  CHECK(state_of(summed, 11.0001) == State::fail);
  constexpr const char* share = "LpNormalization-22 opset=22 ir=10 input=f16[1]~hold:33408";
  CHECK(state_of(share, 0) == State::below);
  CHECK(state_of(share, 0.5) == State::fail);
  // E47: erf 1 is 0.84.
  CHECK(state_of("Erf-9 opset=9 ir=8 input=u8[]~hold:1", 1) == State::contested);
  CHECK(state_of("Erf-9 opset=9 ir=8 input=u8[]~hold:0", 1) == State::fail);
  // A variance is not negative.
  constexpr const char* normal =
      "BatchNormalization-15 opset=15 ir=8 X=f32[1,1]~hold:2 scale=f32[1]~hold:3 B=f32[1]~hold:1 "
      "input_mean=f32[1]~hold:1 input_var=f32[1]~hold:-4";
  CHECK(state_of(normal, 2.5) == State::unscored);
  // The sum of three scores overflows, their mean does not.
  constexpr const char* loss =
      "NegativeLogLikelihoodLoss-13 opset=13 ir=8 input=f32[3,1]~hold:2e38 target=i64[3]~values:0,0,0";
  CHECK(state_of(loss, -std::numeric_limits<double>::infinity()) == State::unscored);
  // 1 over the norm overflows, the share does not.
  const char* const tiny = "LpNormalization-22 opset=22 ir=10 input=bf16[1]~hold:0x1p-130 p=1";
  CHECK(state_of(tiny, std::numeric_limits<double>::infinity()) == State::unscored);
  CHECK(state_of("QuantizeLinear-13 opset=13 ir=8 x=f32[1]~hold:0x1p-129 y_scale=f32[]~hold:0x1p-130", 255) ==
        State::unscored);
  CHECK(state_of("com.microsoft:QLinearAdd-1 opset=1 ir=8 A=u8[1]~hold:3 A_scale=f32[]~hold:0x1p-130 B=u8[1]~hold:4 "
                 "B_scale=f32[]~hold:0x1p-130 C_scale=f32[]~hold:0x1p-130",
                 255) == State::unscored);
  // Admits NaN where what meets an infinity may be 0 before it does: a quotient, what alpha scales, a subnormal weight.
  for (const char* const text :
       {"ai.onnx.preview.training:Adagrad-1 opset=1 ir=8 R=f32[]~hold:inf T=i64[]~hold:0 inputs_0=f32[1]~hold:1 "
        "inputs_1=f32[1]~hold:0x1p-149 inputs_2=f32[1]~hold:9 outputs=outputs_1",
        "Gemm-13 opset=13 ir=8 A=f32[1,1]~hold:inf B=f32[1,1]~hold:0x1p-120 alpha=1e-30",
        "NegativeLogLikelihoodLoss-13 opset=13 ir=8 input=f32[1,1]~hold:inf target=i64[1]~values:0 "
        "weight=f32[1]~hold:0x1p-130 reduction=sum",
        "ai.onnx.ml:LinearRegressor-1 opset=1 ir=8 X=f32[1,1]~hold:inf coefficients=1e-40 targets=1"}) {
    INFO(text);
    CHECK(state_of(text, std::nan("")) != State::fail);
  }
}

}  // namespace assay::mutation
