// SPDX-License-Identifier: Apache-2.0
#include "oracles/graphs/exactness.h"

#include "oracles/judging/case_class.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <span>

namespace assay::oracles {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Envelope {
  double most = 1, history = 1, grain = 1;  // M, H, g
};

// The precision p and the normal range [least, end) of a type.
struct FormatLimits {
  int precision;
  double least, end;
};
std::optional<FormatLimits> limits_of(DType type) {
  switch (type) {
    case DType::f16: return FormatLimits{11, 0x1p-14, 0x1p16};
    case DType::bf16: return FormatLimits{8, 0x1p-126, 0x1p127};
    case DType::f32: return FormatLimits{24, 0x1p-126, 0x1p127};
    case DType::f64: return FormatLimits{53, 0x1p-1022, 0x1p1023};
    default: return std::nullopt;
  }
}

// The same of every type that is computed in; integers of a rewriting may be anything up to the end of their range.
std::optional<FormatLimits> limits_of_numbers(DType type) {
  if (type == DType::i32) return FormatLimits{31, 1, 0x1p31};
  if (type == DType::i64) return FormatLimits{53, 1, 0x1p53};
  return limits_of(type);
}

// The largest power of two that divides a number; infinity of 0.
double grain_of(double value) {
  if (value == 0 || !std::isfinite(value)) return infinity;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1), exponent = bits >> 52 & 0x7ff;
  const int zeros = std::countr_zero(exponent == 0 ? fraction : fraction | std::uint64_t{1} << 52);
  return std::ldexp(1, zeros - 1074 + static_cast<int>(exponent == 0 ? 0 : exponent - 1));
}
bool is_power_of_two(double value) { return value != 0 && std::isfinite(value) && grain_of(value) == std::abs(value); }

// Shows a rule its step. For precision constants are as they are; for range they are at least 1 in magnitude and
// at most 1 in grain, as leaves are (graphs.md 1.2, a and b).
class StepView {
 public:
  StepView(const Call& call, std::span<const Envelope> in, const Operands& operands, bool is_for_range)
      : call_(call), in_(in), operands_(operands), is_for_range_(is_for_range) {}

  const Call& call() const { return call_; }
  const Envelope& in(std::size_t i) const { return in_[i]; }
  bool has(std::size_t i) const { return i < operands_.size() && operands_[i].has_value(); }
  const Tensor& tensor(std::size_t i) const { return *operands_.at(i); }

  Envelope constant(double most, double grain) const {
    if (is_for_range_) most = std::max(most, 1.0), grain = std::min(grain, 1.0);
    return {most, most, grain};
  }
  Envelope constant(double value) const { return constant(std::abs(value), grain_of(value)); }

 private:
  const Call& call_;
  std::span<const Envelope> in_;
  const Operands& operands_;
  bool is_for_range_;
};

Envelope normal(Envelope e) {
  e.most = std::max(e.most, e.grain);
  e.history = std::max(e.history, e.most);
  return e;
}

// -- what several rules are made of

Envelope sum(const Envelope& a, const Envelope& b) {
  return {a.most + b.most, a.history + b.history, std::min(a.grain, b.grain)};
}
Envelope product(const Envelope& a, const Envelope& b) {
  return {a.most * b.most, a.history * b.history, a.grain * b.grain};
}
Envelope either(const Envelope& a, const Envelope& b) {
  return {std::max(a.most, b.most), std::max(a.history, b.history), std::min(a.grain, b.grain)};
}
// Sums so many terms.
Envelope times(const Envelope& term, double count) { return {term.most * count, term.history * count, term.grain}; }
// Ends the history behind a sum of several products: what stands behind it reaches it term by term alone (1.3).
Envelope dot(const Envelope& a, const Envelope& b, double terms) {
  const Envelope one = product(a, b);
  if (terms <= 1) return one;
  return {one.most * terms, one.most * terms, one.grain};
}

template <class F>
Envelope over_all(const StepView& step, F&& join) {
  Envelope out = step.in(0);
  for (std::size_t i = 1; step.has(i); ++i) out = join(out, step.in(i));
  return out;
}

double volume_of(const Ints& extents) {
  double all = 1;
  for (const Int each : extents) all *= static_cast<double>(each);
  return all;
}

// -- rules; none: the call may round, whatever the data

using Rule = std::optional<Envelope> (*)(const StepView&);

std::optional<Envelope> move(const StepView& step) { return step.in(0); }
std::optional<Envelope> join_all(const StepView& step) { return over_all(step, either); }
std::optional<Envelope> add(const StepView& step) { return over_all(step, sum); }
std::optional<Envelope> multiply(const StepView& step) { return product(step.in(0), step.in(1)); }

// x / c where every c is a power of two: its grain is the least of them.
std::optional<Envelope> divide(const StepView& step) {
  const Tensor& by = step.tensor(1);
  double least = infinity, most = 0;
  for (Int i = 0; i < by.elements(); ++i) {
    const double value = number_in(by, i);
    if (!is_power_of_two(value)) return std::nullopt;
    least = std::min(least, std::abs(value)), most = std::max(most, std::abs(value));
  }
  return product(step.in(0), step.constant(1 / least, 1 / most));
}

std::optional<Envelope> mean_of_all(const StepView& step) {
  std::size_t count = 1;
  while (step.has(count)) ++count;
  const double share = 1 / static_cast<double>(count);
  return is_power_of_two(share) ? std::optional(product(over_all(step, sum), step.constant(share))) : std::nullopt;
}

std::optional<Envelope> leaky_relu(const StepView& step) {
  return either(step.in(0), product(step.in(0), step.constant(static_cast<double>(step.call().real("alpha")))));
}
std::optional<Envelope> p_relu(const StepView& step) { return either(step.in(0), product(step.in(0), step.in(1))); }

// A bound of Clip: an attribute or, later, an input.
std::optional<double> bound(const StepView& step, const char* name, std::size_t input) {
  if (step.call().definition().attribute(name))
    return step.call().states(name) ? std::optional(static_cast<double>(step.call().real(name))) : std::nullopt;
  return step.has(input) ? std::optional(number_in(step.tensor(input), 0)) : std::nullopt;
}

// A bound acts where it is within the history of what is clipped; 0 has no grain.
std::optional<Envelope> clip(const StepView& step) {
  const std::optional<double> least = bound(step, "min", 1), most = bound(step, "max", 2);
  Envelope out = step.in(0);
  for (const std::optional<double>& each : {least, most}) {
    if (!each || *each == 0 || std::abs(*each) > step.in(0).history) continue;
    const Envelope own = step.constant(*each);
    out.history = std::max(out.history, own.most);
    out.grain = std::min(out.grain, own.grain);
  }
  const double low = std::max(-out.most, least.value_or(-infinity)), high = std::min(out.most, most.value_or(infinity));
  out.most = std::max({std::abs(low), std::abs(high), out.grain});
  return out;
}

std::optional<Envelope> conv(const StepView& step) {
  const Shape& w = step.tensor(1).shape();
  const double terms = volume_of(Ints(w.begin() + 1, w.end()));
  const Envelope out = dot(step.in(0), step.in(1), terms);
  return step.has(2) ? sum(out, step.in(2)) : out;
}

std::optional<Envelope> conv_transpose(const StepView& step) {
  Shape w = step.tensor(1).shape();
  w[0] /= step.call().integer("group");
  w[1] = 1;
  const Envelope out = dot(step.in(0), step.in(1), volume_of(w));
  return step.has(2) ? sum(out, step.in(2)) : out;
}

std::optional<Envelope> mat_mul(const StepView& step) {
  return dot(step.in(0), step.in(1), static_cast<double>(step.tensor(0).shape().back()));
}

std::optional<Envelope> gemm(const StepView& step) {
  const double alpha = static_cast<double>(step.call().real("alpha")),
               beta = static_cast<double>(step.call().real("beta"));
  if (alpha < 0 || beta < 0 || !is_power_of_two(alpha) || !is_power_of_two(beta)) return std::nullopt;
  const Int terms = step.tensor(0).shape()[step.call().integer("transA") != 0 ? 0 : 1];
  const Envelope out = product(dot(step.in(0), step.in(1), static_cast<double>(terms)), step.constant(alpha));
  return step.has(2) ? sum(out, product(step.in(2), step.constant(beta))) : out;
}

// The mean of so many: they are summed at the grain of one, then divided by a power of two.
std::optional<Envelope> mean(const Envelope& of, double count, const StepView& step) {
  if (!is_power_of_two(count)) return std::nullopt;
  return product(times(of, count), step.constant(1 / count));
}

// Takes a pool whose windows are all whole, or where padding counts.
std::optional<Envelope> average_pool(const StepView& step) {
  const Call& call = step.call();
  const auto integer = [&](const char* name) { return call.definition().attribute(name) ? call.integer(name) : 0; };
  const bool is_padded =
      call.text("auto_pad") != "NOTSET" || std::ranges::any_of(call.ints("pads"), [](Int pad) { return pad != 0; });
  if (integer("ceil_mode") != 0 ||
      (is_padded && (integer("count_include_pad") == 0 || call.text("auto_pad") != "NOTSET")))
    return std::nullopt;
  return mean(step.in(0), volume_of(call.ints("kernel_shape")), step);
}

std::optional<Envelope> global_average_pool(const StepView& step) {
  const Shape& x = step.tensor(0).shape();
  return mean(step.in(0), volume_of(Ints(x.begin() + 2, x.end())), step);
}

std::optional<Envelope> max_pool(const StepView& step) {
  return step.call().requested_outputs().size() == 1 ? move(step) : std::nullopt;
}

// Takes variances whose root is exact: each and epsilon sum to a power of four, in the type and exactly.
std::optional<Envelope> batch_normalization(const StepView& step) {
  const Call& call = step.call();
  const auto flag = [&](const char* name) { return call.definition().attribute(name) && call.integer(name) != 0; };
  if (call.requested_outputs().size() != 1 || flag("training_mode") || !call.definition().attribute("epsilon"))
    return std::nullopt;
  if (call.definition().attribute("is_test") && call.integer("is_test") == 0) return std::nullopt;
  const Tensor& variance = step.tensor(4);
  if (variance.dtype() != DType::f32) return std::nullopt;
  double least = infinity, most = 0;
  for (const float each : variance.as<float>()) {
    const float whole = each + call.real("epsilon");
    int exponent;
    if (!is_power_of_two(static_cast<double>(whole)) || (std::frexp(whole, &exponent), exponent % 2 == 0))
      return std::nullopt;
    const double root = std::sqrt(static_cast<double>(whole));
    least = std::min(least, root), most = std::max(most, root);
  }
  const Envelope scale = product(step.in(1), step.constant(1 / least, 1 / most));
  return sum(product(sum(step.in(0), step.in(3)), scale), step.in(2));
}

std::optional<Envelope> pad(const StepView& step) {
  const Call& call = step.call();
  if (call.text("mode") != "constant") return move(step);
  if (call.definition().attribute("value") == nullptr && step.has(2)) return either(step.in(0), step.in(2));
  const double value = call.states("value") ? static_cast<double>(call.real("value")) : 0;
  return value == 0 ? step.in(0) : either(step.in(0), step.constant(value));
}

std::optional<Envelope> resize(const StepView& step) {
  return step.call().text("mode") == "nearest" ? move(step) : std::nullopt;
}

std::optional<Envelope> where(const StepView& step) { return either(step.in(1), step.in(2)); }

std::optional<Envelope> dropout(const StepView& step) {
  const Call& call = step.call();
  if (call.requested_outputs().size() != 1 || step.has(2) || call.definition().attribute("is_test"))
    return std::nullopt;
  return move(step);
}

std::optional<Envelope> sum_over(const StepView& step, bool is_mean) {
  const Types types = step.call().definition().infer(step.call());
  const Int out = volume(types.front()->shape), in = step.tensor(0).elements();
  if (out == 0 || in == 0) return std::nullopt;
  const double count = static_cast<double>(in / out);
  return is_mean ? mean(step.in(0), count, step) : times(step.in(0), count);
}
std::optional<Envelope> reduce_sum(const StepView& step) { return sum_over(step, false); }
std::optional<Envelope> reduce_mean(const StepView& step) { return sum_over(step, true); }

// Takes what is put where, nothing added to it.
std::optional<Envelope> scatter(const StepView& step) {
  const Call& call = step.call();
  if (call.definition().attribute("reduction") && call.text("reduction") != "none") return std::nullopt;
  return either(step.in(0), step.in(2));
}

std::optional<Envelope> cum_sum(const StepView& step) {
  const Shape& x = step.tensor(0).shape();
  return times(step.in(0), x.empty() ? 1 : static_cast<double>(std::ranges::max(x)));
}

// The power of two that a tensor is quantised by as a whole.
std::optional<double> scale_of(const StepView& step) {
  if (step.tensor(1).elements() != 1 || !is_float(step.tensor(1).dtype())) return std::nullopt;
  const double scale = number_in(step.tensor(1), 0);
  return scale > 0 && is_power_of_two(scale) ? std::optional(scale) : std::nullopt;
}
// In steps of the scale, the zero point taken away; that nothing is cut off `Inspection` sees by the values.
std::optional<Envelope> quantize(const StepView& step) {
  const std::optional<double> scale = scale_of(step);
  return scale ? std::optional(product(step.in(0), step.constant(1 / *scale))) : std::nullopt;
}
std::optional<Envelope> dequantize(const StepView& step) {
  const std::optional<double> scale = scale_of(step);
  return scale ? std::optional(product(step.in(0), step.constant(*scale))) : std::nullopt;
}

// The table of graphs.md 1.1. What is not here rounds, or shows more of a number than its value.
const std::map<std::string_view, Rule>& rules() {
  static const std::map<std::string_view, Rule> all{
      {"Identity", move},
      {"Reshape", move},
      {"Flatten", move},
      {"Squeeze", move},
      {"Unsqueeze", move},
      {"Transpose", move},
      {"Slice", move},
      {"Split", move},
      {"Gather", move},
      {"Expand", move},
      {"Tile", move},
      {"DepthToSpace", move},
      {"SpaceToDepth", move},
      {"Dropout", dropout},
      {"Concat", join_all},
      {"Where", where},
      {"Pad", pad},
      {"Resize", resize},
      {"Upsample", resize},
      {"Relu", move},
      {"Neg", move},
      {"Abs", move},
      {"LeakyRelu", leaky_relu},
      {"PRelu", p_relu},
      {"Clip", clip},
      {"Max", join_all},
      {"Add", add},
      {"Sub", add},
      {"Sum", add},
      {"Mul", multiply},
      {"Div", divide},
      {"Mean", mean_of_all},
      {"MatMul", mat_mul},
      {"Gemm", gemm},
      {"Conv", conv},
      {"ConvTranspose", conv_transpose},
      {"BatchNormalization", batch_normalization},
      {"MaxPool", max_pool},
      {"GlobalMaxPool", move},
      {"AveragePool", average_pool},
      {"GlobalAveragePool", global_average_pool},
      {"ReduceMax", move},
      {"ReduceSum", reduce_sum},
      {"ReduceMean", reduce_mean},
      {"Cast", move},  // the result has to fit the narrower type, which `hold` says
      {"Min", join_all},
      {"ReduceMin", move},
      {"CumSum", cum_sum},
      {"Trilu", move},
      {"GatherElements", move},
      {"ScatterElements", scatter},
      {"QuantizeLinear", quantize},
      {"DequantizeLinear", dequantize},
  };
  return all;
}

// Operators across which no law carries a computation: what comes out of them is exact as it is (graphs.md 1.3).
bool is_cut(std::string_view op) {
  static const std::set<std::string_view> all{
      "Sign",   "Floor",  "Ceil", "Round", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
      "ArgMax", "ArgMin", "Not",  "And",   "Or",    "Xor",     "Shape",          "Size"};
  return all.contains(op);
}
// Tells whether a step rounds in types of integers though it does not in those of floats.
bool rounds_integers(const GraphStep& step) {
  const std::string& op = step.c.version.name;
  return op == "Div" || op == "Mean" || op == "ReduceMean" ||
         (op == "Gemm" && (step.c.node.attributes.contains("alpha") || step.c.node.attributes.contains("beta")));
}

// Tells whether an operator moves quantised numbers and does nothing else to them.
bool moves_integers(std::string_view op) {
  static const std::set<std::string_view> all{
      "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose",    "Slice",        "Split",
      "Gather",   "Concat",  "MaxPool", "Tile",    "Expand",    "DepthToSpace", "SpaceToDepth", "DequantizeLinear"};
  return all.contains(op);
}
// Tells whether an engine may move a DequantizeLinear behind such a node.
bool keeps_bytes(std::string_view op) {
  return moves_integers(op) || op == "Relu" || op == "Clip" || op == "Dropout" || op == "Pad" || op == "Resize" ||
         op == "Where" || op == "Max" || op == "Min";
}
bool is_product(std::string_view op) { return op == "Conv" || op == "ConvTranspose" || op == "MatMul" || op == "Gemm"; }

// -- a graph

// M, H and g of data: H is M, as nothing has been clipped. The 0 of a bound or of padding has no grain.
std::optional<Envelope> envelope_of(const Tensor& data, bool is_for_range) {
  double most = 0, grain = infinity;
  bool is_finite = true;
  for_number(data.dtype(), [&]<class T>() {
    double last = 0, shrink = 0;  // neighbours are often equal; 1 / grain
    for (const T& each : data.as<T>()) {
      const auto value = static_cast<double>(each);
      if (value == last) continue;
      last = value;
      is_finite = is_finite && std::isfinite(value);
      most = std::max(most, std::abs(value));
      if (value * shrink == std::trunc(value * shrink) && shrink > 0) continue;
      grain = std::min(grain, grain_of(value));
      shrink = 1 / grain;
    }
  });
  if (!is_finite) return std::nullopt;
  if (most == 0) most = grain = 1;
  if (is_for_range) most = std::max(most, 1.0), grain = std::min(grain, 1.0);
  return Envelope{most, most, grain};
}

// Functions whose result a small error of their own does not move far, whatever formula they are evaluated by.
bool is_well_conditioned(std::string_view op) {
  static const std::set<std::string_view> all{
      "Sigmoid",     "Tanh",       "HardSigmoid", "HardSwish", "Mish", "Gelu",    "Elu",        "Selu",
      "Celu",        "Softplus",   "Softsign",    "Swish",     "Erf",  "Softmax", "LogSoftmax", "GlobalAveragePool",
      "AveragePool", "ReduceMean", "Mean",        "Div"};
  return all.contains(op);
}

// Tells whether an operator may follow them.
bool carries_on(std::string_view op) {
  return op == "Mul" || op == "Add" || op == "Relu" || op == "Identity" || op == "Reshape" || op == "Flatten" ||
         op == "Transpose" || op == "Concat";
}

double largest(const Tensor& data) {
  const std::optional<Envelope> own = envelope_of(data, false);
  return own ? own->most : infinity;
}

// Looks at the steps of a graph, one after the other, for precision or for range.
class Inspection {
 public:
  Inspection(const GraphCase& graph, bool is_for_range) : is_for_range_(is_for_range) {
    for (const GraphStep& step : graph.steps) {
      if (step.c.version.name != "Cast") continue;
      const Call call = step.c.call();
      const Definition& definition = call.definition();
      for (const DType type :
           {definition.type_of(call, definition.inputs.front()), definition.type_of(call, definition.outputs.front())})
        if (const auto own = limits_of(type); own && (!narrowest_ || own->precision < narrowest_->precision))
          narrowest_ = own;
    }
  }

  void take(const GraphLeaf& leaf, const GraphData& values) {
    values_ = &values;
    if (limits_of_numbers(value(leaf.name).dtype())) hold_as_it_is(leaf.name);
  }
  // `values`: those that the step takes and gives.
  void take(const GraphStep& step, const GraphData& values) {
    values_ = &values;
    take(step);
  }
  Exactness result() && {
    out_.coarse *= 0x1p-9;
    return std::move(out_);
  }

 private:
  void object(const std::string& why) {
    if (out_.obstacle.empty()) out_.obstacle = why;
  }
  const Tensor& value(const std::string& name) const { return values_->find(name)->second; }

  // Objects where the largest terms of a value need more bits than there are, or leave the range.
  void hold(const std::string& name, const Envelope& e) {
    const DType type = value(name).dtype();
    std::optional<FormatLimits> limits = limits_of_numbers(type);
    known_[name] = e;
    if (quantized_.contains(name) || type == DType::boolean) return;
    if (!limits) return object(name + " is of " + std::string(assay::name(type)));
    // Whatever a cast stands behind may be computed in its type.
    if (narrowest_) limits = narrowest_;
    if (is_for_range_) {
      if (!(e.history < limits->end && e.grain >= limits->least)) object(name + " may leave the range");
    } else if (e.history > std::ldexp(e.grain, limits->precision)) {
      object(name + " may need " + std::to_string(static_cast<Int>(std::ceil(std::log2(e.history / e.grain)))) +
             " bits of " + std::to_string(limits->precision));
    }
  }

  void hold_as_it_is(const std::string& name) {
    if (value(name).dtype() == DType::boolean) return;
    if (const std::optional<Envelope> own = envelope_of(value(name), is_for_range_))
      hold(name, normal(*own));
    else
      object(name + " is not finite");
  }

  // A cast to integers or flags cuts as well; what is beyond their range is undefined.
  bool is_cut(const GraphStep& step) const {
    if (step.c.version.name != "Cast") return oracles::is_cut(step.c.version.name);
    return !is_float(value(step.results.front()).dtype()) || value(step.operands.front()).dtype() == DType::boolean;
  }
  void cut(const GraphStep& step) {
    const DType type = value(step.results.front()).dtype();
    if (step.c.version.name == "Cast" && is_float(value(step.operands.front()).dtype()) && type != DType::boolean &&
        !(limits_of_numbers(type) && largest(value(step.operands.front())) < limits_of_numbers(type)->end))
      object(step.results.front() + " may be out of range");
    for (const std::string& result : step.results)
      if (!result.empty()) hold_as_it_is(result);
  }

  void take(const GraphStep& step) {
    const std::string& op = step.c.version.name;
    const auto is_rounded = [&](const std::string& name) { return out_.rounded.contains(name); };
    if (std::ranges::any_of(step.operands, is_rounded))
      return carries_on(op) ? round(step) : object(op + " of what is rounded");
    const Call call = step.c.call();
    const Operands operands = operands_of(step, *values_);
    std::vector<Envelope> in(operands.size());
    for (std::size_t i = 0; i < step.operands.size(); ++i)
      if (const auto found = known_.find(step.operands[i]); found != known_.end()) in[i] = found->second;
    if (op == "DequantizeLinear" ||
        (keeps_bytes(op) &&
         std::ranges::any_of(step.operands, [&](const std::string& name) { return dequantized_.contains(name); })))
      dequantized_.insert(step.results.begin(), step.results.end());
    if (op == "DequantizeLinear" && !quantized_.contains(step.operands.front())) return take_bytes(step);
    if (is_cut(step)) return cut(step);
    if (is_product(op)) look_at_bytes(step, in);
    if (!is_float(value(step.results.front()).dtype()) && rounds_integers(step)) return object(op + " may round");
    const bool is_of_integers =
        std::ranges::any_of(step.operands, [&](const std::string& name) { return quantized_.contains(name); });
    if (is_of_integers && !moves_integers(op)) return object(op + " of what is quantised");
    if ((is_of_integers && op != "DequantizeLinear") || op == "QuantizeLinear")
      quantized_.insert(step.results.begin(), step.results.end());
    if (op == "QuantizeLinear" && !is_lossless(step)) object(step.results.front() + " rounds or saturates");
    const auto rule = rules().find(op);
    std::optional<Envelope> out;
    if (rule != rules().end()) out = rule->second(StepView(call, in, operands, is_for_range_));
    if (!out) return is_well_conditioned(op) ? round(step) : object(op + " may round");
    for (const std::string& result : step.results) {
      if (result.empty()) continue;
      hold(result, normal(*out));
      if (!is_for_range_ && is_float(value(result).dtype()) && !envelope_of(value(result), false))
        object(result + " is not finite");
    }
  }

  // Tells whether every number is one that QuantizeLinear keeps (graphs.md 3.2).
  bool is_lossless(const GraphStep& step) const {
    const Tensor &x = value(step.operands[0]), &y = value(step.results.front());
    const double scale = number_in(value(step.operands[1]), 0);
    const bool has_zero = step.operands.size() > 2 && !step.operands[2].empty();
    const Tensor* const zero = has_zero ? &value(step.operands[2]) : nullptr;
    if ((zero && zero->elements() != 1) || is_float(y.dtype())) return false;
    for (Int i = 0; i < x.elements(); ++i) {
      const double steps = number_in(y, i) - (zero ? number_in(*zero, 0) : 0);
      if (steps * scale != number_in(x, i)) return false;
    }
    return true;
  }

  // Takes weights that are dequantised.
  void take_bytes(const GraphStep& step) {
    const std::string& result = step.results.front();
    const Tensor& scale = value(step.operands[1]);
    for (Int i = 0; is_float(scale.dtype()) && i < scale.elements(); ++i)
      if (!is_power_of_two(number_in(scale, i)) || number_in(scale, i) < 0) object("a scale is no power of two");
    hold_as_it_is(result);
  }

  // Objects where engines declare that they round operands of a product to 8 bits (graphs.md 3.3, H4 and H5).
  void look_at_bytes(const GraphStep& step, const std::vector<Envelope>& in) {
    const bool x = dequantized_.contains(step.operands[0]), w = dequantized_.contains(step.operands[1]);
    if (x != w) return object(step.c.version.name + " of bytes and floats may round the floats to 8 bits");
    if (x && step.operands.size() > 2 && !(in[2].grain >= in[0].grain * in[1].grain))
      object(step.c.version.name + " of bytes may round what is added");
  }

  // Notes what a step gives as rounded; its arguments have to be so small that an error of theirs counts for little.
  void round(const GraphStep& step) {
    constexpr double most = 1 << 10;
    for (const std::string& name : step.operands) {
      if (name.empty() || !is_float(value(name).dtype())) continue;
      const double own = largest(value(name));
      if (own > most) object(name + " is too large for " + step.c.version.name);
      out_.coarse = std::max(out_.coarse, own / 8);
    }
    for (const std::string& result : step.results) {
      if (result.empty()) continue;
      const double own = largest(value(result));
      if (!limits_of(value(result).dtype()) || value(result).dtype() == DType::bf16 ||
          value(result).dtype() == DType::f16)
        object(step.c.version.name + " may round");
      if (!std::isfinite(own)) object(result + " is not finite");
      out_.coarse = std::max(out_.coarse, own);
      out_.rounded.insert(result);
    }
  }

  bool is_for_range_;
  const GraphData* values_ = nullptr;  // during `take`
  std::map<std::string, Envelope, std::less<>> known_;
  std::set<std::string, std::less<>> quantized_;
  std::set<std::string, std::less<>> dequantized_;  // and what is moved, clipped or chosen of it
  std::optional<FormatLimits> narrowest_;           // of a graph with casts
  Exactness out_;
};

// Tells whether a leaf only says what nodes do, as the ends of a Slice: INT64_MAX is in no sum.
bool is_only_read(const GraphCase& graph, const GraphLeaf& leaf) {
  if (is_float(leaf.type.dtype)) return false;
  for (const GraphStep& step : graph.steps)
    for (std::size_t i = 0; i < step.operands.size(); ++i)
      if (step.operands[i] == leaf.name && step.c.definition().inputs[i].reads_as.empty()) return false;
  return true;
}

}  // namespace

double number_in(const Tensor& tensor, Int element) {
  double value = 0;
  for_number(tensor.dtype(),
             [&]<class T>() { value = static_cast<double>(tensor.as<T>()[static_cast<std::size_t>(element)]); });
  return value;
}

bool may_be_exact(const Call& call) {
  const Definition& definition = call.definition();
  const std::string& op = definition.version.name;
  if (op == "QuantizeLinear" || op == "DequantizeLinear") return true;
  return definition.version.domain.empty() && (rules().contains(op) || is_well_conditioned(op)) &&
         !definition.inputs.empty() && limits_of(definition.type_of(call, definition.outputs.front()));
}

bool may_be_exact(const GraphCase& graph) {
  std::set<std::string_view> rounded;
  for (const GraphStep& step : graph.steps) {
    const std::string& op = step.c.version.name;
    const bool follows =
        std::ranges::any_of(step.operands, [&](const std::string& each) { return rounded.contains(each); });
    if (follows && !carries_on(op)) return false;
    if (follows || !rules().contains(op)) rounded.insert(step.results.begin(), step.results.end());
    rounded.erase("");
  }
  return true;
}

std::optional<std::string> ruling_touched(const GraphStep& step, const GraphData& values, Int most_elements) {
  const std::vector<std::string> rulings = touched(step.c.call(), {operands_of(step, values)}, most_elements);
  if (rulings.empty()) return std::nullopt;
  return step.c.version.name + " rests on " + rulings.front() + ", which has several readings";
}

Exactness exactness_of(const GraphCase& graph, const GraphData& leaves, int threads) {
  Inspection precision(graph, false), range(graph, true);
  for (const GraphLeaf& leaf : graph.leaves)
    if (!is_only_read(graph, leaf)) precision.take(leaf, leaves), range.take(leaf, leaves);
  std::optional<std::string> ruling;
  GraphData outputs = evaluate(graph, leaves, threads, [&](const GraphStep& step, const GraphData& values) {
    if (!ruling) ruling = ruling_touched(step, values, most_touched);
    if (ruling) return;
    precision.take(step, values);
    range.take(step, values);
  });
  Exactness out = std::move(precision).result();
  if (out.obstacle.empty()) out.obstacle = std::move(range).result().obstacle;
  if (ruling) out.obstacle = *std::move(ruling);
  out.outputs = std::move(outputs);
  return out;
}

}  // namespace assay::oracles
