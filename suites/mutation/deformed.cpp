// SPDX-License-Identifier: Apache-2.0
// DeformConv over the windows of the gather engine:
//
//   Y[n,m,o] = B[m] + sum over c, k of  W[m,c,k] * mask[n,q,k,o] * v(X[n,channel], p)
//   p_a = o_a*s_a - begin_a + k_a*d_a + offset[n,q,k,a,o],   q = channel / (C/offset_group)
//
// v interpolates between the 2^r cells around p; a cell outside X is zero.
#include "suites/mutation/family.h"
#include "suites/mutation/gather.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace assay::mutation {
namespace {

// The index space of a call.
struct Field {
  GatherPlan plan;
  Int offset_group = 1, taps = 1, windows = 1, cells = 1;

  Int axes() const { return static_cast<Int>(plan.sides.size()); }
  Int channels_per_offset_group() const { return plan.channels / offset_group; }
};

// One term of an output: which elements meet.
struct Sample {
  Int n = 0, channel = 0, tap = 0, window = 0;  // channel: of X
  Int weight = 0, mask = 0;                     // flat indices
  int mask_times = 1;
  std::vector<Int> offset = {};  // per axis, a flat index into offset, or -1: no displacement
  std::vector<Int> base = {};    // per axis: o*s - begin + k*d
};

// How a sample is taken; an empty step is done right. Coordinates are those of float or double, widened exactly.
struct Lens {
  std::function<double(const GatherAxis&, double)> coordinate = {};
  std::function<bool(const GatherAxis&, double)> is_zero = {};  // besides the cells that are outside
  double (*cell)(double) = nullptr;                             // the lower neighbour: floor
  bool swaps_weights = false, reads_outside = false;
};

struct DeformedDeviation {
  GatherDeviation window = {};
  std::function<void(const Field&, const Place&, Sample&)> sample = {};
  Lens lens = {};
};

// How the terms are computed where everything else is right.
struct Style {
  enum class Width { standard, wide, wide_coordinates, element, element_coordinates };
  Accumulation::Order order = Accumulation::Order::sequential;
  Width width = Width::standard;
  bool lerps = false;          // a + t(b - a)
  bool stores_column = false;  // mask * v in T, as im2col does
  bool masks_weight = false;   // (W * mask) * v
};

// A deviation may move the windows, but their number stays that of `offset`: a bug does not read past its inputs.
Field field_of(const Call& call, const GatherDeviation& window) {
  const Call conv = standing_for(call, call.type("X"), call.type("W"));
  const GatherPlan right = plan_of(conv);
  Field field{.plan = plan_of(conv, window)};
  for (std::size_t axis = 0; axis < right.sides.size(); ++axis) field.plan.sides[axis].out = right.sides[axis].out;
  field.offset_group = call.integer("offset_group");
  field.taps = product_of(field.plan, &GatherAxis::kernel);
  field.windows = product_of(field.plan, &GatherAxis::out);
  field.cells = product_of(field.plan, &GatherAxis::in);
  return field;
}

// Both of the row of taps q*K + tap.
void aim(const Field& field, Int row, Sample& sample) {
  const Int displaced = sample.n * field.offset_group * field.taps + row;
  sample.mask = displaced * field.windows + sample.window;
  for (Int a = 0; a < field.axes(); ++a)
    sample.offset[at(a)] = (displaced * field.axes() + a) * field.windows + sample.window;
}

Sample sample_of(const Field& field, const Place& place, Int c, Int tap) {
  const GatherPlan& plan = field.plan;
  Sample sample{.n = place.n, .tap = tap, .weight = (place.m * plan.depth + c) * field.taps + tap};
  sample.channel = place.m / (plan.maps / plan.group) * plan.depth + c;
  sample.base.resize(plan.sides.size());
  sample.offset.resize(plan.sides.size());
  for (std::size_t axis = plan.sides.size(); axis-- > 0;) {
    const GatherAxis& side = plan.sides[axis];
    sample.base[axis] = place.window[axis] * side.stride - side.begin + tap % side.kernel * side.dilation;
    tap /= side.kernel;
  }
  for (std::size_t axis = 0; axis < plan.sides.size(); ++axis)
    sample.window = sample.window * plan.sides[axis].out + place.window[axis];
  aim(field, sample.channel / field.channels_per_offset_group() * field.taps + sample.tap, sample);
  return sample;
}

// One axis of a sample: the lower neighbour, and how far beyond it.
template <class P>
struct Around {
  Int low = 0;
  P fraction = {};
};

// The neighbours on each axis; none where the sample is zero.
template <class P>
std::optional<std::vector<Around<P>>> around(const GatherPlan& plan, const Lens& lens, std::vector<P> p) {
  std::vector<Around<P>> sides;
  for (std::size_t axis = 0; axis < p.size(); ++axis) {
    const GatherAxis& side = plan.sides[axis];
    if (lens.coordinate) p[axis] = static_cast<P>(lens.coordinate(side, static_cast<double>(p[axis])));
    if (!(p[axis] > -1 && p[axis] < static_cast<P>(static_cast<double>(side.in)))) return std::nullopt;
    if (lens.is_zero && lens.is_zero(side, static_cast<double>(p[axis]))) return std::nullopt;
    const P low = static_cast<P>(lens.cell ? lens.cell(static_cast<double>(p[axis])) : std::floor(p[axis]));
    const P fraction = static_cast<P>(p[axis] - low);
    sides.push_back({static_cast<Int>(low), lens.swaps_weights ? static_cast<P>(1 - fraction) : fraction});
  }
  return sides;
}

// The 2^r cells around, the last axis fastest; a cell outside is zero, and marked.
template <class A>
struct Corner {
  A value = {}, weight = A(1);
  bool is_inside = true;
};

template <class A, class T, class P>
std::vector<Corner<A>> corners(const GatherPlan& plan, std::span<const T> plane, const std::vector<Around<P>>& sides) {
  std::vector<Corner<A>> all;
  for (std::size_t bits = 0; bits < std::size_t{1} << sides.size(); ++bits) {
    Corner<A> corner;
    Int flat = 0;
    for (std::size_t axis = 0; axis < sides.size(); ++axis) {
      const bool is_high = bits >> (sides.size() - 1 - axis) & 1;
      const Int cell = sides[axis].low + (is_high ? 1 : 0), in = plan.sides[axis].in;
      const A fraction = static_cast<A>(sides[axis].fraction);
      corner.weight = static_cast<A>(corner.weight * (is_high ? fraction : static_cast<A>(1 - fraction)));
      corner.is_inside = corner.is_inside && 0 <= cell && cell < in;
      flat = flat * in + cell;
    }
    if (corner.is_inside)
      corner.value = static_cast<A>(plane[at(flat)]);
    else if (!plane.empty())
      corner.value = static_cast<A>(0 * static_cast<A>(plane[0]));  // NaN where the cell read instead is infinite
    all.push_back(corner);
  }
  return all;
}

template <class A>
A weighted(const std::vector<Corner<A>>& all, bool reads_outside) {
  A sum = {};
  for (const Corner<A>& corner : all)
    if (corner.is_inside || reads_outside) sum = static_cast<A>(sum + static_cast<A>(corner.weight * corner.value));
  return sum;
}

// a + t(b - a) along the last axis first.
template <class A, class P>
A lerped(const std::vector<Corner<A>>& all, const std::vector<Around<P>>& sides) {
  std::vector<A> values;
  for (const Corner<A>& corner : all) values.push_back(corner.is_inside ? corner.value : A{});
  for (std::size_t axis = sides.size(); axis-- > 0;)
    for (std::size_t i = 0; i < std::size_t{1} << axis; ++i)
      values[i] = static_cast<A>(values[2 * i] + static_cast<A>(static_cast<A>(sides[axis].fraction) *
                                                                static_cast<A>(values[2 * i + 1] - values[2 * i])));
  return values[0];
}

template <class T>
struct Inputs {
  std::span<const T> x, w, offset, bias, mask;
};

template <class T>
Inputs<T> inputs_of(std::span<const Tensor* const> in) {
  const auto given = [&](std::size_t i) { return i < in.size() && in[i] ? in[i]->as<T>() : std::span<const T>{}; };
  return {given(0), given(1), given(2), given(3), given(4)};
}

// One output after the other; A adds up, P holds coordinates.
template <class T, class A, class P>
class Sampler {
 public:
  Sampler(const Field& field, const DeformedDeviation& deviation, const Style& style, const Inputs<T>& in)
      : field_(field), deviation_(deviation), style_(style), in_(in) {}

  T output(const Place& place) const {
    std::vector<A> terms;
    for (Int c = 0; c < field_.plan.depth; ++c)
      for (Int tap = 0; tap < field_.taps; ++tap) {
        Sample sample = sample_of(field_, place, c, tap);
        if (deviation_.sample) deviation_.sample(field_, place, sample);
        terms.push_back(term(sample));
      }
    Gathered rest{.bias = place.m};
    if (deviation_.window.terms) deviation_.window.terms(field_.plan, place, {}, rest);
    if (rest.is_skipped) return T{};
    for (int i = 0; i < (in_.bias.empty() ? 0 : rest.bias_times); ++i)
      terms.push_back(static_cast<A>(in_.bias[at(rest.bias)]));
    return static_cast<T>(
        added_up(style_.order, std::move(terms), static_cast<std::uint64_t>(place.m + place.window.back() + 1)));
  }

 private:
  A term(const Sample& sample) const {
    const A weight = static_cast<A>(in_.w[at(sample.weight)]);
    A mask = A(1);
    for (int i = 0; i < (in_.mask.empty() ? 0 : sample.mask_times); ++i)
      mask = static_cast<A>(mask * static_cast<A>(in_.mask[at(sample.mask)]));
    if (style_.masks_weight) return static_cast<A>(static_cast<A>(weight * mask) * value(sample));
    const A column = static_cast<A>(mask * value(sample));
    return static_cast<A>(weight * (style_.stores_column ? static_cast<A>(static_cast<T>(column)) : column));
  }

  A value(const Sample& sample) const {
    std::vector<P> p;
    for (std::size_t axis = 0; axis < sample.base.size(); ++axis) {
      const P offset = sample.offset[axis] < 0 ? P{} : static_cast<P>(in_.offset[at(sample.offset[axis])]);
      p.push_back(static_cast<P>(static_cast<P>(static_cast<double>(sample.base[axis])) + offset));
    }
    const auto sides = around(field_.plan, deviation_.lens, std::move(p));
    if (!sides) return A{};
    const auto plane =
        in_.x.subspan(at((sample.n * field_.plan.channels + sample.channel) * field_.cells), at(field_.cells));
    const auto all = corners<A>(field_.plan, plane, *sides);
    const bool is_finite = std::ranges::all_of(
        all, [](const Corner<A>& corner) { return std::isfinite(static_cast<double>(corner.value)); });
    return style_.lerps && is_finite ? lerped(all, *sides) : weighted(all, deviation_.lens.reads_outside);
  }

  const Field& field_;
  const DeformedDeviation& deviation_;
  const Style& style_;
  Inputs<T> in_;
};

template <class T, class A, class P>
void compute(const Field& field, const DeformedDeviation& deviation, const Style& style,
             std::span<const Tensor* const> in, Tensor& y) {
  const Sampler<T, A, P> sampler(field, deviation, style, inputs_of<T>(in));
  const std::span<T> out = y.as<T>();
  for (std::size_t flat = 0; flat < out.size(); ++flat)
    out[flat] = sampler.output(place_of(field.plan, static_cast<Int>(flat)));
}

template <class T>
void compute(const Field& field, const DeformedDeviation& deviation, const Style& style,
             std::span<const Tensor* const> in, Tensor& y) {
  using A = accumulator_t<T>;
  using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;
  switch (style.width) {
    case Style::Width::wide: return compute<T, Wide, Wide>(field, deviation, style, in, y);
    case Style::Width::wide_coordinates: return compute<T, A, Wide>(field, deviation, style, in, y);
    case Style::Width::element: return compute<T, T, T>(field, deviation, style, in, y);
    case Style::Width::element_coordinates: return compute<T, A, T>(field, deviation, style, in, y);
    default: return compute<T, A, A>(field, deviation, style, in, y);
  }
}

Kernel deforming(DeformedDeviation deviation, Style style = {}) {
  return [deviation = std::move(deviation), style](const Call& call, std::span<const Tensor* const> in) {
    const Field field = field_of(call, deviation.window);
    Tensor y({call.type("X").dtype, field.plan.output()});
    for_float(y.dtype(), [&]<class T>() { compute<T>(field, deviation, style, in, y); });
    return y;
  };
}

// -- planted bugs

// Bugs of the windows that Conv shares, where they touch no tap.
constexpr const char* borrowed[] = {
    "interleaves-pads", "swaps-pads",          "swaps-strides",   "swaps-dilations",   "ignores-dilations",
    "drops-bias",       "drops-bias-last-map", "adds-bias-twice", "shares-first-bias", "stops-before-tail",
};

void swap_axes(const Field&, const Place&, Sample& s) { std::ranges::reverse(s.offset); }

// All displacements of one axis, then all of the next: K x r read as r x K.
void split_axes(const Field& f, const Place&, Sample& s) {
  const Int q = s.channel / f.channels_per_offset_group(), group = s.n * f.offset_group + q;
  for (Int a = 0; a < f.axes(); ++a)
    s.offset[at(a)] = (group * f.taps * f.axes() + a * f.taps + s.tap) * f.windows + s.window;
}

void interleave_offset_groups(const Field& f, const Place&, Sample& s) {
  aim(f, s.channel % f.offset_group * f.taps + s.tap, s);
}

// ProofTerm outermost: rows k*Q + q.
void transpose_rows(const Field& f, const Place&, Sample& s) {
  aim(f, s.tap * f.offset_group + s.channel / f.channels_per_offset_group(), s);
}

void take_offset_group_of_map(const Field& f, const Place& place, Sample& s) {
  aim(f, place.m * f.offset_group / f.plan.maps * f.taps + s.tap, s);
}

// The channel counted from the first of its group.
void take_offset_group_within_group(const Field& f, const Place&, Sample& s) {
  aim(f, s.channel % f.plan.depth / f.channels_per_offset_group() * f.taps + s.tap, s);
}

void take_first_offset_group(const Field& f, const Place&, Sample& s) { aim(f, s.tap, s); }

void take_first_batch(const Field& f, const Place&, Sample& s) {
  const Int n = std::exchange(s.n, 0);
  aim(f, s.channel / f.channels_per_offset_group() * f.taps + s.tap, s);
  s.n = n;
}

// Mask channels counted as if they had a factor r (A19), as far as there are any.
void mask_with_factor(const Field& f, const Place&, Sample& s) {
  const Int rows = f.offset_group * f.taps, row = s.mask / f.windows % rows;
  s.mask += (row * f.axes() % rows - row) * f.windows;
}

void mask_by_first_tap(const Field& f, const Place&, Sample& s) { s.mask -= s.tap * f.windows; }

void displace_first_tap_only(const Field&, const Place&, Sample& s) {
  if (s.tap > 0) std::ranges::fill(s.offset, Int{-1});
}

void displace_first_axis_only(const Field&, const Place&, Sample& s) {
  for (std::size_t axis = 1; axis < s.offset.size(); ++axis) s.offset[axis] = -1;
}

void displace_as_first_window(const Field&, const Place&, Sample& s) {
  for (Int& offset : s.offset) offset -= s.window;
}

void ignore_strides(const Field& f, const Place& place, Sample& s) {
  for (std::size_t axis = 0; axis < s.base.size(); ++axis)
    s.base[axis] -= place.window[axis] * (f.plan.sides[axis].stride - 1);
}

void read_first_group(const Field& f, const Place&, Sample& s) { s.channel %= f.plan.depth; }

void weigh_transposed(const Field& f, const Place&, Sample& s) { s.weight += transposed(f.plan, s.tap) - s.tap; }

double clamped(const GatherAxis& side, double p) {
  return side.in == 0 ? p : std::clamp(p, 0.0, static_cast<double>(side.in - 1));
}
double nearest(const GatherAxis&, double p) { return std::isfinite(p) ? std::rint(p) : p; }
bool is_left_of_input(const GatherAxis&, double p) { return p <= 0; }
bool is_beyond_last_cell(const GatherAxis& side, double p) { return p > static_cast<double>(side.in - 1); }
bool is_outside_padding(const GatherAxis& side, double p) {
  return p < static_cast<double>(-side.begin) || p > static_cast<double>(side.in - 1 + side.end);
}

Bug bug(const std::string& name, std::string description, DeformedDeviation deviation, Style style = {},
        oracles::State expected = oracles::State::fail, bool is_named_arithmetic = false) {
  return {{"deform-" + name, "DeformConv", std::move(description), expected, is_named_arithmetic},
          deforming(std::move(deviation), style)};
}

std::vector<Bug> displacement_bugs() {
  return {
      bug("swaps-offset-axes", "displacements in the other order of axes", {.sample = swap_axes}),
      bug("splits-offset-axes", "all displacements of one axis stand before those of the next", {.sample = split_axes}),
      bug("interleaves-offset-groups", "channel c takes offset group c mod offset_group",
          {.sample = interleave_offset_groups}),
      bug("transposes-offset-groups", "offset groups run faster than taps", {.sample = transpose_rows}),
      bug("takes-offset-group-of-map", "the offset group is that of the output map",
          {.sample = take_offset_group_of_map}),
      bug("takes-offset-group-within-group", "the offset group is counted from the first channel of the group",
          {.sample = take_offset_group_within_group}),
      bug("takes-first-offset-group", "offset_group has no effect", {.sample = take_first_offset_group}),
      bug("takes-first-batch", "every item of the batch is displaced as the first", {.sample = take_first_batch}),
      bug("displaces-first-tap-only", "the taps after the first are not displaced",
          {.sample = displace_first_tap_only}),
      bug("displaces-first-axis-only", "the axes after the first are not displaced",
          {.sample = displace_first_axis_only}),
      bug("displaces-as-first-window", "every window is displaced as the first", {.sample = displace_as_first_window}),
      bug("ignores-strides", "the grid has stride 1", {.sample = ignore_strides}),
      bug("reads-first-group", "every group reads the channels of the first", {.sample = read_first_group}),
      bug("transposes-kernel", "the spatial axes of W in the other order", {.sample = weigh_transposed}),
      bug("ignores-mask", "the mask has no effect",
          {.sample = [](const Field&, const Place&, Sample& s) { s.mask_times = 0; }}),
      bug("masks-twice", "the mask counts twice",
          {.sample = [](const Field&, const Place&, Sample& s) { s.mask_times = 2; }}),
      bug("masks-with-factor", "mask channels counted with a factor r", {.sample = mask_with_factor}),
      bug("masks-by-first-tap", "every tap takes the mask of the first", {.sample = mask_by_first_tap})};
}

std::vector<Bug> interpolation_bugs() {
  using oracles::State;
  return {bug("truncates-coordinates", "a coordinate between -1 and 0 lies in cell 0",
              {.lens = {.cell = [](double p) { return std::trunc(p); }}}),
          bug("clamps-coordinates", "a sample outside reads the border", {.lens = {.coordinate = clamped}}),
          bug("takes-nearest", "the nearest cell, no interpolation", {.lens = {.coordinate = nearest}}),
          bug("drops-first-cell", "a coordinate of at most 0 gives zero", {.lens = {.is_zero = is_left_of_input}}),
          bug("drops-high-border", "zero beyond the last cell, blended before the first",
              {.lens = {.is_zero = is_beyond_last_cell}}),
          bug("swaps-weights", "the nearer neighbour counts less", {.lens = {.swaps_weights = true}}),
          bug("multiplies-outside", "a neighbour outside is the first cell of X times zero",
              {.lens = {.reads_outside = true}}),
          bug("rounds-coordinates", "coordinates in the element type", {}, {.width = Style::Width::element_coordinates},
              State::below, true),
          bug("computes-in-type", "every operation in the element type", {}, {.width = Style::Width::element},
              State::below, true),
          bug("reads-hard-zero", "a sample outside the padded input is zero", {.lens = {.is_zero = is_outside_padding}},
              {}, State::contested)};
}

}  // namespace

std::span<const VariantKernel> deformed_variants() {
  using oracles::Level;
  using Order = Accumulation::Order;
  using Width = Style::Width;
  static const std::vector<VariantKernel> all{
      {{"sequential", Level::L2, "terms in (channel, tap) order, then the bias"}, deforming({})},
      {{"reversed", Level::L2, "the bias last term first"}, deforming({}, {.order = Order::reversed})},
      {{"pairwise", Level::L2, "a balanced tree of additions"}, deforming({}, {.order = Order::pairwise})},
      {{"shuffled", Level::L2, "terms in an arbitrary order"}, deforming({}, {.order = Order::shuffled})},
      {{"f64", Level::L2, "wider coordinates and sums, one rounding"}, deforming({}, {.width = Width::wide})},
      {{"wide-coordinates", Level::L2, "DeformConv with wider coordinates"},
       deforming({}, {.width = Width::wide_coordinates})},
      {{"masked-weight", Level::L2, "DeformConv multiplies W by the mask first"},
       deforming({}, {.masks_weight = true})},
      {{"lerp", Level::widest, "DeformConv interpolates by a + t(b - a)"}, deforming({}, {.lerps = true})},
      {{"stored-column", Level::L3, "DeformConv stores its columns in the element type, as im2col does"},
       deforming({}, {.stores_column = true})},
      {{"hard-zero", Level::L2, "DeformConv takes a sample outside the padded input for zero", "A20", "hard-zero"},
       deforming({.lens = {.is_zero = is_outside_padding}})},
  };
  return all;
}

std::span<const Bug> deformed_bugs() {
  static const std::vector<Bug> all = [] {
    std::vector<Bug> list = displacement_bugs();
    std::ranges::move(interpolation_bugs(), std::back_inserter(list));
    for (const std::string name : borrowed)
      list.push_back(
          bug(name, gathered_mutant("conv-" + name).description, {.window = gathered_deviation("conv-" + name)}));
    return list;
  }();
  return all;
}

}  // namespace assay::mutation
