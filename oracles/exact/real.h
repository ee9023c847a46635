// SPDX-License-Identifier: Apache-2.0
// Real: a number that need be no fraction, held between two ends of so many bits. MPFR and MPFI compute the ends and
// round them outward, so the number lies between them (elementwise 9.1). Precision is an argument, not a state of the
// library, for which Boost's wrappers are not used; their headers stay in real.cpp and functions.cpp.
#pragma once

#include "oracles/exact/exact.h"

#include <functional>
#include <memory>
#include <optional>

namespace assay::oracles {

struct Ends;  // an mpfi_t (real_ends.h)

class Real {
 public:
  Real(const Ratio& value, int bits);
  Real(Int value, int bits) : Real(Ratio{{value, 0}, 1}, bits) {}
  explicit Real(std::shared_ptr<const Ends> ends) : ends_(std::move(ends)) {}

  const Ends& ends() const { return *ends_; }
  int bits() const;
  bool is_exact() const;    // both ends are the number
  bool is_bounded() const;  // both ends are numbers
  bool is_positive() const;
  bool is_negative() const;
  // The ends as fractions, of one that is bounded; those beyond 2^±1200, where no format reaches, are brought there,
  // outward.
  Dyadic lower() const;
  Dyadic upper() const;
  // A double that is no smaller than the number's size; infinite where it is not bounded.
  double size() const;

 private:
  std::shared_ptr<const Ends> ends_;
};

// As many bits as the longer operand has. A quotient by what may be zero is not bounded.
Real operator+(const Real& a, const Real& b);
Real operator-(const Real& a, const Real& b);
Real operator*(const Real& a, const Real& b);
Real operator/(const Real& a, const Real& b);
Real operator-(const Real& a);
Real square_root(const Real& a);

// A fraction in the place of a number: rounded to a format in any direction it gives what the number gives, and the
// number lies within `off` of it.
struct StandIn {
  Ratio value, off;
};

// Decides how a number rounds, by Ziv's loop: `at(bits)` is evaluated at 96, 192 … 1,536 bits until no number of the
// format and no midpoint of two neighbours lies strictly between the ends. None where that does not suffice.
//
// `at` has to give a number that is not exact strictly between its ends. Directed rounding is constant between
// neighbours, and rounding to nearest on either side of their midpoint, so an end may be such a point itself: tanh(40)
// is told from 1 at 96 bits. For what lies beyond 2^1200, where every format has infinities, ±2^1200 stands, with `off`
// 0.
std::optional<StandIn> stand_in(const std::function<Real(int bits)>& at, const Format& format);

}  // namespace assay::oracles
