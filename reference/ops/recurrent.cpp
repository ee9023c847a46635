// SPDX-License-Identifier: Apache-2.0
// RNN (ai.onnx 1, 7, 14, 22), LSTM (ai.onnx 1, 7, 14, 22) - https://onnx.ai/onnx/operators/onnx__LSTM.html
// GRU (ai.onnx 1, 3, 7, 14, 22)
//
// With a(k) = W[k] x + Wb[k] and b(k) = R[k] h + Rb[k] of the k-th gate, x the step's input, h the state before it:
//
//   RNN    h' = f(a(0) + b(0))
//   GRU    z = f(a(0) + b(0)), r = f(a(1) + b(1)), g = g(a(2) + R[2] (r h) + Rb[2]) or, with linear_before_reset,
//          g = g(a(2) + r b(2));  h' = (1 - z) g + z h
//   LSTM   i = f(a(0) + b(0) + P[0] c), l = f(a(2) + b(2) + P[2] c) or, with input_forget, 1 - i, g = g(a(3) + b(3)),
//          c' = l c + i g, o = f(a(1) + b(1) + P[1] c'), h' = o h(c')
//
// The arguments of f and g are clipped, that of the last is not (N16). A reverse direction reads a sequence from its
// end, and writes each state where its input stands. Behind a sequence's length Y is 0, and the state stays as it is.
#include "reference/families/activations.h"
#include "reference/families/elementwise.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

using Row = std::vector<double>;

// How many gates an operator has, and how many activations a direction.
struct GateCount {
  Int gates, activations;
};
GateCount gates_of(const Call& call) {
  const std::string& name = call.definition().version.name;
  return name == "RNN" ? GateCount{1, 1} : name == "GRU" ? GateCount{3, 2} : GateCount{4, 3};
}

Int directions(const Call& call) { return call.text("direction") == "bidirectional" ? 2 : 1; }

Texts names_of_activations(const Call& call) {
  if (call.states("activations")) return call.texts("activations");
  Texts all;
  for (Int d = 0; d < directions(call); ++d)
    for (Int i = 0; i < gates_of(call).activations; ++i)
      all.emplace_back(i > 0 || gates_of(call).activations == 1 ? "Tanh" : "Sigmoid");
  return all;
}

// Returns the activations of all directions: alpha and beta are those next in their lists for what takes some.
std::vector<Activation> activations_of(const Call& call) {
  const auto listed = [&](const char* name) { return call.states(name) ? call.reals(name) : Reals{}; };
  const Reals alphas = listed("activation_alpha"), betas = listed("activation_beta");
  std::size_t next_alpha = 0, next_beta = 0;
  std::vector<Activation> all;
  for (const std::string& name : names_of_activations(call)) {
    Activation one = *activation_named(name);
    if (one.has_alpha && next_alpha < alphas.size()) one.alpha = alphas[next_alpha++];
    if (one.has_beta && next_beta < betas.size()) one.beta = betas[next_beta++];
    all.push_back(one);
  }
  return all;
}

// -- shapes

bool is_batch_first(const Call& call) { return call.definition().attribute("layout") && call.integer("layout") != 0; }

struct Extents {
  Int steps, batches, inputs, hidden, directions, gates;
};
Extents extents_of(const Call& call) {
  const Shape &x = call.shape("X"), &r = call.shape("R");
  const bool swaps = is_batch_first(call);
  return {x[swaps ? 1 : 0], x[swaps ? 0 : 1], x[2], r.back(), directions(call), gates_of(call).gates};
}

Shape state_shape(const Call& call) {
  const Extents e = extents_of(call);
  return is_batch_first(call) ? Shape{e.batches, e.directions, e.hidden} : Shape{e.directions, e.batches, e.hidden};
}

bool has_axes(const Call& call) { return call.rank("X") == 3 && call.rank("R") == 3; }

bool fit(const Call& call) {
  if (!has_axes(call)) return true;
  const Extents e = extents_of(call);
  const auto is = [&](const char* input, const Shape& shape) {
    return !call.definition().input(input) || !call.has(input) || call.shape(input) == shape;
  };
  return is("W", {e.directions, e.gates * e.hidden, e.inputs}) &&
         is("R", {e.directions, e.gates * e.hidden, e.hidden}) && is("B", {e.directions, 2 * e.gates * e.hidden}) &&
         is("P", {e.directions, 3 * e.hidden}) && is("initial_h", state_shape(call)) &&
         is("initial_c", state_shape(call));
}

bool has_lengths(const Call& call) {
  if (!call.has("sequence_lens") || !has_axes(call)) return true;
  const Extents e = extents_of(call);
  return call.shape("sequence_lens") == Shape{e.batches} &&
         std::ranges::all_of(call.ints("sequence_lens"), [&](Int length) { return length >= 0 && length <= e.steps; });
}

bool has_activations(const Call& call) {
  if (!call.states("activations")) return true;
  const Texts names = call.texts("activations");
  const Int own = gates_of(call).activations, count = std::ssize(names);
  const bool is_default = own == 1 && count == 2;  // which lists two for either
  return (count == own * directions(call) || is_default) &&
         std::ranges::all_of(names, [](const std::string& name) { return activation_named(name) != nullptr; });
}

bool has_flags(const Call& call) {
  return std::ranges::all_of(
      std::array{"output_sequence", "linear_before_reset", "input_forget"}, [&](const char* flag) {
        return !call.definition().attribute(flag) || call.integer(flag) == 0 || call.integer(flag) == 1;
      });
}

bool requests_outputs(const Call& call) {
  const bool needs_y = call.definition().attribute("output_sequence") && call.integer("output_sequence") != 0;
  return !call.requested_outputs().empty() && (call.requests("Y") || !needs_y);
}

Types inferred(const Call& call) {
  const Extents e = extents_of(call);
  Shape y{e.steps, e.directions, e.batches, e.hidden};
  if (is_batch_first(call)) y = {e.batches, e.steps, e.directions, e.hidden};
  Types types;
  for (const Parameter& output : call.definition().outputs)
    types.push_back(call.requests(output.name)
                        ? std::optional(TensorType{call.type("X").dtype, types.empty() ? y : state_shape(call)})
                        : std::nullopt);
  return types;
}

// -- the recurrence

// One direction of the layer.
class Direction {
 public:
  Direction(const Call& call, Inputs in, Int d)
      : in_(in),
        e_(extents_of(call)),
        d_(d),
        lbr_(is_set(call, "linear_before_reset")),
        coupled_(is_set(call, "input_forget")) {
    const std::vector<Activation> all = activations_of(call);
    const Int own = gates_of(call).activations;
    f_.assign(all.begin() + d * own, all.begin() + (d + 1) * own);
    if (call.states("clip")) clip_ = call.real("clip");
  }

  // The state and, of an LSTM, the cell after a step.
  void step(const Row& x, Row& h, Row& c) const {
    const Row before = h;
    Row reset = h;
    if (e_.gates == 3)
      for (Int j = 0; j < e_.hidden; ++j) reset[at(j)] *= activated(0, from_x(1, j, x) + from_h(1, j, before));
    for (Int j = 0; j < e_.hidden; ++j) {
      if (e_.gates == 1) h[at(j)] = activated(0, from_x(0, j, x) + from_h(0, j, before));
      if (e_.gates == 3) h[at(j)] = gated_unit(j, x, before, reset);
      if (e_.gates == 4) h[at(j)] = memory_cell(j, x, before, c[at(j)]);
    }
  }

 private:
  static std::size_t at(Int i) { return static_cast<std::size_t>(i); }
  static bool is_set(const Call& call, const char* flag) {
    return call.definition().attribute(flag) && call.integer(flag) != 0;
  }

  double number(std::size_t input, Int index) const {
    return in_.size() > input && in_[input] ? number_at(*in_[input], index) : 0;
  }
  double bias(Int k, Int j) const { return number(3, d_ * 2 * e_.gates * e_.hidden + k * e_.hidden + j); }
  double from_x(Int k, Int j, const Row& x) const {
    double sum = bias(k, j);
    for (Int i = 0; i < e_.inputs; ++i)
      sum += number(1, ((d_ * e_.gates + k) * e_.hidden + j) * e_.inputs + i) * x[at(i)];
    return sum;
  }
  double from_h(Int k, Int j, const Row& h) const {
    double sum = bias(e_.gates + k, j);
    for (Int i = 0; i < e_.hidden; ++i)
      sum += number(2, ((d_ * e_.gates + k) * e_.hidden + j) * e_.hidden + i) * h[at(i)];
    return sum;
  }
  double activated(std::size_t which, double x) const {
    const Activation& f = f_[which];
    return f.of(clip_ && which < 2 ? std::clamp(x, -*clip_, *clip_) : x, f.alpha, f.beta);
  }

  double gated_unit(Int j, const Row& x, const Row& h, const Row& reset) const {
    const double z = activated(0, from_x(0, j, x) + from_h(0, j, h));
    const double r = activated(0, from_x(1, j, x) + from_h(1, j, h));
    const double g = activated(1, from_x(2, j, x) + (lbr_ ? r * from_h(2, j, h) : from_h(2, j, reset)));
    return (1 - z) * g + z * h[at(j)];
  }

  double memory_cell(Int j, const Row& x, const Row& h, double& c) const {
    const bool peeps = in_.size() > 7 && in_[7];
    const auto peep = [&](Int k) { return peeps ? number(7, (d_ * 3 + k) * e_.hidden + j) * c : 0; };
    const double i = activated(0, from_x(0, j, x) + from_h(0, j, h) + peep(0));
    const double forgotten = coupled_ ? 1 - i : activated(0, from_x(2, j, x) + from_h(2, j, h) + peep(2));
    c = forgotten * c + i * activated(1, from_x(3, j, x) + from_h(3, j, h));
    return activated(0, from_x(1, j, x) + from_h(1, j, h) + peep(1)) * activated(2, c);
  }

  Inputs in_;
  Extents e_;
  Int d_;
  bool lbr_, coupled_;
  std::vector<Activation> f_;
  std::optional<double> clip_;
};

Values recur(const Call& call, Inputs in) {
  const Extents e = extents_of(call);
  const bool swaps = is_batch_first(call);
  const Ints lengths =
      call.has("sequence_lens") ? call.ints("sequence_lens") : Ints(static_cast<std::size_t>(e.batches), e.steps);
  Values y = outputs_of(call);
  for (Int d = 0; d < e.directions; ++d) {
    const Direction direction(call, in, d);
    const bool is_reverse = d == 1 || call.text("direction") == "reverse";
    for (Int n = 0; n < e.batches; ++n) {
      const Int states = (swaps ? n * e.directions + d : d * e.batches + n) * e.hidden;
      const auto initial = [&](std::size_t input) {
        Row row(static_cast<std::size_t>(e.hidden));
        for (Int j = 0; in.size() > input && in[input] && j < e.hidden; ++j)
          row[static_cast<std::size_t>(j)] = number_at(*in[input], states + j);
        return row;
      };
      const auto write = [&](std::size_t output, Int first, const Row& row) {
        for (Int j = 0; output < y.size() && y[output] && j < e.hidden; ++j)
          put_number(*y[output], first + j, row[static_cast<std::size_t>(j)]);
      };
      Row h = initial(5), c = initial(6);
      const Int length = lengths[static_cast<std::size_t>(n)];
      for (Int k = 0; k < e.steps; ++k) {
        const Int t = is_reverse && k < length ? length - 1 - k : k;
        Row x;
        for (Int i = 0; i < e.inputs; ++i)
          x.push_back(number_at(*in[0], (swaps ? n * e.steps + t : t * e.batches + n) * e.inputs + i));
        if (k < length) direction.step(x, h, c);
        const Int at = swaps ? (n * e.steps + t) * e.directions + d : (t * e.directions + d) * e.batches + n;
        write(0, at * e.hidden, k < length ? h : Row(h.size()));
      }
      write(1, states, h);
      write(2, states, c);
    }
  }
  return y;
}

// clang-format off
void recurrent(Operator& op) {
  op.input("X", "T").input("W", "T").input("R", "T").input("B", "T", Arity::optional)
      .parameter("sequence_lens", "T1", "sequence_lens", Arity::optional).input("initial_h", "T", Arity::optional)
      .output("Y", "T", Arity::optional).output("Y_h", "T", Arity::optional)
      .optional_attribute("activations", AttributeSpec::Kind::texts)
      .optional_attribute("activation_alpha", AttributeSpec::Kind::reals)
      .optional_attribute("activation_beta", AttributeSpec::Kind::reals)
      .optional_real("clip").optional_int("hidden_size")
      .type("T", types::all_float_types()).type("T1", {DType::i32})
      .rulings({"A29", "N14", "N15", "N17", "N19", "N38", "N41", "N42"})
      .require("V2", "W, R, B, P and initial states have the extents of X, of the gates and of the directions", fit)
      .require("V3", "hidden_size is the last extent of R", [](auto& c) {
        return !c.states("hidden_size") || !has_axes(c) || c.integer("hidden_size") == c.dim("R", 2); })
      .require("V4", "sequence_lens has a length for each item, from 0 to that of X", has_lengths)
      .require("V5", "activations names those that the operator takes for each direction", has_activations)
      .require("V7", "an output is asked for, and Y where output_sequence is 1", requests_outputs)
      .require("V8", "clip is not negative", [](auto& c) { return !c.states("clip") || c.real("clip") >= 0; })
      .require("V9", "flags are 0 or 1", has_flags, "N42")
      .require("V10", "rank(X) = 3 and rank(R) = 3", has_axes);
}

void with_direction(Operator& op) { op.word("direction", {"forward", "reverse", "bidirectional"}, "V1"); }

void of_later_versions(Operator& op) {
  op.since(7, "output_sequence is gone: outputs that are not asked for are left out").without("output_sequence");
  if (op.name() == "RNN") op.without("V9");  // it has no other flag
  op.since(14, "layout").attribute("layout", 0)
      .require("V6", "layout is 0 or 1", [](auto& c) { return c.integer("layout") == 0 || c.integer("layout") == 1; })
      .since(22, "T admits bfloat16").type("T", types::all_float_types_ir4())
      .shaping(Shaping::normalized).infer(inferred).kernel(recur);
}

}  // namespace

Operator rnn() {
  return Operator("RNN").with(recurrent).with(with_direction)
      .since(1).attribute("output_sequence", 0).with(of_later_versions);
}

Operator gru() {
  return Operator("GRU").with(recurrent)
      .since(1).attribute("output_sequence", 0).output("Y_h", "T")
      .attribute("direction", "foward")  // as it is spelt there
      .require("V1", "direction is forward or reverse or bidirectional", [](auto& c) {
        const std::string said = c.text("direction");
        return said == "forward" || said == "reverse" || said == "bidirectional" || !c.states("direction"); })
      .since(3, "linear_before_reset; Y_h may be left out").attribute("linear_before_reset", 0)
      .output("Y_h", "T", Arity::optional).without("V1").with(with_direction).with(of_later_versions);
}

Operator lstm() {
  return Operator("LSTM").with(recurrent).with(with_direction)
      .input("initial_c", "T", Arity::optional).input("P", "T", Arity::optional)
      .output("Y_c", "T", Arity::optional).attribute("input_forget", 0).ruling("N16")
      .since(1).attribute("output_sequence", 0).with(of_later_versions);
}
// clang-format on

}  // namespace assay
