// SPDX-License-Identifier: Apache-2.0
// The filters of functions and of expressions against the definition: numbers of every kind, and outputs a few units
// from the right one. It may leave any of them undecided; it may not decide one wrongly.
#include "oracles/exact/operands.h"
#include "oracles/exact/real.h"
#include "oracles/filter/function_lanes.h"
#include "oracles/judging/finding.h"
#include "oracles/judging/judge.h"
#include "reference/operator.h"
#include "reference/recipe.h"
#include "reference/testing/run_size.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cstdlib>

using namespace assay;
using namespace assay::oracles;

namespace {

// Every operator version that is such a function, with its attributes as by default.
std::vector<std::pair<const Definition*, FunctionCall>> functions_served() {
  std::vector<std::pair<const Definition*, FunctionCall>> all;
  for (const Operator* op : operators()) {
    const Definition& newest = op->versions().back();
    const Oracle& oracle = oracle_of(newest.version);
    if (!oracle.function) continue;
    Case c;
    c.version = newest.version;
    c.node.input(newest.inputs.front().name, {DType::f32, {1}});
    if (const std::optional<FunctionCall> call = oracle.function(c.call())) all.emplace_back(&newest, *call);
  }
  return all;
}

// Numbers of `type` coordinate_error by up to eight units of their bit patterns.
void nudge(Tensor& tensor, Generator& random) {
  for_type(tensor.dtype(), [&]<class T>() {
    using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;
    if constexpr (sizeof(T) == 2 || sizeof(T) == 4)
      for (T& each : tensor.as<T>()) {
        const auto coordinate_error =
            static_cast<Bits>(std::bit_cast<Bits>(each) + random.below(17) - 8 * (random.below(4) != 0));
        if (random.below(3) != 0) each = std::bit_cast<T>(coordinate_error);
      }
  });
}

struct Held {
  Int decided = 0, all = 0;
};

Held hold(const Definition& definition, const FunctionCall& function, DType type, const Recipe& recipe,
          Generator& random) {
  const Tensor x = fill(recipe, {type, {400}});
  Case c;
  c.version = definition.version;
  c.node.input(definition.inputs.front().name, x.type());
  const Answers answers = oracle_of(definition.version).answer(c.call(), {x}, {}, {});
  const Answer& answer = *answers.front();
  const FunctionFilter filter = FunctionFilter::of(function, type).value();
  Tensor got(x.type());
  const std::vector<double> arguments = doubles(x);
  for_type(type, [&]<class T>() {
    if constexpr (!std::is_same_v<T, std::string> && !std::is_same_v<T, Bool>)
      for (std::size_t i = 0; i < arguments.size(); ++i)
        got.as<T>()[i] = static_cast<T>(static_cast<float>(filter.rounded(filter.value(arguments[i]))));
  });
  nudge(got, random);
  const std::vector<double> came = doubles(got);
  Held held;
  for (std::size_t i = 0; i < arguments.size(); ++i, ++held.all) {
    const double value = filter.value(arguments[i]);
    const Scalar back = scalar(got, static_cast<Int>(i));
    const Decided rated = filter.rate(arguments[i], value, came[i]);
    const Element element = answer.element(static_cast<Int>(i));
    const bool wants_nan = std::isnan(value) && !std::isinf(arguments[i]);
    INFO(text(definition.version) << " " << name(type) << " of " << arguments[i] << ": " << written(back, type));
    if (wants_nan) CHECK(element.kind == Kind::nan);
    if (!rated.is_decided) continue;
    ++held.decided;
    const ElementRating rating = examine(answer, static_cast<Int>(i), element, back);
    REQUIRE(rating.kind == ElementRating::Kind::right);
    REQUIRE(element.kind == Kind::finite);
    CHECK(rating.is_nearest == rated.is_nearest);
    CHECK(rating.level == rated.level);
    CHECK(std::abs(rating.off.ulp - rated.ulp) <= 0x1p-15 + 0x1p-12 * rated.ulp);
    CHECK(std::abs(rating.off.q - rated.q) <= 0x1p-12 * rated.q);
    CHECK(std::abs(rating.off.share - rated.share) <= 0x1p-12 * rated.share + 0x1p-12);
  }
  return held;
}

// Holds every output of a case as our kernel has it, and some units off.
Held hold_expressions(const Case& c, Generator& random) {
  const Operands in = operands(c, 0);
  std::vector<const Tensor*> pointers;
  for (const std::optional<Tensor>& each : in) pointers.push_back(each ? &*each : nullptr);
  const Answers answers = oracle_of(c.version).answer(c.call(), in, {}, {});
  const std::vector<Tensor> outputs = c.definition().kernel(c.call(), pointers).requested();
  Held held;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    Tensor got = outputs[k];
    nudge(got, random);
    const std::optional<FilterResult> result = answers[k]->screen(got, {});
    held.all += got.elements();
    if (!result) continue;
    Int nearest = 0;
    Level weakest = Level::L0;
    auto undecided = result->undecided.begin();
    for (Int i = 0; i < got.elements(); ++i) {
      if (undecided != result->undecided.end() && *undecided == i) {
        ++undecided;
        continue;
      }
      const Element element = answers[k]->element(i);
      const ElementRating rating = examine(*answers[k], i, element, scalar(got, i));
      INFO("output " << k << ", element " << i << ": " << written(scalar(got, i), got.dtype()));
      REQUIRE(element.kind == Kind::finite);
      REQUIRE(rating.kind == ElementRating::Kind::right);
      nearest += rating.is_nearest;
      weakest = std::max(weakest, rating.level);
      ++held.decided;
    }
    CHECK(result->nearest == nearest);
    CHECK(result->weakest.value_or(Level::L0) == weakest);
  }
  return held;
}

}  // namespace

TEST_CASE("The filter of functions never decides what the definition does not", "[filter][functions]") {
  Generator random(is_full_run() ? 2 : 1);
  const int rounds = is_full_run() ? 40 : 1;
  const auto served = functions_served();
  CHECK(served.size() >= 24);
  for (const auto& [definition, function] : served)
    for (const DType type : {DType::f16, DType::bf16, DType::f32}) {
      const std::vector<DType>& admitted = definition->types_of(definition->data().type);
      if (std::ranges::count(admitted, type) == 0) continue;
      Held ordinary;
      for (int round = 0; round < rounds; ++round)
        for (const char* family : {"normal", "pattern", "logu", "special", "subnormal", "huge"}) {
          const Held held = hold(*definition, function, type, {family, std::to_string(random.below(1 << 20))}, random);
          if (std::string_view(family) != "normal") continue;
          ordinary.decided += held.decided;
          ordinary.all += held.all;
        }
      INFO(text(definition->version) << " " << name(type));
      if (type == DType::f32) CHECK(10 * ordinary.decided > ordinary.all);  // else it is of no use
    }
}

TEST_CASE("Our own functions keep what the filter needs", "[filter][functions]") {
  Generator random(3);
  const Function function = GENERATE(Function::exp, Function::sin, Function::cos, Function::tan);
  const bool is_exp = function == Function::exp;
  // Among them what comes very near to a multiple of pi/2.
  std::vector<double> x{
      0,      -0.0, 0x1p-149,        88.8F,          -87.4F, -0.75, 0x1.6ac5b2p+38, 0x1.921fb6p+0, -0x1.2d97c8p+1,
      -104.0, 0.7F, 0x1.ddb3d8p+127, 0x1.fffffep+127};
  while (x.size() < Lanes::most)
    x.push_back(std::ldexp(static_cast<double>(random.below(1 << 24)) - 0x1p23,
                           static_cast<int>(random.below(is_exp ? 30 : 140)) - 38));
  std::vector<double> value(x.size());
  is_exp ? exponentials(x.data(), value.data(), x.size()) : circular(function, x.data(), value.data(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if ((is_exp && std::abs(x[i]) > 700) || x[i] == 0) continue;
    const Real y = enclosed(function, std::vector<Real>{Real(ratio(scalar_of(x[i])), 400)});
    INFO(name(function) << " of " << x[i]);
    CHECK(approximate(abs(Ratio{y.lower(), 1} - ratio(scalar_of(value[i])))) <= 0x1p-48 * y.size());
  }
}

TEST_CASE("Lanes leave to the filter what it does not call correctly rounded", "[filter][functions]") {
  Generator random(4);
  Int decided = 0;
  for (const auto& [definition, function] : functions_served())
    for (const DType type : {DType::f16, DType::f32}) {
      const FunctionFilter filter = FunctionFilter::of(function, type).value();
      Lanes lanes(filter, function.function, type);
      const Tensor x = fill({"pattern", std::to_string(random.below(1 << 20))}, {type, {1200}});
      Tensor got(x.type());
      for_float(type, [&]<class T>() {
        for (std::size_t i = 0; i < 1200; ++i)
          got.as<T>()[i] = static_cast<T>(static_cast<float>(filter.rounded(filter.value(doubles(x)[i]))));
      });
      nudge(got, random);
      for (const std::size_t first : {std::size_t{0}, Lanes::most}) {
        const std::size_t count = std::min(Lanes::most, 1200 - first);
        lanes.look(x, got, first, count);
        for (std::size_t i = 0; i < count; ++i) {
          const Decided rated = filter.rate(lanes.x(i), filter.value(lanes.x(i)), lanes.got(i));
          INFO(text(definition->version) << " " << name(type) << " of " << lanes.x(i));
          if (!(lanes.marks(i) & Lanes::unsure)) CHECK((++decided, rated.is_nearest));
        }
      }
    }
  CHECK(decided > 10'000);
}

TEST_CASE("The filter of functions rounds as the types do", "[filter][functions]") {
  const FunctionFilter half = FunctionFilter::of({Function::exp, {}}, DType::f16).value();
  CHECK(half.rounded(65519) == 65504);
  CHECK(half.rounded(65520) == std::numeric_limits<double>::infinity());
  CHECK(half.rounded(-1e300) == -std::numeric_limits<double>::infinity());
  CHECK(half.rounded(0x1p-25) == 0);
  CHECK(half.rounded(0x1.8p-25) == 0x1p-24);
  CHECK(half.rounded(1 + 0x1p-11) == 1);
  CHECK(half.rounded(1 + 0x1.8p-10) == 1 + 0x1p-9);
  CHECK_FALSE(FunctionFilter::of({Function::exp, {}}, DType::f64));
  CHECK_FALSE(FunctionFilter::of({Function::pow, {2}}, DType::f32));
}

TEST_CASE("The filter of expressions never decides what the definition does not", "[filter]") {
  Generator random(Catch::rngSeed());
  Held all;
  for (const std::string line :
       {"Softmax-13 opset=13 ir=8 input=?[4,30]~", "Softmax-13 opset=13 ir=8 input=?[20,6]~ axis=0",
        "LogSoftmax-13 opset=13 ir=8 input=?[4,30]~",
        "LayerNormalization-17 opset=17 ir=8 X=?[6,25]~ Scale=?[25]~ B=?[25]~ outputs=Mean,InvStdDev",
        "RMSNormalization-23 opset=23 ir=11 X=?[6,25]~ scale=?[25]~",
        "InstanceNormalization-22 opset=22 ir=10 input=?[1,4,25]~ scale=?[4]~ B=?[4]~",
        "GroupNormalization-21 opset=21 ir=10 X=?[1,4,25]~ scale=?[4]~ bias=?[4]~ num_groups=2",
        "BatchNormalization-9 opset=9 ir=8 X=?[2,3,20]~ scale=?[3]~ B=?[3]~ mean=?[3]~ var=?[3]^hold:0.75,2,1",
        "LpNormalization-22 opset=22 ir=10 input=?[5,20]~ p=1",
        "Attention-23 opset=23 ir=11 Q=?[1,2,8,4]~ K=?[1,2,6,4]~ V=?[1,2,6,8]~ qk_matmul_output_mode=3 "
        "outputs=present_key,present_value,qk_matmul_output"})
    for (const char* type : {"f16", "bf16", "f32"})
      for (const char* family : {"normal", "small", "logu", "special", "uniform", "cancel", "huge", "subnormal"}) {
        std::string text;
        for (const char each : line)
          text += each == '?'   ? type
                  : each == '^' ? "~"
                  : each == '~' ? "~" + std::string(family) + ":" + std::to_string(random.below(1 << 20))
                                : std::string(1, each);
        const Result<Case> c = parse_case(text);
        INFO(text);
        REQUIRE(c);
        const Definition& definition = c->definition();
        if (!definition.violated(c->call()).empty()) continue;  // bf16 in an older version
        const Held held = hold_expressions(*c, random);
        if (std::string_view(family) == "normal") CHECK(10 * held.decided > held.all);
        all.decided += held.decided;
        all.all += held.all;
      }
  CHECK(3 * all.decided > all.all);
  CHECK(all.all > 10'000);
}
