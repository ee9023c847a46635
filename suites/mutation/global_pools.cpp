// SPDX-License-Identifier: Apache-2.0
// Pools over whole planes a third time: one running value per channel, cell after cell in the order of memory.
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::mutation {
namespace {

using oracles::Level;

enum class Order { forwards, backwards, in_double };
enum class Defect { none, forgets_last, stops_after_row, divides_by_row, begins_at_zero, takes_magnitudes };

// The cells of a plane that are looked at, and by how many their sum is divided.
struct Plane {
  Int cells = 1, counted = 1, divisor = 1;
};

Plane plane_of(const Shape& x, Defect defect) {
  Plane plane;
  for (std::size_t axis = 2; axis < x.size(); ++axis) plane.cells *= x[axis];
  const Int row = x.size() > 2 ? x.back() : 1;
  plane.counted = defect == Defect::stops_after_row                   ? std::min(row, plane.cells)
                  : defect == Defect::forgets_last && plane.cells > 1 ? plane.cells - 1
                                                                      : plane.cells;
  plane.divisor = defect == Defect::divides_by_row ? row : plane.cells;
  return plane;
}

// Calls f(first cell, out) for every channel.
template <class T, class F>
Tensor per_channel(const Tensor& x, Defect defect, F&& f) {
  Shape shape(x.shape().size(), 1);
  std::copy_n(x.shape().begin(), 2, shape.begin());
  Tensor y({x.dtype(), shape});
  const Plane plane = plane_of(x.shape(), defect);
  const T* next = x.as<T>().data();
  for (T& out : y.as<T>()) {
    out = f(next, plane);
    next += plane.cells;
  }
  return y;
}

template <class A, class T>
T mean(const T* x, const Plane& plane, Order order, Defect defect) {
  A sum = 0;
  for (Int i = 0; i < plane.counted; ++i) {
    const A cell = static_cast<A>(x[order == Order::backwards ? plane.counted - 1 - i : i]);
    sum += defect == Defect::takes_magnitudes && cell < 0 ? -cell : cell;
  }
  return T(static_cast<double>(sum / static_cast<A>(plane.divisor)));
}

Kernel averaging(Order order, Defect defect = Defect::none) {
  return [=](const Call&, Inputs in) {
    Tensor y;
    for_float(in[0]->dtype(), [&]<class T>() {
      y = per_channel<T>(*in[0], defect, [&](const T* x, const Plane& plane) {
        return order == Order::in_double ? mean<double>(x, plane, order, defect)
                                         : mean<accumulator_t<T>>(x, plane, order, defect);
      });
    });
    return y;
  };
}

enum class Nan { wins, is_skipped, is_met };

Kernel taking_largest(Nan nan, Defect defect = Defect::none) {
  return [=](const Call&, Inputs in) {
    Tensor y;
    for_float(in[0]->dtype(), [&]<class T>() {
      y = per_channel<T>(*in[0], defect, [&](const T* x, const Plane& plane) {
        double best = defect == Defect::begins_at_zero ? 0 : -std::numeric_limits<double>::infinity();
        for (Int i = 0; i < plane.counted; ++i) {
          const double cell =
              defect == Defect::takes_magnitudes ? std::abs(static_cast<double>(x[i])) : static_cast<double>(x[i]);
          const bool is_nan = cell != cell, was_nan = best != best;
          if (cell > best || (nan == Nan::wins && is_nan) || (nan == Nan::is_met && was_nan)) best = cell;
        }
        return T(best);
      });
    });
    return y;
  };
}

}  // namespace

std::vector<VariantKernel> global_variants(const std::string& op) {
  if (op == "GlobalMaxPool")
    return {variant_of("sequential", "one cell after the other", taking_largest(Nan::wins)),
            variant_of("skips-nan", "a NaN is never the largest", taking_largest(Nan::is_skipped)),
            variant_of("meets-nan", "what comes after a NaN replaces it", taking_largest(Nan::is_met))};
  if (op != "GlobalAveragePool") return {};
  return {variant_of("sequential", "one cell after the other", averaging(Order::forwards)),
          variant_of("reversed", "from the last cell to the first", averaging(Order::backwards)),
          variant_of("f64", "added up in f64", averaging(Order::in_double))};
}

std::vector<Bug> global_bugs(const std::string& op) {
  const bool averages = op == "GlobalAveragePool";
  if (!averages && op != "GlobalMaxPool") return {};
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, averages ? averaging(Order::forwards, defect) : taking_largest(Nan::wins, defect));
  };
  std::vector<Bug> bugs{bug("forgets-last-cell", "the last cell of a plane is not read", Defect::forgets_last),
                        bug("stops-after-row", "the first row of a plane alone is read", Defect::stops_after_row),
                        bug("takes-magnitudes", "cells are read without their sign", Defect::takes_magnitudes)};
  if (averages)
    bugs.push_back(bug("divides-by-row", "a sum is divided by the cells of a row", Defect::divides_by_row));
  else
    bugs.push_back(bug("begins-at-zero", "the largest begins at zero", Defect::begins_at_zero));
  return bugs;
}

}  // namespace assay::mutation
