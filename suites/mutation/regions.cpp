// SPDX-License-Identifier: Apache-2.0
// RoiAlign and MaxRoiPool a third time: for every cell of a map it is worked out what it weighs in a sample, and
// whether it lies in a bin.
#include "reference/families/elementwise.h"
#include "reference/window.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace assay::mutation {
namespace {

using oracles::Level;

// -- RoiAlign

struct Aligning {
  bool in_double = false, backwards = false;
  // Other readings.
  bool by_corners = false, may_vanish = false, takes_one = false;
  // Slips.
  bool keeps_half = false, swaps_axes = false, forgets_outside = false, starts_at_zero = false, samples_once = false,
       is_first_batch = false, pads_with_zeros = false, samples_corners = false;
};

// The samples of a bin along an axis.
template <class A>
std::vector<A> samples(const Aligning& how, const Call& call, A from, A to, Int bins, Int bin) {
  const bool is_half = call.definition().attribute("coordinate_transformation_mode") &&
                       call.text("coordinate_transformation_mode") == "half_pixel";
  const A scale = static_cast<A>(call.real("spatial_scale")), half = is_half != how.keeps_half ? A(0.5) : A(0);
  A length = (to - from) * scale;
  if (!is_half && !how.may_vanish && length < 1) length = 1;
  Int count = call.integer("sampling_ratio");
  if (count == 0) count = how.samples_once ? 1 : static_cast<Int>(std::ceil(length / static_cast<A>(bins)));
  if (how.takes_one) count = std::max<Int>(count, 1);
  std::vector<A> all;
  for (Int i = 0; i < count; ++i) {
    const A within = (static_cast<A>(i) + (how.samples_corners ? A(0) : A(0.5))) / static_cast<A>(count);
    all.push_back(from * scale - half + (static_cast<A>(bin) + within) * (length / static_cast<A>(bins)));
  }
  return all;
}

// What the cells along an axis weigh in a sample; none outside.
template <class A>
std::optional<std::vector<A>> weights(const Aligning& how, A at, Int cells) {
  if (at < -1 || at > static_cast<A>(cells)) return std::nullopt;
  const A inside = how.pads_with_zeros ? at : std::clamp(at, A(0), static_cast<A>(cells - 1));
  std::vector<A> all;
  for (Int cell = 0; cell < cells; ++cell) all.push_back(std::max(A(0), 1 - std::abs(inside - static_cast<A>(cell))));
  return all;
}

template <class A>
double aligned(const Aligning& how, const Call& call, Inputs in, const Shape& y) {
  const Shape& x = in[0]->shape();
  const auto corner = [&](Int i) { return static_cast<A>(number_at(*in[1], 4 * y[0] + (how.swaps_axes ? i ^ 1 : i))); };
  std::vector<A> rows = samples(how, call, corner(1), corner(3), call.integer("output_height"), y[2]);
  const std::vector<A> columns = samples(how, call, corner(0), corner(2), call.integer("output_width"), y[3]);
  if (how.backwards) std::ranges::reverse(rows);
  const Int batch = how.is_first_batch ? 0 : call.ints("batch_indices")[static_cast<std::size_t>(y[0])];
  A sum = 0, most = how.starts_at_zero ? A(0) : -std::numeric_limits<A>::infinity();
  Int count = 0;
  const auto meet = [&](A value) { most = value != value ? value : std::max(most, value); };
  for (const A row : rows)
    for (const A column : columns) {
      const auto down = weights(how, row, x[2]), along = weights(how, column, x[3]);
      count += !how.forgets_outside || (down && along) ? 1 : 0;
      A value = 0;
      if (how.by_corners && !(down && along)) meet(0);
      for (Int i = 0; down && along && i < x[2] * x[3]; ++i) {
        const A weight = (*down)[static_cast<std::size_t>(i / x[3])] * (*along)[static_cast<std::size_t>(i % x[3])];
        const A term =
            weight == 0 ? A(0) : weight * static_cast<A>(number_at(*in[0], (batch * x[1] + y[1]) * x[2] * x[3] + i));
        value += term;
        if (how.by_corners && weight != 0) meet(term);
      }
      // At a border or on a cell a corner weighs nothing.
      if (how.by_corners && down && along &&
          std::ranges::count(*down, A(0)) + std::ranges::count(*along, A(0)) > x[2] + x[3] - 4)
        meet(0);
      if (!how.by_corners) meet(value);
      sum += value;
    }
  if (rows.empty() || columns.empty()) return 0;
  return static_cast<double>(call.text("mode") == "avg" ? sum / static_cast<A>(std::max<Int>(count, 1)) : most);
}

Kernel aligning(Aligning how) {
  return [how](const Call& call, Inputs in) {
    Values y = outputs_of(call);
    const Shape shape = y[0]->shape();
    const bool is_wide = how.in_double || in[0]->dtype() == DType::f64;
    for_each_position(shape, [&](const Shape& at, Int i) {
      put_number(*y[0], i, is_wide ? aligned<double>(how, call, in, at) : aligned<float>(how, call, in, at));
    });
    return y;
  };
}

// -- MaxRoiPool

struct Pooling {
  bool halves_to_even = false;
  // Slips.
  bool is_exclusive = false, truncates = false, swaps_axes = false, starts_at_zero = false, clips_first = false,
       is_disjoint = false;
};

Kernel pooling(Pooling how) {
  return [how](const Call& call, Inputs in) {
    Values y = outputs_of(call);
    const Shape shape = y[0]->shape(), &x = in[0]->shape();
    const bool is_wide = in[0]->dtype() == DType::f64;
    const auto corner = [&](Int region, Int i) {
      const double at = number_at(*in[1], 5 * region + 1 + (how.swaps_axes ? i ^ 1 : i));
      const double scaled = is_wide ? at * static_cast<double>(call.real("spatial_scale"))
                                    : static_cast<double>(static_cast<float>(at) * call.real("spatial_scale"));
      return static_cast<Int>(how.truncates        ? scaled
                              : how.halves_to_even ? std::nearbyint(scaled)
                                                   : std::round(scaled));
    };
    // Tells whether a cell lies in a bin along an axis.
    const auto holds = [&](Int region, Int axis, Int bin, Int cell) {
      Int first = corner(region, axis == 2 ? 1 : 0), last = corner(region, axis == 2 ? 3 : 2);
      const auto extent = static_cast<std::size_t>(axis);
      if (how.clips_first) first = std::max<Int>(first, 0), last = std::min(last, x[extent] - 1);
      const Int n = std::max<Int>(last - first + (how.is_exclusive ? 0 : 1), 1), bins = shape[extent],
                at = cell - first;
      if (how.is_disjoint) return at >= bin * n / bins && at < (bin + 1) * n / bins;
      return bin * n < (at + 1) * bins && at * bins < (bin + 1) * n;
    };
    for_each_position(shape, [&](const Shape& to, Int i) {
      std::optional<Int> best;
      const Int plane = (static_cast<Int>(number_at(*in[1], 5 * to[0])) * x[1] + to[1]) * x[2] * x[3];
      for (Int cell = 0; cell < x[2] * x[3]; ++cell)
        if (holds(to[0], 2, to[2], cell / x[3]) && holds(to[0], 3, to[3], cell % x[3])) {
          const double value = number_at(*in[0], plane + cell);
          if (!best || value > number_at(*in[0], *best)) best = plane + cell;
        }
      const double value = best ? number_at(*in[0], *best) : 0;
      put_number(*y[0], i, how.starts_at_zero ? std::max(value, 0.0) : value);
    });
    return y;
  };
}

}  // namespace

std::vector<VariantKernel> region_variants(const std::string& op) {
  if (op == "RoiAlign")
    return {
        variant_of("sequential", "one cell after the other", aligning({})),
        variant_of("backwards", "the last row of samples first", aligning({.backwards = true})),
        variant_of("in-double", "every float is computed in double", aligning({.in_double = true})),
        {{"by-corners", Level::L2, "the largest of weighted corners", "W52", "corner"}, aligning({.by_corners = true})},
        {{"no-clamp", Level::L2, "regions may have no extent", "W54", "no-clamp"}, aligning({.may_vanish = true})},
        {{"at-least-one", Level::L2, "every bin has a sample", "W55", "at-least-one"}, aligning({.takes_one = true})}};
  if (op == "MaxRoiPool")
    return {variant_of("sequential", "one cell after the other", pooling({})),
            {{"halves-to-even", Level::L2, "halves are rounded to even", "W58", "half-even"},
             pooling({.halves_to_even = true})}};
  return {};
}

std::vector<Bug> region_bugs(const std::string& op) {
  if (op == "RoiAlign") {
    const auto bug = [&](const char* name, const char* what, Aligning how) {
      return bug_of(op, name, what, aligning(how));
    };
    return {bug("mistakes-half", "a half is taken off where it should not be, and the reverse", {.keeps_half = true}),
            bug("swaps-corners", "x and y of a region are exchanged", {.swaps_axes = true}),
            bug("forgets-outside", "samples outside do not count", {.forgets_outside = true}),
            bug("starts-at-zero", "the largest of negative numbers is 0", {.starts_at_zero = true}),
            bug("samples-once", "one sample is taken where none is stated", {.samples_once = true}),
            bug("reads-first-batch", "every region is of the first batch", {.is_first_batch = true}),
            bug("pads-with-zeros", "samples beyond the first cell fade out", {.pads_with_zeros = true}),
            bug("samples-corners", "samples stand at the beginning of their part of a bin", {.samples_corners = true})};
  }
  if (op != "MaxRoiPool") return {};
  const auto bug = [&](const char* name, const char* what, Pooling how) {
    return bug_of(op, name, what, pooling(how));
  };
  return {bug("excludes-last", "the last row and column are left out", {.is_exclusive = true}),
          bug("truncates", "corners are rounded towards zero", {.truncates = true}),
          bug("swaps-corners", "x and y of a region are exchanged", {.swaps_axes = true}),
          bug("starts-at-zero", "the largest of negative numbers is 0", {.starts_at_zero = true}),
          bug("clips-first", "regions are cut off at the map before they are divided", {.clips_first = true}),
          bug("divides-apart", "bins share no cell", {.is_disjoint = true})};
}

}  // namespace assay::mutation
