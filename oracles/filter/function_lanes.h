// SPDX-License-Identifier: Apache-2.0
// Lanes: decides what is correctly rounded by the rule of FunctionFilter, a block of elements at a time in loops that
// the compiler vectorises; whatever is marked is for the filter. In a block everything is known of an element but why.
//
// exp is a polynomial of our own. With x = k ln 2 + r, |r| <= 0.3467, twelve powers of r leave out less than
// r^13/13! e^|r| < 2^-51 of e^r; ln 2 in two parts, the first of 32 bits so that its product with k is exact, leaves
// out less than |k| 2^-86 < 2^-75 of r; the roundings of r and of Horner's rule come to less than 2^-49. Together that
// is less than 2^-48, where the filter needs 2^-46. Arguments beyond ±700 are taken as ±700: far beyond every type.
//
// sin, cos and tan take quarter turns off arguments above 3/4 by 128 bits of 2/pi from the right place on: |x| = m 2^e
// with m of 24 bits, so m (2^e 2/pi mod 4) mod 4 is off by less than m 2^-126 < 2^-102; where less than 2^-40 of a
// quarter turn is left, the C library decides. Taylor's sums leave out less than r^17/17! and r^18/18!, |r| < 0.7855:
// less than 2^-53 of the value. With the roundings that is less than 2^-48 as well.
#pragma once

#include "oracles/filter/function_filter.h"

#include <array>
#include <cstdint>

namespace assay::oracles {

class Lanes {
 public:
  static constexpr std::size_t most = 1024;
  static constexpr std::int64_t unsure = 1, outside = 2, out_of_order = 4;

  Lanes(const FunctionFilter& filter, Function function, DType type);

  // Reads elements of both tensors; returns whether any of them is marked.
  bool look(const Tensor& arguments, const Tensor& outputs, std::size_t first, std::size_t count);
  double x(std::size_t i) const { return x_[i]; }
  double value(std::size_t i) const { return value_[i + 1]; }
  double got(std::size_t i) const { return got_[i + 1]; }
  std::int64_t marks(std::size_t i) const { return marks_[i]; }

 private:
  void compute(std::size_t count);

  const FunctionFilter& filter_;
  Function function_;
  const Format& format_;
  double lower_, upper_;  // of the range of the function
  std::array<double, most> x_{};
  std::array<double, most + 1> value_{}, got_{};  // the last ones of the block before, then those of this
  std::array<std::int64_t, most> marks_{};
};

// Write e^x; and sin, cos or tan of at most `most` numbers of 24 bits, NaN where the C library is to be asked. As
// above.
void exponentials(const double* x, double* value, std::size_t count);
void circular(Function function, const double* x, double* value, std::size_t count);

}  // namespace assay::oracles
