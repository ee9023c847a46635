// SPDX-License-Identifier: Apache-2.0
// LinearAttention (ai.onnx 27) - https://onnx.ai/onnx/operators/onnx__LinearAttention.html
//
//   S[t] = D[t] S[t-1] + k[t] u[t]',   output[t] = scale * S[t]' q[t]
//   u[t] = v[t], or beta[t] * (v[t] - (D[t] S[t-1])' k[t]) by the delta rules
//
// S is a matrix of each head of key: past_state before the first token, or zeros, and present_state after the last. D
// is a diagonal of e^decay by the gated rules, of 1 by others. Several heads of query may share one of key.
#include "reference/families/elementwise.h"
#include "reference/functions.h"

#include <cmath>
#include <optional>

namespace assay {
namespace {

struct Extents {
  Int batches = 0, tokens = 0, q_heads = 0, kv_heads = 0, size = 0, v_size = 0;

  Shape of_state() const { return {batches, kv_heads, size, v_size}; }
};

bool has_three_axes(const Call& call) {
  return call.rank("query") == 3 && call.rank("key") == 3 && call.rank("value") == 3;
}
bool shares_heads(const Call& call) {
  const Int queries = call.integer("q_num_heads"), keys = call.integer("kv_num_heads");
  return queries > 0 && keys > 0 && queries % keys == 0;
}

// Returns none where heads cannot be told.
std::optional<Extents> extents_of(const Call& call) {
  if (!has_three_axes(call) || !shares_heads(call)) return std::nullopt;
  const Int queries = call.integer("q_num_heads"), keys = call.integer("kv_num_heads");
  const Shape& q = call.shape("query");
  return Extents{q[0], q[1], queries, keys, q[2] / queries, call.dim("value", 2) / keys};
}

bool fit(const Call& call) {
  const auto e = extents_of(call);
  if (!e) return true;
  return e->size > 0 && call.dim("query", 2) == e->q_heads * e->size &&
         call.shape("key") == Shape{e->batches, e->tokens, e->kv_heads * e->size} &&
         call.shape("value") == Shape{e->batches, e->tokens, e->kv_heads * e->v_size};
}

bool has_fitting_past(const Call& call) {
  const auto e = extents_of(call);
  return !e || !call.has("past_state") || call.shape("past_state") == e->of_state();
}

bool is_gated(const Call& call) { return call.text("update_rule").starts_with("gated"); }
bool corrects(const Call& call) { return call.text("update_rule").ends_with("delta"); }

// Tells whether an input that is there has so many numbers for each token, or so many.
bool has_each(const Call& call, const char* input, Int many, Int few) {
  const Shape& q = call.shape("query");
  return call.shape(input) == Shape{q[0], q[1], many} || call.shape(input) == Shape{q[0], q[1], few};
}
bool has_fitting_decay(const Call& call) {
  const auto e = extents_of(call);
  return !e || !call.has("decay") || has_each(call, "decay", e->kv_heads, e->kv_heads * e->size);
}
bool has_fitting_beta(const Call& call) {
  const auto e = extents_of(call);
  return !e || !call.has("beta") || has_each(call, "beta", e->kv_heads, 1);
}

Types inferred(const Call& call) {
  const Extents e = *extents_of(call);
  const DType type = call.type("query").dtype,
              type_of_state = call.type(call.has("past_state") ? "past_state" : "query").dtype;
  return {TensorType{type, {e.batches, e.tokens, e.q_heads * e.v_size}}, TensorType{type_of_state, e.of_state()}};
}

// Attends by one head of key of one batch.
class Head {
 public:
  Head(const Call& call, Inputs in, Int batch, Int head) : in_(in), e_(*extents_of(call)), batch_(batch), head_(head) {
    is_gated_ = is_gated(call);
    corrects_ = corrects(call);
    const double said = call.real("scale");
    scale_ = said != 0 ? said : 1 / std::sqrt(static_cast<double>(e_.size));
    for (Int i = 0; i < e_.size * e_.v_size; ++i) state_.push_back(has(3) ? number_at(*in_[3], place() + i) : 0);
  }

  void run(Values& out) {
    for (Int t = 0; t < e_.tokens; ++t) {
      for (Int m = 0; m < e_.v_size; ++m) step(t, m);
      const Int shared = e_.q_heads / e_.kv_heads;
      for (Int h = head_ * shared; h < (head_ + 1) * shared; ++h) read(*out[0], t, h);
    }
    for (std::size_t i = 0; i < state_.size(); ++i) put_number(*out[1], place() + static_cast<Int>(i), state_[i]);
  }

 private:
  bool has(std::size_t input) const { return in_.size() > input && in_[input]; }
  Int place() const { return (batch_ * e_.kv_heads + head_) * e_.size * e_.v_size; }
  double& state(Int i, Int m) { return state_[static_cast<std::size_t>(i * e_.v_size + m)]; }
  // Reads a part of a head from tokens that have so many of so many parts each.
  double packed(std::size_t input, Int t, Int heads, Int head, Int parts, Int part) const {
    return number_at(*in_[input], ((batch_ * e_.tokens + t) * heads + head) * parts + part);
  }
  double decay(Int t, Int i) const {
    const Int parts = in_[4]->shape()[2] / e_.kv_heads;
    return exponential(packed(4, t, e_.kv_heads, head_, parts, parts == 1 ? 0 : i));
  }
  double beta(Int t) const {
    const Int heads = in_[5]->shape()[2];
    return packed(5, t, heads, heads == 1 ? 0 : head_, 1, 0);
  }
  double key(Int t, Int i) const { return packed(1, t, e_.kv_heads, head_, e_.size, i); }

  void step(Int t, Int m) {
    for (Int i = 0; is_gated_ && i < e_.size; ++i) state(i, m) *= decay(t, i);
    double u = packed(2, t, e_.kv_heads, head_, e_.v_size, m);
    if (corrects_) {
      double retrieved = 0;
      for (Int i = 0; i < e_.size; ++i) retrieved += state(i, m) * key(t, i);
      u = beta(t) * (u - retrieved);
    }
    for (Int i = 0; i < e_.size; ++i) state(i, m) += key(t, i) * u;
  }

  void read(Tensor& output, Int t, Int h) {
    for (Int m = 0; m < e_.v_size; ++m) {
      double sum = 0;
      for (Int i = 0; i < e_.size; ++i) sum += packed(0, t, e_.q_heads, h, e_.size, i) * state(i, m);
      put_number(output, ((batch_ * e_.tokens + t) * e_.q_heads + h) * e_.v_size + m, scale_ * sum);
    }
  }

  Inputs in_;
  Extents e_;
  Int batch_, head_;
  bool is_gated_ = false, corrects_ = false;
  double scale_ = 1;
  std::vector<double> state_;
};

Values attend(const Call& call, Inputs in) {
  const Extents e = *extents_of(call);
  Values out = outputs_of(call);
  for (Int batch = 0; batch < e.batches; ++batch)
    for (Int head = 0; head < e.kv_heads; ++head) Head(call, in, batch, head).run(out);
  return out;
}

}  // namespace

// clang-format off
Operator linear_attention() {
  using enum DType;
  return Operator("LinearAttention")
      .input("query", "T").input("key", "T").input("value", "T")
      .input("past_state", "S", Arity::optional).input("decay", "T", Arity::optional).input("beta", "T", Arity::optional)
      .output("output", "T").output("present_state", "S")
      .attribute("chunk_size", 64).required_integer("kv_num_heads").required_integer("q_num_heads").attribute("scale", 0.0F)
      .word("update_rule", {"gated_delta", "linear", "gated", "delta"}, "LA1")
      .type("T", {f16, bf16, f32}).type("S", {f16, bf16, f32})
      .rulings({"A29", "N35", "N44", "N70", "N71"})
      .require("LA2", "q_num_heads is a positive multiple of kv_num_heads, which is positive", shares_heads)
      .require("LA3", "query, key and value have three axes", has_three_axes)
      .require("LA4", "query, key and value have as many batches and tokens, and their heads are alike and not empty", fit)
      .require("LA5", "past_state has a row for each element of a key, and a column for each of a value", has_fitting_past)
      .require("LA6", "the gated rules have decay", [](auto& c) { return !is_gated(c) || c.has("decay"); })
      .require("LA7", "the delta rules have beta", [](auto& c) { return !corrects(c) || c.has("beta"); })
      .require("LA8", "decay has a number for each token and head, or for each element of its key", has_fitting_decay)
      .require("LA9", "beta has a number for each token and head, or for each token", has_fitting_beta)
      .since(27)
      .shaping(Shaping::normalized).infer(inferred).kernel(attend);
}
// clang-format on

}  // namespace assay
