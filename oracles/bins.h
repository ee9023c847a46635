// SPDX-License-Identifier: Apache-2.0
// An exact sum of many products in a few nanoseconds each: 128-bit bins, one per 32 binary orders of magnitude. No
// carry is propagated, so it is exact for up to 2^30 addends; the sum is read out as a Dyadic. Tested against Dyadic.
#pragma once

#include "oracles/exact.h"

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
      if (value != 0) total += Dyadic{Integer(value), bin * 32 + lowest};
    }
    return total;
  }

 private:
  // Exponents of products and single values of f64 lie in [-2148, 2048); a high half lies 64 above.
  static constexpr int lowest = -2176, count = 136;

  void put(std::uint64_t part, int exponent, bool negative) {
    const int above = exponent - lowest, bin = above >> 5;
    const auto shifted = static_cast<__int128>(part) << (above & 31);  // below 2^95: 2^30 of them fit
    bins_[static_cast<std::size_t>(bin)] += negative ? -shifted : shifted;
    if (bin < first_) first_ = bin;
    if (bin > last_) last_ = bin;
  }

  std::array<__int128, count> bins_{};
  int first_ = count, last_ = -1;
};

}  // namespace assay::oracles
