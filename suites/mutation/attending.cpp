// SPDX-License-Identifier: Apache-2.0
// Attention by a third hand: heads are laid out by themselves, and a query walks along its keys, once or twice.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::mutation {
namespace {

struct Attending {
  bool in_double = false, rounds_nodes = false, scales_after = false, scales_query = false, is_online = false;
  // Readings.
  bool ends_with_keys = false, writes_lowest = false, is_before_errata = false, turns_short_masks = false;
  bool has_single_scale = false;
  // Slips.
  bool deals_heads = false, forgets_scale = false, scales_by_size = false, forgets_cap = false, caps_mask = false;
  bool is_strict = false, forgets_past = false, takes_heads_for_batches = false, inverts_mask = false;
  bool sees_padding = false, forgets_left = false, forgets_right = false, is_window_of_first = false;
  bool takes_next_mode = false, means_masked = false, appends_past = false, misses_last = false, swaps_axes = false;
  bool adds_no_mask = false, forgets_most = false;
};

// A head of one batch: a row for each token.
template <class S>
struct Rows {
  Int tokens = 0, width = 0;
  std::vector<S> values;
  S at(Int token, Int part) const { return values[static_cast<std::size_t>(token * width + part)]; }
};

template <class S>
class Layer {
 public:
  Layer(const Attending& how, const Call& call, Inputs in) : how_(how), call_(call) {
    for (std::size_t i = 0; i < 7; ++i) in_.push_back(i < in.size() ? in[i] : nullptr);
    const Shape& q = in[0]->shape();
    flat_ = q.size() == 3;
    batches_ = q[0];
    q_heads_ = flat_ ? call.integer("q_num_heads") : q[1];
    kv_heads_ = flat_ ? call.integer("kv_num_heads") : in[1]->shape()[1];
    queries_ = flat_ ? q[1] : q[2];
    past_ = in_[4] ? in_[4]->shape()[2] : 0;
    total_ = past_ + in[1]->shape()[flat_ ? 1 : 2];
    const Int size = flat_ ? q[2] / q_heads_ : q[3];
    const auto& said = call.node().attributes;
    scale_ = said.contains("scale") ? static_cast<S>(call.real("scale")) : 1 / std::sqrt(static_cast<S>(size));
    if (how.has_single_scale && !said.contains("scale"))
      scale_ = static_cast<S>(1 / std::sqrt(static_cast<float>(size)));
    if (how.forgets_scale) scale_ = 1;
    if (how.scales_by_size) scale_ = 1 / static_cast<S>(size);
    root_ = std::sqrt(scale_);
    if (how.has_single_scale) root_ = static_cast<S>(std::sqrt(static_cast<float>(scale_)));
    cap_ = how.forgets_cap ? 0 : static_cast<S>(call.real("softcap"));
    if (call.definition().attribute("left_window_size")) {
      left_ = how.forgets_left ? -1 : call.integer("left_window_size");
      right_ = how.forgets_right ? -1 : call.integer("right_window_size");
    }
    if (call.definition().attribute("left_window_size")) how_.is_before_errata = false;  // which came with it
    knows_short_ = call.definition().input("nonpad_kv_seqlen") != nullptr;
  }

  Values run() {
    Values y = outputs_of(call_);
    for (Int b = 0; b < batches_; ++b)
      for (Int h = 0; h < q_heads_; ++h) {
        const Int shared = how_.deals_heads ? h % kv_heads_ : h / (q_heads_ / kv_heads_);
        const Rows<S> q = rows(0, nullptr, b, h, q_heads_);
        const Rows<S> k = rows(1, in_[4], b, shared, kv_heads_), v = rows(2, in_[5], b, shared, kv_heads_);
        for (Int i = 0; i < queries_; ++i) answer(y, b, h, i, q, k, v);
      }
    for (const std::size_t output : {1U, 2U})
      if (y[output]) write_present(*y[output], output);
    return y;
  }

 private:
  static std::size_t at(Int i) { return static_cast<std::size_t>(i); }
  static constexpr S lowest = -std::numeric_limits<S>::infinity();

  S node(S value) const { return node_in(in_[0]->dtype(), value); }
  // Rounds a node of the softmax, which is worked out in softmax_precision where that is stated.
  S softmax_node(S value) const {
    const bool is_stated = call_.states("softmax_precision");
    return node_in(is_stated ? *type_named_by(call_, "softmax_precision") : in_[0]->dtype(), value);
  }
  S node_in(DType type, S value) const {
    if (!how_.rounds_nodes) return value;
    Tensor one({type, {}});
    put_number(one, 0, static_cast<double>(value));
    return static_cast<S>(number_at(one, 0));
  }

  Rows<S> rows(std::size_t input, const Tensor* past, Int b, Int h, Int heads) const {
    const Tensor& now = *in_[input];
    const Shape& shape = now.shape();
    const Int width = flat_ ? shape[2] / heads : shape[3], tokens = flat_ ? shape[1] : shape[2];
    Rows<S> out{tokens + (past ? past_ : 0), width, {}};
    const auto append_past = [&] {
      for (Int i = 0; past && i < past_ * width; ++i)
        out.values.push_back(static_cast<S>(number_at(*past, (b * heads + h) * past_ * width + i)));
    };
    if (!how_.appends_past) append_past();
    for (Int t = 0; t < tokens; ++t)
      for (Int part = 0; part < width; ++part) {
        const bool is_by_token = flat_ != how_.swaps_axes;
        const Int line = is_by_token ? (b * tokens + t) * heads + h : (b * heads + h) * tokens + t;
        out.values.push_back(static_cast<S>(number_at(now, line * width + part)));
      }
    if (how_.appends_past) append_past();
    return out;
  }

  void write_present(Tensor& present, std::size_t output) const {
    Int to = 0;
    for (Int b = 0; b < batches_; ++b)
      for (Int h = 0; h < kv_heads_; ++h)
        for (const S each : rows(output, in_[output + 3], b, h, kv_heads_).values)
          put_number(present, to++, static_cast<double>(each));
  }

  bool is_hidden(Int b, Int i, Int j) const {
    const bool counts = in_[6] != nullptr, is_causal = call_.integer("is_causal") == 1;
    const Int count = counts ? static_cast<Int>(number_at(*in_[6], b)) : total_;
    if (j >= count && !how_.sees_padding) return true;
    Int first = counts ? count - queries_ : past_;
    if (how_.forgets_past || (how_.is_before_errata && counts && is_causal)) first = 0;
    if (how_.ends_with_keys && in_[4]) first = total_ - queries_;
    if (is_causal && (how_.is_strict ? j >= i + first && j > 0 : j > i + first)) return true;
    const Int place = how_.is_window_of_first ? i : i + first;
    return (left_ >= 0 && place - j > left_) || (right_ >= 0 && j - place > right_);
  }

  S of_mask(Int b, Int h, Int i, Int j) const {
    if (!in_[3] || how_.adds_no_mask) return 0;
    const Tensor& mask = *in_[3];
    const Shape& shape = mask.shape();
    const bool repeats = shape.back() == 1 && (knows_short_ == how_.turns_short_masks);
    if (j >= shape.back() && !repeats) return lowest;
    Int where[] = {b, how_.takes_heads_for_batches && shape.size() == 3 ? b : h, i, j};
    Int place = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      place = place * shape[axis] + std::min(where[4 - shape.size() + axis], shape[axis] - 1);
    const auto value = static_cast<S>(number_at(mask, place));
    if (mask.dtype() == DType::boolean) return (value != 0) != how_.inverts_mask ? 0 : lowest;
    return value;
  }

  S product(const Rows<S>& q, const Rows<S>& k, Int i, Int j) const {
    const S of_q = how_.scales_after ? 1 : how_.scales_query ? scale_ : node(root_);
    const S of_k = how_.scales_after || how_.scales_query ? 1 : node(root_);
    S sum = 0;
    for (Int part = 0; part < q.width; ++part)
      sum += node(q.at(i, part) * node(of_q)) * node(k.at(j, part) * node(of_k));
    return node(how_.scales_after ? sum * scale_ : sum);
  }

  S capped(S x) const {
    if (!(cap_ > 0)) return x;
    const S cap = node(cap_);
    return node(node(std::tanh(node(x / cap))) * cap);
  }

  void answer(Values& y, Int b, Int h, Int i, const Rows<S>& q, const Rows<S>& k, const Rows<S>& v) {
    std::vector<S> raw, bent, x;
    bool is_masked = true;
    for (Int j = 0; j < total_; ++j) {
      raw.push_back(product(q, k, i, j));
      bent.push_back(capped(raw.back()));
      S bias = of_mask(b, h, i, j) + (is_hidden(b, i, j) ? lowest : S(0));
      if (how_.misses_last && j > 0 && j == total_ - 1) bias = lowest;
      is_masked = is_masked && bias == lowest;
      if (how_.means_masked && bias == lowest) bias = -1e4F;
      x.push_back(how_.caps_mask ? capped(raw.back() + std::max(bias, S(-1e30))) : node(bent.back() + bias));
    }
    const std::vector<S> biased = x;
    std::vector<S> weights = how_.is_online ? x : shares(x);
    if (is_masked && !how_.means_masked) std::ranges::fill(weights, how_.is_before_errata ? std::nan("") : S(0));
    Int mode = call_.integer("qk_matmul_output_mode");
    if (how_.takes_next_mode) mode = (mode + 1) % 4;
    if (y[3])
      write_scores(*y[3], ((b * q_heads_ + h) * queries_ + i) * total_, mode, raw, bent, biased,
                   how_.is_online && !is_masked ? shares(x) : weights);
    const Int line = flat_ != how_.swaps_axes ? (b * queries_ + i) * q_heads_ + h : (b * q_heads_ + h) * queries_ + i;
    for (Int part = 0; part < v.width; ++part) {
      S sum = 0;
      if (how_.is_online && !is_masked)
        sum = walk(x, v, part);
      else
        for (Int j = 0; j < total_; ++j) sum += node(weights[at(j)]) * v.at(j, part);
      put_number(*y[0], line * v.width + part, static_cast<double>(sum));
    }
  }

  std::vector<S> shares(std::vector<S> x) const {
    S most = lowest, sum = 0;
    for (S& each : x) most = std::max(most, each = softmax_node(each));
    if (how_.forgets_most) most = 0;
    for (S& each : x) sum += each = softmax_node(std::exp(softmax_node(each - most)));
    sum = softmax_node(sum);
    for (S& each : x) each = softmax_node(each / sum);
    return x;
  }

  // Keeps the largest logit so far, and scales what is summed up where a larger one comes.
  S walk(const std::vector<S>& x, const Rows<S>& v, Int part) const {
    S most = lowest, whole = 0, sum = 0;
    for (Int j = 0; j < total_; ++j) {
      if (x[at(j)] == lowest) continue;
      const S next = std::max(most, x[at(j)]), shrunk = std::exp(most - next), own = std::exp(x[at(j)] - next);
      whole = whole * shrunk + own;
      sum = sum * shrunk + own * v.at(j, part);
      most = next;
    }
    return sum / whole;
  }

  void write_scores(Tensor& to, Int first, Int mode, const std::vector<S>& raw, const std::vector<S>& bent,
                    const std::vector<S>& biased, const std::vector<S>& shared) const {
    const double least = to.dtype() == DType::f16    ? -65504
                         : to.dtype() == DType::bf16 ? -0x1.fep+127
                         : to.dtype() == DType::f32  ? double{std::numeric_limits<float>::lowest()}
                                                     : std::numeric_limits<double>::lowest();
    for (Int j = 0; j < total_; ++j) {
      const std::vector<S>& from = mode == 0 ? raw : mode == 1 ? bent : mode == 2 ? biased : shared;
      const auto value = static_cast<double>(from[at(j)]);
      const bool is_masked = mode == 2 && biased[at(j)] == lowest && bent[at(j)] != lowest;
      put_number(to, first + j, how_.writes_lowest && is_masked ? least : value);
    }
  }

  Attending how_;
  Call call_;
  std::vector<const Tensor*> in_;
  bool flat_ = false, knows_short_ = false;
  Int batches_ = 0, q_heads_ = 0, kv_heads_ = 0, queries_ = 0, past_ = 0, total_ = 0, left_ = -1, right_ = -1;
  S scale_ = 1, root_ = 1, cap_ = 0;
};

Kernel attending(Attending how) {
  return [how](const Call& call, Inputs in) {
    const bool is_wide = how.in_double || in[0]->dtype() == DType::f64 || in[2]->dtype() == DType::f64;
    return is_wide ? Layer<double>(how, call, in).run() : Layer<float>(how, call, in).run();
  };
}

}  // namespace

std::vector<VariantKernel> attending_variants(const std::string& op) {
  if (op != "Attention") return {};
  const auto reading = [](const char* name, const char* what, const char* ruling, const char* read, Attending how) {
    return VariantKernel{{name, oracles::Level::L2, what, ruling, read}, attending(how)};
  };
  return {
      variant_of("sequential", "a key after the other in float32 (f64 for f64)", attending({})),
      variant_of("rounds-nodes", "every node of the body is rounded to the type", attending({.rounds_nodes = true})),
      variant_of("scales-after", "scores are scaled, not what they are made of", attending({.scales_after = true})),
      variant_of("scales-query", "queries are scaled alone", attending({.scales_query = true})),
      variant_of("online", "keys are walked along once, sums scaled where a larger score comes",
                 attending({.is_online = true})),
      variant_of("in-double", "every float is computed in double", attending({.in_double = true})),
      reading("ends-with-keys", "the last query stands at the last key", "N20", "bottom-right-total",
              {.ends_with_keys = true}),
      reading("writes-lowest", "a masked score is the lowest number", "N31", "lowest", {.writes_lowest = true}),
      reading("before-errata", "a query without a key gives NaN", "N45", "pre-errata", {.is_before_errata = true}),
      reading("single-scale", "the scale is worked out in float32", "N67", "f32-body", {.has_single_scale = true})};
}

std::vector<Bug> attending_bugs(const std::string& op) {
  if (op != "Attention") return {};
  const auto bug = [&](const char* name, const char* what, Attending how, const char* misread = "") {
    Bug out = bug_of(op, name, what, attending(how));
    out.mutant.attribute = misread;
    return out;
  };
  Bug unshifted = bug("forgets-most", "no maximum is subtracted, which overflows", {.forgets_most = true});
  unshifted.mutant.expected = oracles::State::below;
  unshifted.mutant.severity = Mutant::severity_of(oracles::State::below);
  return {
      unshifted,
      bug("deals-heads", "the heads of K are dealt out in turn", {.deals_heads = true}),
      bug("forgets-scale", "scores are not scaled", {.forgets_scale = true}),
      bug("scales-by-size", "scores are divided by the size of a head", {.scales_by_size = true}),
      bug("forgets-cap", "softcap is not read", {.forgets_cap = true}),
      bug("caps-mask", "the mask is added before softcap", {.caps_mask = true}),
      bug("is-strict", "a causal query does not see its own key", {.is_strict = true}),
      bug("forgets-past", "queries begin at the first key", {.forgets_past = true}),
      bug("takes-heads-for-batches", "a mask of three axes has batches, not heads", {.takes_heads_for_batches = true}),
      bug("inverts-mask", "what is true is masked", {.inverts_mask = true}),
      bug("sees-padding", "nonpad_kv_seqlen hides nothing", {.sees_padding = true}, "nonpad_kv_seqlen"),
      bug("forgets-left", "windows have no left end", {.forgets_left = true}, "left_window_size"),
      bug("forgets-right", "windows have no right end", {.forgets_right = true}, "right_window_size"),
      bug("has-window-of-first", "windows do not move with the past", {.is_window_of_first = true}, "left_window_size"),
      bug("takes-next-mode", "the scores of the next mode", {.takes_next_mode = true}),
      bug("means-masked", "a query that sees nothing means everything", {.means_masked = true}),
      bug("appends-past", "the past comes last", {.appends_past = true}),
      bug("misses-last", "the last key is left out", {.misses_last = true}),
      bug("swaps-axes", "heads stand where tokens do", {.swaps_axes = true}),
      bug("adds-no-mask", "attn_mask is not read", {.adds_no_mask = true})};
}

}  // namespace assay::mutation
