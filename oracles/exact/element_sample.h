// SPDX-License-Identifier: Apache-2.0
// ElementSample: which elements of a large output are looked at.
#pragma once

#include "reference/tensor.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace assay::oracles {

constexpr Int every_element = std::numeric_limits<Int>::max();

// Chooses the elements to look at: all or, of more than `most`, one in each stretch of equal length, wherever in it the
// hash says, and the last.
class ElementSample {
 public:
  ElementSample(Int elements, Int most, std::uint64_t hash)
      : elements_(elements), size_(std::min(elements, most)), hash_(hash) {}
  Int size() const { return size_; }
  bool is_whole() const { return size_ == elements_; }
  Int operator[](Int i) const {
    if (is_whole() || i == size_ - 1) return elements_ - size_ + i;
    const Int rest = elements_ % size_, first = i * (elements_ / size_) + std::min(i, rest);
    const Int length = elements_ / size_ + (i < rest ? 1 : 0);
    const std::uint64_t hash = (hash_ ^ static_cast<std::uint64_t>(i)) * 0x9e3779b97f4a7c15u;
    return first + static_cast<Int>((hash >> 16) % static_cast<std::uint64_t>(length));
  }

 private:
  Int elements_, size_;
  std::uint64_t hash_;
};

}  // namespace assay::oracles
