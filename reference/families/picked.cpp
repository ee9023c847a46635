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
    for (Int i = 0; T & element : y.as<T>()) {
      Int place = 0, rest = i++;
      bool is_inside = true;
      for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
        const Int at = along[axis][static_cast<std::size_t>(rest % shape[axis])];
        is_inside = is_inside && at >= 0;
        place += at * steps[axis];
      }
      element = is_inside ? x.as<T>()[static_cast<std::size_t>(place)] : fill.as<T>()[0];
    }
  });
  return y;
}

}  // namespace assay
