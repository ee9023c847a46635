// SPDX-License-Identifier: Apache-2.0
// LinearAttention by a third hand: token by token, or all tokens at once as a chunk, which solves for what is written.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <cmath>
#include <vector>

namespace assay::mutation {
namespace {

struct Remembering {
  bool in_double = false, in_chunks = false, scales_query = false, in_type = false;
  // Slips.
  bool forgets_past = false, decays_late = false, forgets_decay = false, corrects_before_decay = false;
  bool forgets_beta = false, forgets_correction = false, deals_heads = false, forgets_scale = false;
  bool scales_by_size = false, reads_before = false, swaps_state = false, takes_first_beta = false;
  bool decays_linearly = false, keeps_first_batch = false, adds_past_late = false, carries_over = false;
  bool takes_first_decay = false;
};

template <class S>
class Memory {
 public:
  Memory(const Remembering& how, const Call& call, Inputs in) : how_(how), call_(call) {
    for (std::size_t i = 0; i < 6; ++i) in_.push_back(i < in.size() ? in[i] : nullptr);
    const std::string rule = call.text("update_rule");
    if (rule == "linear" || rule == "delta" || how.forgets_decay) in_[4] = nullptr;
    if (rule == "linear" || rule == "gated") in_[5] = nullptr;
    batches_ = in[0]->shape()[0];
    tokens_ = in[0]->shape()[1];
    q_heads_ = call.integer("q_num_heads");
    kv_heads_ = call.integer("kv_num_heads");
    size_ = in[0]->shape()[2] / q_heads_;
    width_ = in[2]->shape()[2] / kv_heads_;
    scale_ = static_cast<S>(call.real("scale"));
    if (scale_ == 0) scale_ = how.scales_by_size ? 1 / S(size_) : 1 / std::sqrt(static_cast<S>(size_));
    if (how.forgets_scale) scale_ = 1;
  }

  Values run() {
    Values y = outputs_of(call_);
    for (Int b = 0; b < batches_; ++b)
      for (Int h = 0; h < kv_heads_; ++h)
        for (Int m = 0; m < width_; ++m) {
          std::vector<std::vector<S>> states = how_.in_chunks ? at_once(b, h, m) : in_turn(b, h, m);
          for (Int t = 0; t < tokens_; ++t)
            for (Int q = 0; q < q_heads_; ++q)
              if ((how_.deals_heads ? q % kv_heads_ : q / (q_heads_ / kv_heads_)) == h)
                put_number(*y[0], ((b * tokens_ + t) * q_heads_ + q) * width_ + m,
                           static_cast<double>(answer(b, t, q, states[at(t + (how_.reads_before ? 0 : 1))])));
          for (Int i = 0; i < size_; ++i) {
            S last = states.back()[at(i)];
            if (how_.adds_past_late) last += past(b, h, i, m);
            put_number(*y[1], place(b, h, i, m), static_cast<double>(last));
          }
        }
    return y;
  }

 private:
  static std::size_t at(Int i) { return static_cast<std::size_t>(i); }

  S node(S value) const {
    if (!how_.in_type) return value;
    Tensor one({in_[0]->dtype(), {}});
    put_number(one, 0, static_cast<double>(value));
    return static_cast<S>(number_at(one, 0));
  }
  S number(std::size_t input, Int b, Int t, Int place) const {
    const Int width = in_[input]->shape()[2];
    return static_cast<S>(number_at(*in_[input], (b * tokens_ + t) * width + place));
  }
  S key(Int b, Int t, Int h, Int i) const { return number(1, b, t, h * size_ + i); }
  S value(Int b, Int t, Int h, Int m) const { return number(2, b, t, h * width_ + m); }
  S logarithm(Int b, Int t, Int h, Int i) const {
    if (!in_[4]) return 0;
    const bool is_of_head = in_[4]->shape()[2] == kv_heads_;
    return number(4, b, t, is_of_head ? h : h * size_ + (how_.takes_first_decay ? 0 : i));
  }
  S decay(Int b, Int t, Int h, Int i) const {
    if (!in_[4]) return 1;
    const S g = logarithm(b, t, h, i);
    return node(how_.decays_linearly ? g : std::exp(g));
  }
  S beta(Int b, Int t, Int h) const {
    if (!in_[5] || how_.forgets_beta) return 1;
    return number(5, b, t, in_[5]->shape()[2] == 1 || how_.takes_first_beta ? 0 : h);
  }
  Int place(Int b, Int h, Int i, Int m) const {
    const Int batch = how_.keeps_first_batch ? 0 : b;
    if (how_.swaps_state) return (batch * kv_heads_ + h) * size_ * width_ + (m * size_ + i);
    return ((batch * kv_heads_ + h) * size_ + i) * width_ + m;
  }
  S past(Int b, Int h, Int i, Int m) const {
    return in_[3] ? static_cast<S>(number_at(*in_[3], place(b, h, i, m))) : S(0);
  }

  std::vector<S> first(Int b, Int h, Int m) const {
    std::vector<S> state;
    for (Int i = 0; i < size_; ++i) state.push_back(how_.forgets_past || how_.adds_past_late ? S(0) : past(b, h, i, m));
    return state;
  }

  // The state before each token and after the last.
  std::vector<std::vector<S>> in_turn(Int b, Int h, Int m) {
    std::vector<std::vector<S>> all{first(b, h, m)};
    if (how_.carries_over && !in_[3] && !last_.empty()) all[0] = last_;
    for (Int t = 0; t < tokens_; ++t) {
      std::vector<S> state = all.back();
      S u = value(b, t, h, m), retrieved = 0;
      const auto retrieve = [&] {
        for (Int i = 0; i < size_; ++i) retrieved = node(retrieved + node(state[at(i)] * key(b, t, h, i)));
      };
      if (how_.corrects_before_decay) retrieve();
      if (!how_.decays_late)
        for (Int i = 0; i < size_; ++i) state[at(i)] = node(state[at(i)] * decay(b, t, h, i));
      if (!how_.corrects_before_decay) retrieve();
      if (in_[5]) u = node(beta(b, t, h) * node(u - (how_.forgets_correction ? 0 : retrieved)));
      for (Int i = 0; i < size_; ++i) state[at(i)] = node(state[at(i)] + node(key(b, t, h, i) * u));
      if (how_.decays_late)
        for (Int i = 0; i < size_; ++i) state[at(i)] = node(state[at(i)] * decay(b, t, h, i));
      all.push_back(std::move(state));
    }
    last_ = all.back();
    return all;
  }

  // The same of a chunk of all tokens: decays by differences of sums, and what is written by the inverse of a
  // triangle.
  std::vector<std::vector<S>> at_once(Int b, Int h, Int m) const {
    std::vector<std::vector<S>> sums(1, std::vector<S>(at(size_))), inverse;
    for (Int t = 0; t < tokens_; ++t) {
      sums.push_back(sums.back());
      for (Int i = 0; i < size_; ++i) sums.back()[at(i)] += logarithm(b, t, h, i);
    }
    const auto between = [&](Int s, Int t, Int i) {
      return s == t ? S(1) : std::exp(sums[at(t)][at(i)] - sums[at(s)][at(i)]);
    };
    const std::vector<S> before = first(b, h, m);
    std::vector<S> written;
    for (Int t = 0; t < tokens_; ++t) {
      std::vector<S> row(at(t + 1));
      row[at(t)] = 1;
      S u = 0;
      for (Int s = 0; in_[5] && s < t; ++s) {
        S dot = 0;
        for (Int i = 0; i < size_; ++i) dot += key(b, t, h, i) * key(b, s, h, i) * between(s + 1, t + 1, i);
        for (Int r = 0; r <= s; ++r) row[at(r)] -= beta(b, t, h) * dot * inverse[at(s)][at(r)];
      }
      for (Int s = 0; s <= t; ++s) {
        S known = 0;
        for (Int i = 0; in_[5] && i < size_; ++i) known += key(b, s, h, i) * between(0, s + 1, i) * before[at(i)];
        u += row[at(s)] * (beta(b, s, h) * value(b, s, h, m)) - row[at(s)] * (beta(b, s, h) * known);
      }
      inverse.push_back(std::move(row));
      written.push_back(u);
    }
    std::vector<std::vector<S>> all{before};
    for (Int t = 0; t < tokens_; ++t) {
      std::vector<S> state;
      for (Int i = 0; i < size_; ++i) {
        S sum = between(0, t + 1, i) * before[at(i)];
        for (Int s = 0; s <= t; ++s) sum += between(s + 1, t + 1, i) * key(b, s, h, i) * written[at(s)];
        state.push_back(sum);
      }
      all.push_back(std::move(state));
    }
    return all;
  }

  S answer(Int b, Int t, Int q, const std::vector<S>& state) const {
    S sum = 0;
    for (Int i = 0; i < size_; ++i) {
      const S each = number(0, b, t, q * size_ + i);
      sum = node(sum + node((how_.scales_query ? node(each * scale_) : each) * state[at(i)]));
    }
    return how_.scales_query ? sum : sum * scale_;
  }

  Remembering how_;
  Call call_;
  std::vector<const Tensor*> in_;
  Int batches_ = 0, tokens_ = 0, q_heads_ = 0, kv_heads_ = 0, size_ = 0, width_ = 0;
  S scale_ = 1;
  std::vector<S> last_;
};

Kernel remembering(Remembering how) {
  return [how](const Call& call, Inputs in) {
    return how.in_double ? Memory<double>(how, call, in).run() : Memory<float>(how, call, in).run();
  };
}

}  // namespace

std::vector<VariantKernel> remembering_variants(const std::string& op) {
  if (op != "LinearAttention") return {};
  return {variant_of("sequential", "a token after the other in float32", remembering({})),
          variant_of("in-chunks", "all tokens at once in float32, by an inverse", remembering({.in_chunks = true})),
          variant_of("scales-query", "queries are scaled", remembering({.scales_query = true})),
          variant_of("in-double", "every float is computed in double", remembering({.in_double = true})),
          variant_of("in-type", "every operation is rounded to the type, a token after the other",
                     remembering({.in_type = true}), oracles::Level::L3)};
}

std::vector<Bug> remembering_bugs(const std::string& op) {
  if (op != "LinearAttention") return {};
  const auto bug = [&](const char* name, const char* what, Remembering how) {
    return bug_of(op, name, what, remembering(how));
  };
  return {bug("forgets-past", "past_state is not read", {.forgets_past = true}),
          bug("decays-late", "a token decays itself", {.decays_late = true}),
          bug("forgets-decay", "nothing decays", {.forgets_decay = true}),
          bug("corrects-before-decay", "what is retrieved has not decayed yet", {.corrects_before_decay = true}),
          bug("forgets-beta", "beta is 1", {.forgets_beta = true}),
          bug("forgets-correction", "nothing is retrieved", {.forgets_correction = true}),
          bug("deals-heads", "the heads of key are dealt out in turn", {.deals_heads = true}),
          bug("forgets-scale", "outputs are not scaled", {.forgets_scale = true}),
          bug("scales-by-size", "outputs are divided by the size of a head", {.scales_by_size = true}),
          bug("reads-before", "a token does not read itself", {.reads_before = true}),
          bug("swaps-state", "the state is stored with rows for columns", {.swaps_state = true}),
          bug("takes-first-beta", "every head has the beta of the first", {.takes_first_beta = true}),
          bug("takes-first-decay", "every element decays as the first does", {.takes_first_decay = true}),
          bug("decays-linearly", "decay is a factor, not a logarithm", {.decays_linearly = true}),
          bug("keeps-first-batch", "every batch has the state of the first", {.keeps_first_batch = true}),
          bug("adds-past-late", "past_state is added behind the last token", {.adds_past_late = true}),
          bug("carries-over", "a column without a past begins where the one before ended", {.carries_over = true})};
}

}  // namespace assay::mutation
