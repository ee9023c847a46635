// SPDX-License-Identifier: Apache-2.0
// GridSample a third time: the corners around a point one after the other, numbered by the bits of a counter, in float
// or double. AffineGrid a third time: by steps from the first point of an axis on.
#include "reference/families/elementwise.h"
#include "reference/window.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>

namespace assay::mutation {
namespace {

using oracles::Level;

enum Defect {
  none,
  exchanges_axes,
  always_aligns,
  ties_up,
  truncates,
  reflects_about_centres,
  reflects_once,
  pads_with_border_value,
  takes_first_grid,
  another_kernel
};

struct Manner {
  Defect defect = none;
};

bool is_cubic(const Call& call) { return call.text("mode") == "cubic" || call.text("mode") == "bicubic"; }

template <class A>
A spread(const Call& call, A g, Int extent, int defect) {
  const bool aligns = call.integer("align_corners") == 1 || defect == always_aligns;
  const A length = static_cast<A>(extent);
  return aligns ? (g + 1) * ((length - 1) / 2) : g * (length / 2) + (length - 1) / 2;
}

// The cell that is read for one outside; below 0: none.
Int cell_for(const Call& call, Int i, Int extent, int defect) {
  if (i >= 0 && i < extent) return i;
  const std::string padding = call.text("padding_mode");
  if (padding == "zeros" && defect != pads_with_border_value) return -1;
  if (padding != "reflection") return std::clamp<Int>(i, 0, extent - 1);
  const bool about_centres = (call.integer("align_corners") == 1) != (defect == reflects_about_centres);
  if (extent == 1) return 0;
  if (defect == reflects_once)
    return std::clamp<Int>(i < 0 ? -i - !about_centres : 2 * extent - 1 - i - about_centres, 0, extent - 1);
  const Int period = 2 * (extent - about_centres), back = (i % period + period) % period;
  return std::min(back, period - !about_centres - back);
}

template <class A>
A kernel(A t, A a) {
  t = std::abs(t);
  if (t <= 1) return (a + 2) * t * t * t - (a + 3) * t * t + 1;
  return t < 2 ? a * t * t * t - 5 * a * t * t + 8 * a * t - 4 * a : A(0);
}

Int rounded(double p, int defect) {
  if (defect == ties_up) return static_cast<Int>(std::floor(p + 0.5));
  if (defect == truncates) return static_cast<Int>(p);
  const double down = std::floor(p), off = p - down;
  const bool is_up = off > 0.5 || (off == 0.5 && std::fmod(down, 2) != 0);
  return static_cast<Int>(down) + is_up;
}

// The sum around a point whose coordinates are p.
template <class A>
A around(const Call& call, const Tensor& x, Int plane, const std::vector<A>& p, int defect) {
  const Int width = is_cubic(call) ? 4 : 2;
  Int corners = 1;
  for (std::size_t axis = 0; axis < p.size(); ++axis) corners *= width;
  A sum = 0;
  for (Int corner = 0; corner < corners; ++corner) {
    Int rest = corner, at = plane;
    A weight = 1;
    bool is_there = true;
    for (std::size_t axis = 0; axis < p.size(); ++axis, rest /= width) {
      const Int i = static_cast<Int>(std::floor(p[axis])) + rest % width - (width == 4);
      const A t = p[axis] - static_cast<A>(i);
      weight *= width == 4 ? kernel<A>(t, defect == another_kernel ? A(-0.5) : A(-0.75)) : 1 - std::abs(t);
      const Int extent = x.shape()[axis + 2], cell = cell_for(call, i, extent, defect);
      is_there = is_there && cell >= 0;
      at = at * extent + std::max<Int>(cell, 0);
    }
    if (is_there && weight != 0) sum += weight * static_cast<A>(number_at(x, at));
  }
  return sum;
}

template <class A>
Values sampled_in(const Call& call, Inputs in, const Manner& how) {
  Values y = outputs_of(call);
  const Tensor &x = *in[0], &grid = *in[1];
  const std::size_t r = x.shape().size() - 2;
  const Int channels = x.shape()[1], count = y[0]->elements(),
            points = count == 0 ? 1 : count / channels / x.shape()[0];
  for (Int i = 0; i < count; ++i) {
    const Int n = i / points / channels, plane = i / points;
    std::vector<A> p;
    for (std::size_t axis = 0; axis < r; ++axis) {
      const std::size_t back = how.defect == exchanges_axes ? axis : r - 1 - axis;
      const Int from = (how.defect == takes_first_grid ? 0 : n) * points + i % points;
      const A g = static_cast<A>(number_at(grid, from * static_cast<Int>(r) + static_cast<Int>(back)));
      p.push_back(std::clamp<A>(spread<A>(call, g, x.shape()[axis + 2], how.defect), A(-0x1p23), A(0x1p23)));
    }
    if (call.text("mode") != "nearest") {
      const A sum = around<A>(call, x, plane, p, how.defect);
      for_number(x.dtype(), [&]<class T>() {
        if constexpr (std::is_integral_v<T>) {
          const double low = static_cast<double>(std::numeric_limits<T>::min()),
                       high = static_cast<double>(std::numeric_limits<T>::max());
          const double value = std::rint(static_cast<double>(sum));
          y[0]->as<T>()[static_cast<std::size_t>(i)] = value <= low    ? std::numeric_limits<T>::min()
                                                       : value >= high ? std::numeric_limits<T>::max()
                                                                       : static_cast<T>(value);
        } else {
          put_number(*y[0], i, static_cast<double>(sum));
        }
      });
      continue;
    }
    Int at = plane;
    for (std::size_t axis = 0; axis < r && at >= 0; ++axis) {
      const Int extent = x.shape()[axis + 2],
                cell = cell_for(call, rounded(static_cast<double>(p[axis]), how.defect), extent, how.defect);
      at = cell < 0 ? -1 : at * extent + cell;
    }
    if (at >= 0)
      for_type(x.dtype(), [&]<class T>() {
        y[0]->as<T>()[static_cast<std::size_t>(i)] = x.as<T>()[static_cast<std::size_t>(at)];
      });
  }
  return y;
}

Kernel sampling(Manner how, bool in_double = false) {
  return [=](const Call& call, Inputs in) -> Values {
    const bool is_wide = in_double || in[0]->dtype() == DType::f64 || is_integer(in[0]->dtype());
    return is_wide ? sampled_in<double>(call, in, how) : sampled_in<float>(call, in, how);
  };
}

// -- AffineGrid

struct Spreading {
  bool in_double = false;
  double alone = 0;  // the coordinate of a single point
  // Slips.
  bool begins_at_edge = false, exchanges_axes = false, transposes = false, forgets_translation = false,
       takes_first = false;
};

template <class A>
double spread_at(const Spreading& how, const Call& call, const Tensor& theta, const Shape& at, const Shape& shape) {
  const Int axes = shape.back();
  const auto entry = [&](Int row, Int column) {
    const Int matrix = how.takes_first ? 0 : at.front();
    return static_cast<A>(number_at(theta, (matrix * axes + row) * (axes + 1) + column));
  };
  A sum = how.forgets_translation ? A(0) : entry(at.back(), axes);
  for (Int j = 0; j < axes; ++j) {
    const auto axis = static_cast<std::size_t>(how.exchanges_axes ? j + 1 : axes - j);
    const bool aligns = call.integer("align_corners") == 1;
    const A points = static_cast<A>(shape[axis]), step = 2 / (aligns ? points - 1 : points);
    const A first = aligns || how.begins_at_edge ? A(-1) : -1 + step / 2;
    const A along = aligns && shape[axis] == 1 ? static_cast<A>(how.alone) : first + static_cast<A>(at[axis]) * step;
    sum += along * (how.transposes ? entry(j, at.back()) : entry(at.back(), j));
  }
  return static_cast<double>(sum);
}

Kernel spreading(Spreading how) {
  return [how](const Call& call, Inputs in) {
    Values y = outputs_of(call);
    const Shape shape = y[0]->shape();
    const bool is_wide = how.in_double || in[0]->dtype() == DType::f64;
    for_each_position(shape, [&](const Shape& at, Int i) {
      put_number(
          *y[0], i,
          is_wide ? spread_at<double>(how, call, *in[0], at, shape) : spread_at<float>(how, call, *in[0], at, shape));
    });
    return y;
  };
}

}  // namespace

std::vector<VariantKernel> grid_variants(const std::string& op) {
  if (op == "AffineGrid")
    return {
        variant_of("sequential", "by steps from the first point on", spreading({})),
        variant_of("in-double", "every float is computed in double", spreading({.in_double = true})),
        variant_of("begins-alone", "a single point is the first corner", spreading({.alone = -1})),
        {{"ends-alone", Level::L2, "a single point is the last corner", "M69", "plus-one"}, spreading({.alone = 1})}};
  if (op != "GridSample") return {};
  return {variant_of("sequential", "corner after corner", sampling({})),
          variant_of("in-double", "every float is computed in double", sampling({}, true))};
}

std::vector<Bug> grid_bugs(const std::string& op) {
  if (op == "AffineGrid") {
    const auto bug = [&](const char* name, const char* what, Spreading how) {
      return bug_of(op, name, what, spreading(how));
    };
    return {bug("begins-at-edge", "the first point is always -1", {.begins_at_edge = true}),
            bug("exchanges-axes", "the first coordinate goes along the first axis", {.exchanges_axes = true}),
            bug("transposes", "rows of theta are read as columns", {.transposes = true}),
            bug("forgets-translation", "the last column is left out", {.forgets_translation = true}),
            bug("takes-first", "every batch has the first matrix", {.takes_first = true})};
  }
  if (op != "GridSample") return {};
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, sampling({defect}));
  };
  return {bug("exchanges-coordinates", "the first coordinate is that of the first axis", exchanges_axes),
          bug("always-aligns", "-1 and 1 are always centres", always_aligns),
          bug("ties-up", "halves are rounded up", ties_up),
          bug("truncates", "the nearest element is the one before", truncates),
          bug("reflects-otherwise", "the mirrors are those of the other align_corners", reflects_about_centres),
          bug("reflects-once", "what is reflected out of the other side is clamped", reflects_once),
          bug("pads-with-border", "zeros are read as the border", pads_with_border_value),
          bug("takes-first-grid", "every batch is sampled by the first grid", takes_first_grid),
          bug("takes-another-kernel", "the cubic kernel is that of a = -0.5", another_kernel)};
}

}  // namespace assay::mutation
