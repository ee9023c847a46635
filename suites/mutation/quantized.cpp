// SPDX-License-Identifier: Apache-2.0
// QLinearConv over the windows of the gather engine:
//
//   a = B[m] + sum over the taps of (x - x_zero) * (w - w_zero[m]);   y = saturate(rint(a * sx * sw[m] / sy) + y_zero)
//
// Here a tap in padding is a tap like any other that reads x_zero, so it contributes nothing by arithmetic, not by
// being left out.
#include "reference/recipe.h"
#include "suites/mutation/family.h"
#include "suites/mutation/gather.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace assay::mutation {
namespace {

enum class Operand { x, x_zero, w, w_zero, y_zero, bias };

// Every operand, as numbers.
struct Stored {
  std::vector<Int> x, x_zero, w, w_zero, y_zero, bias;
  std::vector<float> x_scale, w_scale, y_scale;
  bool x_is_signed = false, w_is_signed = false;
};

struct TapValue {
  Int x = 0, w = 0, channel = 0;  // channel: of the map's group
  bool is_padding = false;
};

// One output in the making.
struct Making {
  const GatherPlan& plan;
  const Place& place;
  const Stored& stored;
  DType dtype = DType::u8;  // of y
  Int x_zero = 0, w_zero = 0, y_zero = 0, bias = 0;
  float x_scale = 1, w_scale = 1, y_scale = 1;
  std::vector<TapValue> taps = {};
};

// The steps at which a planted bug may deviate; an empty step is done right.
struct QuantizedDeviation {
  GatherDeviation window = {};
  std::function<Int(Operand, DType, Int)> read = {};       // a stored value
  std::function<void(Making&)> change = {};                // what meets what
  std::function<Int(const Making&)> sum = {};              // a
  std::function<double(const Making&, Int)> scaled = {};   // a * sx * sw / sy
  std::function<Int(const Making&, double)> rounded = {};  // with the zero point
  std::function<Int(DType, Int)> stored = {};              // into the type of y
};

template <class List>
auto of_map(const List& list, Int m) {
  return list[list.size() == 1 ? 0 : at(m)];
}

std::vector<Int> numbers(const Tensor* tensor, Operand operand, const QuantizedDeviation& deviation) {
  std::vector<Int> values;
  if (!tensor) return values;
  const auto widen = [&](auto span) { values.assign(span.begin(), span.end()); };
  switch (tensor->dtype()) {
    case DType::u8: widen(tensor->as<std::uint8_t>()); break;
    case DType::i8: widen(tensor->as<std::int8_t>()); break;
    default: widen(tensor->as<std::int32_t>());
  }
  if (deviation.read)
    for (Int& value : values) value = deviation.read(operand, tensor->dtype(), value);
  return values;
}

std::vector<float> scales(const Tensor& tensor) {
  const std::span<const float> values = tensor.as<float>();
  return {values.begin(), values.end()};
}

Stored stored_in(std::span<const Tensor* const> in, const QuantizedDeviation& deviation) {
  return {.x = numbers(in[0], Operand::x, deviation),
          .x_zero = numbers(in[2], Operand::x_zero, deviation),
          .w = numbers(in[3], Operand::w, deviation),
          .w_zero = numbers(in[5], Operand::w_zero, deviation),
          .y_zero = numbers(in[7], Operand::y_zero, deviation),
          .bias = numbers(in.size() > 8 ? in[8] : nullptr, Operand::bias, deviation),
          .x_scale = scales(*in[1]),
          .w_scale = scales(*in[4]),
          .y_scale = scales(*in[6]),
          .x_is_signed = in[0]->dtype() == DType::i8,
          .w_is_signed = in[3]->dtype() == DType::i8};
}

// The taps that fall outside x, as flat indices into one channel of a kernel.
std::vector<Int> taps_in_padding(const GatherPlan& plan, const std::vector<Points>& rows) {
  struct Spot {
    Int tap = 0;
    bool is_inside = true;
  };
  std::vector<Spot> spots{{}};
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    std::vector<Spot> longer;
    for (const Spot& spot : spots)
      for (const Point& p : rows[axis])
        longer.push_back(
            {spot.tap * plan.sides[axis].kernel + p.tap, spot.is_inside && p.where == Point::Where::inside});
    spots = std::move(longer);
  }
  std::vector<Int> outside;
  for (const Spot& spot : spots)
    if (!spot.is_inside) outside.push_back(spot.tap);
  return outside;
}

Making making(const GatherPlan& plan, const Place& place, const Stored& stored, const std::vector<Points>& rows,
              const Gathered& gathered) {
  Making out{.plan = plan, .place = place, .stored = stored};
  out.x_zero = stored.x_zero[0];
  out.w_zero = of_map(stored.w_zero, place.m);
  out.y_zero = stored.y_zero[0];
  if (!stored.bias.empty()) out.bias = gathered.bias_times * stored.bias[at(gathered.bias)];
  out.x_scale = stored.x_scale[0];
  out.w_scale = of_map(stored.w_scale, place.m);
  out.y_scale = stored.y_scale[0];
  const Int taps = product_of(plan, &GatherAxis::kernel);
  for (const Gathered::Term& term : gathered.terms)
    out.taps.push_back({stored.x[at(term.x)], stored.w[at(term.w)], term.w / taps % plan.depth});
  for (const Int tap : taps_in_padding(plan, rows))
    for (Int c = 0; c < plan.depth; ++c)
      out.taps.push_back({out.x_zero, stored.w[at((place.m * plan.depth + c) * taps + tap)], c, true});
  return out;
}

Int product(const Making& m, const TapValue& tap) { return (tap.x - m.x_zero) * (tap.w - m.w_zero); }

Int exact_sum(const Making& m) {
  Int sum = m.bias;
  for (const TapValue& tap : m.taps) sum += product(m, tap);
  return sum;
}

// The zero points set aside: sum xw - x_zero sum w - w_zero sum x + n x_zero w_zero, where n counts taps in padding.
Int sum_then_correction(const Making& m, bool sums_padding) {
  Int xw = 0, x = 0, w = 0;
  for (const TapValue& tap : m.taps)
    if (sums_padding || !tap.is_padding) {
      xw += tap.x * tap.w;
      x += tap.x;
      w += tap.w;
    }
  return m.bias + xw - m.x_zero * w - m.w_zero * x + static_cast<Int>(m.taps.size()) * m.x_zero * m.w_zero;
}

// The orders of sx, sw, sy and a that a backend may choose, every step rounded to F.
enum class Order { multiplier, input_ratio, weight_ratio, in_turn, dequantized };

template <class F>
double in_order(Order order, const Making& m, Int sum) {
  const F a = static_cast<F>(sum), sx = m.x_scale, sw = m.w_scale, sy = m.y_scale;
  switch (order) {
    case Order::multiplier: return static_cast<F>(static_cast<F>(sx * sw) / sy) * a;
    case Order::input_ratio: return static_cast<F>(static_cast<F>(sx / sy) * sw) * a;
    case Order::weight_ratio: return static_cast<F>(static_cast<F>(sw / sy) * sx) * a;
    case Order::in_turn: return static_cast<F>(static_cast<F>(a * sx) * sw) / sy;
    default: return static_cast<F>(static_cast<F>(sx * sw) * a) / sy;
  }
}

double in_turn(const Making& m, Int sum) { return in_order<double>(Order::in_turn, m, sum); }

// Far outside every type, yet an Int.
Int whole(double value) { return std::isnan(value) ? 0 : static_cast<Int>(std::clamp(value, -1e15, 1e15)); }

// rint: to nearest, ties to even.
Int round_then_add(const Making& m, double value) { return whole(std::rint(value)) + m.y_zero; }

struct Range {
  Int low = 0, high = 255;
};
Range range_of(DType dtype) { return dtype == DType::u8 ? Range{0, 255} : Range{-128, 127}; }

Int saturated(DType dtype, Int value) { return std::clamp(value, range_of(dtype).low, range_of(dtype).high); }

template <class F, class... Args>
auto either(const std::function<F>& deviation, F* right, Args&&... args) {
  return deviation ? deviation(std::forward<Args>(args)...) : right(std::forward<Args>(args)...);
}

// One output, in the low eight bits.
std::byte output(const QuantizedDeviation& deviation, const Making& m) {
  const Int sum = either(deviation.sum, exact_sum, m);
  const double value = either(deviation.scaled, in_turn, m, sum);
  return static_cast<std::byte>(
      either(deviation.stored, saturated, m.dtype, either(deviation.rounded, round_then_add, m, value)));
}

Kernel quantized(QuantizedDeviation deviation) {
  return [deviation = std::move(deviation)](const Call& call, std::span<const Tensor* const> in) {
    const GatherPlan plan = plan_of(standing_for(call, call.type("x"), call.type("w")), deviation.window);
    const Stored stored = stored_in(in, deviation);
    Tensor y({in[7]->dtype(), plan.output()});
    for (Int flat = 0; flat < y.elements(); ++flat) {
      const Place place = place_of(plan, flat);
      std::vector<Points> rows = rows_of(plan, place);
      if (deviation.window.rows) deviation.window.rows(plan, place, rows);
      Gathered gathered = gather(plan, place, rows);
      if (deviation.window.terms) deviation.window.terms(plan, place, rows, gathered);
      if (gathered.is_skipped) continue;
      Making m = making(plan, place, stored, rows, gathered);
      m.dtype = y.dtype();
      if (deviation.change) deviation.change(m);
      y.bytes()[at(flat)] = output(deviation, m);
    }
    return y;
  };
}

// -- correct ways

VariantKernel variant(std::string name, std::string description, QuantizedDeviation deviation, std::string ruling = "",
                      std::string reading = "") {
  return {{std::move(name), oracles::Level::L2, std::move(description), std::move(ruling), std::move(reading)},
          quantized(std::move(deviation))};
}

template <class F>
std::vector<VariantKernel> requantizations(const std::string& width) {
  struct Named {
    Order order;
    std::string name, formula;
  };
  const Named all[] = {{Order::multiplier, "multiplier", "((sx*sw)/sy)*a"},
                       {Order::input_ratio, "input-ratio", "((sx/sy)*sw)*a"},
                       {Order::weight_ratio, "weight-ratio", "((sw/sy)*sx)*a"},
                       {Order::in_turn, "scale-in-turn", "((a*sx)*sw)/sy"},
                       {Order::dequantized, "dequantized", "((sx*sw)*a)/sy"}};
  std::vector<VariantKernel> list;
  for (const Named& n : all)
    list.push_back(variant(width + "-" + n.name, "QLinearConv requantises by " + n.formula + " in " + width,
                           {.scaled = [order = n.order](const Making& m, Int a) { return in_order<F>(order, m, a); }}));
  return list;
}

Int add_then_round(const Making& m, double value) { return whole(std::rint(value + static_cast<double>(m.y_zero))); }

Int wrapped_sum(const Making& m) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(exact_sum(m))); }

Int saturated_sum(const Making& m) {
  using Limits = std::numeric_limits<std::int32_t>;
  return std::clamp<Int>(exact_sum(m), Limits::min(), Limits::max());
}

// -- planted bugs

// Bugs of geometry that Conv shares.
constexpr const char* borrowed[] = {
    "swaps-pads",        "interleaves-pads",    "takes-lower-for-upper", "pads-same-undilated",
    "swaps-dilations",   "ignores-dilations",   "drops-last-tap",        "flips-kernel",
    "drops-bias",        "drops-bias-last-map", "adds-bias-twice",       "shares-first-bias",
    "reads-first-group", "interleaves-groups",  "drops-last-channel",    "stops-before-tail",
};

bool is_last_map(const Making& m) { return m.place.m == m.plan.maps - 1; }

void pad_with(Making& m, Int value) {
  for (TapValue& tap : m.taps)
    if (tap.is_padding) tap.x = value;
}

// vpmaddubsw: u8 times i8 in pairs, each pair saturated to 16 bits; x is moved to u8 and w to i8 for it, and the zero
// points are set right afterwards (onnxruntime #16105).
Int sum_of_saturated_pairs(const Making& m) {
  const Int x_shift = m.stored.x_is_signed ? 128 : 0, w_shift = m.stored.w_is_signed ? 0 : -128;
  Int pairs = 0, pair = 0, x = 0, w = 0;
  for (std::size_t i = 0; i < m.taps.size(); ++i) {
    const Int left = m.taps[i].x + x_shift, right = m.taps[i].w + w_shift;
    pair += left * right;
    x += left;
    w += right;
    if (i % 2 == 0 && i + 1 < m.taps.size()) continue;
    pairs += std::clamp<Int>(std::exchange(pair, 0), -32768, 32767);
  }
  const Int x_zero = m.x_zero + x_shift, w_zero = m.w_zero + w_shift;
  return m.bias + pairs - x_zero * w - w_zero * x + static_cast<Int>(m.taps.size()) * x_zero * w_zero;
}

Int sum_of_wrapped_differences(const Making& m) {
  Int sum = m.bias;
  for (const TapValue& tap : m.taps) sum += static_cast<std::int8_t>(tap.x - m.x_zero) * (tap.w - m.w_zero);
  return sum;
}

// The scale runs along the input channels where it has as many entries.
double scaled_by_channel(const Making& m, Int sum) {
  if (static_cast<Int>(m.stored.w_scale.size()) != m.plan.depth || m.plan.depth == 1) return in_turn(m, sum);
  double value = static_cast<double>(m.bias) * m.w_scale;
  for (const TapValue& tap : m.taps) value += static_cast<double>(product(m, tap)) * m.stored.w_scale[at(tap.channel)];
  return value * m.x_scale / m.y_scale;
}

// a * sx * sw / sy with the factor rounded to `bits` of significand.
double scaled_in_bits(const Making& m, Int sum, int bits) {
  int exponent;
  const double factor = static_cast<double>(m.x_scale) * m.w_scale / m.y_scale;
  const double significand = std::frexp(factor, &exponent);
  return static_cast<double>(sum) * std::ldexp(std::rint(std::ldexp(significand, bits)), exponent - bits);
}

float as_f16(float value) { return static_cast<float>(static_cast<double>(Float16(static_cast<double>(value)))); }

Int clamped_before_zero_point(const Making& m, double value) {
  return saturated(m.dtype, whole(std::rint(value))) + m.y_zero;
}

std::function<Int(Operand, DType, Int)> u8_as_i8(Operand of, Operand its_zero) {
  return [=](Operand operand, DType dtype, Int value) -> Int {
    return dtype == DType::u8 && (operand == of || operand == its_zero) ? static_cast<std::int8_t>(value) : value;
  };
}

std::function<Int(const Making&, double)> rounds_by(double (*round)(double)) {
  return [round](const Making& m, double value) { return whole(round(value)) + m.y_zero; };
}

Bug bug(const std::string& name, std::string description, QuantizedDeviation deviation,
        oracles::State expected = oracles::State::fail, bool is_named_arithmetic = false) {
  return {{"qlinear-" + name, "QLinearConv", std::move(description), expected, is_named_arithmetic},
          quantized(std::move(deviation))};
}

std::vector<Bug> operand_bugs() {
  return {bug("pads-with-zero", "a tap in padding reads 0, not x_zero_point",
              {.change = [](Making& m) { pad_with(m, 0); }}),
          bug("pads-with-y-zero", "a tap in padding reads y_zero_point",
              {.change = [](Making& m) { pad_with(m, m.y_zero); }}),
          bug("ignores-x-zero", "x_zero_point has no effect",
              {.change =
                   [](Making& m) {
                     pad_with(m, 0);
                     m.x_zero = 0;
                   }}),
          bug("ignores-w-zero", "w_zero_point has no effect", {.change = [](Making& m) { m.w_zero = 0; }}),
          bug("ignores-w-zero-last-map", "w_zero_point has no effect in the last map",
              {.change = [](Making& m) { m.w_zero = is_last_map(m) ? 0 : m.w_zero; }}),
          bug("shares-first-w-zero", "every map takes w_zero_point[0]",
              {.change = [](Making& m) { m.w_zero = m.stored.w_zero[0]; }}),
          bug("ignores-y-zero", "y_zero_point has no effect", {.change = [](Making& m) { m.y_zero = 0; }}),
          bug("adds-y-zero-twice", "y_zero_point counts twice", {.change = [](Making& m) { m.y_zero *= 2; }}),
          bug("shares-first-scale", "every map takes w_scale[0]",
              {.change = [](Making& m) { m.w_scale = m.stored.w_scale[0]; }}),
          bug("scales-by-channel", "w_scale runs along the input channels", {.scaled = scaled_by_channel}),
          bug("ignores-y-scale", "y_scale has no effect", {.change = [](Making& m) { m.y_scale = 1; }}),
          bug("inverts-y-scale", "times y_scale", {.change = [](Making& m) { m.y_scale = 1 / m.y_scale; }}),
          bug("shortens-scales", "scales are stored as float16",
              {.change =
                   [](Making& m) {
                     for (float* scale : {&m.x_scale, &m.w_scale, &m.y_scale}) *scale = as_f16(*scale);
                   }}),
          bug("reads-x-as-i8", "uint8 x and its zero point taken for int8",
              {.read = u8_as_i8(Operand::x, Operand::x_zero)}),
          bug("reads-w-as-i8", "uint8 w and its zero point taken for int8",
              {.read = u8_as_i8(Operand::w, Operand::w_zero)}),
          bug("reads-w-zero-as-i8", "a uint8 w_zero_point taken for int8",
              {.read = u8_as_i8(Operand::w_zero, Operand::w_zero)}),
          bug("reads-y-zero-as-i8", "a uint8 y_zero_point taken for int8",
              {.read = u8_as_i8(Operand::y_zero, Operand::y_zero)}),
          bug("scales-bias", "the bias is added after scaling, as if it were in units of y",
              {.sum = [](const Making& m) { return exact_sum(m) - m.bias; },
               .scaled = [](const Making& m, Int sum) { return in_turn(m, sum) + static_cast<double>(m.bias); }})};
}

std::vector<Bug> arithmetic_bugs() {
  using oracles::State;
  return {
      bug("corrects-with-full-kernel", "the correction by both zero points counts taps that fall outside",
          {.sum = [](const Making& m) { return sum_then_correction(m, false); }}),
      bug("saturates-int16-pairs", "pairs of products saturate at 16 bits", {.sum = sum_of_saturated_pairs}),
      bug("wraps-differences", "x - x_zero_point is kept in 8 bits", {.sum = sum_of_wrapped_differences}),
      bug("sums-in-int16", "the accumulator has 16 bits",
          {.sum = [](const Making& m) -> Int { return static_cast<std::int16_t>(exact_sum(m)); }}),
      bug("wraps-output", "the output wraps around where it should saturate",
          {.stored = [](DType, Int value) { return value; }}),
      bug("saturates-other-sign", "the output saturates at the ends of the other 8-bit type",
          {.stored = [](DType d, Int value) { return saturated(d == DType::u8 ? DType::i8 : DType::u8, value); }}),
      bug("saturates-one-early", "the largest output is one less than it should be",
          {.stored = [](DType d, Int value) { return std::min(saturated(d, value), range_of(d).high - 1); }}),
      bug("clamps-before-zero-point", "clamped, then the zero point is added", {.rounded = clamped_before_zero_point}),
      bug("truncates", "rounds towards zero", {.rounded = rounds_by(std::trunc)}),
      bug("floors", "rounds down", {.rounded = rounds_by(std::floor)}),
      bug("rounds-half-away", "ties go away from zero", {.rounded = rounds_by(std::round)}, State::below, true),
      bug("shortens-multiplier", "sx*sw/sy is kept in 15 bits",
          {.scaled = [](const Making& m, Int a) { return scaled_in_bits(m, a, 15); }}, State::below),
      bug("fixes-multiplier", "sx*sw/sy is kept in 31 bits, ties go away from zero",
          {.scaled = [](const Making& m, Int a) { return scaled_in_bits(m, a, 31); }, .rounded = rounds_by(std::round)},
          State::below, true),
      bug("adds-then-rounds", "the zero point is added before rounding", {.rounded = add_then_round}, State::contested),
      bug("wraps-sum", "the accumulator wraps around at 32 bits", {.sum = wrapped_sum}, State::contested),
      bug("saturates-sum", "the accumulator saturates at 32 bits", {.sum = saturated_sum}, State::contested)};
}

}  // namespace

std::span<const VariantKernel> quantized_variants() {
  static const std::vector<VariantKernel> all = [] {
    std::vector<VariantKernel> list = requantizations<float>("f32");
    std::ranges::move(requantizations<double>("f64"), std::back_inserter(list));
    list.push_back(variant("sequential", "one tap after the other", {}));
    list.push_back(variant("zero-points-apart", "QLinearConv sums the stored values and corrects for the zero points",
                           {.sum = [](const Making& m) { return sum_then_correction(m, true); }}));
    list.push_back(variant("add-then-round", "QLinearConv adds the zero point before it rounds",
                           {.rounded = add_then_round}, "A16", "add-then-round"));
    list.push_back(
        variant("wrap32", "QLinearConv sums in 32 bits that wrap around", {.sum = wrapped_sum}, "A17", "wrap32"));
    list.push_back(variant("saturate32", "QLinearConv sums in 32 bits that saturate", {.sum = saturated_sum}, "A17",
                           "saturate32"));
    return list;
  }();
  return all;
}

std::span<const Bug> quantized_bugs() {
  static const std::vector<Bug> all = [] {
    std::vector<Bug> list = operand_bugs();
    std::ranges::move(arithmetic_bugs(), std::back_inserter(list));
    for (const std::string name : borrowed)
      list.push_back(
          bug(name, gathered_mutant("conv-" + name).description, {.window = gathered_deviation("conv-" + name)}));
    return list;
  }();
  return all;
}

}  // namespace assay::mutation
