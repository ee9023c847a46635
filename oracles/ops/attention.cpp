// SPDX-License-Identifier: Apache-2.0
// The exact answers of Attention (reductions 8.1). With n of a head's size, A the sum of |q k|, σ the scale, of each
// score:
//   score        σ q k as (√σ q)(√σ k), σ (q k) or (σ q) k, each factor and sum perhaps rounded to the type: with
//                ρ of √σ, 5 roundings of what is worked out of n, 2 of what is said, and its own node's,
//                σ A ((1 + ρ)² (1 + u)² (1 + γ(n + 1)) - 1), two roundings of the score, and what underflows;
//                nothing where √σ is a power of two and every sum fits
//   softcap      a quotient, tanh, a rounding and a product; the bias is added by one that is exact where it fits
//   shares       SoftmaxTerm (rules/exponentials.h), its nodes in softmax_precision where that is narrower
//   Y            the mean of V by shares that are rounded to the type, or by exponentials that are
// Weights of keys that are masked are 0.
#include "oracles/exact/bins.h"
#include "oracles/exact/composite.h"
#include "oracles/exact/operands.h"
#include "oracles/exact/tree_bounds.h"
#include "oracles/filter/near_filter.h"
#include "oracles/rules/exponentials.h"
#include "oracles/rules/rules.h"
#include "oracles/rules/totals.h"
#include "reference/operator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

namespace assay::oracles {
namespace {

constexpr std::size_t sized(Int i) { return static_cast<std::size_t>(i); }

// -- scores

// Holds what scores are multiplied by: what is said, or 1 / √n.
struct Scale {
  Ratio square;  // of it
  std::optional<Ratio> exact;
  bool is_said = false, is_single = false;
  double size = 0;
  std::optional<int> root;  // its root is 2^root, where that is a root of what is said

  explicit Scale(const Scalar& said) : exact(ratio(said)), is_said(true) {
    if (said.significand == 1 && said.exponent % 2 == 0) root = said.exponent / 2;
    size = size_of(*exact);
  }
  explicit Scale(Int n) : square{{1, 0}, n} {
    const auto whole = static_cast<Int>(std::lround(std::sqrt(static_cast<double>(n))));
    if (whole * whole == n) exact = Ratio{{1, 0}, whole};
    size = value(96).size();
  }

  // Returns it, off by 2^-51 of it.
  double nearly() const { return exact ? approximate(*exact) : std::sqrt(approximate(square)); }
  Real value(int bits) const { return exact ? Real(*exact, bits) : square_root(Real(square, bits)); }

  // Bounds how far its root may be off, relatively.
  double root_error(const Policy& p) const {
    if (root || size == 0) return 0;
    const double unit = is_single ? std::max(p.sum_unit(), 0x1p-24) : p.sum_unit();
    return (is_said ? 2 : 5) * unit + (p.is_fused() ? 0 : p.unit());
  }
};

// A factor and its magnitude in double, 0 where it is no number.
struct Factor {
  Scalar exact;
  double size;

  explicit Factor(const Scalar& of) : exact(of), size(of.is_finite() ? std::abs(of.as_double()) : 0) {}
};

// Multiplies a query by a key, of numbers.
struct Products {
  Dyadic dot;
  double sizes = 0, most_q = 0, most_k = 0;  // of all products; the largest factors
  int least = 0, grid = 0;                   // exponents of the factors and of the products, the smallest
  Int terms = 0;

  // Adds a product to `sum`, of which the dot is made.
  void add(const Factor& of_q, const Factor& of_k, Bins& sum) {
    ++terms;
    const Scalar &q = of_q.exact, &k = of_k.exact;
    for (const Scalar* each : {&q, &k})
      if (!each->is_zero()) least = std::min(least, each->exponent);
    const double size = of_q.size * of_k.size;
    most_q = std::max(most_q, of_q.size);
    most_k = std::max(most_k, of_k.size);
    if (q.is_zero() || k.is_zero()) return;
    const int exponent = q.exponent + k.exponent;
    grid = sizes == 0 ? exponent : std::min(grid, exponent);
    const bool is_exact = std::bit_width(q.significand) + std::bit_width(k.significand) <= 53 && size > 0x1p-1000;
    sizes += is_exact ? size : size_of({abs(q.value() * k.value()), 1});
    sum.add(static_cast<unsigned __int128>(q.significand) * k.significand, exponent, q.negative != k.negative);
  }
};

bool holds(const Format& format, const Ratio& x) {
  const Scalar in_it = rounded(x, format);
  return in_it.is_finite() && ratio(in_it) == x;
}

// Holds a score, and a bias that is added to it.
class Score final : public TreeNode {
 public:
  Score(const Products& of, const Scale& scale, DType type, const Dyadic& bias = {})
      : TreeNode({}),
        of_(of),
        scale_(scale),
        type_(format_of(type)),
        bias_(bias),
        own_(size_of({abs(of.dot), 1}) * scale.size) {}

  double bound(const Policy& p) const override {
    const double of_score = score_error(p);
    if (bias_.is_zero() || (of_score == 0 && fraction() && holds(p.nodes, *fraction()))) return of_score;
    return proven(of_score + rho(p, size() + of_score) + lost(p));
  }

  bool breaks_down(const Policy& p) const override {
    const double off = error(p), least_room = std::max({1.0, scale_.size, std::sqrt(scale_.size)});
    const double most = std::max(
        {size() + off, least_room * of_.most_q, least_room * of_.most_k, of_.sizes * least_room * (1 + 0x1p-6)});
    return !(most < std::ldexp(1.0, p.nodes.max_exponent));
  }

 private:
  std::optional<Ratio> exact() const override {
    if (of_.dot.is_zero()) return Ratio{bias_, 1};
    if (!scale_.exact) return std::nullopt;
    return Ratio{scale_.exact->numerator * of_.dot, scale_.exact->denominator} + Ratio{bias_, 1};
  }
  Near in_double() const override {
    const double dot = approximate({of_.dot, 1}), bias = approximate({bias_, 1}), scaled = dot * scale_.nearly();
    return rounded_once(scaled + bias, std::abs(scaled) * 0x1p-49 + std::abs(bias) * 0x1p-52);
  }
  Real irrational(int bits) const override {
    return scale_.value(bits) * Real(Ratio{of_.dot, 1}, bits) + Real(Ratio{bias_, 1}, bits);
  }

  // Tells whether no order rounds: factors and sums stay on a grid.
  bool collapses(const Policy& p) const {
    if (scale_.size == 0) return true;
    if (!scale_.root || p.input_error > 0 || p.lost_input > 0 || p.flushes || p.nodes.precision < type_.precision)
      return false;
    const int root = *scale_.root, lower = std::min(2 * root, 0);
    const Ratio score{of_.dot * Dyadic::power_of_two(2 * root), 1};
    return of_.least + lower >= p.nodes.smallest_exponent() && of_.grid + lower >= p.working.smallest_exponent() &&
           of_.sizes <= std::ldexp(1.0, of_.grid + p.working.precision) * (1 - 0x1p-40) &&
           holds(p.nodes, {of_.dot, 1}) && holds(p.nodes, score);
  }

  double score_error(const Policy& p) const {
    if (collapses(p)) return 0;
    const auto n = static_cast<double>(of_.terms);
    const double room = std::max(1.0, scale_.size), factors = of_.most_q + of_.most_k;
    const double grown = std::expm1(2 * std::log1p(scale_.root_error(p)) + 2 * std::log1p(p.unit()) +
                                    std::log1p(gamma_of(n + 1, p.sum_unit())) + 2 * std::log1p(p.input_error));
    double off = of_.sizes * scale_.size * grown * raised;
    off += n * p.lost_input * (factors + p.lost_input) * room + 2 * n * lost(p) * (1 + factors) * room;
    return proven(off + 2 * rho(p, own_ + off));
  }

  Products of_;
  Scale scale_;
  Format type_;
  Dyadic bias_;
  double own_;  // the size of the score
};

// Evaluates in f64, whatever what follows is cast to.
class Before final : public TreeNode {
 public:
  explicit Before(const Tree& of) : TreeNode({of}, of->fraction()) {}
  double bound(const Policy& p) const override { return operands_[0]->error(outside(p)); }
  bool breaks_down(const Policy& p) const override { return operands_[0]->breaks_down(outside(p)); }

 private:
  static Policy outside(Policy p) {
    if (p.input_error > 0) return p;  // f64 is computed in f32
    p.working = p.nodes = format_of(DType::f64);
    p.arithmetic.tell_apart(1);
    return p;
  }
};

// -- extents

struct Heads {
  Int batches = 0, q_heads = 0, kv_heads = 0, queries = 0, keys = 0, past = 0, size = 0, v_size = 0;
  bool is_flat = false;

  explicit Heads(const Call& call) {
    const Shape &q = call.shape("Q"), &k = call.shape("K"), &v = call.shape("V");
    is_flat = q.size() == 3;
    batches = q[0];
    q_heads = is_flat ? call.integer("q_num_heads") : q[1];
    kv_heads = is_flat ? call.integer("kv_num_heads") : k[1];
    queries = q[is_flat ? 1 : 2];
    keys = k[is_flat ? 1 : 2];
    size = is_flat ? q[2] / q_heads : q[3];
    v_size = is_flat ? v[2] / kv_heads : v[3];
    if (call.has("past_key")) past = call.shape("past_key")[2];
  }

  Int total() const { return past + keys; }
  Int shared(Int head) const { return head * kv_heads / q_heads; }
  // Returns where the parts of a head of Q, or of Y, begin.
  Int place(Int b, Int h, Int i, Int width) const {
    return (is_flat ? (b * queries + i) * q_heads + h : (b * q_heads + h) * queries + i) * width;
  }
  Shape of_y() const {
    return is_flat ? Shape{batches, queries, q_heads * v_size} : Shape{batches, q_heads, queries, v_size};
  }
};

// Finds keys, or values, of the past and of now.
struct Cached {
  std::optional<Cells> past, now;

  std::pair<const Cells*, Int> find(const Heads& of, Int b, Int head, Int j, Int part) const {
    const Int width = past ? past->shape()[3] : of.is_flat ? now->shape()[2] / of.kv_heads : now->shape()[3];
    if (j < of.past) return {&*past, ((b * of.kv_heads + head) * of.past + j) * width + part};
    const Int own = j - of.past;
    const Int token = of.is_flat ? (b * of.keys + own) * of.kv_heads + head : (b * of.kv_heads + head) * of.keys + own;
    return {&*now, token * width + part};
  }
  Scalar at(const Heads& of, Int b, Int head, Int j, Int part) const {
    const auto [cells, place] = find(of, b, head, j, part);
    return cells->at(place);
  }
};

// -- rows

// Holds a number, NaN or an infinity, or what may be anything.
struct Quantity {
  Tree tree;
  Scalar special{};  // where there is no tree; finite: anything
  bool is_nan() const { return !tree && oracles::is_nan(special); }
  bool is_lowest() const { return !tree && is_infinite(special) && special.negative; }
  bool is_open() const { return !tree && special.is_finite(); }
};

constexpr Int most_kept = 1 << 16;  // keys of rows

struct Key {
  Quantity score, capped, logit;  // the logit of one that is not hidden
  bool is_hidden = false;         // its bias is -inf
  bool may_be_nan = false;        // of one that is hidden: the score may be NaN or +inf
  bool is_computed = false;       // the score, of
  Dyadic dot, bias;

  // Tells whether the logits are one number; others may be so too.
  bool is_like(const Key& other) const {
    return logit.tree && other.logit.tree && is_computed && other.is_computed && dot == other.dot && bias == other.bias;
  }
};

// Gathers what there is to know of one query of one head.
struct Row {
  std::vector<Key> keys;
  bool is_masked = true;   // every key is hidden
  bool may_spoil = false;  // a hidden score may make NaN of all
  bool is_nan = false, is_open = false;
  std::vector<Logit> logits;  // where there is a number, and nothing else spoils the row

  // Returns the shares of the keys; in double, for the filter.
  const Exponentials& shares(bool in_double) const {
    std::optional<Exponentials>& known = in_double ? in_double_ : exactly_;
    if (!known) known.emplace(logits, in_double);
    return *known;
  }

 private:
  mutable std::optional<Exponentials> exactly_, in_double_;
};

class Attending {
 public:
  Attending(const Call& call, const Operands& given, const Readings& readings)
      : heads(call), type(given[0]->dtype()), call_(call), readings_(readings), scale_(scale_of(call, heads.size)) {
    Operands in = given;
    in.resize(7);
    q_.emplace(*in[0]);
    k.now.emplace(*in[1]);
    v.now.emplace(*in[2]);
    if (in[3]) mask_.emplace(*in[3]);
    if (in[4]) k.past.emplace(*in[4]);
    if (in[5]) v.past.emplace(*in[5]);
    if (in[6]) counts_.emplace(*in[6]);
    if (type == DType::f64 && !scale_.root && scale_.size > 0) scale_.is_single = reads("N67", "f32-body");
    if (call.states("softmax_precision")) precision_ = *type_named_by(call, "softmax_precision");
  }

  bool reads(std::string_view ruling, std::string_view reading) const { return readings_.of(ruling) == reading; }

  // Returns what there is to know of a query, until the next one is asked for.
  const Row& row(Int b, Int h, Int i) const {
    const Int number = (b * heads.q_heads + h) * heads.queries + i;
    const auto known = rows_.find(number);
    if (known != rows_.end()) return known->second;
    if (std::ssize(rows_) * heads.total() > most_kept) rows_.clear();
    return rows_.emplace(number, made_row(b, h, i)).first->second;
  }

  // Tells whether the logit of a key that is not hidden may overflow.
  bool may_overflow(const Row& row) const {
    return std::ranges::any_of(row.keys, [&](const Key& key) { return key.logit.tree && overflows(key.logit.tree); });
  }

  // Evaluates what is made of the shares as softmax_precision says.
  Tree in_precision(std::unique_ptr<Expression> of) const {
    Tree tree = leaf(std::move(of));
    return precision_ && (is_narrow(type) || is_below(*precision_)) ? in_format(tree, *precision_) : tree;
  }

  void each_factor(Int b, Int h, Int i, Int j, auto&& f) const {
    for (Int part = 0; part < heads.size; ++part)
      f(q_->at(heads.place(b, h, i, heads.size) + part), k.at(heads, b, heads.shared(h), j, part));
  }

  // Returns one part of the values of all keys of a head.
  const std::shared_ptr<const MeanOperands>& values_of(Int b, Int head, Int part) const {
    const Int number = b * heads.kv_heads + head;
    if (taken_values_.number != number) {
      taken_values_ = {number, {}};
      for (Int each = 0; each < heads.v_size; ++each) {
        std::vector<Scalar> all;
        for (Int j = 0; j < heads.total(); ++j) all.push_back(v.at(heads, b, head, j, each));
        taken_values_.parts.push_back(std::make_shared<const MeanOperands>(std::move(all)));
      }
    }
    return taken_values_.parts[sized(part)];
  }

  Heads heads;
  DType type;
  Cached k, v;

 private:
  static bool is_narrow(DType type) { return type == DType::f16 || type == DType::bf16; }
  // Tells whether it is narrower than what this type is worked in.
  bool is_below(DType precision) const {
    const DType working = type == DType::f64 ? DType::f64 : DType::f32;
    return format_of(precision).precision < format_of(working).precision;
  }

  static Scale scale_of(const Call& call, Int n) {
    return call.states("scale") ? Scale(scalar_of(static_cast<double>(call.real("scale")))) : Scale(n);
  }

  // -- bias

  Int position(Int b, Int i) const {
    if (counts_) {
      const bool is_first = call_.integer("is_causal") != 0 && reads("N45", "pre-errata");
      return is_first ? i : i + counts_->at(b).as_integer() - heads.queries;
    }
    const bool may_end = v.past && heads.keys != heads.queries;
    return may_end && reads("N20", "bottom-right-total") ? i + heads.total() - heads.queries : i + heads.past;
  }

  bool is_causal() const {
    const Int flag = call_.integer("is_causal");
    return flag == 1 || (flag != 0 && !reads("N42", "only-one"));
  }

  bool is_outside(Int b, Int i, Int j) const {
    if (counts_ && j >= counts_->at(b).as_integer()) return true;
    if (is_causal() && j > position(b, i)) return true;
    if (!call_.definition().attribute("left_window_size")) return false;
    const Int left = call_.integer("left_window_size"), right = call_.integer("right_window_size");
    return (left >= 0 && j < position(b, i) - left) || (right >= 0 && j > position(b, i) + right);
  }

  // Returns the element of the mask; -inf behind one that is short.
  Scalar of_mask(const Shape& at) const {
    if (!mask_) return {};
    const Shape& shape = mask_->shape();
    if (shape.back() < heads.total()) {
      const bool knows_short = call_.definition().input("nonpad_kv_seqlen") != nullptr;
      const bool repeats = shape.back() == 1 && (knows_short ? reads("N66", "broadcast") : !reads("N39", "pad"));
      if (!repeats && at[3] >= shape.back()) return infinity(true);
    }
    Int place = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      place = place * shape[axis] + (shape[axis] == 1 ? 0 : at[4 - shape.size() + axis]);
    const Scalar said = mask_->at(place);
    const DType own = mask_->tensor().dtype();
    if (own == DType::boolean) return said.is_zero() ? infinity(true) : Scalar();
    return own == type || !said.is_finite() ? said : rounded(ratio(said), format_of(type));
  }

  // -- one row

  // Keeps what was read last of a query, or of all keys of a head.
  struct Taken {
    Int number = -1;
    std::vector<Factor> all;
  };
  struct TakenValues {
    Int number = -1;
    std::vector<std::shared_ptr<const MeanOperands>> parts;
  };
  const std::vector<Factor>& query(Int b, Int h, Int i) const {
    const Int place = heads.place(b, h, i, heads.size);
    if (taken_query_.number == place) return taken_query_.all;
    taken_query_ = {place, {}};
    for (Int part = 0; part < heads.size; ++part) taken_query_.all.emplace_back(q_->at(place + part));
    return taken_query_.all;
  }
  const std::vector<Factor>& keys_of(Int b, Int head) const {
    const Int number = b * heads.kv_heads + head;
    if (taken_keys_.number == number) return taken_keys_.all;
    taken_keys_ = {number, {}};
    for (Int j = 0; j < heads.total(); ++j)
      for (Int part = 0; part < heads.size; ++part) taken_keys_.all.emplace_back(k.at(heads, b, head, j, part));
    return taken_keys_.all;
  }

  Quantity score(Int b, Int h, Int i, Int j, Products& products) const {
    bool has_nan = false, has_least = false, has_most = false, is_open = false;
    const double least = std::ldexp(1.0, format_of(type).min_exponent) / std::min(1.0, scale_.size);
    Bins sum;
    const std::vector<Factor>&q = query(b, h, i), &keys = keys_of(b, heads.shared(h));
    for (std::size_t part = 0; part < q.size(); ++part) {
      const Factor &of_q = q[part], &of_k = keys[sized(j) * q.size() + part];
      const Scalar &x = of_q.exact, &y = of_k.exact;
      if (x.is_finite() && y.is_finite()) {
        products.add(of_q, of_k, sum);
        continue;
      }
      const bool is_negative = x.negative != y.negative;
      has_nan |= oracles::is_nan(x) || oracles::is_nan(y) || x.is_zero() || y.is_zero();
      for (const Scalar* each : {&x, &y})  // which may vanish first
        is_open |= each->is_finite() && !each->is_zero() && std::abs(each->as_double()) < least;
      (is_negative ? has_least : has_most) = true;
    }
    products.dot = sum.sum();
    if (!has_nan && !has_least && !has_most) return {std::make_shared<Score>(products, scale_, type)};
    if (has_nan || (has_least && has_most) || scale_.size == 0) return {nullptr, nan()};
    if (is_open || products.sizes > 0x1p14) return {};
    return {nullptr, infinity(has_least)};
  }

  Quantity capped(const Quantity& score, const Scalar& cap) const {
    if (cap.is_zero()) return score;
    if (score.tree) {
      const Tree bent = function_of(Function::tanh, score.tree / operand(cap));
      return {operand(cap) * cast(bent, type)};
    }
    if (!is_infinite(score.special)) return score;
    return {operand(score.special.negative ? negated(cap) : cap)};
  }

  Row made_row(Int b, Int h, Int i) const {
    Row out;
    for (Int j = 0; j < heads.total(); ++j) add_key(out, {b, h, i, j});
    add_shares(out);
    return out;
  }

  void add_key(Row& row, const Shape& at) const {
    Key key;
    Products products;
    const Scalar cap = scalar_of(static_cast<double>(call_.real("softcap"))), bias = of_mask(at);
    key.score = score(at[0], at[1], at[2], at[3], products);
    key.capped = capped(key.score, cap);
    key.is_computed = key.score.tree != nullptr;
    key.dot = products.dot;
    if (bias.is_finite()) key.bias = bias.value();
    const bool is_out = is_outside(at[0], at[2], at[3]), is_lowest = is_infinite(bias) && bias.negative;
    key.is_hidden = is_out || is_lowest;
    row.is_open |= is_out && !bias.is_finite() && !is_lowest;  // NaN, or inf - inf
    if (key.is_hidden) {
      key.may_be_nan = key.capped.tree ? overflows(key.capped.tree) : !key.capped.is_lowest();
      row.may_spoil |= key.may_be_nan;
    } else {
      row.is_masked = false;
      key.logit = biased(key, bias, products, cap.is_zero());
      row.is_nan |= key.logit.is_nan() || (is_infinite(key.logit.special) && !key.logit.is_lowest());
      row.is_open |= key.logit.is_open();
    }
    row.keys.push_back(std::move(key));
  }

  bool overflows(const Tree& tree) const {
    return std::ranges::any_of(required_policies(type), [&](const Policy& p) { return tree->breaks_down(p); });
  }

  Quantity biased(const Key& key, const Scalar& bias, const Products& products, bool is_plain) const {
    if (!bias.is_finite()) {
      const bool meets = key.capped.is_lowest() || key.capped.is_nan() || oracles::is_nan(bias);
      return key.capped.is_open() ? key.capped : Quantity{nullptr, meets ? nan() : bias};
    }
    if (bias.is_zero() || !key.capped.tree) return key.capped;
    if (is_plain) return {std::make_shared<Score>(products, scale_, type, bias.value())};
    return {key.capped.tree + operand(bias)};
  }

  void add_shares(Row& row) const {
    std::vector<Logit> logits;
    bool has_number = false;
    std::unordered_multimap<double, std::size_t> seen;  // by what the dots are, about
    for (const Key& each : row.keys) {
      const std::size_t own = logits.size();
      const double about = approximate({each.dot, 1});
      const auto [first, last] = seen.equal_range(about);
      const auto like =
          std::find_if(first, last, [&](const auto& other) { return each.is_like(row.keys[other.second]); });
      logits.push_back({each.logit.tree, like == last ? own : like->second});
      if (like == last) seen.emplace(about, own);
      has_number |= each.logit.tree != nullptr;
      if (!each.logit.tree || !precision_) continue;
      Tree& tree = logits.back().tree;
      tree = type == DType::f64 ? std::make_shared<Before>(tree) : in_format(tree, type);
      if (is_below(*precision_) && *precision_ != type) tree = cast(tree, *precision_);
      row.is_open |= !(tree->size() < std::ldexp(0.5, format_of(*precision_).max_exponent));
    }
    if (has_number && !row.is_nan && !row.is_open) row.logits = std::move(logits);
  }

  Call call_;
  Readings readings_;
  Scale scale_;
  std::optional<DType> precision_;
  std::optional<Cells> q_, mask_, counts_;
  mutable std::map<Int, Row> rows_;
  mutable Taken taken_query_, taken_keys_;
  mutable TakenValues taken_values_;
};

// -- outputs

// Holds an element that needs no rounding, or what is computed; NaN may come in its place.
struct Said {
  Said(Element of) : element(std::move(of)) {}
  Said(Tree of) : tree(std::move(of)) {}
  std::optional<Element> element;
  Tree tree;
  bool may_be_nan = false;
};

class AttentionAnswer : public Answer {
 public:
  AttentionAnswer(DType dtype, std::shared_ptr<const Attending> of, const Arithmetic& declared)
      : of_(std::move(of)), dtype_(dtype), declared_(declared) {}

  DType dtype() const final { return dtype_; }
  Element element(Int index) const final {
    const Said said = said_of(index, false);
    Element out = said.tree ? computed(*said.tree, dtype_) : *said.element;
    if (said.may_be_nan && out.kind != Kind::unscored) out.nan_admitted = "N68";
    out.terms = of_->heads.size + of_->heads.total();
    return out;
  }
  // Tells readings apart by what double knows of a value and by its bound, a tenth of the time that enclosing it takes.
  Element decided(Int index) const final {
    const Said said = said_of(index, true);
    if (!said.tree) return *said.element;
    const Near near = said.tree->near();
    const std::optional<double> error = required_error(*said.tree, required_policies(dtype_));
    if (std::isnan(near.value) || !error || !std::isfinite(*error)) return element(index);
    Element out;
    out.value = ratio(scalar_of(near.value));
    out.required.budget = ratio(scalar_of(*error));
    return out;
  }
  std::optional<FilterResult> screen(const Tensor& got, const FilterOptions& how) const final {
    const auto tree_at = [&](Int index) -> std::shared_ptr<const Expression> {
      const Said said = said_of(index, true);
      return said.may_be_nan ? nullptr : said.tree;
    };
    return screened(tree_at, got, how);
  }
  std::vector<Tolerance> wider(Int index) const final {
    const Said said = said_of(index, false);
    if (said.tree) return tolerances(*said.tree, element(index), dtype_, declared_);
    return wider_of_copies(*said.element, dtype_);
  }

 protected:
  virtual Said said_of(Int index, bool in_double) const = 0;  // in double: for the filter

  Said zero_of_masked() const { return exactly(of_->reads("N45", "pre-errata") ? nan() : Scalar(), dtype_); }
  Said unsettled() const { return unscored("a score that is NaN, infinite or beyond the type"); }
  std::vector<ProofTerm> factors(Int b, Int h, Int i, Int j) const {
    std::vector<ProofTerm> all;
    of_->each_factor(b, h, i, j, [&](const Scalar& x, const Scalar& y) {
      all.push_back({{hexadecimal(x), hexadecimal(y)}, "Q and K of key " + std::to_string(j)});
    });
    return all;
  }

  std::shared_ptr<const Attending> of_;

 private:
  DType dtype_;
  Arithmetic declared_;
};

// Answers Y.
class Attended final : public AttentionAnswer {
 public:
  using AttentionAnswer::AttentionAnswer;

  Shape shape() const override { return of_->heads.of_y(); }
  std::vector<ProofTerm> taps(Int index) const override {
    const At at = at_of(index);
    std::vector<ProofTerm> all;
    for (Int j = 0; j < of_->heads.total(); ++j) {
      std::ranges::move(factors(at.b, at.h, at.i, j), std::back_inserter(all));
      all.push_back({{hexadecimal(value(at, j))}, "V of key " + std::to_string(j)});
    }
    return all;
  }

 private:
  struct At {
    Int b, h, i, part;
  };
  At at_of(Int index) const {
    const Heads& heads = of_->heads;
    const Int part = index % heads.v_size, line = index / heads.v_size;
    if (heads.is_flat)
      return {line / heads.q_heads / heads.queries, line % heads.q_heads, line / heads.q_heads % heads.queries, part};
    return {line / heads.queries / heads.q_heads, line / heads.queries % heads.q_heads, line % heads.queries, part};
  }
  Scalar value(const At& at, Int j) const { return of_->v.at(of_->heads, at.b, of_->heads.shared(at.h), j, at.part); }

  Said said_of(Int index, bool in_double) const override {
    const At at = at_of(index);
    const Row& row = of_->row(at.b, at.h, at.i);
    const std::shared_ptr<const MeanOperands>& v = of_->values_of(at.b, of_->heads.shared(at.h), at.part);
    if (row.is_open) return unsettled();
    if (row.is_masked && std::ranges::all_of(v->exact, &Scalar::is_finite)) return zero_of_masked();
    if (row.is_masked) return one_of("N68", {nan(), Scalar()});
    if (row.is_nan) return exactly(nan(), dtype());
    if (row.logits.empty()) return one_of("N26", {nan(), Scalar()});
    return weighed(row, v, in_double);
  }

  Said weighed(const Row& row, const std::shared_ptr<const MeanOperands>& operands, bool in_double) const {
    const std::vector<Scalar>& v = operands->exact;
    bool may_be_nan = row.may_spoil, has_nan = false, has_least = false, has_most = false;
    double sizes = 0;
    for (std::size_t j = 0; j < v.size(); ++j) {
      if (v[j].is_finite()) {
        sizes += std::abs(v[j].as_double());
        continue;
      }
      if (!row.keys[j].logit.tree) {
        may_be_nan = true;
        continue;
      }
      has_nan |= is_nan(v[j]);
      (v[j].negative ? has_least : has_most) |= is_infinite(v[j]);
      if (!is_nan(v[j]) && !weighs(row, j)) return unscored("an infinity whose weight may vanish");
    }
    if ((has_least || has_most) && !(sizes < summable(dtype())))
      return unscored("an infinity beside what may overflow");
    Said out = has_nan || (has_least && has_most) ? Said(exactly(nan(), dtype()))
               : has_least || has_most            ? Said(exactly(infinity(has_least), dtype()))
                                       : Said(of_->in_precision(row.shares(in_double).mean(operands, of_->type)));
    out.may_be_nan = may_be_nan;
    return out;
  }

  // Tells whether the share of a key stays away from 0.
  bool weighs(const Row& row, std::size_t j) const {
    const Element share = computed(*of_->in_precision(row.shares(false).share(static_cast<Int>(j))), dtype());
    const Ratio least{Dyadic::power_of_two(-10), 1};
    return share.kind == Kind::finite && share.value - share.required.budget > least;
  }
};

// Answers qk_matmul_output.
class Scored final : public AttentionAnswer {
 public:
  Scored(DType dtype, std::shared_ptr<const Attending> of, const Arithmetic& declared, Int mode)
      : AttentionAnswer(dtype, std::move(of), declared), mode_(mode) {}

  Shape shape() const override {
    return {of_->heads.batches, of_->heads.q_heads, of_->heads.queries, of_->heads.total()};
  }
  std::vector<ProofTerm> taps(Int index) const override {
    const Shape at = position(shape(), index);
    return factors(at[0], at[1], at[2], at[3]);
  }

 private:
  Said said_of(Int index, bool in_double) const override {
    const Shape at = position(shape(), index);
    const Row& row = of_->row(at[0], at[1], at[2]);
    const Key& key = row.keys[sized(at[3])];
    if (mode_ == 0) return said_as(key.score);
    if (mode_ == 1) return said_as(key.capped);
    return mode_ == 2 ? with_bias(row, key) : share(row, key, at[3], in_double);
  }

  Said said_as(const Quantity& of) const {
    if (of.tree) return of.tree;
    return of.is_open() ? unsettled() : Said(exactly(of.special, dtype()));
  }

  Said with_bias(const Row& row, const Key& key) const {
    if (!key.is_hidden) return said_as(key.logit);
    if (row.is_open) return unsettled();
    Said out = of_->reads("N31", "lowest") ? with_lowest(key) : Said(exactly(infinity(true), dtype()));
    out.may_be_nan = key.may_be_nan;
    return out;
  }

  // Admits the lowest number, to which the score may be added, or another.
  Said with_lowest(const Key& key) const {
    const Scalar lowest = lowest_of(dtype());
    Element out = exactly(lowest, dtype());
    const double twice = key.capped.tree ? 2 * key.capped.tree->size() : HUGE_VAL;
    if (!std::isfinite(twice)) return unsettled();
    out.required.budget = budget_of(twice, abs(Ratio{lowest.value(), 1}));
    return out;
  }

  Said share(const Row& row, const Key& key, Int j, bool in_double) const {
    if (row.is_open) return unsettled();
    if (row.is_masked) return zero_of_masked();
    if (row.is_nan)
      return key.logit.tree || key.is_hidden || key.logit.is_lowest() ? unsettled() : exactly(nan(), dtype());
    if (row.logits.empty()) return one_of("N26", {nan(), Scalar()});
    if (!key.logit.tree && of_->may_overflow(row)) return unsettled();
    Said out =
        key.logit.tree ? Said(of_->in_precision(row.shares(in_double).share(j))) : Said(exactly(Scalar(), dtype()));
    out.may_be_nan = row.may_spoil;
    return out;
  }

  Int mode_;
};

// Answers present_key and present_value, which are copies.
class Present final : public AttentionAnswer {
 public:
  Present(DType dtype, std::shared_ptr<const Attending> of, const Arithmetic& declared, bool is_of_keys)
      : AttentionAnswer(dtype, std::move(of), declared), is_of_keys_(is_of_keys) {}

  Shape shape() const override {
    const Heads& heads = of_->heads;
    return {heads.batches, heads.kv_heads, heads.total(), is_of_keys_ ? heads.size : heads.v_size};
  }
  std::pair<const Tensor*, Int> copied(Int index) const override {
    const Shape at = position(shape(), index);
    const auto [cells, place] = (is_of_keys_ ? of_->k : of_->v).find(of_->heads, at[0], at[1], at[2], at[3]);
    return {&cells->tensor(), place};
  }
  std::vector<ProofTerm> taps(Int index) const override {
    const auto [tensor, place] = copied(index);
    return {{{hexadecimal(scalar(*tensor, place))}, "what is cached"}};
  }

 private:
  Said said_of(Int index, bool) const override {
    const auto [tensor, place] = copied(index);
    return exactly(scalar(*tensor, place), dtype());
  }

  bool is_of_keys_;
};

Answers answers(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
  const auto of = std::make_shared<const Attending>(call, in, readings);
  const DType type = in[0]->dtype(), type_of_v = in[2]->dtype();
  Answers all;
  all.push_back(std::make_unique<Attended>(type, of, declared));
  if (call.requests("present_key")) all.push_back(std::make_unique<Present>(type, of, declared, true));
  if (call.requests("present_value")) all.push_back(std::make_unique<Present>(type_of_v, of, declared, false));
  if (call.requests("qk_matmul_output"))
    all.push_back(std::make_unique<Scored>(type, of, declared, call.integer("qk_matmul_output_mode")));
  return all;
}

// Returns none where a reading turns the model away.
std::optional<Shape> shape(const Call& call, const Readings& readings) {
  const Heads heads(call);
  const auto turns_away = [&](const char* ruling) { return readings.of(ruling) == "refuse"; };
  const bool keeps_less = call.has("past_key") && !call.requests("present_key");
  if ((call.type("Q").dtype != call.type("V").dtype && turns_away("N40")) ||
      (call.states("scale") && call.real("scale") == 0 && turns_away("N61")) || (keeps_less && turns_away("N63")) ||
      (call.has("attn_mask") && call.rank("attn_mask") == 1 && turns_away("N64")) ||
      (heads.total() == 0 && turns_away("N65")))
    return std::nullopt;
  return heads.of_y();
}

}  // namespace

Oracle attention() { return with_touched({answers, shape, {}}); }

}  // namespace assay::oracles
