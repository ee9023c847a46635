// SPDX-License-Identifier: Apache-2.0
// RandomUniform, RandomNormal, RandomUniformLike, RandomNormalLike (ai.onnx 1, 22), Bernoulli (15, 22),
// Multinomial (7, 22) - https://onnx.ai/onnx/operators/onnx__RandomUniform.html
//
//   uniform:      any number between low and high, each as likely
//   normal:       mean + scale z, z normally distributed
//   Bernoulli:    1 with probability input[i], else 0
//   Multinomial:  class k of a row with a probability in proportion to exp(input[row, k])
//
// The seed makes an answer repeatable here; which numbers belong to it nobody says.
#include "reference/families/elementwise.h"
#include "reference/families/moved.h"
#include "reference/recipe.h"
#include "reference/type_lists.h"

#include <cmath>
#include <numbers>

namespace assay {
namespace {

class Draws {
 public:
  explicit Draws(const Call& call)
      : generator_(call.states("seed") ? std::bit_cast<std::uint32_t>(call.real("seed")) : 0) {}
  // Between 0 and 1, which it never is.
  double uniform() { return std::ldexp(static_cast<double>(generator_.next() >> 11), -53); }
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  Generator generator_;
};

// The kernel whose elements are f(draws, call) each.
template <class F>
Kernel drawn(F f) {
  return [f](const Call& call, Inputs) {
    Values y = outputs_of(call);
    Draws draws(call);
    for (Int i = 0; i < y[0]->elements(); ++i) put_number(*y[0], i, f(draws, call));
    return y;
  };
}

double between(Draws& draws, const Call& call) {
  const double low = call.real("low"), high = call.real("high");
  return low + draws.uniform() * (high - low);
}
double around(Draws& draws, const Call& call) { return call.real("mean") + call.real("scale") * draws.normal(); }

Values toss(const Call& call, Inputs in) {
  Values y = outputs_of(call);
  Draws draws(call);
  for (Int i = 0; i < y[0]->elements(); ++i) put_number(*y[0], i, draws.uniform() < number_at(*in[0], i) ? 1 : 0);
  return y;
}

// The class in whose part of [0, 1] a number falls.
Int class_of(double at, const Tensor& x, Int row) {
  const Int classes = x.shape()[1];
  double largest = -INFINITY, total = 0;
  for (Int k = 0; k < classes; ++k) largest = std::max(largest, number_at(x, row * classes + k));
  for (Int k = 0; k < classes; ++k) total += std::exp(number_at(x, row * classes + k) - largest);
  for (Int k = 0; k < classes - 1; ++k)
    if ((at -= std::exp(number_at(x, row * classes + k) - largest) / total) < 0) return k;
  return classes - 1;
}

Values sample(const Call& call, Inputs in) {
  Values y = outputs_of(call);
  Draws draws(call);
  const Int samples = call.integer("sample_size");
  for (Int i = 0; i < y[0]->elements(); ++i)
    put_number(*y[0], i, static_cast<double>(class_of(draws.uniform(), *in[0], i / samples)));
  return y;
}

Shape stated_shape(const Call& call) { return call.ints("shape"); }
Shape samples(const Call& call) { return {call.dim("input", 0), call.integer("sample_size")}; }

void is_uniform(Operator& op) {
  op.attribute("high", 1.0F)
      .attribute("low", 0.0F)
      .require("R1", "low and high are numbers, and low <= high", [](auto& c) {
        return c.real("low") <= c.real("high") && std::isfinite(c.real("high") - c.real("low"));
      });
}

void is_normal(Operator& op) {
  op.attribute("mean", 0.0F)
      .attribute("scale", 1.0F)
      .ruling("G19")
      .require("R1", "mean and scale are numbers, and scale is not negative", [](auto& c) {
        return std::isfinite(c.real("mean")) && c.real("scale") >= 0 && std::isfinite(c.real("scale"));
      });
}

// clang-format off
// Without an input: of a shape and a type that are stated.
Operator random_tensor(const char* name, const std::function<void(Operator&)>& distribution, Kernel kernel) {
  return Operator(name)
      .output_typed_by("dtype", "output", "T").attribute("dtype", 1).with(distribution).optional_real("seed").required_ints("shape")
      .rulings({"A29", "G20"})
      .require("R2", "dtype is a type of T", names_a_type)
      .require("R3", "no entry of shape is negative", [](auto& c) {
        return std::ranges::none_of(c.ints("shape"), [](Int extent) { return extent < 0; }); })
      .since(1).type("T", types::all_float_types())
      .since(22, "T admits bfloat16").type("T", types::all_float_types_ir4())
      .shaping(Shaping::moved).infer(moved_to(stated_shape)).kernel(std::move(kernel));
}

Operator random_like(const char* name, const std::function<void(Operator&)>& distribution, Kernel kernel) {
  return Operator(name)
      .input("input", "T1").output_typed_by("dtype", "output", "T2").optional_int("dtype").with(distribution).optional_real("seed")
      .rulings({"A29", "G20"})
      .require("R2", "dtype or, without it, the type of the input is a type of T2", names_a_type)
      .since(1).type("T1", types::all_tensor_types()).type("T2", types::all_float_types())
      .since(22, "T1 and T2 admit bfloat16").type("T1", types::all_tensor_types_ir4()).type("T2", types::all_float_types_ir4())
      .shaping(Shaping::one).shape(same_as("input")).kernel(std::move(kernel));
}
// clang-format on

}  // namespace

// clang-format off
Operator random_uniform() { return random_tensor("RandomUniform", is_uniform, drawn(between)); }
Operator random_normal() { return random_tensor("RandomNormal", is_normal, drawn(around)); }
Operator random_uniform_like() { return random_like("RandomUniformLike", is_uniform, drawn(between)); }
Operator random_normal_like() { return random_like("RandomNormalLike", is_normal, drawn(around)); }

Operator bernoulli() {
  return Operator("Bernoulli")
      .input("input", "T1").output_typed_by("dtype", "output", "T2").optional_int("dtype").optional_real("seed")
      .rulings({"G20", "G21", "G47"})
      .require("R2", "dtype is a type of T2", names_a_type)
      .since(15).type("T1", types::all_float_types()).type("T2", types::all_numeric_types_ir4() | DType::boolean)
      .since(22, "T1 admits bfloat16").type("T1", types::all_float_types_ir4())
      .shaping(Shaping::one).shape(same_as("input")).kernel(toss);
}

Operator multinomial() {
  return Operator("Multinomial")
      .input("input", "T1").output_typed_by("dtype", "output", "T2").attribute("dtype", 6).attribute("sample_size", 1).optional_real("seed")
      .ruling("G20").type("T2", {DType::i32, DType::i64})
      .require("R2", "dtype is a type of T2", names_a_type)
      .require("R4", "rank(input) = 2, of one class at least", [](auto& c) { return c.rank("input") == 2 && c.dim("input", 1) > 0; })
      .require("R5", "sample_size >= 1", [](auto& c) { return c.integer("sample_size") >= 1; })
      .since(7).type("T1", types::all_float_types())
      .since(22, "T1 admits bfloat16").type("T1", types::all_float_types_ir4())
      .shaping(Shaping::moved).infer(moved_to(samples)).kernel(sample);
}
// clang-format on

}  // namespace assay
