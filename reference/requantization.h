// SPDX-License-Identifier: Apache-2.0
// Requantization: from exact integer sums to 8-bit integers, by scales and zero points.
#pragma once

#include "reference/tensor.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace assay {

// Widens a tensor of integers of at most 32 bits.
inline std::vector<Int> integers(const Tensor& tensor) {
  std::vector<Int> out;
  for_number(tensor.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) out.assign(tensor.as<T>().begin(), tensor.as<T>().end());
  });
  return out;
}

// Returns the parameter of map m: its own, or the only one.
template <class List>
auto of_map(const List& list, Int m) {
  return list[list.size() == 1 ? 0 : static_cast<std::size_t>(m)];
}

// Clamps a value; a NaN to the least.
constexpr double between(double value, double least, double most) {
  const double low = value > least ? value : least;
  return low < most ? low : most;
}

// Returns a sum in steps of y, before its zero point; rint rounds ties to even in the default rounding mode. Where the
// scales leave no number, the least.
inline double requantized(double sum, double x_scale, double w_scale, double y_scale) {
  return std::rint(between(sum * x_scale * w_scale / y_scale, -1e9, 1e9));
}

// Clamps a whole number to the ends of T.
template <class T>
T saturated(double value) {
  if constexpr (SmallWhole<T>)
    return T(between(value, T::lowest, T::highest));
  else
    return static_cast<T>(
        static_cast<std::int32_t>(between(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())));
}

// Writes a whole number, clamped, to an element of a tensor of i8 or u8.
inline void write_saturated(Tensor& to, Int at, double value) {
  if (to.dtype() == DType::u8)
    to.as<std::uint8_t>()[static_cast<std::size_t>(at)] = saturated<std::uint8_t>(value);
  else
    to.as<std::int8_t>()[static_cast<std::size_t>(at)] = saturated<std::int8_t>(value);
}

}  // namespace assay
