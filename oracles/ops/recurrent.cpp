// SPDX-License-Identifier: Apache-2.0
// The exact answers of RNN, GRU and LSTM, step by step (reductions 3.6, 7): a legitimate backend computes a step of its
// own state, which Y tells but for the digits it may have kept. So each step is held against the state that was
// returned before, and an error does not grow along a sequence; where Y is not asked for it does. The cell of an LSTM
// is carried along. Dots are of any order; in a narrow type what comes of X, the cell and the state may be rounded to
// it.
#include "oracles/exact/composite.h"
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <map>
#include <memory>

namespace assay::oracles {
namespace {

std::size_t at(Int i) { return static_cast<std::size_t>(i); }

// -- activations

enum class Form { relu, tanh, sigmoid, affine, leaky, thresholded, scaled_tanh, hard_sigmoid, elu, softsign, softplus };

struct Known {
  std::string_view name;
  Form form;
  int parameters;             // none, alpha, or alpha and beta
  float alpha = 0, beta = 0;  // of the operator of that name
  bool has_defaults = true;
};
constexpr Known known_forms[] = {{"Relu", Form::relu, 0},
                                 {"Tanh", Form::tanh, 0},
                                 {"Sigmoid", Form::sigmoid, 0},
                                 {"Affine", Form::affine, 2, 0, 0, false},
                                 {"LeakyRelu", Form::leaky, 1, 0.01F},
                                 {"ThresholdedRelu", Form::thresholded, 1, 1},
                                 {"ScaledTanh", Form::scaled_tanh, 2, 0, 0, false},
                                 {"HardSigmoid", Form::hard_sigmoid, 2, 0.2F, 0.5F},
                                 {"Elu", Form::elu, 1, 1},
                                 {"Softsign", Form::softsign, 0},
                                 {"Softplus", Form::softplus, 0}};

const Known& known(const std::string& name) {
  return *std::ranges::find(known_forms, std::string_view(name), &Known::name);
}

struct Chosen {
  Form form;
  Scalar alpha, beta;
  bool is_said = true;  // its parameters
};

struct Shares {
  int gates, functions;  // of a direction
};
Shares shares(const Call& call) {
  const std::string& name = call.definition().version.name;
  if (name == "RNN") return {1, 1};
  return name == "GRU" ? Shares{3, 2} : Shares{4, 3};
}

bool is_set(const Call& call, const Readings& readings, const char* flag) {
  if (!call.definition().attribute(flag)) return false;
  const Int value = call.integer(flag);
  return value == 1 || (value != 0 && readings.of("N42") != "only-one");
}

Texts chosen_names(const Call& call) {
  if (call.states("activations")) return call.texts("activations");
  const Texts of_one = shares(call).gates == 1   ? Texts{"Tanh"}
                       : shares(call).gates == 3 ? Texts{"Sigmoid", "Tanh"}
                                                 : Texts{"Sigmoid", "Tanh", "Tanh"};
  Texts all = of_one;
  if (call.text("direction") == "bidirectional") all.insert(all.end(), of_one.begin(), of_one.end());
  return all;
}

// The parameters that are next in their lists, or those that stand where the activation does (N15).
std::vector<Chosen> chosen(const Call& call, const Readings& readings) {
  const Reals alphas = call.states("activation_alpha") ? call.reals("activation_alpha") : Reals{};
  const Reals betas = call.states("activation_beta") ? call.reals("activation_beta") : Reals{};
  const bool by_place = (!alphas.empty() || !betas.empty()) && readings.of("N15") == "positional";
  std::vector<Chosen> all;
  std::size_t next[2] = {0, 0};
  for (const std::string& name : chosen_names(call)) {
    const Known& of = known(name);
    Chosen one{of.form, {}, {}};
    for (int k = 0; k < of.parameters; ++k) {
      const Reals& list = k == 0 ? alphas : betas;
      const std::size_t from = by_place ? all.size() : next[k]++;
      const bool is_listed = from < list.size();
      one.is_said = one.is_said && (is_listed || of.has_defaults);
      (k == 0 ? one.alpha : one.beta) = scalar_of(static_cast<double>(is_listed ? list[from]
                                                                      : k == 0  ? of.alpha
                                                                                : of.beta));
    }
    all.push_back(one);
  }
  return all;
}

Tree activated(const Chosen& f, const Tree& x) {
  const Scalar zero{}, one = scalar(Int{1});
  switch (f.form) {
    case Form::relu: return clamped(x, zero, std::nullopt);
    case Form::tanh: return function_of(Function::tanh, x);
    case Form::sigmoid: return function_of(Function::sigmoid, x);
    case Form::affine: return sum_of({operand(f.alpha) * x, operand(f.beta)});
    case Form::leaky: return leaky(x, f.alpha);
    case Form::thresholded: return thresholded(x, f.alpha);
    case Form::scaled_tanh: return operand(f.alpha) * function_of(Function::tanh, operand(f.beta) * x);
    case Form::hard_sigmoid: return clamped(sum_of({operand(f.alpha) * x, operand(f.beta)}), zero, one);
    case Form::elu: return exponential_unit(x, f.alpha);
    case Form::softsign: return function_of(Function::softsign, x);
    case Form::softplus: return function_of(Function::softplus, x);
  }
  throw BrokenPromise("an activation of no form");
}

// -- numbers, and what is none

// A tree, an infinity or NaN, or what may be anything.
struct Quantity {
  Tree tree = nullptr;
  Scalar special = {};      // where there is no tree; finite: anything
  bool is_operand = false;  // as it was given, so that a zero is one

  Quantity(Tree of) : tree(std::move(of)) {}
  explicit Quantity(const Scalar& given) : is_operand(true) {
    if (given.is_finite())
      tree = operand(given);
    else
      special = given;
  }
  static Quantity none(const Scalar& special) {
    Quantity out(special);
    out.tree = nullptr;
    return out;
  }
  bool is_nan() const { return !tree && oracles::is_nan(special); }
  bool is_infinite() const { return !tree && oracles::is_infinite(special); }
};
const Scalar anything{};

using Row = std::vector<Quantity>;

// What is computed of numbers: NaN of NaN, of infinities anything.
template <class F, class... All>
Quantity of_numbers(F f, const All&... all) {
  if ((... && all.tree)) return f(all.tree...);
  return Quantity::none((... || all.is_nan()) ? nan() : anything);
}

Quantity operator*(const Quantity& a, const Quantity& b) {
  if (!a.is_infinite() && !b.is_infinite()) return of_numbers([](const Tree& x, const Tree& y) { return x * y; }, a, b);
  const Quantity &of = a.is_infinite() ? a : b, &by = a.is_infinite() ? b : a;
  if (by.is_nan()) return by;
  if (by.is_infinite()) return Quantity::none(infinity(of.special.negative != by.special.negative));
  if (!by.is_operand || !by.tree) return Quantity::none(anything);
  const Dyadic value = by.tree->fraction()->numerator;
  const bool may_vanish = !value.is_zero() && abs(value) < Dyadic::power_of_two(format_of(DType::f16).min_exponent);
  if (may_vanish) return Quantity::none(anything);  // a subnormal number, which is flushed
  return Quantity::none(value.is_zero() ? nan() : infinity(of.special.negative != (value < Dyadic{})));
}

Quantity total_of(const Row& terms) {
  bool has_nan = false, has_least = false, has_most = false, is_open = false;
  double sizes = 0;
  std::vector<Tree> trees;
  for (const Quantity& each : terms) {
    has_nan |= each.is_nan();
    has_least |= each.is_infinite() && each.special.negative;
    has_most |= each.is_infinite() && !each.special.negative;
    is_open |= !each.tree && each.special.is_finite();
    if (!each.tree) continue;
    trees.push_back(each.tree);
    sizes += each.tree->size();
  }
  if (has_nan) return Quantity::none(nan());
  if (trees.size() == terms.size()) return sum_of(std::move(trees));
  if (is_open || sizes > 0x1p14) return Quantity::none(anything);
  return Quantity::none(has_least && has_most ? nan() : infinity(has_least));
}

// Of NaN maxima and comparisons may give anything, and so may softsign of an infinity.
Quantity activated(const Chosen& f, const Quantity& x) {
  if (x.tree) return activated(f, x.tree);
  const bool selects = f.form == Form::relu || f.form == Form::leaky || f.form == Form::thresholded ||
                       f.form == Form::hard_sigmoid || f.form == Form::elu;
  if (x.is_nan()) return Quantity::none(selects ? anything : nan());
  if (!x.is_infinite()) return x;
  const bool is_least = x.special.negative;
  const Scalar far = scalar(Int{is_least ? -64 : 64});  // where both are as good as their limits
  if (f.form == Form::tanh || f.form == Form::sigmoid) return activated(f, operand(far));
  if (f.form == Form::affine && !f.alpha.is_zero()) return Quantity::none(infinity(is_least != f.alpha.negative));
  if (is_least) return f.form == Form::relu ? Quantity(operand(Scalar())) : Quantity::none(anything);
  const bool rises = f.form == Form::relu || f.form == Form::leaky || f.form == Form::thresholded ||
                     f.form == Form::elu || f.form == Form::softplus;
  return Quantity::none(rises ? infinity() : anything);
}

// -- the layer

struct After {
  Row h, c;
};

class Recurrence {
 public:
  Recurrence(const Call& call, const Operands& in, const Readings& readings, const std::vector<Tensor>& got)
      : call_(call), readings_(readings), type_(in[0]->dtype()) {
    for (const std::optional<Tensor>& each : in) in_.push_back(each ? std::optional<Cells>(*each) : std::nullopt);
    in_.resize(8);
    is_batch_first = is_set(call, readings, "layout");
    const Shape& x = in_[0]->shape();
    steps = x[is_batch_first ? 1 : 0];
    batches = x[is_batch_first ? 0 : 1];
    inputs = x[2];
    hidden = in_[2]->shape()[2];
    directions = in_[2]->shape()[0];
    gates_ = shares(call).gates;
    functions_ = chosen(call, readings);
    lbr_ = is_set(call, readings, "linear_before_reset");
    is_coupled_ = is_set(call, readings, "input_forget");
    if (!got.empty() && call.requests("Y")) returned_.emplace(got.front());
    if (!call.states("clip")) return;
    const float clip = call.real("clip");
    if (clip == 0 && readings.of("N17") == "no-clip") return;
    clip_ = scalar_of(static_cast<double>(clip));
    clips_all_ = gates_ == 4 && readings.of("N16") == "all-activations";
  }

  Int length(Int n) const { return in_[4] ? in_[4]->at(n).as_integer() : steps; }
  // The time of a direction's k-th step.
  Int time(Int d, Int n, Int k) const {
    const bool is_reverse = d == 1 || call_.text("direction") == "reverse";
    return is_reverse ? length(n) - 1 - k : k;
  }
  Int place_in_y(Int t, Int d, Int n) const {
    return (is_batch_first ? (n * steps + t) * directions + d : (t * directions + d) * batches + n) * hidden;
  }
  Int place_of_state(Int d, Int n) const { return (is_batch_first ? n * directions + d : d * batches + n) * hidden; }

  Scalar initial(std::size_t input, Int d, Int n, Int j) const {
    return in_[input] ? in_[input]->at(place_of_state(d, n) + j) : Scalar();
  }
  std::optional<Scalar> returned(Int t, Int d, Int n, Int j) const {
    return returned_ ? std::optional(returned_->at(place_in_y(t, d, n) + j)) : std::nullopt;
  }
  bool is_said() const { return std::ranges::all_of(functions_, &Chosen::is_said); }
  Scalar x(Int t, Int n, Int i) const {
    return in_[0]->at((is_batch_first ? n * steps + t : t * batches + n) * inputs + i);
  }

  const After& after(Int d, Int n, Int k) const {
    std::vector<After>& all = known_[{d, n}];
    while (std::ssize(all) <= k) all.push_back(next(d, n, std::ssize(all), all.empty() ? After{} : all.back()));
    return all[at(k)];
  }

  bool reads(std::string_view ruling, std::string_view reading) const { return readings_.of(ruling) == reading; }

  Int steps = 0, batches = 0, inputs = 0, hidden = 0, directions = 0;
  bool is_batch_first = false;

 private:
  bool is_narrow() const { return type_ == DType::f16 || type_ == DType::bf16; }
  Quantity kept(const Quantity& of) const { return is_narrow() && of.tree ? cast(of.tree, type_) : of; }

  template <class F>
  static Row row(Int n, F scalar_at) {
    Row all;
    for (Int j = 0; j < n; ++j) all.emplace_back(scalar_at(j));
    return all;
  }

  Row initial_row(std::size_t input, Int d, Int n) const {
    if (!in_[input]) return Row(at(hidden), Quantity(operand(Scalar())));
    return row(hidden, [&](Int j) { return initial(input, d, n, j); });
  }

  Row state_before(Int d, Int n, Int k, const After& before) const {
    if (k == 0) return initial_row(5, d, n);
    if (!returned_) return before.h;
    Row all;
    for (Int j = 0; j < hidden; ++j) {
      const Scalar each = *returned(time(d, n, k - 1), d, n, j);
      all.push_back(each.is_finite() ? Quantity(state(each, type_)) : Quantity::none(anything));
    }
    return all;
  }

  // What a gate is of: rows of weights, and biases.
  struct Gate {
    std::vector<Row> w, r;  // of each unit
    Row wb, rb, p;          // empty where there are none
  };

  const std::vector<Gate>& gates_of(Int d) const {
    std::vector<Gate>& all = weights_[d];
    if (!all.empty()) return all;
    const auto part = [&](std::size_t input, Int first, Int count) {
      return in_[input] ? row(count, [&](Int i) { return in_[input]->at(first + i); }) : Row{};
    };
    for (Int g = 0; g < gates_; ++g) {
      Gate& gate = all.emplace_back();
      for (Int j = 0; j < hidden; ++j) {
        const Int unit = (d * gates_ + g) * hidden + j;
        gate.w.push_back(part(1, unit * inputs, inputs));
        gate.r.push_back(part(2, unit * hidden, hidden));
      }
      gate.wb = part(3, (2 * d * gates_ + g) * hidden, hidden);
      gate.rb = part(3, (2 * d * gates_ + gates_ + g) * hidden, hidden);
      if (g < 3) gate.p = part(7, (d * 3 + g) * hidden, hidden);
    }
    return all;
  }

  // One step of one unit's gates.
  struct Point {
    Int d, j;
    const std::vector<Gate>& gates;
    const Row &x, &h, &c;
  };

  static void add_products(Row& terms, const Row& a, const Row& b) {
    for (std::size_t i = 0; i < a.size(); ++i) terms.push_back(a[i] * b[i]);
  }
  static void add_one(Row& terms, const Row& from, Int j) {
    if (!from.empty()) terms.push_back(from[at(j)]);
  }

  Row from_x(const Point& p, std::size_t g) const {
    Row terms;
    add_products(terms, p.gates[g].w[at(p.j)], p.x);
    add_one(terms, p.gates[g].wb, p.j);
    return terms;
  }
  Row from_h(const Point& p, std::size_t g, const Row& h) const {
    Row terms;
    add_products(terms, p.gates[g].r[at(p.j)], h);
    add_one(terms, p.gates[g].rb, p.j);
    return terms;
  }

  // The sum of what comes of X and of the rest, where that of X may have been rounded by itself.
  Quantity total(const Row& of_x, const Row& others) const {
    Row all = of_x;
    all.insert(all.end(), others.begin(), others.end());
    const Quantity at_once = total_of(all);
    if (!is_narrow() || !at_once.tree) return at_once;
    Row apart = others;
    apart.push_back(kept(total_of(of_x)));
    return either(at_once.tree, total_of(apart).tree);
  }

  Quantity function(Int d, Int which, const Quantity& x) const {
    const Chosen& f = functions_[at(d * shares(call_).functions + which)];
    if (!clip_ || !(which < 2 || clips_all_)) return activated(f, x);
    if (x.is_infinite()) return activated(f, Quantity(operand(x.special.negative ? negated(*clip_) : *clip_)));
    return x.tree ? activated(f, Quantity(clamped(x.tree, negated(*clip_), *clip_))) : Quantity::none(anything);
  }

  // The activation of a gate, a peephole looking at a cell.
  Quantity gate(const Point& p, Int which, std::size_t g, const Quantity* cell = nullptr) const {
    Row others = from_h(p, g, p.h);
    if (cell && !p.gates[g].p.empty()) others.push_back(p.gates[g].p[at(p.j)] * *cell);
    // What is left out is 0, which may be multiplied or not.
    if (cell && p.gates[g].p.empty() && !cell->tree)
      others.push_back(Quantity::none(cell->is_nan() ? nan() : anything));
    return function(p.d, which, total(from_x(p, g), others));
  }

  After next(Int d, Int n, Int k, const After& before) const {
    const Row h = state_before(d, n, k, before);
    const Row c = k > 0 ? before.c : initial_row(6, d, n);
    const Row input = row(inputs, [&](Int i) { return x(time(d, n, k), n, i); });
    After out;
    Row reset;
    for (Int j = 0; gates_ == 3 && !lbr_ && j < hidden; ++j)
      reset.push_back(gate({d, j, gates_of(d), input, h, c}, 0, 1) * h[at(j)]);
    for (Int j = 0; j < hidden; ++j) {
      const Point p{d, j, gates_of(d), input, h, c};
      if (gates_ == 1) out.h.push_back(gate(p, 0, 0));
      if (gates_ == 3) out.h.push_back(unit_of_gru(p, reset));
      if (gates_ == 4) add_unit_of_lstm(p, out);
    }
    for (Quantity& each : out.h) each = kept(each);
    return out;
  }

  Quantity unit_of_gru(const Point& p, const Row& reset) const {
    Row others = from_h(p, 2, lbr_ ? p.h : reset);
    if (lbr_) others = {gate(p, 0, 1) * total_of(others)};
    const Quantity g = function(p.d, 1, total(from_x(p, 2), others));
    const auto mixed = [](const Tree& z, const Tree& next, const Tree& before) {
      const Tree one = operand(scalar(Int{1}));
      return either((one - z) * next + z * before, z * (before - next) + next);
    };
    return of_numbers(mixed, gate(p, 0, 0), g, p.h[at(p.j)]);
  }

  void add_unit_of_lstm(const Point& p, After& out) const {
    const Quantity& before = p.c[at(p.j)];
    const Quantity i = gate(p, 0, 0, &before);
    const auto rest = [](const Tree& share) { return operand(scalar(Int{1})) - share; };
    const Quantity forgotten = is_coupled_ ? of_numbers(rest, i) : gate(p, 0, 2, &before);
    const Quantity cell = kept(total_of({forgotten * before, i * gate(p, 1, 3)}));
    out.c.push_back(cell);
    out.h.push_back(gate(p, 0, 1, &cell) * function(p.d, 2, cell));
  }

  Call call_;
  Readings readings_;
  DType type_;
  std::vector<std::optional<Cells>> in_;
  int gates_ = 1;
  std::vector<Chosen> functions_;
  bool lbr_ = false, is_coupled_ = false, clips_all_ = false;
  std::optional<Scalar> clip_;
  std::optional<Cells> returned_;
  mutable std::map<std::pair<Int, Int>, std::vector<After>> known_;
  mutable std::map<Int, std::vector<Gate>> weights_;
};

Shape shape_of(const Recurrence& of, bool is_sequence) {
  if (is_sequence && of.is_batch_first) return {of.batches, of.steps, of.directions, of.hidden};
  if (is_sequence) return {of.steps, of.directions, of.batches, of.hidden};
  return of.is_batch_first ? Shape{of.batches, of.directions, of.hidden} : Shape{of.directions, of.batches, of.hidden};
}

class RecurrentAnswer final : public TreeAnswer {
 public:
  RecurrentAnswer(std::size_t output, const Call& call, const std::shared_ptr<const Recurrence>& of,
                  const Arithmetic& declared)
      : TreeAnswer(call.type("X").dtype, declared), of_(of), output_(output) {}

  Shape shape() const override { return shape_of(*of_, output_ == 0); }

  std::vector<ProofTerm> taps(Int index) const override {
    const At at = at_of(index);
    std::vector<ProofTerm> all;
    if (at.step < 0) return all;
    const Int t = of_->time(at.d, at.n, at.step);
    for (Int i = 0; i < of_->inputs; ++i)
      all.push_back({{hexadecimal(of_->x(t, at.n, i))}, "X at step " + std::to_string(t)});
    for (Int j = 0; at.step > 0 && j < of_->hidden; ++j)
      if (const auto before = of_->returned(of_->time(at.d, at.n, at.step - 1), at.d, at.n, j))
        all.push_back({{hexadecimal(*before)}, "the state that was returned before"});
    return all;
  }

 private:
  // Where an element stands: its step in the order of its direction, -1 before any; none behind the sequence.
  struct At {
    Int d, n, j, step;
    bool is_behind = false;
  };
  At at_of(Int index) const {
    const Shape at = position(shape(), index);
    const bool swaps = of_->is_batch_first;
    if (output_ > 0) {
      const Int n = at[swaps ? 0 : 1];
      return {at[swaps ? 1 : 0], n, at[2], of_->length(n) - 1};
    }
    const Int t = at[swaps ? 1 : 0], d = at[swaps ? 2 : 1], n = at[swaps ? 0 : 2];
    if (t >= of_->length(n)) return {d, n, at[3], -1, true};
    return {d, n, at[3], of_->time(d, n, t)};  // which is its own inverse
  }

  Int terms() const override { return of_->inputs + of_->hidden + 2; }

  TreeValue value_at(Int index) const override {
    const At at = at_of(index);
    if (at.is_behind) return exactly(Scalar(), dtype());
    if (!of_->is_said()) return unscored("an activation without alpha or beta (N14)");
    if (at.step < 0) {
      if (of_->reads("N19", "zero")) return exactly(Scalar(), dtype());
      return exactly(of_->initial(output_ == 1 ? 5 : 6, at.d, at.n, at.j), dtype());
    }
    if (output_ == 1)
      if (const auto last = of_->returned(of_->time(at.d, at.n, at.step), at.d, at.n, at.j))
        return exactly(*last, dtype());
    const After& after = of_->after(at.d, at.n, at.step);
    const Quantity& out = (output_ == 2 ? after.c : after.h)[static_cast<std::size_t>(at.j)];
    if (out.tree) return in_format(out.tree);
    if (out.special.is_finite()) return unscored("a step of what is no number");
    return exactly(out.special, dtype());
  }

  std::shared_ptr<const Recurrence> of_;
  std::size_t output_;
};

Oracle recurrent() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    const auto of = std::make_shared<const Recurrence>(call, in, readings, std::vector<Tensor>());
    return answers_of<RecurrentAnswer>(call, of, declared);
  };
  oracle.given = [](const Call& call, const Operands& in, const Readings& readings, const std::vector<Tensor>& got) {
    const auto of = std::make_shared<const Recurrence>(call, in, readings, got);
    return answers_of<RecurrentAnswer>(call, of, Arithmetic());
  };
  oracle.shape = [](const Call& call, const Readings& readings) -> std::optional<Shape> {
    const auto is_optional = [](const std::string& name) {
      return name != "Relu" && name != "Tanh" && name != "Sigmoid";
    };
    if (call.states("activations") && std::ranges::any_of(call.texts("activations"), is_optional) &&
        readings.of("N41") == "refuse")
      return std::nullopt;
    const bool swaps = is_set(call, readings, "layout");
    const Shape &x = call.shape("X"), &r = call.shape("R");
    const Int steps = x[swaps ? 1 : 0], batches = x[swaps ? 0 : 1];
    if (call.requests("Y")) return swaps ? Shape{batches, steps, r[0], r[2]} : Shape{steps, r[0], batches, r[2]};
    return swaps ? Shape{batches, r[0], r[2]} : Shape{r[0], batches, r[2]};
  };
  return with_touched(std::move(oracle));
}

}  // namespace

Oracle rnn() { return recurrent(); }
Oracle gru() { return recurrent(); }
Oracle lstm() { return recurrent(); }

}  // namespace assay::oracles
