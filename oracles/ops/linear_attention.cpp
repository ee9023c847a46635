// SPDX-License-Identifier: Apache-2.0
// The exact answers of LinearAttention (reductions 8.1), token by token or in chunks: "may be implemented using
// chunk-parallel algorithms". With n of a key's size, T tokens, |.| the length of a vector, of one column s of the
// state, and of each token d = max e^decay, D a product of such, a = |beta| |k|², h = max(1, |1 - beta |k|²|) (1 where
// nothing is retrieved) and H a product of such:
//   a step       s' = (1 - beta k k') D s + beta k v, or D s + k v: it stretches errors by d h at most
//   sizes        S' = d h S + |beta v| |k| of the column; C = the largest D S a chunk may begin with; X = |v| + |k| C;
//                of what is written, which a chunk solves for by substitution or by an inverse,
//                U = |beta| (X + |k| Σ D |k| |beta| X H); W = Σ D |k| U + C of the state put together;
//                R = |beta| |k| (Σ D |k| U + C), and by an inverse R + |beta| |k| Σ D |k| R H, of what is retrieved
//   of a token   r (S' + d S + W + |k| R + |k| |beta| (X + |k| d S)): what a step is made of errs by r, relatively, in
//                either way: γ(n + 2T + 20), and what factors are off
//   decays       r' (d S + |k| R + W), r' of an exponential, or of two of their sums in a chunk, which are off by
//                4 γ(T) Σ |decay|
//   output       |scale| |q| (e + r (S + W) + r' W), what the scale is off, and what underflows
// The errors of what is computed of them make that 1 / (1 - (r + r') T (3 + a) (1 + a T)) times as much, or nothing is
// proven. An inverse by powers (1 - L)(1 + L²)(1 + L⁴) is not stable, and not covered. Sums of decays beyond 40 may
// overflow in a chunk.
#include "oracles/exact/expression.h"
#include "oracles/exact/functions.h"
#include "oracles/exact/operands.h"
#include "oracles/exact/tree_bounds.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>

namespace assay::oracles {
namespace {

constexpr std::size_t sized(Int i) { return static_cast<std::size_t>(i); }
constexpr double most_decay = 40;

struct Heads {
  Int batches, tokens, of_query, of_key, size, v_size;

  explicit Heads(const Call& call)
      : batches(call.dim("query", 0)),
        tokens(call.dim("query", 1)),
        of_query(call.integer("q_num_heads")),
        of_key(call.integer("kv_num_heads")),
        size(call.dim("query", 2) / of_query),
        v_size(call.dim("value", 2) / of_key) {}
  Shape of_output() const { return {batches, tokens, of_query * v_size}; }
  Shape of_state() const { return {batches, of_key, size, v_size}; }
};

// Says what is known of a number before any is worked out; of several the last counts.
enum class Sort { number, open, nan };
Sort sort_of(const Scalar& x) { return is_nan(x) ? Sort::nan : x.is_finite() ? Sort::number : Sort::open; }

template <class Number>
using Rows = std::vector<std::vector<Number>>;  // of a column of the state, after so many tokens

// Follows one column of the state of one head of key.
struct Column {
  Rows<Sort> sorts;
  bool may_spoil = false;  // what is no number comes behind
  Rows<Dyadic> exact;      // empty where there are exponentials
  std::map<int, Rows<Real>> enclosed;
  std::vector<double> error;      // over r, after so many tokens
  std::vector<double> of_decays;  // what is to be multiplied by r' where a query reads it
  std::vector<double> size;       // S + W
  double decays = 0;              // the largest sum
  double steepest = 0;            // max a
  double room = 1;                // no part of it, and no slope, is larger
  std::vector<double> each_decay;
};

class Recurrence {
 public:
  Recurrence(const Call& call, const Operands& given) : heads(call) {
    Operands in = given;
    in.resize(6);
    const std::string rule = call.text("update_rule");
    const bool is_gated = rule.starts_with("gated"), corrects = rule.ends_with("delta");
    for (std::size_t i = 0; i < 6; ++i) {
      const bool is_read = in[i] && (i < 4 || (i == 4 ? is_gated : corrects));
      in_.push_back(is_read ? std::optional<Cells>(*in[i]) : std::nullopt);
    }
    const auto said = static_cast<double>(call.real("scale"));
    is_open = !std::isfinite(said);
    if (is_open) return;
    const Int root = std::lround(std::sqrt(static_cast<double>(heads.size)));
    if (said != 0)
      scale = ratio(scalar_of(said));
    else if (root * root == heads.size)
      scale = Ratio{{1, 0}, root};
  }

  Scalar q(Int b, Int t, Int h, Int i) const { return packed(0, b, t, heads.of_query, h, heads.size, i); }
  Scalar k(Int b, Int t, Int h, Int i) const { return packed(1, b, t, heads.of_key, h, heads.size, i); }
  Scalar v(Int b, Int t, Int h, Int m) const { return packed(2, b, t, heads.of_key, h, heads.v_size, m); }
  Scalar past(Int b, Int h, Int i, Int m) const {
    return in_[3] ? in_[3]->at(((b * heads.of_key + h) * heads.size + i) * heads.v_size + m) : Scalar();
  }
  bool is_gated() const { return in_[4].has_value(); }
  bool corrects() const { return in_[5].has_value(); }
  Scalar decay(Int b, Int t, Int h, Int i) const {
    const bool is_of_head = in_[4]->extent(2) == heads.of_key;
    return is_of_head ? packed(4, b, t, heads.of_key, h, 1, 0) : packed(4, b, t, heads.of_key, h, heads.size, i);
  }
  Scalar beta(Int b, Int t, Int h) const {
    return in_[5]->extent(2) == 1 ? packed(5, b, t, 1, 0, 1, 0) : packed(5, b, t, heads.of_key, h, 1, 0);
  }
  Real scale_at(int bits) const {
    return scale ? Real(*scale, bits) : square_root(Real(Ratio{{1, 0}, heads.size}, bits));
  }

  const Column& column(Int b, Int h, Int m) const {
    const Int number = (b * heads.of_key + h) * heads.v_size + m;
    const auto known = columns_.find(number);
    return known != columns_.end() ? known->second : columns_.emplace(number, made(b, h, m)).first->second;
  }

  const Rows<Real>& enclosed(Int b, Int h, Int m, int bits) const {
    auto& known = const_cast<Column&>(column(b, h, m)).enclosed;
    const auto found = known.find(bits);
    if (found != known.end()) return found->second;
    const auto number = [&](const Scalar& x) { return Real(ratio(x), bits); };
    const auto decayed = [&](const Scalar& x) {
      if (!x.is_finite()) return Real(Int{0}, bits);  // e^-inf
      return oracles::enclosed(Function::exp, std::array{number(x)});
    };
    return known.emplace(bits, walk<Real>(b, h, m, number, decayed)).first->second;
  }

  Heads heads;
  bool is_open = false;
  std::optional<Ratio> scale;  // where it is a fraction

 private:
  Scalar packed(std::size_t input, Int b, Int t, Int count, Int h, Int width, Int part) const {
    return in_[input]->at(((b * heads.tokens + t) * count + h) * width + part);
  }

  template <class Number>
  Rows<Number> walk(Int b, Int h, Int m, auto number, auto decayed) const {
    Rows<Number> all(1);
    for (Int i = 0; i < heads.size; ++i) all[0].push_back(number(past(b, h, i, m)));
    for (Int t = 0; t < heads.tokens; ++t) {
      std::vector<Number> now = all.back();
      for (Int i = 0; is_gated() && i < heads.size; ++i) now[sized(i)] = now[sized(i)] * decayed(decay(b, t, h, i));
      Number u = number(v(b, t, h, m));
      for (Int i = 0; corrects() && i < heads.size; ++i) u = u - now[sized(i)] * number(k(b, t, h, i));
      if (corrects()) u = u * number(beta(b, t, h));
      for (Int i = 0; i < heads.size; ++i) now[sized(i)] = now[sized(i)] + number(k(b, t, h, i)) * u;
      all.push_back(std::move(now));
    }
    return all;
  }

  // -- what is no number

  // Says what a decay leaves known. For one token e^-inf is 0; a chunk, which takes a difference, does not get that.
  Sort sort_of_decay(const Scalar& g, Int t) const {
    if (is_nan(g)) return t == 0 && !in_[3] ? Sort::open : Sort::nan;
    return g.is_finite() || (g.negative && heads.tokens == 1) ? Sort::number : Sort::open;
  }

  void sort(Column& to, Int b, Int h, Int m) const {
    to.sorts.emplace_back();
    for (Int i = 0; i < heads.size; ++i) to.sorts[0].push_back(sort_of(past(b, h, i, m)));
    for (Int t = 0; t < heads.tokens; ++t) {
      std::vector<Sort> now = to.sorts.back();
      for (Int i = 0; is_gated() && i < heads.size; ++i)
        now[sized(i)] = std::max(now[sized(i)], sort_of_decay(decay(b, t, h, i), t));
      Sort u = sort_of(v(b, t, h, m));
      if (corrects()) u = std::max(u, sort_of(beta(b, t, h)));
      for (Int i = 0; corrects() && i < heads.size; ++i) u = std::max({u, now[sized(i)], sort_of(k(b, t, h, i))});
      for (Int i = 0; i < heads.size; ++i) now[sized(i)] = std::max({now[sized(i)], u, sort_of(k(b, t, h, i))});
      to.sorts.push_back(std::move(now));
    }
    to.may_spoil = std::ranges::any_of(to.sorts.back(), [](Sort each) { return each != Sort::number; });
  }

  // -- bounds

  static double length(Int n, auto at) {
    double squares = 0;
    for (Int i = 0; i < n; ++i) squares += std::pow(at(i).as_double(), 2);
    return std::sqrt(squares);
  }

  void measure(Column& to, Int b, Int h, Int m) const {
    const Int tokens = heads.tokens;
    const double first = length(heads.size, [&](Int i) { return past(b, h, i, m); });
    std::vector<double> keys, betas, values, decays, stretch;
    double longest = 1, largest = std::max(1.0, first), steps = 1;
    to.error = to.of_decays = {0};
    to.size = {first};
    std::vector<double> sums(sized(heads.size));
    double most = 0;
    for (Int t = 0; t < tokens; ++t) {
      keys.push_back(length(heads.size, [&](Int i) { return k(b, t, h, i); }));
      betas.push_back(corrects() ? std::abs(beta(b, t, h).as_double()) : 1);
      values.push_back(std::abs(v(b, t, h, m).as_double()));
      double least_decay = 0, most_of_decay = is_gated() ? -HUGE_VAL : 0;
      for (Int i = 0; is_gated() && i < heads.size; ++i) {
        const Scalar g = decay(b, t, h, i);
        const double of = g.is_finite() ? g.as_double() : -HUGE_VAL;
        if (std::isfinite(of)) least_decay = std::max(least_decay, std::abs(of));
        most_of_decay = std::max(most_of_decay, of);
        sums[sized(i)] += std::abs(of);
        most = std::max(most, sums[sized(i)]);
      }
      to.each_decay.push_back(least_decay);
      decays.push_back(std::exp(most_of_decay));
      const double square = keys.back() * keys.back(), a = corrects() ? betas.back() * square : 0;
      stretch.push_back(corrects() ? std::max(1.0, std::abs(1 - beta(b, t, h).as_double() * square)) : 1);
      if (corrects()) to.steepest = std::max(to.steepest, a);
      longest = std::max(longest, keys.back());
      largest = std::max(largest, values.back());
      steps *= corrects() ? 1 + std::max(1.0, betas.back()) : 1;
    }
    if (corrects())
      for (Int t = 0; t < tokens; ++t) steps *= longest * longest;
    to.decays = most;
    const double grown = tokens == 1 ? std::max(1.0, decays[0]) : std::exp(most);
    to.room = longest * longest * largest * steps * grown * static_cast<double>(tokens + heads.size + 1);
    double state = first, decayed = 0, carried = first;  // what a chunk may have begun with, decayed
    std::vector<double> met, written, solved_for;
    for (Int t = 0; t < tokens; ++t) {
      const double d = decays[sized(t)], key = keys[sized(t)], beta = betas[sized(t)];
      const double alone = corrects() ? key : 0;  // other rules retrieve nothing
      carried = d * std::max(carried, state);
      met.push_back(values[sized(t)] + alone * carried);
      double since = 1, stretched = 1, solved = 0, summed = 0, again = 0;
      for (Int s = t; s-- > 0; stretched *= stretch[sized(s)]) {
        since *= decays[sized(s + 1)];
        solved += since * stretched * keys[sized(s)] * betas[sized(s)] * met[sized(s)];
        summed += since * keys[sized(s)] * written[sized(s)];
        again += since * stretched * keys[sized(s)] * solved_for[sized(s)];
      }
      written.push_back(beta * (met.back() + alone * solved));
      const double next = d * stretch[sized(t)] * state + beta * values[sized(t)] * key;
      const double whole = summed + key * written.back() + carried;
      solved_for.push_back(beta * alone * (summed + carried));
      const double longer = d * stretch[sized(t)], in_solving = key * (solved_for.back() + beta * alone * again);
      to.error.push_back(longer * to.error.back() + next + d * state + whole + in_solving +
                         key * beta * (met.back() + alone * d * state));
      decayed = longer * decayed + d * state + in_solving + summed + carried;
      to.of_decays.push_back(decayed);
      to.size.push_back(next + whole);
      state = next;
    }
  }

  Column made(Int b, Int h, Int m) const {
    Column out;
    sort(out, b, h, m);
    if (out.may_spoil) return out;
    measure(out, b, h, m);
    const auto is_plain = [&] {
      for (Int t = 0; is_gated() && t < heads.tokens; ++t)
        for (Int i = 0; i < heads.size; ++i)
          if (const Scalar g = decay(b, t, h, i); g.is_finite() && !g.is_zero()) return false;
      return !corrects() || heads.tokens <= 16;
    };
    if (is_plain())
      out.exact = walk<Dyadic>(
          b, h, m, [](const Scalar& x) { return x.value(); },
          [](const Scalar& x) {
            return x.is_finite() ? Dyadic{1, 0} : Dyadic{};
          });
    return out;
  }

  std::vector<std::optional<Cells>> in_;
  mutable std::map<Int, Column> columns_;
};

// Is what a query reads of a column after so many tokens, or one row of it.
class Read final : public Expression {
 public:
  struct At {
    Int b, h, m, after;    // h: of key
    Int row = -1;          // of the state
    Int token = 0, q = 0;  // of the query, its head
  };
  Read(const Recurrence& of, const At& at) : of_(of), at_(at), column_(of.column(at.b, at.h, at.m)) {
    double squares = 0, sum = 0;
    for (Int i = 0; !is_row() && i < of.heads.size; ++i) {
      const double each = std::abs(query(i).as_double());
      squares += each * each;
      sum += each;
    }
    length_ = is_row() ? 1 : std::sqrt(squares);
    scale_ = is_row() ? 1 : of.scale_at(96).size();
    room_ = column_.room * std::max(1.0, sum) * std::max(1.0, scale_);
  }

  Real value(int bits) const override {
    if (!column_.exact.empty()) {
      const std::vector<Dyadic>& state = column_.exact[sized(at_.after)];
      Dyadic sum;
      for (Int i = 0; i < std::ssize(state); ++i)
        if (!is_row() || i == at_.row) sum += is_row() ? state[sized(i)] : state[sized(i)] * query(i).value();
      if (is_row() || sum.is_zero()) return {Ratio{sum, 1}, bits};
      if (of_.scale) return {*of_.scale * sum, bits};
      return of_.scale_at(bits) * Real(Ratio{sum, 1}, bits);
    }
    const std::vector<Real>& state = of_.enclosed(at_.b, at_.h, at_.m, bits)[sized(at_.after)];
    if (is_row()) return state[sized(at_.row)];
    Real sum(Int{0}, bits);
    for (Int i = 0; i < std::ssize(state); ++i) sum = sum + state[sized(i)] * Real(ratio(query(i)), bits);
    return of_.scale_at(bits) * sum;
  }

  double error(const Policy& p) const override {
    const auto tokens = static_cast<double>(of_.heads.tokens), size = static_cast<double>(of_.heads.size);
    const double r = gamma_of(size + 2 * tokens + 12 + 8, p.sum_unit()) + 4 * p.input_error, of_decay = relative(p);
    const double a = column_.steepest, more = (r + of_decay) * tokens * (3 + a) * (1 + a * tokens);
    if (!(more < 0.5)) return unproven;
    const double made = r * (column_.error[sized(at_.after)] + column_.size[sized(at_.after)]) +
                        of_decay * column_.of_decays[sized(at_.after)];
    const double of_scale = of_.scale || is_row() ? 0 : p.imprecision * column_.size[sized(at_.after)];
    const double nodes = 8 * (tokens + 2) * (tokens + 2) * (size + 4) + 256 * (tokens + 2);
    return proven(scale_ * length_ * (1 + 0x1p-20) * (made / (1 - more) + of_scale) +
                  nodes * (lost(p) + p.lost_input) * room_);
  }

  // Compares what no sum and no product exceeds with the largest number.
  bool breaks_down(const Policy& p) const override { return !(room_ < std::ldexp(1.0, p.nodes.max_exponent)); }

  // The body works in float32, whatever the types.
  bool is_met_by(const Policy& p) const override { return p.is_fused() && !p.is_unshifted && !p.takes_logarithm; }

 private:
  bool is_row() const { return at_.row >= 0; }
  Scalar query(Int i) const { return of_.q(at_.b, at_.token, at_.q, i); }

  // Bounds how far e^x may be off.
  static double of_exponential(const Policy& p, double x) {
    if (x == 0) return 0;
    return p.truncation * bound(Function::exp, std::array{x}, 1.0, p.working) + p.imprecision + x * p.input_error;
  }

  // Bounds how far a product of decays may be off: that of a step, or what a chunk makes of two sums.
  double relative(const Policy& p) const {
    double most = 0;
    for (const double each : column_.each_decay) most = std::max(most, of_exponential(p, each));
    if (of_.heads.tokens < 2) return most;
    const double of_sums = 4 * gamma_of(static_cast<double>(of_.heads.tokens), p.sum_unit()) * column_.decays;
    const double of_chunk = 2 * of_exponential(p, column_.decays) + of_sums;
    return std::max(most, of_chunk < 0.25 ? of_chunk * (1 + 2 * of_chunk) : unproven);
  }

  const Recurrence& of_;
  At at_;
  const Column& column_;
  double length_ = 0, scale_ = 0, room_ = 1;
};

// Answers output or present_state.
class LinearAnswer final : public Answer {
 public:
  LinearAnswer(DType dtype, DType narrower, bool is_state, std::shared_ptr<const Recurrence> of,
               const Arithmetic& declared)
      : of_(std::move(of)), dtype_(dtype), narrower_(narrower), is_state_(is_state), declared_(declared) {}

  DType dtype() const override { return dtype_; }
  Shape shape() const override { return is_state_ ? of_->heads.of_state() : of_->heads.of_output(); }

  Element element(Int index) const override {
    const Read::At at = at_of(index);
    Element out = element_at(at);
    out.terms = of_->heads.size + at.after;
    return out;
  }
  std::vector<Tolerance> wider(Int index) const override {
    const Element own = element(index);
    if (own.kind != Kind::finite || is_copied()) return wider_of_copies(own, dtype_);
    return tolerances(Read(*of_, at_of(index)), own, narrower_, declared_);
  }
  std::vector<ProofTerm> taps(Int index) const override {
    const Read::At at = at_of(index);
    std::vector<ProofTerm> all;
    const auto of = [](const char* what, Int t) { return what + std::to_string(t); };
    for (Int i = 0; i < of_->heads.size; ++i) {
      all.push_back({{hexadecimal(of_->past(at.b, at.h, i, at.m))}, "past_state"});
      if (!is_state_) all.push_back({{hexadecimal(of_->q(at.b, at.token, at.q, i))}, of("query at token ", at.token)});
      for (Int t = 0; t < at.after; ++t) {
        all.push_back({{hexadecimal(of_->k(at.b, t, at.h, i)), hexadecimal(of_->v(at.b, t, at.h, at.m))},
                       of("key and value of token ", t)});
        if (of_->is_gated()) all.push_back({{hexadecimal(of_->decay(at.b, t, at.h, i))}, of("decay of token ", t)});
      }
    }
    for (Int t = 0; of_->corrects() && t < at.after; ++t)
      all.push_back({{hexadecimal(of_->beta(at.b, t, at.h))}, of("beta of token ", t)});
    return all;
  }

 private:
  bool is_copied() const { return is_state_ && of_->heads.tokens == 0; }

  Read::At at_of(Int index) const {
    const Heads& heads = of_->heads;
    const Shape at = position(shape(), index);
    if (is_state_) return {at[0], at[1], at[3], heads.tokens, at[2]};
    const Int head = at[2] / heads.v_size;
    return {at[0], head * heads.of_key / heads.of_query, at[2] % heads.v_size, at[1] + 1, -1, at[1], head};
  }

  Element element_at(const Read::At& at) const {
    if (is_copied()) return exactly(of_->past(at.b, at.h, at.row, at.m), dtype_);
    if (of_->is_open && !is_state_) return unscored("a scale that is no number");
    const Column& column = of_->column(at.b, at.h, at.m);
    Sort sort = Sort::number;
    const std::vector<Sort>& state = column.sorts[sized(at.after)];
    for (Int i = 0; i < std::ssize(state); ++i) {
      if (is_state_ && i != at.row) continue;
      sort = std::max(sort, state[sized(i)]);
      if (!is_state_) sort = std::max(sort, sort_of(of_->q(at.b, at.token, at.q, i)));
    }
    if (sort == Sort::nan) return exactly(nan(), dtype_);
    if (sort == Sort::open || column.may_spoil) return unscored("an infinity, or what a chunk may make NaN");
    if (of_->heads.tokens > 1 && column.decays > most_decay)
      return unscored("decays whose sums a chunk may not take apart");
    return computed(Read(*of_, at), dtype_);
  }

  std::shared_ptr<const Recurrence> of_;
  DType dtype_, narrower_;
  bool is_state_;
  Arithmetic declared_;
};

Answers answers(const Call& call, const Operands& in, const Readings&, const Arithmetic& declared) {
  const auto of = std::make_shared<const Recurrence>(call, in);
  const DType type = in[0]->dtype(), type_of_state = in.size() > 3 && in[3] ? in[3]->dtype() : type;
  const DType narrower = type == DType::f32 ? type_of_state : type;
  Answers all;
  all.push_back(std::make_unique<LinearAnswer>(type, narrower, false, of, declared));
  all.push_back(std::make_unique<LinearAnswer>(type_of_state, narrower, true, of, declared));
  return all;
}

// Returns none where a reading turns the model away.
std::optional<Shape> shape(const Call& call, const Readings& readings) {
  const Heads heads(call);
  const std::string rule = call.text("update_rule");
  const bool has_more =
      (call.has("decay") && !rule.starts_with("gated")) || (call.has("beta") && !rule.ends_with("delta"));
  const bool is_empty = heads.batches == 0 || heads.tokens == 0 || heads.v_size == 0;
  if ((has_more && readings.of("N44") == "refuse") ||
      (call.integer("chunk_size") < 1 && readings.of("N70") == "refuse") ||
      (is_empty && readings.of("N71") == "refuse"))
    return std::nullopt;
  return heads.of_output();
}

}  // namespace

Oracle linear_attention() { return with_touched({answers, shape, {}}); }

}  // namespace assay::oracles
