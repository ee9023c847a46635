// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/exhaust.h"

#include "reference/operator.h"
#include "suites/workers/own_kernels.h"

#include <catch2/catch.hpp>

namespace assay::suites {
namespace {

using Spoil = std::function<void(Tensor& output)>;

// Our own kernels, with what they answer spoilt.
OpenBackend spoilt(Spoil spoil) {
  return [spoil] {
    return std::make_unique<InProcess>("spoilt", [spoil](const Definition& definition) -> FastKernel {
      return [&definition, spoil](const Call& call, Inputs in, int) {
        Values out = definition.kernel(call, in);
        spoil(*out.front());
        return out;
      };
    });
  };
}

Accuracy exhausted(
    const char* op, DType type, const Spoil& spoil = [](Tensor&) {}) {
  WorkerPool pool(spoilt(spoil), 1);
  Accuracy all;
  all.definition = &find_operator("", op)->versions().back();
  all.type = type;
  int parts = 0;
  exhaust(all, pool, {}, [&](const Accuracy& so_far) { parts += so_far.inputs > 0; });
  CHECK(parts == 1);
  return all;
}

std::uint64_t sum(const Accuracy& of) {
  std::uint64_t total = 0;
  for (const std::uint64_t each : of.counts) total += each;
  return total;
}

}  // namespace

TEST_CASE("Every input of the kernels of functions is right", "[exhaust]") {
  int functions = 0;
  for (const Operator* op : operators())
    for (const DType type : {DType::f16, DType::bf16}) {
      if (!is_exhaustible(op->versions().back(), type)) continue;
      ++functions;
      const Accuracy all = exhausted(op->name().c_str(), type);
      INFO(op->name() << " " << name(type) << " " << all.ended);
      CHECK(all.conforms());
      CHECK(all.inputs == 65'536);
      CHECK(sum(all) == 65'536);
      CHECK(all.count(Closeness::unexamined) == 0);
      if (all.count(Closeness::nearest) == all.inputs) CHECK(all.disorders.count == 0);  // rounding keeps the order
      CHECK(all.exits.count == 0);
    }
  CHECK(functions >= 40);
}

TEST_CASE("One wrong output of 65,536 is found, and where it is", "[exhaust]") {
  const Accuracy all = exhausted("Tanh", DType::f16, [](Tensor& output) { output.as<Float16>()[0x3c00].bits += 64; });
  CHECK(all.count(Closeness::fail) + all.count(Closeness::below) == 1);
  REQUIRE(all.breaches.size() == 1);
  CHECK(all.breaches[0].pattern == 0x3c00);
  REQUIRE(all.worst());
  CHECK(all.worst()->pattern == 0x3c00);
  CHECK(all.worst()->ulp > 63);
  CHECK(all.disorders.count == 1);
  CHECK(all.disorders.pattern == 0x3c01);
  CHECK_FALSE(all.conforms());
  CHECK(line_of_patterns(*all.definition, all.type, 0x3c00, 1) == "Tanh-13 opset=13 ir=8 input=f16[1]~bits:15360");
}

TEST_CASE("Outputs beyond the range, NaN and infinities are told apart", "[exhaust]") {
  const auto set = [](std::size_t at, std::uint16_t bits) {
    return [=](Tensor& output) { output.as<Float16>()[at].bits = bits; };
  };
  const Accuracy above_one = exhausted("Sigmoid", DType::f16, set(0x4c00, 0x3c01));
  CHECK(above_one.exits.count == 1);
  CHECK(above_one.exits.pattern == 0x4c00);
  const Accuracy not_a_number = exhausted("Sigmoid", DType::f16, set(0x3c00, 0x7e00));
  CHECK(not_a_number.count(Closeness::fail) == 1);
  CHECK(not_a_number.breaches.at(0).got == "nan");
  const Accuracy number = exhausted("Log", DType::f16, set(0xbc00, 0));  // log(-1)
  CHECK(number.count(Closeness::fail) == 1);
  CHECK(number.breaches.at(0).want == "nan");
}

TEST_CASE("A backend that gives no output, or one of another type, ends the run of a function", "[exhaust]") {
  WorkerPool pool(spoilt([](Tensor& output) { output = Tensor({DType::f32, {1}}); }), 1);
  Accuracy all;
  all.definition = &find_operator("", "Exp")->versions().back();
  all.type = DType::bf16;
  exhaust(all, pool, {}, [](const Accuracy&) {});
  CHECK(all.inputs == 0);
  CHECK(all.ended == "what came back has another type or shape");
  CHECK_FALSE(all.conforms());
}

TEST_CASE("Functions of 16 bits are run side by side, and what breaks is run again alone", "[exhaust]") {
  const Description none;
  std::vector<Accuracy> all = exhaustible({{"Tanh", "Erf", "Add"}, {DType::f16, DType::f32}}, none);
  std::erase_if(all, [](const Accuracy& each) { return each.type == DType::f32; });
  REQUIRE(all.size() == 2);
  std::atomic<int> outputs = 0;
  WorkerPool pool(spoilt([&](Tensor& output) {
                    ++outputs;
                    output.as<Float16>()[0x3c00].bits = 0x7e00;
                  }),
                  2);
  exhaust_all(all, pool, {});
  CHECK(outputs == 4);
  for (const Accuracy& each : all) {
    CHECK(each.count(Closeness::fail) == 1);
    CHECK(each.breaks());
    CHECK(each.level() == oracles::Level::L2);
  }
  CHECK(exhaustible({{"Add"}, {DType::f16}}, none).empty());
}

TEST_CASE("What an interrupt or a refusal leaves out is no finding", "[exhaust]") {
  std::vector<Accuracy> all = exhaustible({{"Tanh"}, {DType::f16}}, {});
  const std::atomic<bool> stop = true;
  WorkerPool pool(spoilt([](Tensor&) {}), 1);
  RunOptions stopped;
  stopped.stop = &stop;
  exhaust_all(all, pool, stopped);
  CHECK(all.front().inputs == 0);
  CHECK_FALSE(all.front().breaks());
  WorkerPool refusing(spoilt([](Tensor&) { throw InputError("not today"); }), 1);
  exhaust_all(all, refusing, {});
  CHECK(all.front().is_unsupported);
  CHECK_FALSE(all.front().breaks());
}

TEST_CASE("Only functions of one float can be exhausted", "[exhaust]") {
  const auto newest = [](const char* op) -> const Definition& { return find_operator("", op)->versions().back(); };
  CHECK(is_exhaustible(newest("Exp"), DType::f32));
  CHECK_FALSE(is_exhaustible(newest("Exp"), DType::f64));
  CHECK_FALSE(is_exhaustible(newest("Add"), DType::f16));
  CHECK_FALSE(is_exhaustible(newest("Conv"), DType::f16));
  CHECK_FALSE(is_exhaustible(*find_operator("", "Exp")->versions().begin(), DType::bf16));
}

}  // namespace assay::suites
