// SPDX-License-Identifier: Apache-2.0
// An exact sum of many products in a few nanoseconds each: 128-bit bins, one per 32 binary orders of magnitude. No
// carry is propagated, so it is exact for up to 2^30 addends; the sum is read out as a Dyadic. Tested against Dyadic.
#pragma once

#include "oracles/exact/exact.h"

#include <array>
#include <cstdint>

namespace assay::oracles {

class Bins {
 public:
  // Adds (negative ? -1 : 1) * high:low * 2^exponent; exponent within that of products of two doubles.
  void add(unsigned __int128 magnitude, int exponent, bool negative) {
    put(static_cast<std::uint64_t>(magnitude), exponent, negative);
    if (const auto high = static_cast<std::uint64_t>(magnitude >> 64)) put(high, exponent + 64, negative);
  }

  Dyadic sum() const {
    Dyadic total;
    for (int bin = first_; bin <= last_; ++bin) {
      const __int128 value = bins_[static_cast<std::size_t>(bin)];
      const auto size = static_cast<unsigned __int128>(value < 0 ? -value : value);
      if (size == 0) continue;
      const Integer whole = whole_of(static_cast<std::uint64_t>(size >> 64), static_cast<std::uint64_t>(size));
      total += Dyadic{value < 0 ? Integer(-whole) : whole, bin * 32 + lowest};
    }
    return total;
  }

 private:
  // Exponents of products and single values of f64 lie in [-2148, 2048); a high half lies 64 above.
  static constexpr int lowest = -2176, count = 136;

  void put(std::uint64_t part, int exponent, bool negative) {
    const int above = exponent - lowest, bin = above >> 5;
    reach(bin);
    const auto shifted = static_cast<__int128>(part) << (above & 31);  // below 2^95: 2^30 of them fit
    bins_[static_cast<std::size_t>(bin)] += negative ? -shifted : shifted;
  }

  // Only bins between the first and the last in use are ever cleared or read.
  void reach(int bin) {
    if (last_ < first_) first_ = bin, last_ = bin - 1;
    while (first_ > bin) bins_[static_cast<std::size_t>(--first_)] = 0;
    while (last_ < bin) bins_[static_cast<std::size_t>(++last_)] = 0;
  }

  // Boost makes an Integer of 128 bits on little-endian machines only.
  static Integer whole_of(std::uint64_t high, std::uint64_t low) {
    if (high == 0) return low;
    return (Integer(high) << 64U) + low;
  }

  std::array<__int128, count> bins_;
  int first_ = 0, last_ = -1;
};

}  // namespace assay::oracles
