// SPDX-License-Identifier: Apache-2.0
// Attention (ai.onnx 23, 24, 25) - https://onnx.ai/onnx/operators/onnx__Attention.html
//
//   Y[i] = sum over j of p[i, j] * V[j],  p[i] = softmax over j of (softcap * tanh(s[i, j] / softcap) + bias[i, j])
//   s[i, j] = scale * sum over e of Q[i, e] * K[j, e]
//
// K and V stand behind past_key and past_value, and several heads of Q may share one of theirs. Query i stands at the
// position i + offset among the keys: behind those of the past or, with nonpad_kv_seqlen, so that the last one is the
// last key that is no padding. The bias is the mask, and -inf where a key is padding, behind the position of a causal
// query, or outside of its window. A query whose bias is -inf everywhere attends to nothing: p and Y are 0.
#include "reference/families/elementwise.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace assay {
namespace {

struct Extents {
  Int batches = 0, q_heads = 0, kv_heads = 0, queries = 0, keys = 0, head = 0, v_head = 0, past = 0;
  bool is_flat = false;  // the heads of a token stand side by side: three axes

  Int total() const { return past + keys; }
};

// The extents of Q, and of K and V as far as they have the axes for it; none where the heads cannot be told.
std::optional<Extents> extents_of(const Call& call) {
  const Shape &q = call.shape("Q"), &k = call.shape("K"), &v = call.shape("V");
  const Int past = call.has("past_key") && call.rank("past_key") == 4 ? call.dim("past_key", 2) : 0;
  if (q.size() != k.size() || q.size() != v.size()) return std::nullopt;
  if (q.size() == 4) return Extents{q[0], q[1], k[1], q[2], k[2], q[3], v[3], past};
  if (q.size() != 3 || !call.states("q_num_heads") || !call.states("kv_num_heads")) return std::nullopt;
  const Int q_heads = call.integer("q_num_heads"), kv_heads = call.integer("kv_num_heads");
  if (q_heads <= 0 || kv_heads <= 0 || q[2] % q_heads || k[2] % kv_heads || v[2] % kv_heads) return std::nullopt;
  return Extents{q[0], q_heads, kv_heads, q[1], k[1], q[2] / q_heads, v[2] / kv_heads, past, true};
}

// Tells whether K and V go with Q, and with each other.
bool fit(const Call& call) {
  const auto e = extents_of(call);
  if (!e) return true;
  const bool is_whole = e->head > 0 && e->kv_heads > 0;
  if (e->is_flat)
    return is_whole && Shape{e->batches, e->keys, e->kv_heads * e->head} == call.shape("K") &&
           Shape{e->batches, e->keys, e->kv_heads * e->v_head} == call.shape("V");
  return is_whole && Shape{e->batches, e->kv_heads, e->keys, e->head} == call.shape("K") &&
         Shape{e->batches, e->kv_heads, e->keys, e->v_head} == call.shape("V");
}

bool shares_heads(const Call& call) {
  const auto e = extents_of(call);
  return !e || e->kv_heads <= 0 || e->q_heads % e->kv_heads == 0;
}

bool come_together(const Call& call) {
  return call.has("past_key") == call.has("past_value") &&
         call.requests("present_key") == call.requests("present_value");
}

bool has_fitting_past(const Call& call) {
  const auto e = extents_of(call);
  if (!e || !call.has("past_key") || !call.has("past_value")) return true;
  return call.shape("past_key") == Shape{e->batches, e->kv_heads, e->past, e->head} &&
         call.shape("past_value") == Shape{e->batches, e->kv_heads, e->past, e->v_head};
}

bool counts_padding(const Call& call) {
  return call.definition().input("nonpad_kv_seqlen") && call.has("nonpad_kv_seqlen");
}

bool has_counts(const Call& call) {
  const auto e = extents_of(call);
  if (!e || !counts_padding(call)) return true;
  return call.shape("nonpad_kv_seqlen") == Shape{e->batches} &&
         std::ranges::all_of(call.ints("nonpad_kv_seqlen"), [&](Int n) { return n >= 0 && n <= e->total(); });
}

// Tells whether a mask is repeated along the axes of the scores, and has a column for each key or one for all; one that
// is padded may have fewer.
template <bool is_padded>
bool meets_scores(const Call& call) {
  const auto e = extents_of(call);
  if (!e || !call.has("attn_mask")) return true;
  const Shape &mask = call.shape("attn_mask"), scores{e->batches, e->q_heads, e->queries, e->total()};
  if (mask.empty() || mask.size() > 4) return false;
  for (std::size_t axis = 0; axis + 1 < mask.size(); ++axis)
    if (mask[axis] != 1 && mask[axis] != scores[axis + 4 - mask.size()]) return false;
  return mask.back() == e->total() || (is_padded ? mask.back() < e->total() : mask.back() == 1);
}

bool covers_what_counts(const Call& call) {
  if (!call.has("attn_mask") || !counts_padding(call) || call.rank("attn_mask") == 0) return true;
  const Int columns = call.shape("attn_mask").back();
  return std::ranges::all_of(call.ints("nonpad_kv_seqlen"), [&](Int n) { return n <= columns; });
}

bool has_windows(const Call& call) {
  return call.integer("left_window_size") >= -1 && call.integer("right_window_size") >= -1;
}

bool has_precision(const Call& call) {
  if (!call.states("softmax_precision")) return true;
  return std::ranges::count(std::array<Int, 4>{1, 10, 11, 16}, call.integer("softmax_precision")) > 0;
}

Types inferred(const Call& call) {
  const Extents e = *extents_of(call);
  const DType type = call.type("Q").dtype, type_of_v = call.type("V").dtype;
  const auto asked = [&](const char* output, TensorType as) {
    return call.requests(output) ? std::optional(std::move(as)) : std::nullopt;
  };
  const Shape y =
      e.is_flat ? Shape{e.batches, e.queries, e.q_heads * e.v_head} : Shape{e.batches, e.q_heads, e.queries, e.v_head};
  return {TensorType{type, y}, asked("present_key", {type, {e.batches, e.kv_heads, e.total(), e.head}}),
          asked("present_value", {type_of_v, {e.batches, e.kv_heads, e.total(), e.v_head}}),
          asked("qk_matmul_output", {type, {e.batches, e.q_heads, e.queries, e.total()}})};
}

// Keys or values, those of the past first: where the parts of a head of one token stand.
struct Cache {
  const Tensor *past, *now;
  Extents e;
  Int width;  // of a head

  double at(Int batch, Int head, Int token, Int part) const {
    const bool is_past = token < e.past;
    const Int own = is_past ? token : token - e.past, tokens = is_past ? e.past : e.keys;
    const Int line =
        e.is_flat && !is_past ? (batch * tokens + own) * e.kv_heads + head : (batch * e.kv_heads + head) * tokens + own;
    return number_at(is_past ? *past : *now, line * width + part);
  }

  void write(Tensor& present) const {
    Int to = 0;
    for (Int line = 0; line < e.batches * e.kv_heads * e.total(); ++line)
      for (Int part = 0; part < width; ++part)
        put_number(present, to++,
                   at(line / e.total() / e.kv_heads, line / e.total() % e.kv_heads, line % e.total(), part));
  }
};

class Bias {
 public:
  Bias(const Call& call, Inputs in, const Extents& e)
      : e_(e), mask_(in[3]), is_causal_(call.integer("is_causal") != 0) {
    offsets_.assign(static_cast<std::size_t>(e.batches), e.past);
    ends_.assign(static_cast<std::size_t>(e.batches), e.total());
    if (counts_padding(call)) {
      ends_ = call.ints("nonpad_kv_seqlen");
      for (std::size_t b = 0; b < ends_.size(); ++b) offsets_[b] = ends_[b] - e.queries;
    }
    if (call.definition().attribute("left_window_size")) {
      left_ = call.integer("left_window_size");
      right_ = call.integer("right_window_size");
    }
    pads_ = call.definition().input("nonpad_kv_seqlen") != nullptr;
  }

  double at(Int b, Int h, Int i, Int j) const {
    const Int position = i + offsets_[static_cast<std::size_t>(b)];
    const bool is_hidden = (is_causal_ && j > position) || (left_ >= 0 && position - j > left_) ||
                           (right_ >= 0 && j - position > right_) || j >= ends_[static_cast<std::size_t>(b)];
    return of_mask({b, h, i, j}) + (is_hidden ? lowest : 0);
  }

  static constexpr double lowest = -std::numeric_limits<double>::infinity();

 private:
  double of_mask(const Shape& at) const {
    if (!mask_) return 0;
    const Shape& shape = mask_->shape();
    if (pads_ && at[3] >= shape.back()) return lowest;
    Int place = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      place = place * shape[axis] + (shape[axis] == 1 ? 0 : at[axis + 4 - shape.size()]);
    const double value = number_at(*mask_, place);
    return mask_->dtype() != DType::boolean ? value : value != 0 ? 0 : lowest;
  }

  Extents e_;
  const Tensor* mask_;
  bool is_causal_, pads_ = false;  // a mask with too few columns
  Ints offsets_, ends_;            // of each batch: the position of the first query; the first key that is padding
  Int left_ = -1, right_ = -1;
};

using Row = std::vector<double>;

// Replaces logits by their shares of the sum of all their exponentials.
void share(Row& x) {
  const double most = x.empty() ? 0 : std::ranges::max(x);
  for (double& each : x) each = exponential(each - most);
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  for (double& each : x) each /= sum;
}

Values attend(const Call& call, Inputs given) {
  const Extents e = *extents_of(call);
  std::vector<const Tensor*> in(given.begin(), given.end());
  in.resize(6);
  Values out = outputs_of(call);
  const Cache k{in[4], in[1], e, e.head}, v{in[5], in[2], e, e.v_head};
  const Bias bias(call, in, e);
  const double scale = call.states("scale") ? double{call.real("scale")} : 1 / std::sqrt(static_cast<double>(e.head));
  const double cap = call.real("softcap");
  const Int mode = call.integer("qk_matmul_output_mode");
  if (out[1]) k.write(*out[1]);
  if (out[2]) v.write(*out[2]);
  for (Int line = 0; line < e.batches * e.q_heads * e.queries; ++line) {
    const Int b = line / e.queries / e.q_heads, h = line / e.queries % e.q_heads, i = line % e.queries;
    const Int shared = h / (e.q_heads / e.kv_heads), place = e.is_flat ? (b * e.queries + i) * e.q_heads + h : line;
    Row x, biases, kept;
    for (Int j = 0; j < e.total(); ++j) {
      double dot = 0;
      for (Int part = 0; part < e.head; ++part)
        dot += number_at(*in[0], place * e.head + part) * k.at(b, shared, j, part);
      x.push_back(dot * scale);
      biases.push_back(bias.at(b, h, i, j));
    }
    if (mode == 0) kept = x;
    for (double& each : x) each = cap > 0 ? cap * hyperbolic_tangent(each / cap) : each;
    if (mode == 1) kept = x;
    std::ranges::transform(x, biases, x.begin(), std::plus());
    if (mode == 2) kept = x;
    share(x);
    if (std::ranges::all_of(biases, [](double each) { return each == Bias::lowest; })) std::ranges::fill(x, 0);
    if (mode == 3) kept = x;
    for (Int j = 0; out[3] && j < e.total(); ++j)
      put_number(*out[3], line * e.total() + j, kept[static_cast<std::size_t>(j)]);
    for (Int part = 0; part < e.v_head; ++part) {
      double sum = 0;
      for (Int j = 0; j < e.total(); ++j) sum += x[static_cast<std::size_t>(j)] * v.at(b, shared, j, part);
      put_number(*out[0], place * e.v_head + part, sum);
    }
  }
  return out;
}

}  // namespace

// clang-format off
Operator attention() {
  using enum DType;
  const std::vector<DType> floats = types::all_float_types_ir4();
  return Operator("Attention")
      .input("Q", "T1").input("K", "T1").input("V", "T2").input("attn_mask", "U", Arity::optional)
      .input("past_key", "T1", Arity::optional).input("past_value", "T2", Arity::optional)
      .output("Y", "T1").output("present_key", "T1", Arity::optional).output("present_value", "T2", Arity::optional)
      .output("qk_matmul_output", "T1", Arity::optional)
      .attribute("is_causal", 0).optional_real("scale").optional_int("q_num_heads").optional_int("kv_num_heads")
      .optional_int("softmax_precision").attribute("softcap", 0.0F).attribute("qk_matmul_output_mode", 0)
      .type("T1", floats).type("T2", floats).type("U", types::all_numeric_types_ir4() | boolean)
      .rulings({"A29", "N20", "N26", "N31", "N39", "N40", "N42", "N45", "N60", "N61", "N62", "N63", "N64", "N65", "N67", "N68"})
      .require("H1", "q_num_heads is a multiple of kv_num_heads", shares_heads)
      .require("H2", "past_key and past_value come together, and so do present_key and present_value", come_together)
      .require("H5", "attn_mask has one to four axes and is repeated along those of the scores", meets_scores<false>)
      .require("H7", "q_num_heads and kv_num_heads are said of three axes alone", [](auto& c) {
        return c.rank("Q") != 4 || !(c.states("q_num_heads") || c.states("kv_num_heads")); }, "N60")
      .require("H8", "softcap is not negative", [](auto& c) { return c.real("softcap") >= 0; })
      .require("H9", "scale is not negative", [](auto& c) { return !c.states("scale") || c.real("scale") >= 0; })
      .require("H10", "attn_mask is of bool or of the type of Q", [](auto& c) {
        return !c.has("attn_mask") || c.type("attn_mask").dtype == boolean || c.type("attn_mask").dtype == c.type("Q").dtype; }, "N62")
      .require("H11", "qk_matmul_output_mode is 0, 1, 2 or 3", [](auto& c) {
        return c.integer("qk_matmul_output_mode") >= 0 && c.integer("qk_matmul_output_mode") <= 3; })
      .require("H12", "softmax_precision names a float type", has_precision)
      .require("H13", "Q, K and V have four axes each, or three that q_num_heads and kv_num_heads divide", [](auto& c) { return extents_of(c).has_value(); })
      .require("H14", "K and V have the batches of Q, the keys and heads of each other, and K the heads of Q in size", fit)
      .require("H15", "past_key and past_value hold as many keys of such heads", has_fitting_past)
      .require("H16", "is_causal is 0 or 1", [](auto& c) { return c.integer("is_causal") == 0 || c.integer("is_causal") == 1; }, "N42")
      .since(23)
      .since(24, "nonpad_kv_seqlen; a mask may be short, and is padded with -inf")
      .parameter("nonpad_kv_seqlen", "i64", "nonpad_kv_seqlen", Arity::optional).without("H5").settled("N39").ruling("N66", {"pad", "broadcast"})
      .require("H3", "with nonpad_kv_seqlen there is no cache", [](auto& c) {
        return !counts_padding(c) || !(c.has("past_key") || c.has("past_value") || c.requests("present_key") || c.requests("present_value")); })
      .require("H4", "nonpad_kv_seqlen counts keys of each batch", has_counts)
      .require("H5", "attn_mask has one to four axes and is repeated along those of the scores; the last may be shorter", meets_scores<true>)
      .require("H17", "attn_mask covers every key that is no padding", covers_what_counts, "N66")
      .since(25, "windows").attribute("left_window_size", -1).attribute("right_window_size", -1).settled("N45")
      .require("H6", "left_window_size and right_window_size are -1 or more", has_windows)
      .shaping(Shaping::normalized).infer(inferred).kernel(attend);
}
// clang-format on

}  // namespace assay
