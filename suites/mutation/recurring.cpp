// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM by a third hand: gates are computed of one column of X and of the state laid end to end.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace assay::mutation {
namespace {

struct Recurring {
  bool backwards = false, in_double = false, rounds_states = false, by_difference = false;
  // Readings.
  bool takes_by_place = false, clips_all = false, ignores_clip_of_zero = false, zeroes_empty = false;
  // Slips.
  bool forgets_r_bias = false, orders_gates_otherwise = false, forgets_peephole = false, peeps_late = false;
  bool never_reverses = false, writes_in_order = false, ignores_lengths = false, ignores_initial = false;
  bool shares_directions = false, softens_tanh = false, returns_first = false, keeps_state_behind = false;
  bool forgets_cell = false, clips_one_side = false;
};

template <class S>
S apply(const Recurring& how, const std::string& name, S x, S a, S b) {
  if (name == "Relu") return x > 0 ? x : S(0);
  if (name == "Tanh") return how.softens_tanh ? x / (1 + std::abs(x)) : std::tanh(x);
  if (name == "Sigmoid") return 1 / (1 + std::exp(-x));
  if (name == "Affine") return a * x + b;
  if (name == "LeakyRelu") return x >= 0 ? x : a * x;
  if (name == "ThresholdedRelu") return x >= a ? x : S(0);
  if (name == "ScaledTanh") return a * std::tanh(b * x);
  if (name == "HardSigmoid") return std::min(std::max(a * x + b, S(0)), S(1));
  if (name == "Elu") return x >= 0 ? x : a * std::expm1(x);
  if (name == "Softsign") return x / (1 + std::abs(x));
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

template <class S>
class Layer {
 public:
  Layer(const Recurring& how, const Call& call, Inputs in) : how_(how), call_(call), in_(in) {
    const std::string& name = call.definition().version.name;
    gates_ = name == "RNN" ? 1 : name == "GRU" ? 3 : 4;
    own_ = gates_ == 1 ? 1 : gates_ - 1;
    const auto& attributes = call.node().attributes;
    const auto flag = [&](const char* of) { return call.definition().attribute(of) && call.integer(of) == 1; };
    swaps_ = flag("layout");
    lbr_ = flag("linear_before_reset");
    coupled_ = flag("input_forget");
    const Shape& x = in[0]->shape();
    steps_ = swaps_ ? x[1] : x[0];
    batches_ = swaps_ ? x[0] : x[1];
    width_ = x[2];
    units_ = in[2]->shape()[2];
    if (attributes.contains("clip")) clip_ = static_cast<S>(call.real("clip"));
    if (clip_ == 0 && how.ignores_clip_of_zero) clip_ = -1;
    choose_activations();
  }

  Values run() {
    Values y = outputs_of(call_);
    const Int directions = in_[2]->shape()[0];
    for (Int d = 0; d < directions; ++d)
      for (Int n = 0; n < batches_; ++n) run_one(y, d, n, directions);
    return y;
  }

 private:
  using Row = std::vector<S>;
  static std::size_t at(Int i) { return static_cast<std::size_t>(i); }
  S read(std::size_t input, Int index) const {
    return input < in_.size() && in_[input] ? static_cast<S>(number_at(*in_[input], index)) : S(0);
  }

  void choose_activations() {
    const auto& attributes = call_.node().attributes;
    const bool is_both = call_.text("direction") == "bidirectional";
    if (attributes.contains("activations")) names_ = call_.texts("activations");
    for (Int i = 0; names_.size() < at(own_ * (is_both ? 2 : 1)); ++i)
      names_.push_back(i % own_ == 0 && own_ > 1 ? "Sigmoid" : "Tanh");
    static const std::map<std::string, std::pair<double, double>> defaults{
        {"Affine", {1, 0}},     {"LeakyRelu", {0.01F, 0}},    {"ThresholdedRelu", {1, 0}},
        {"ScaledTanh", {1, 1}}, {"HardSigmoid", {0.2F, 0.5}}, {"Elu", {1, 0}}};
    const Reals alphas = attributes.contains("activation_alpha") ? call_.reals("activation_alpha") : Reals{};
    const Reals betas = attributes.contains("activation_beta") ? call_.reals("activation_beta") : Reals{};
    std::size_t alpha = 0, beta = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto found = defaults.find(names_[i]);
      auto [a, b] = found == defaults.end() ? std::pair<double, double>() : found->second;
      const bool has_beta = names_[i] == "Affine" || names_[i] == "ScaledTanh" || names_[i] == "HardSigmoid";
      if (how_.takes_by_place) alpha = beta = i;
      if (found != defaults.end() && alpha < alphas.size()) a = static_cast<double>(alphas[alpha++]);
      if (has_beta && beta < betas.size()) b = static_cast<double>(betas[beta++]);
      parameters_.emplace_back(static_cast<S>(a), static_cast<S>(b));
    }
  }

  S activation(Int d, Int which, S x) const {
    if (clip_ >= 0 && (which < 2 || how_.clips_all)) {
      x = std::min(x, clip_);
      if (!how_.clips_one_side) x = std::max(x, -clip_);
    }
    const std::size_t i = at(d * own_ + which);
    return apply<S>(how_, names_[i], x, parameters_[i].first, parameters_[i].second);
  }

  S sum(Row terms) const {
    if (how_.backwards) std::ranges::reverse(terms);
    S all = 0;
    for (const S each : terms) all += each;
    return all;
  }

  // The part of X, or of the state, of one gate.
  S part(bool of_state, Int d, Int gate, Int unit, const Row& values) const {
    if (how_.orders_gates_otherwise && gates_ > 1) gate = gate == 1 ? 2 : gate == 2 ? 1 : gate;
    const Int from = how_.shares_directions ? 0 : d, width = of_state ? units_ : width_;
    Row terms;
    for (Int i = 0; i < width; ++i)
      terms.push_back(values[at(i)] * read(of_state ? 2 : 1, ((from * gates_ + gate) * units_ + unit) * width + i));
    const Int bias = (from * 2 * gates_ + (of_state ? gates_ : 0) + gate) * units_ + unit;
    if (!(of_state && how_.forgets_r_bias)) terms.push_back(read(3, bias));
    return sum(terms);
  }
  S both(Int d, Int gate, Int unit, const Row& x, const Row& h) const {
    return part(false, d, gate, unit, x) + part(true, d, gate, unit, h);
  }
  S peephole(Int d, Int gate, Int unit, S cell) const {
    return how_.forgets_peephole ? S(0) : read(7, ((how_.shares_directions ? 0 : d) * 3 + gate) * units_ + unit) * cell;
  }

  Row step(Int d, const Row& x, const Row& h, Row& c) const {
    Row next(h.size()), gated(h.size());
    for (Int u = 0; gates_ == 3 && u < units_; ++u) gated[at(u)] = h[at(u)] * activation(d, 0, both(d, 1, u, x, h));
    for (Int u = 0; u < units_; ++u) {
      S& out = next[at(u)];
      if (gates_ == 1) out = activation(d, 0, both(d, 0, u, x, h));
      if (gates_ == 3) {
        const S z = activation(d, 0, both(d, 0, u, x, h)), r = activation(d, 0, both(d, 1, u, x, h));
        const S inner = lbr_ ? r * part(true, d, 2, u, h) : part(true, d, 2, u, gated);
        const S g = activation(d, 1, part(false, d, 2, u, x) + inner);
        out = how_.by_difference ? g + z * (h[at(u)] - g) : (1 - z) * g + z * h[at(u)];
      }
      if (gates_ == 4) {
        const S before = c[at(u)];
        const S i = activation(d, 0, both(d, 0, u, x, h) + peephole(d, 0, u, before));
        const S f = coupled_ ? 1 - i : activation(d, 0, both(d, 2, u, x, h) + peephole(d, 2, u, before));
        c[at(u)] = f * before + i * activation(d, 1, both(d, 3, u, x, h));
        const S seen = how_.peeps_late ? before : c[at(u)];
        out = activation(d, 0, both(d, 1, u, x, h) + peephole(d, 1, u, seen)) * activation(d, 2, c[at(u)]);
      }
    }
    return next;
  }

  void run_one(Values& y, Int d, Int n, Int directions) const {
    const Int states = (swaps_ ? n * directions + d : d * batches_ + n) * units_;
    Row h, c;
    for (Int u = 0; u < units_; ++u) {
      h.push_back(how_.ignores_initial ? S(0) : read(5, states + u));
      c.push_back(how_.forgets_cell ? S(0) : read(6, states + u));
    }
    const bool has_lengths = in_.size() > 4 && in_[4] && !how_.ignores_lengths;
    const Int length = has_lengths ? static_cast<Int>(number_at(*in_[4], n)) : steps_;
    const bool is_reverse = (d == 1 || call_.text("direction") == "reverse") && !how_.never_reverses;
    const auto write = [&](std::size_t output, Int first, const Row& row) {
      for (Int u = 0; output < y.size() && y[output] && u < units_; ++u)
        put_number(*y[output], first + u, static_cast<double>(row[at(u)]));
    };
    Row first;
    for (Int k = 0; k < steps_; ++k) {
      const Int t = is_reverse && k < length ? length - 1 - k : k;
      Row x;
      for (Int i = 0; i < width_; ++i)
        x.push_back(read(0, ((swaps_ ? n * steps_ + t : t * batches_ + n)) * width_ + i));
      if (k < length) h = step(d, x, h, c);
      if (how_.rounds_states)
        for (S& each : h) each = rounded(each);
      if (k == 0) first = h;
      const Int to = how_.writes_in_order ? k : t;
      const Int place = swaps_ ? (n * steps_ + to) * directions + d : (to * directions + d) * batches_ + n;
      write(0, place * units_, k < length || how_.keeps_state_behind ? h : Row(h.size()));
    }
    if (how_.zeroes_empty && length == 0) h = c = Row(h.size());
    write(1, states, how_.returns_first && !first.empty() ? first : h);
    write(2, states, c);
  }

  S rounded(S value) const {
    Tensor one({in_[0]->dtype(), {}});
    put_number(one, 0, static_cast<double>(value));
    return static_cast<S>(number_at(one, 0));
  }

  Recurring how_;
  const Call& call_;
  Inputs in_;
  Int gates_ = 1, own_ = 1, steps_ = 0, batches_ = 0, width_ = 0, units_ = 0;
  bool swaps_ = false, lbr_ = false, coupled_ = false;
  S clip_ = -1;
  Texts names_;
  std::vector<std::pair<S, S>> parameters_;
};

Kernel recurring(Recurring how) {
  return [how](const Call& call, Inputs in) {
    const bool is_wide = how.in_double || in[0]->dtype() == DType::f64;
    return is_wide ? Layer<double>(how, call, in).run() : Layer<float>(how, call, in).run();
  };
}

bool is_recurrent(const std::string& op) { return op == "RNN" || op == "GRU" || op == "LSTM"; }

}  // namespace

std::vector<VariantKernel> recurring_variants(const std::string& op) {
  using oracles::Level;
  if (!is_recurrent(op)) return {};
  const auto reading = [](const char* name, const char* what, const char* ruling, const char* read, Recurring how) {
    return VariantKernel{{name, Level::L2, what, ruling, read}, recurring(how)};
  };
  std::vector<VariantKernel> variants{
      variant_of("sequential", "a step after the other in float32 (f64 for f64)", recurring({})),
      variant_of("reversed", "the last term of a sum first", recurring({.backwards = true})),
      variant_of("in-double", "every float is computed in double", recurring({.in_double = true})),
      variant_of("rounds-states", "a state is rounded to the type", recurring({.rounds_states = true})),
      reading("takes-by-place", "alpha and beta stand where their activation does", "N15", "positional",
              {.takes_by_place = true}),
      reading("ignores-clip-of-zero", "a clip of 0 is none", "N17", "no-clip", {.ignores_clip_of_zero = true}),
      reading("zeroes-empty", "after no step the state is 0", "N19", "zero", {.zeroes_empty = true})};
  if (op == "GRU") variants.push_back(variant_of("by-difference", "g + z (h - g)", recurring({.by_difference = true})));
  if (op == "LSTM")
    variants.push_back(
        reading("clips-all", "the cell is clipped before h", "N16", "all-activations", {.clips_all = true}));
  return variants;
}

std::vector<Bug> recurring_bugs(const std::string& op) {
  if (!is_recurrent(op)) return {};
  const auto bug = [&](const char* name, const char* what, Recurring how) {
    return bug_of(op, name, what, recurring(how));
  };
  std::vector<Bug> bugs{
      bug("forgets-r-bias", "the second half of B is not added", {.forgets_r_bias = true}),
      bug("never-reverses", "every direction is forward", {.never_reverses = true}),
      bug("writes-in-order", "a reverse direction writes its steps in their order", {.writes_in_order = true}),
      bug("ignores-lengths", "every sequence is as long as X", {.ignores_lengths = true}),
      bug("ignores-initial", "the first state is 0", {.ignores_initial = true}),
      bug("shares-directions", "both directions have the weights of the first", {.shares_directions = true}),
      bug("softens-tanh", "Softsign stands for Tanh", {.softens_tanh = true}),
      bug("returns-first", "Y_h is the state after the first step", {.returns_first = true}),
      bug("keeps-state-behind", "Y goes on behind a sequence", {.keeps_state_behind = true}),
      bug("clips-one-side", "nothing is clipped below", {.clips_one_side = true})};
  if (op != "RNN")
    bugs.push_back(bug("orders-gates-otherwise", "two gates change places", {.orders_gates_otherwise = true}));
  if (op != "LSTM") return bugs;
  bugs.push_back(bug("forgets-peephole", "P is not read", {.forgets_peephole = true}));
  bugs.push_back(bug("peeps-late", "the output gate looks at the cell before the step", {.peeps_late = true}));
  bugs.push_back(bug("forgets-cell", "the first cell is 0", {.forgets_cell = true}));
  return bugs;
}

}  // namespace assay::mutation
