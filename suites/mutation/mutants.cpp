// SPDX-License-Identifier: Apache-2.0
#include "suites/mutation/mutants.h"

#include "suites/mutation/family.h"
#include "suites/mutation/gather.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace assay::mutation {
namespace {

using oracles::State;
using Rows = std::vector<Points>;
using Where = Point::Where;
using Division = Accumulation::Division;
using Store = Accumulation::Store;
using Width = Accumulation::Width;

struct Planted {
  Mutant mutant;
  GatherDeviation deviation = {};
  bool keeps_last = false;  // the last element of the output is left from the session's previous run
};

Planted bug(std::string name, std::string description, GatherDeviation deviation, State expected = State::fail) {
  return {{std::move(name), "", std::move(description), expected}, std::move(deviation)};
}
// Weaker arithmetic that the widest admissible interval names.
Planted named(std::string name, std::string description, Accumulation accumulation, State expected = State::below) {
  return {{std::move(name), "", std::move(description), expected, true}, {.accumulation = std::move(accumulation)}};
}

bool is_last_column(const GatherPlan& plan, const Place& place) {
  return place.window.back() == plan.sides.back().out - 1;
}

bool is_last_window(const GatherPlan& plan, const Place& place) {
  for (std::size_t axis = 0; axis < plan.sides.size(); ++axis)
    if (place.window[axis] != plan.sides[axis].out - 1) return false;
  return true;
}

bool is_corner(const Place& place) {
  return std::all_of(place.window.begin(), place.window.end(), [](Int o) { return o == 0; });
}

bool overhangs(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Points& row) {
    return std::any_of(row.begin(), row.end(), [](const Point& p) { return p.where == Where::overhang; });
  });
}

Int all_taps(const GatherPlan& plan) { return product_of(plan, &GatherAxis::kernel); }

// How many taps of the window, over the product of the axes, are of a kind that counts.
template <class F>
Int counted(const Rows& rows, F&& counts) {
  Int count = 1;
  for (const Points& row : rows)
    count *= std::count_if(row.begin(), row.end(), [&](const Point& p) { return counts(p.where); });
  return count;
}

void swap_pads(const GatherRequest&, GatherPlan& plan) {
  for (GatherAxis& side : plan.sides) std::swap(side.begin, side.end);
}

void mirror_begin(GatherRequest& request) {
  for (std::size_t axis = 0; axis < request.rank(); ++axis) request.pads[axis + request.rank()] = request.pads[axis];
}

void interleave_pads(GatherRequest& request) {
  const Ints stated = request.pads;
  for (std::size_t axis = 0; axis < request.rank(); ++axis) {
    request.pads[axis] = stated[2 * axis];
    request.pads[axis + request.rank()] = stated[2 * axis + 1];
  }
}

void take_lower_for_upper(GatherRequest& request) {
  if (request.auto_pad == "SAME_LOWER") request.auto_pad = "SAME_UPPER";
}

void take_valid_for_same(GatherRequest& request) {
  if (request.is_same()) request.auto_pad = "VALID";
}

// The padding of SAME computed from `reach` cells per window, with or without the clamp at zero.
void pad_same_again(const GatherRequest& request, GatherPlan& plan, Int GatherAxis::*kernel, bool clamps) {
  if (!request.is_same()) return;
  for (GatherAxis& side : plan.sides) {
    const Int reach = kernel ? side.*kernel : side.reach();
    const Int total = (side.out - 1) * side.stride + reach - side.in;
    if (!clamps && total >= 0) continue;
    const Int padding = std::max<Int>(total, clamps ? 0 : total);
    // Without the clamp the whole surplus is cut off at the beginning: no reading of A3 does that.
    side.begin = !clamps ? padding : request.auto_pad == "SAME_UPPER" ? padding / 2 : padding - padding / 2;
    side.end = padding - side.begin;
  }
}

// As many windows as start inside the padded input, or one where the first already reaches past it.
void count_all_windows(GatherPlan& plan) {
  for (GatherAxis& side : plan.sides) {
    const Int room = side.in + side.begin + side.end - side.reach();
    side.out = room < 0 ? 1 : (room + side.stride - 1) / side.stride + 1;
  }
}

void swap_strides(GatherRequest& request) { std::reverse(request.strides.begin(), request.strides.end()); }
void swap_dilations(GatherRequest& request) { std::reverse(request.dilations.begin(), request.dilations.end()); }

void drop_last_tap(const GatherPlan&, const Place&, const Rows&, Gathered& gathered) {
  if (!gathered.terms.empty()) gathered.terms.pop_back();
}

void drop_border_tap(const GatherPlan& plan, const Place& place, const Rows& rows, Gathered& gathered) {
  const Points& row = rows.back();
  if (!is_last_column(plan, place)) return;
  // Terms list the last axis fastest: every run of `inside` terms is one row of taps.
  const Int inside = std::count_if(row.begin(), row.end(), [](const Point& p) { return p.where == Where::inside; });
  std::vector<Gathered::Term> kept;
  for (std::size_t i = 0; i < gathered.terms.size(); ++i)
    if (static_cast<Int>(i) % inside != inside - 1) kept.push_back(gathered.terms[i]);
  gathered.terms = std::move(kept);
}

void dilate_last_column(const GatherPlan& plan, const Place& place, Rows& rows) {
  if (!is_last_column(plan, place)) return;
  const GatherAxis& side = plan.sides.back();
  for (Point& p : rows.back())
    p = point(side, p.tap, place.window.back() * side.stride - side.begin + p.tap * (side.dilation + 1));
}

void shift_last_window(const GatherPlan& plan, const Place& place, Rows& rows) {
  if (!is_last_window(plan, place)) return;
  for (Point& p : rows.back()) p = point(plan.sides.back(), p.tap, p.cell - 1);
}

void clamp_to_edge(const GatherPlan& plan, const Place&, Rows& rows) {
  for (std::size_t axis = 0; axis < rows.size(); ++axis)
    for (Point& p : rows[axis])
      if (const Int in = plan.sides[axis].in; in > 0)
        p = point(plan.sides[axis], p.tap, std::clamp<Int>(p.cell, 0, in - 1));
}

// A pool that reads the edge where it should read nothing, but still divides rightly.
void clamp_sum_to_edge(const GatherPlan& plan, const Place& place, const Rows& rows, Gathered& gathered) {
  Rows clamped = rows;
  clamp_to_edge(plan, place, clamped);
  gathered.terms = gather(plan, place, clamped).terms;
}

void flip_kernel(const GatherPlan& plan, const Place&, Rows& rows) {
  for (std::size_t axis = 0; axis < rows.size(); ++axis)
    for (Point& p : rows[axis]) p.tap = plan.sides[axis].kernel - 1 - p.tap;
}

Int weights_per_map(const GatherPlan& plan) { return plan.depth * all_taps(plan); }
Int cells_per_channel(const GatherPlan& plan) { return product_of(plan, &GatherAxis::in); }

void read_first_group(const GatherPlan& plan, const Place& place, const Rows&, Gathered& gathered) {
  const Int group = place.m / (plan.maps / plan.group);
  if (group != plan.group - 1) return;
  for (Gathered::Term& term : gathered.terms) term.x -= group * plan.depth * cells_per_channel(plan);
}

void interleave_groups(const GatherPlan& plan, const Place& place, const Rows&, Gathered& gathered) {
  const Int right = place.m / (plan.maps / plan.group), wrong = place.m % plan.group;
  for (Gathered::Term& term : gathered.terms) term.x += (wrong - right) * plan.depth * cells_per_channel(plan);
}

void weigh_as_first_group(const GatherPlan& plan, const Place& place, const Rows&, Gathered& gathered) {
  const Int maps = plan.maps / plan.group;
  for (Gathered::Term& term : gathered.terms) term.w -= place.m / maps * maps * weights_per_map(plan);
}

void drop_last_channel(const GatherPlan& plan, const Place&, const Rows&, Gathered& gathered) {
  const std::size_t depth = static_cast<std::size_t>(plan.depth);
  if (depth > 1) gathered.terms.resize(gathered.terms.size() / depth * (depth - 1));
}

void transpose_weights(const GatherPlan& plan, const Place&, const Rows&, Gathered& gathered) {
  const Int taps = all_taps(plan);
  for (Gathered::Term& term : gathered.terms) term.w += transposed(plan, term.w % taps) - term.w % taps;
}

// W read as (C/G) x M instead of M x (C/G).
void swap_weight_channels(const GatherPlan& plan, const Place& place, const Rows&, Gathered& gathered) {
  const Int taps = all_taps(plan);
  for (Gathered::Term& term : gathered.terms) {
    const Int channel = term.w / taps % plan.depth;
    term.w = (channel * plan.maps + place.m) * taps + term.w % taps;
  }
}

void pool_previous_channel(const GatherPlan& plan, const Place& place, const Rows&, Gathered& gathered) {
  if (place.m == 0 || place.m != plan.maps - 1) return;
  for (Gathered::Term& term : gathered.terms) term.x -= cells_per_channel(plan);
}

void stop_after_first_batch(const GatherPlan&, const Place& place, const Rows&, Gathered& gathered) {
  gathered.is_skipped = place.n > 0;
}

// A vector loop of four without its tail.
void stop_before_tail(const GatherPlan& plan, const Place& place, const Rows&, Gathered& gathered) {
  const Int out = plan.sides.back().out;
  gathered.is_skipped = out > 4 && place.window.back() >= out / 4 * 4;
}

double as_f16(DType dtype, double value) {
  if (dtype != DType::bf16) return value;
  Float16 wrong;
  wrong.bits = BFloat16(value).bits;
  return wrong;
}

// Rounds a float to `bits` of significand, ties to even, as tensor cores do with their operands.
double shortened(double value, int bits) {
  if (!std::isfinite(value)) return value;
  int exponent;
  const double significand = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(significand, bits)), exponent - bits);
}

double as_tf32(DType dtype, double value) { return dtype == DType::f32 ? shortened(value, 11) : value; }
double as_bf16(DType dtype, double value) { return dtype == DType::f32 ? shortened(value, 8) : value; }
double through_f16(DType dtype, double value) {
  return dtype == DType::f32 ? static_cast<double>(Float16(value)) : value;
}
double without_subnormals(DType dtype, double value) {
  const double normal = dtype == DType::f16 ? 0x1p-14 : dtype == DType::f64 ? 0x1p-1022 : 0x1p-126;
  return std::abs(value) < normal ? 0 : value;
}

GatherDeviation takes_bias(int times) {
  return {.terms = [times](const GatherPlan&, const Place&, const Rows&, Gathered& g) { g.bias_times = times; }};
}

GatherDeviation divides_by(std::function<Int(const GatherPlan&, const Place&, const Rows&, Int)> divisor) {
  return {.terms = [divisor = std::move(divisor)](const GatherPlan& plan, const Place& place, const Rows& rows,
                                                  Gathered& g) { g.divisor = divisor(plan, place, rows, g.divisor); }};
}

Int with_padding(const Rows& rows) {
  return counted(rows, [](Where where) { return where != Where::overhang; });
}

Int covered_cells(const GatherPlan& plan, const Place&, const Rows& rows, Int) {
  Int cells = 1;
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    const GatherAxis& side = plan.sides[axis];
    const Int low = plan.counts_padding ? -side.begin : 0, high = plan.counts_padding ? side.in + side.end : side.in;
    cells *= std::max<Int>(0, std::min(high, rows[axis].back().cell + 1) - std::max(low, rows[axis].front().cell));
  }
  return cells;
}

// The bugs any sliding window can have.
std::vector<Planted> window_bugs() {
  return {
      bug("swaps-pads", "the begin and end padding change places", {.plan = swap_pads}),
      bug("mirrors-begin-pad", "the end padding is taken to equal the begin padding", {.request = mirror_begin}),
      bug("interleaves-pads", "pads read as begin, end per axis", {.request = interleave_pads}),
      bug("takes-lower-for-upper", "SAME_LOWER puts the odd cell at the end", {.request = take_lower_for_upper}),
      bug("takes-valid-for-same", "SAME_* does not pad", {.request = take_valid_for_same}),
      bug("pads-same-undilated", "SAME_* pads for the undilated kernel",
          {.plan = [](const GatherRequest& r, GatherPlan& p) { pad_same_again(r, p, &GatherAxis::kernel, true); }}),
      bug("pads-same-below-zero", "SAME_* with a kernel shorter than the stride cuts cells off the beginning",
          {.plan = [](const GatherRequest& r, GatherPlan& p) { pad_same_again(r, p, nullptr, false); }}),
      bug("counts-ceil-for-floor", "one window too many where the stride does not divide",
          {.plan =
               [](const GatherRequest& r, GatherPlan& p) {
                 if (!r.is_same() && !r.ceil) count_all_windows(p);
               }}),
      bug("swaps-strides", "strides in the other order of axes", {.request = swap_strides}),
      bug("swaps-dilations", "dilations in the other order of axes", {.request = swap_dilations}),
      bug("ignores-dilations", "taps are adjacent, whatever dilations says",
          {.request = [](GatherRequest& r) { std::fill(r.dilations.begin(), r.dilations.end(), 1); }}),
      bug("dilates-last-column", "dilation off by one in the last column", {.rows = dilate_last_column}),
      bug("drops-border-tap", "the last column of taps is missing in the last column", {.terms = drop_border_tap}),
      bug("drops-last-tap", "the last term of every output is missing", {.terms = drop_last_tap}),
      bug("shifts-last-window", "the last output reads a window one cell off", {.rows = shift_last_window}),
      bug("stops-after-first-batch", "only the first item of the batch is computed", {.terms = stop_after_first_batch}),
      bug("stops-before-tail", "a row's outputs past the last multiple of four are not computed",
          {.terms = stop_before_tail}),
      {{"keeps-last-output", "", "the last element is left from the previous run in the session", State::fail, false,
        Severity::state},
       {},
       true},
      bug("reads-bf16-as-f16", "bfloat16 bits taken for float16", {.accumulation = {.operand = as_f16}}),
      bug("drops-nan", "NaN is taken for a mark of padding", {.accumulation = {.skips_nan = true}}),
      named("truncates-output", "float16 and bfloat16 outputs are cut off, not rounded", {.store = Store::truncated}),
      named("flushes-outputs", "subnormal outputs become zero", {.store = Store::flushed}),
      named("flushes-inputs", "subnormal inputs are read as zero", {.operand = without_subnormals}),
      bug("accumulates-in-f16", "every sum in float16, whatever the type", {.accumulation = {.width = Width::f16}},
          State::below),
      named("rounds-twice", "an exact float16 or bfloat16 result is rounded to float32 first",
            {.width = Width::wide, .store = Store::twice}, State::pass)};
}

std::vector<Planted> conv_bugs() {
  return {bug("clamps-to-edge", "padding repeats the edge", {.rows = clamp_to_edge}),
          bug("flips-kernel", "a true convolution instead of a correlation", {.rows = flip_kernel}),
          bug("drops-bias-last-map", "no bias in the last map",
              {.terms = [](const GatherPlan& p, const Place& o, const Rows&,
                           Gathered& g) { g.bias_times = o.m == p.maps - 1 ? 0 : 1; }}),
          bug("drops-bias", "no bias at all", takes_bias(0)),
          bug("adds-bias-twice", "the bias counts twice", takes_bias(2)),
          bug("shares-first-bias", "every map takes B[0]",
              {.terms = [](const GatherPlan&, const Place&, const Rows&, Gathered& g) { g.bias = 0; }}),
          bug("reads-first-group", "the last group reads the channels of the first", {.terms = read_first_group}),
          bug("interleaves-groups", "map m reads group m mod G; depthwise with a channel multiplier goes wrong",
              {.terms = interleave_groups}),
          bug("weighs-as-first-group", "every group uses the weights of the first", {.terms = weigh_as_first_group}),
          bug("drops-last-channel", "the last input channel of a group is not added", {.terms = drop_last_channel}),
          bug("transposes-kernel", "the spatial axes of W in the other order", {.terms = transpose_weights}),
          bug("swaps-weight-channels", "W read as (C/G) x M", {.terms = swap_weight_channels}),
          named("rounds-before-bias", "the sum is rounded to the element type before the bias is added",
                {.rounds_before_bias = true}),
          bug("saturates", "an overflow gives the largest finite value", {.accumulation = {.store = Store::saturated}}),
          named("shortens-to-tf32", "float operands rounded to 11 bits", {.operand = as_tf32}),
          named("shortens-to-bf16", "float operands rounded to 8 bits", {.operand = as_bf16}),
          bug("shortens-to-f16", "float operands stored as float16, its range included",
              {.accumulation = {.operand = through_f16}}, State::below)};
}

std::vector<Planted> pool_bugs() {
  return {
      bug("adds-clamped-edge", "padding repeats the edge, the divisor is right", {.terms = clamp_sum_to_edge}),
      bug("ignores-ceil", "ceil_mode=1 counts windows as floor", {.request = [](GatherRequest& r) { r.ceil = false; }}),
      bug("keeps-trailing-window", "ceil_mode=1 keeps a window that starts in the end padding",
          {.plan =
               [](const GatherRequest& r, GatherPlan& p) {
                 if (r.ceil && !r.is_same()) count_all_windows(p);
               }},
          State::contested),
      bug("counts-valid-by-text", "VALID with ceil_mode=1 counts windows as floor",
          {.request = [](GatherRequest& r) { r.ceil = r.ceil && r.auto_pad != "VALID"; }}, State::contested),
      bug("never-counts-padding", "count_include_pad=1 has no effect",
          {.request = [](GatherRequest& r) { r.counts_padding = false; }}),
      bug("always-counts-padding", "count_include_pad=0 has no effect",
          {.request = [](GatherRequest& r) { r.counts_padding = true; }}),
      bug("counts-padding-at-corner", "the first window counts its padding",
          divides_by([](const GatherPlan&, const Place& o, const Rows& rows, Int n) {
            return is_corner(o) ? with_padding(rows) : n;
          })),
      bug("ignores-padding-at-corner", "count_include_pad=1 is forgotten in the first window",
          divides_by([](const GatherPlan&, const Place& o, const Rows& rows, Int n) {
            return is_corner(o) ? counted(rows, [](Where w) { return w == Where::inside; }) : n;
          })),
      bug("counts-overhang", "count_include_pad=1 counts what ceil_mode adds past the padding",
          divides_by([](const GatherPlan& p, const Place&, const Rows&, Int n) {
            return p.counts_padding ? all_taps(p) : n;
          })),
      bug("divides-by-kernel", "every window divides by the whole kernel",
          divides_by([](const GatherPlan& p, const Place&, const Rows&, Int) { return all_taps(p); })),
      bug("divides-tail-by-kernel", "a window that ceil_mode lets overhang divides by the whole kernel",
          divides_by([](const GatherPlan& p, const Place&, const Rows& rows, Int n) {
            return overhangs(rows) ? all_taps(p) : n;
          })),
      bug("divides-last-off-by-one", "the last window divides by one too many",
          divides_by([](const GatherPlan& p, const Place& o, const Rows&, Int n) {
            return is_last_window(p, o) ? n + 1 : n;
          })),
      bug("divides-by-covered-cells", "a dilated window divides by the cells it spans, not by its taps",
          divides_by(covered_cells)),
      bug("forgets-same-padding", "count_include_pad=1 does not count what SAME_* pads",
          {.plan = [](const GatherRequest& r, GatherPlan& p) { p.counts_padding = p.counts_padding && !r.is_same(); }}),
      bug("swaps-kernel-axes", "kernel_shape in the other order of axes",
          {.request = [](GatherRequest& r) { std::reverse(r.kernel.begin(), r.kernel.end()); }}),
      bug("pools-previous-channel", "the last channel averages its neighbour", {.terms = pool_previous_channel}),
      bug("shortens-reciprocal", "1/N is stored as float16", {.accumulation = {.division = Division::f16_reciprocal}},
          State::below)};
}

void plant(std::vector<Planted>& all, const std::string& prefix, const char* op, std::vector<Planted> bugs) {
  for (Planted& bug : bugs) {
    bug.mutant.id = prefix + "-" + bug.mutant.id;
    bug.mutant.op = op;
    all.push_back(std::move(bug));
  }
}

// Tells whether a deviation is one of windows and not of arithmetic, which a maximum has none of.
bool deviates_in_windows(const GatherDeviation& deviation) {
  return deviation.request || deviation.plan || deviation.rows || deviation.terms;
}

const std::vector<Planted>& planted() {
  static const std::vector<Planted> all = [] {
    std::vector<Planted> list;
    plant(list, "conv", "Conv", window_bugs());
    plant(list, "conv", "Conv", conv_bugs());
    plant(list, "pool", "AveragePool", window_bugs());
    plant(list, "pool", "AveragePool", pool_bugs());
    std::vector<Planted> of_windows = window_bugs();
    std::erase_if(of_windows, [](const Planted& bug) { return !deviates_in_windows(bug.deviation); });
    plant(list, "max", "MaxPool", std::move(of_windows));
    return list;
  }();
  return all;
}

const Planted& named(std::string_view id) {
  for (const Planted& p : planted())
    if (p.mutant.id == id) return p;
  throw BrokenPromise("no planted bug " + std::string(id));
}

// A session that reuses its output buffers and does not write the last element again.
Kernel keeping_last(Kernel right) {
  auto buffers = std::make_shared<Values>();
  return [right = std::move(right), buffers](const Call& call, Inputs inputs) {
    Values y = right(call, inputs);
    for (std::size_t i = 0; i < std::min(y.size(), buffers->size()); ++i) {
      const std::optional<Tensor>& before = (*buffers)[i];
      if (!y[i] || !before || before->type() != y[i]->type() || y[i]->elements() == 0) continue;
      const std::size_t size = size_of(y[i]->dtype());
      std::ranges::copy(before->bytes().last(size), y[i]->bytes().last(size).begin());
    }
    *buffers = y;
    return y;
  };
}

}  // namespace

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::semantic: return "semantic";
    case Severity::precision: return "precision";
    case Severity::state: return "state";
    case Severity::reading: return "reading";
  }
  throw BrokenPromise("a severity without a name");
}

Severity Mutant::severity_of(State expected) {
  if (expected == State::contested) return Severity::reading;
  return expected == State::fail ? Severity::semantic : Severity::precision;
}

const Mutant& gathered_mutant(std::string_view id) { return named(id).mutant; }
const GatherDeviation& gathered_deviation(std::string_view id) { return named(id).deviation; }

std::span<const Mutant> mutants() {
  static const std::vector<Mutant> all = [] {
    std::vector<Mutant> list;
    for (const Planted& p : planted()) list.push_back(p.mutant);
    for (const OpVersion& version : family())
      for (const Bug& bug : bugs_of(version)) list.push_back(bug.mutant);
    return list;
  }();
  return all;
}

std::optional<Kernel> mutant(std::string_view id, const OpVersion& version) {
  for (const Bug& bug : bugs_of(version))
    if (bug.mutant.id == id) return bug.keeps_last ? keeping_last(bug.kernel) : bug.kernel;
  for (const Planted& p : planted())
    if (p.mutant.id == id && version.domain.empty() && p.mutant.op == version.name) {
      Kernel kernel = windowed(version, p.deviation).value();
      return p.keeps_last ? keeping_last(std::move(kernel)) : kernel;
    }
  return std::nullopt;
}

}  // namespace assay::mutation
