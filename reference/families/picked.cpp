// SPDX-License-Identifier: Apache-2.0
#include "reference/families/picked.h"

#include <algorithm>
#include <numeric>

namespace assay {

bool are_axes(const Ints& axes, Int rank) {
  return std::ranges::all_of(axes, [&](Int axis) { return is_axis(axis, rank); });
}

bool are_distinct(Ints axes, Int rank) {
  for (Int& axis : axes) axis = from_front(axis, rank);
  std::ranges::sort(axes);
  return std::ranges::adjacent_find(axes) == axes.end();
}

Ints all_axes(const Call& call) {
  Ints axes(call.shape(call.definition().inputs.front().name).size());
  std::iota(axes.begin(), axes.end(), Int{0});
  return axes;
}

const Tensor& data_of(const Call& call, std::string_view input) {
  return call.node().inputs.find(input)->second.data.value();
}

std::vector<double> reals(const Call& call, std::string_view input) {
  const Tensor& data = data_of(call, input);
  return for_number(data.dtype(), [&]<class T>() {
    std::vector<double> all;
    for (const T value : data.as<T>()) all.push_back(static_cast<double>(value));
    return all;
  });
}

Tensor picked(const Tensor& x, const std::vector<Ints>& along, const Tensor& fill) {
  const Ints steps = steps_of(x.shape());
  Shape shape;
  for (const Ints& each : along) shape.push_back(std::ssize(each));
  Tensor y({x.dtype(), shape});
  for_type(x.dtype(), [&]<class T>() {
    const T* const from = x.as<T>().data();
    const T outside = fill.elements() > 0 ? fill.as<T>()[0] : T();
    const Ints only{0}, &last = along.empty() ? only : along.back();
    auto to = y.as<T>().begin();
    for (Int row = 0; to != y.as<T>().end(); ++row) {
      Int place = 0, rest = row;
      bool is_inside = true;
      for (std::size_t axis = std::max<std::size_t>(along.size(), 1) - 1; axis-- > 0; rest /= shape[axis]) {
        const Int at = along[axis][static_cast<std::size_t>(rest % shape[axis])];
        is_inside = is_inside && at >= 0;
        place += at * steps[axis];
      }
      for (const Int at : last) *to++ = is_inside && at >= 0 ? from[place + at] : outside;
    }
  });
  return y;
}

std::vector<double> blended(std::vector<double> x, const Shape& shape,
                            const std::vector<std::vector<std::vector<AxisTap>>>& taps) {
  // The innermost axis first: what those before it have in common is added up of its sums.
  Int behind = 1;
  for (std::size_t axis = shape.size(); axis-- > 0; behind *= std::ssize(taps[axis])) {
    const Int in = shape[axis];
    const auto stays = [&](const std::vector<AxisTap>& each) {
      return each.size() == 1 && each[0].at == &each - taps[axis].data() && each[0].weight == 1;
    };
    const bool is_last = axis + 1 == shape.size();  // adds 0 to -0, whatever its taps
    if (!is_last && std::ssize(taps[axis]) == in && std::ranges::all_of(taps[axis], stays)) continue;
    const Int lines = std::ssize(x) / in / behind;
    std::vector<double> y(static_cast<std::size_t>(lines * std::ssize(taps[axis]) * behind));
    double* to = y.data();
    for (Int line = 0; line < lines; ++line)
      for (const std::vector<AxisTap>& each : taps[axis])
        for (Int i = 0; i < behind; ++i) {
          double sum = 0;
          for (const AxisTap& tap : each)
            sum += tap.weight * x[static_cast<std::size_t>((line * in + tap.at) * behind + i)];
          *to++ = sum;
        }
    x = std::move(y);
  }
  return x;
}

}  // namespace assay
