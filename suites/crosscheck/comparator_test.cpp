// SPDX-License-Identifier: Apache-2.0
// Self-test of the comparator: the right outputs pass, every planted mismatch is caught with the word it deserves, and
// the acceptance interval ends exactly where numerics 2.2 says, for every type.
#include "oracles/exact/enclosure.h"
#include "suites/mutation/kernel_trial.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>

namespace assay::mutation {
namespace {

using oracles::Outcome;
using oracles::State;

constexpr DType float_types[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

// `@` in the line stands for the type.
KernelTrial exam_on(std::string line, DType type) {
  for (std::size_t at; (at = line.find('@')) != std::string::npos;) line.replace(at, 1, name(type));
  const Result<Case> c = parse_case(line);
  INFO(line);
  if (!c) FAIL(c.error());
  return KernelTrial(*c);
}

Outcome right_answer(const KernelTrial& exam) { return exam.answer(exam.tested_case().definition().kernel); }

double value(const Tensor& tensor, Int index) {
  return for_float(tensor.dtype(),
                   [&]<class T>() { return static_cast<double>(tensor.as<T>()[static_cast<std::size_t>(index)]); });
}

void set_value(Tensor& tensor, Int index, double to) {
  for_float(tensor.dtype(), [&]<class T>() { tensor.as<T>()[static_cast<std::size_t>(index)] = static_cast<T>(to); });
}

// The neighbour of an element, away from zero or towards it, in its own format.
template <class T>
T stepped(T from, int steps) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  return std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(from) + static_cast<Bits>(steps)));
}

void step(Tensor& tensor, Int index, int steps) {
  for_float(tensor.dtype(), [&]<class T>() {
    T& element = tensor.as<T>()[static_cast<std::size_t>(index)];
    element = stepped(element, steps);
  });
}

void step_up(Tensor& tensor, Int index) {
  const double from = value(tensor, index);
  if (from != 0) return step(tensor, index, from > 0 ? 1 : -1);
  set_value(tensor, index, 0.0);
  step(tensor, index, 1);
}

void step_down(Tensor& tensor, Int index) {
  set_value(tensor, index, -value(tensor, index));
  step_up(tensor, index);
  set_value(tensor, index, -value(tensor, index));
}

Tensor retyped(const Tensor& tensor, TensorType type) {
  Tensor copy(std::move(type));
  for (Int i = 0; i < std::min(copy.elements(), tensor.elements()); ++i)
    if (is_float(copy.dtype())) set_value(copy, i, value(tensor, i));
  return copy;
}

Tensor reshaped(const Tensor& tensor, Shape shape) { return retyped(tensor, {tensor.dtype(), std::move(shape)}); }

// Whole numbers below 2^8 and no tap in padding: exact in every format and under every fast algorithm that a kernel of
// two taps admits, so each interval is one point and any other value is a breach.
const char* const exact_case =
    "Conv-22 opset=22 ir=10 X=@[1,1,2,4]~lit:1,2,3,4,5,6,7,8 W=@[2,1,1,2]~lit:1,10,2,3 B=@[2]~lit:1,-2";
const char* const nan_case = "Conv-22 opset=22 ir=10 X=@[1,1,4]~lit:1,nan,3,4 W=@[1,1,2]~lit:1,1";
const char* const infinite_case = "Conv-22 opset=22 ir=10 X=@[1,1,4]~lit:1,inf,3,4 W=@[1,1,2]~lit:1,1";
const char* const pool_case = "AveragePool-22 opset=22 ir=10 X=@[1,1,5]~lit:1,2,4,8,16 kernel_shape=2 strides=1";

struct Plant {
  std::string what;
  const char* line;
  std::function<void(Outcome&)> spoil;
  State state;
  std::string because;
};

Tensor& output(Outcome& outcome, std::size_t set = 0) { return outcome.sets.at(set).at(0); }
const double nan = std::numeric_limits<double>::quiet_NaN();
const double infinity = std::numeric_limits<double>::infinity();

// Mismatches that hold for every type.
std::vector<Plant> plants() {
  const auto put = [](std::size_t set, Int index, double to) {
    return [=](Outcome& o) { set_value(output(o, set), index, to); };
  };
  const auto to_shape = [](const Shape& shape, std::size_t set = 0) {
    return [=](Outcome& o) { output(o, set) = reshaped(output(o, set), shape); };
  };
  return {
      {"NaN for a number", exact_case, put(0, 3, nan), State::fail, "value"},
      {"NaN for the last number of the second set", exact_case, put(1, 11, nan), State::fail, "value"},
      {"a number for NaN", nan_case, put(0, 0, 3), State::fail, "special"},
      {"zero for NaN", nan_case, put(0, 1, 0), State::fail, "special"},
      {"infinity for NaN", nan_case, put(0, 1, infinity), State::fail, "special"},
      {"the wrong infinity", infinite_case, put(0, 1, -infinity), State::fail, "special"},
      {"a number for infinity", infinite_case, put(0, 0, 65504), State::fail, "special"},
      {"NaN for infinity", infinite_case, put(0, 0, nan), State::fail, "special"},
      {"infinity for a number", exact_case, put(0, 0, infinity), State::fail, "value"},
      {"minus infinity for a number", pool_case, put(0, 3, -infinity), State::fail, "value"},
      {"one ulp up", exact_case, [](Outcome& o) { step_up(output(o), 5); }, State::fail, "value"},
      {"one ulp down", exact_case, [](Outcome& o) { step_down(output(o), 5); }, State::fail, "value"},
      {"one ulp in the last element of the last set", exact_case, [](Outcome& o) { step_up(output(o, 1), 11); },
       State::fail, "value"},
      {"one ulp in a mean over two", pool_case, [](Outcome& o) { step_up(output(o), 2); }, State::fail, "value"},
      {"the sign lost", exact_case, [](Outcome& o) { set_value(output(o), 2, -value(output(o), 2)); }, State::fail,
       "value"},
      {"one element not written", exact_case, put(0, 7, 0), State::fail, "value"},
      {"one element left from the set before", exact_case,
       [](Outcome& o) { set_value(output(o, 1), 4, value(output(o, 0), 4)); }, State::fail, "value"},
      {"the sets exchanged", exact_case, [](Outcome& o) { std::swap(o.sets[0], o.sets[1]); }, State::fail, "value"},
      {"two neighbours exchanged", exact_case,
       [](Outcome& o) {
         const double first = value(output(o), 0), second = value(output(o), 1);
         set_value(output(o), 0, second);
         set_value(output(o), 1, first);
       },
       State::fail, "value"},
      {"two extents exchanged", exact_case, to_shape({1, 2, 3, 2}), State::fail, "shape"},
      {"an axis too many", exact_case, to_shape({1, 2, 2, 3, 1}), State::fail, "shape"},
      {"flattened", exact_case, to_shape({12}), State::fail, "shape"},
      {"a column missing", exact_case, to_shape({1, 2, 2, 2}), State::fail, "shape"},
      {"no element at all", exact_case, to_shape({1, 2, 2, 0}), State::fail, "shape"},
      {"a scalar", exact_case, to_shape({}), State::fail, "shape"},
      {"the shape wrong in the second set only", exact_case, to_shape({1, 2, 3, 2}, 1), State::fail, "shape"},
      {"another float type", exact_case,
       [](Outcome& o) {
         const DType other = output(o).dtype() == DType::f32 ? DType::f64 : DType::f32;
         output(o) = retyped(output(o), {other, output(o).shape()});
       },
       State::fail, "type"},
      {"integers", exact_case,
       [](Outcome& o) {
         output(o) = retyped(output(o), TensorType{DType::i32, output(o).shape()});
       },
       State::fail, "type"},
      {"an output too many", exact_case, [](Outcome& o) { o.sets[0].push_back(o.sets[0][0]); }, State::fail, "count"},
      {"no output", exact_case, [](Outcome& o) { o.sets[0].clear(); }, State::fail, "count"},
      {"no output in the second set", exact_case, [](Outcome& o) { o.sets[1].clear(); }, State::fail, "count"},
  };
}

// The first element the interval admits and the last one, from the answer.
struct Interval {
  double lower = 0, upper = 0;
};

double as_double(const oracles::Scalar& scalar) {
  if (scalar.is == oracles::Scalar::Class::infinite) return scalar.negative ? -infinity : infinity;
  return scalar.as_double();
}

Interval interval_of(const oracles::Element& element, DType type) {
  const oracles::Format& format = oracles::format_of(type);
  return {as_double(rounded(element.value - element.required.budget, format)),
          as_double(rounded(element.value + element.required.budget, format))};
}

State state_with(KernelTrial& exam, Outcome outcome, const std::function<void(Tensor&)>& change) {
  change(output(outcome));
  return exam.mark(outcome).state;
}

}  // namespace

TEST_CASE("The right outputs pass for every type", "[judge]") {
  for (const DType type : float_types)
    for (const char* line : {exact_case, nan_case, infinite_case, pool_case}) {
      KernelTrial exam = exam_on(line, type);
      const oracles::Verdict& verdict = exam.mark(right_answer(exam));
      INFO(name(type) << " " << line << ": " << verdict.because << " " << verdict.detail);
      CHECK(verdict.state == State::pass);
    }
}

TEST_CASE("Every planted mismatch is caught, with the word it deserves", "[judge]") {
  for (const DType type : float_types)
    for (const Plant& plant : plants()) {
      KernelTrial exam = exam_on(plant.line, type);
      Outcome outcome = right_answer(exam);
      plant.spoil(outcome);
      const oracles::Verdict& verdict = exam.mark(outcome);
      INFO(name(type) << ": " << plant.what << "; " << verdict.because << ": " << verdict.detail);
      CHECK(name(verdict.state) == name(plant.state));
      CHECK(verdict.because == plant.because);
      CHECK(verdict.evidence.has_value() == (plant.because == "value" || plant.because == "special"));
    }
}

TEST_CASE("A NaN is a NaN whatever its payload, and the sign of zero is never judged", "[judge]") {
  for (const DType type : float_types) {
    KernelTrial exam = exam_on(nan_case, type);
    Outcome outcome = right_answer(exam);
    step(output(outcome), 0, 1);
    CHECK(exam.mark(outcome).state == State::pass);
    set_value(output(outcome), 0, -nan);
    CHECK(exam.mark(outcome).state == State::pass);

    KernelTrial zero = exam_on("Conv-22 opset=22 ir=10 X=@[1,1,3]~lit:1,-1,2 W=@[1,1,2]~lit:1,1", type);
    outcome = right_answer(zero);
    for (const double sign : {1.0, -1.0}) {
      set_value(output(outcome), 0, std::copysign(0.0, sign));
      CHECK(zero.mark(outcome).state == State::pass);
    }
  }
}

TEST_CASE("Infinity for a large finite value is a breach where no order of evaluation overflows", "[judge]") {
  // 2^15 * 1 in float16 and 2^127 else: one product, nothing to add, so no accumulator can overflow, not even float32
  // under double.
  for (const DType type : float_types) {
    const std::string large = type == DType::f16 ? "0x1p+15" : "0x1p+127";
    KernelTrial exam = exam_on("Conv-22 opset=22 ir=10 X=@[1,1,2]~lit:" + large + ",1 W=@[1,1,1]~lit:1", type);
    Outcome outcome = right_answer(exam);
    CHECK(exam.mark(outcome).state == State::pass);
    set_value(output(outcome), 0, infinity);
    INFO(name(type));
    CHECK(exam.mark(outcome).state == State::fail);
  }
}

TEST_CASE("A finite value where the sum overflows the element type in any order is a breach", "[judge]") {
  // 3 * 2^15 > 65520: the float32 accumulator holds it, float16 cannot.
  KernelTrial exam =
      exam_on("Conv-22 opset=22 ir=10 X=f16[1,1,3]~lit:0x1p+15,0x1p+15,0x1p+15 W=f16[1,1,3]~lit:1,1,1", DType::f16);
  Outcome outcome = right_answer(exam);
  CHECK(exam.mark(outcome).state == State::pass);
  set_value(output(outcome), 0, 65504);
  CHECK(exam.mark(outcome).state == State::fail);
}

// Waits for the judge: Winograd spreads an infinity over its tile but never makes it finite.
TEST_CASE("A finite value for an infinity is a breach whatever fast algorithm fits the kernel", "[judge][!mayfail]") {
  for (const DType type : float_types) {
    KernelTrial exam = exam_on("Conv-22 opset=22 ir=10 X=@[1,1,6]~lit:1,inf,3,4,5,6 W=@[1,1,3]~lit:1,1,1", type);
    Outcome outcome = right_answer(exam);
    CHECK(exam.mark(outcome).state == State::pass);
    set_value(output(outcome), 0, 5);
    INFO(name(type));
    CHECK(name(exam.mark(outcome).state) == name(State::fail));
  }
}

TEST_CASE("A session that answers fewer or more sets than it was given is caught", "[judge]") {
  for (const DType type : float_types) {
    KernelTrial exam = exam_on(exact_case, type);
    Outcome fewer = right_answer(exam), more = fewer, none = fewer;
    fewer.sets.pop_back();
    more.sets.push_back(more.sets[0]);
    none.sets.clear();
    for (const Outcome& outcome : {fewer, more, none}) {
      const oracles::Verdict& verdict = exam.mark(outcome);
      INFO(name(type) << " " << outcome.sets.size() << " sets; " << verdict.because << ": " << verdict.detail);
      CHECK((verdict.state == State::fail || verdict.state == State::error));
    }
  }
}

TEST_CASE("What is not an output is never a pass on a legal case", "[judge]") {
  using Kind = Outcome::Kind;
  const std::pair<Kind, State> expected[] = {
      {Kind::refused, State::refused}, {Kind::unsupported, State::unsupported}, {Kind::crashed, State::error},
      {Kind::timed_out, State::error}, {Kind::out_of_memory, State::error},     {Kind::garbled, State::error},
  };
  for (const auto& [kind, state] : expected) {
    KernelTrial exam = exam_on(exact_case, DType::f32);
    const oracles::Verdict& verdict = exam.mark(Outcome::failure(kind, "for a test"));
    INFO(name(kind));
    CHECK(name(verdict.state) == name(state));
  }
}

TEST_CASE("The ends of the acceptance interval pass and one ulp beyond does not", "[judge]") {
  const char* const lines[] = {
      "Conv-22 opset=22 ir=10 X=@[1,3,5]~normal:3 W=@[2,3,3]~normal:4 B=@[2]~normal:5 pads=1,1",
      "Conv-22 opset=22 ir=10 X=@[1,2,4]~cancel:3 W=@[1,2,3]~zerosum:4",
      "Conv-22 opset=22 ir=10 X=@[1,2,4]~subnormal:3 W=@[2,2,2]~normal:4",
      "AveragePool-22 opset=22 ir=10 X=@[1,2,6]~normal:3 kernel_shape=3 strides=1",
      "AveragePool-22 opset=22 ir=10 X=@[1,2,6]~subnormal:3 kernel_shape=3 strides=1",
  };
  std::size_t ends = 0;
  for (const DType type : float_types)
    for (const char* line : lines) {
      KernelTrial exam = exam_on(line, type);
      const Outcome right = right_answer(exam);
      const Case& c = exam.tested_case();
      const auto answer = std::move(oracles::oracle_of(c.version).answer(c.call(), operands(c, 0), {}, {}).front());
      for (Int index = 0; index < right.sets[0][0].elements(); ++index) {
        const oracles::Element element = answer->element(index);
        if (element.kind != oracles::Kind::finite) continue;
        const auto [lower, upper] = interval_of(element, type);
        INFO(name(type) << " " << line << " element " << index << " in [" << lower << ", " << upper << "]");
        CHECK(state_with(exam, right, [&, at = lower](Tensor& y) { set_value(y, index, at); }) == State::pass);
        CHECK(state_with(exam, right, [&, at = upper](Tensor& y) { set_value(y, index, at); }) == State::pass);
        const State under = state_with(exam, right, [&, at = lower](Tensor& y) {
          set_value(y, index, at);
          step_down(y, index);
        });
        const State over = state_with(exam, right, [&, at = upper](Tensor& y) {
          set_value(y, index, at);
          step_up(y, index);
        });
        CHECK((under == State::below || under == State::fail));
        CHECK((over == State::below || over == State::fail));
        ends += 2;
      }
    }
  CHECK(ends > 200);
}

}  // namespace assay::mutation
