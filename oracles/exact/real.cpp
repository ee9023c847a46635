// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/real.h"

#include "oracles/exact/real_ends.h"

#include <algorithm>

namespace assay::oracles {
namespace {

// No format reaches so far: ends beyond 2^±farthest are brought there, and need not be shifted into place bit by bit.
constexpr int farthest = 1'200;

// An integer of the library for as long as it is needed.
class Whole {
 public:
  Whole() { mpz_init(value_); }
  explicit Whole(const Integer& from) : Whole() {
    const auto& backend = from.backend();
    mpz_import(value_, backend.size(), -1, sizeof(*backend.limbs()), 0, 0, backend.limbs());
    if (from < 0) mpz_neg(value_, value_);
  }
  ~Whole() { mpz_clear(value_); }
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;

  mpz_t& get() { return value_; }
  Integer integer() const {
    std::vector<std::uint64_t> limbs(mpz_size(value_));
    mpz_export(limbs.data(), nullptr, -1, sizeof(std::uint64_t), 0, 0, value_);
    Integer out;
    boost::multiprecision::import_bits(out, limbs.begin(), limbs.end(), 64, false);
    return mpz_sgn(value_) < 0 ? Integer(-out) : out;
  }

 private:
  mpz_t value_;
};

void set(mpfr_t end, const Dyadic& value, mpfr_rnd_t rounding) {
  Whole mantissa(value.mantissa);
  mpfr_set_z_2exp(end, mantissa.get(), value.exponent, rounding);
}

// The least of the format 2^±farthest that is no smaller, or the largest that is no larger.
Dyadic fraction(mpfr_srcptr end, bool is_lower) {
  if (mpfr_zero_p(end)) return {};
  const auto exponent = mpfr_get_exp(end);
  const bool is_negative = mpfr_sgn(end) < 0, is_shortened = is_negative != is_lower;  // towards zero
  if (exponent < -farthest) return is_shortened ? Dyadic{} : Dyadic{is_negative ? -1 : 1, -farthest};
  if (exponent > farthest) {
    expects(is_shortened, "an end that is not bounded");
    return {is_negative ? -1 : 1, farthest - 1};
  }
  Whole mantissa;
  auto power = static_cast<int>(mpfr_get_z_2exp(mantissa.get(), end));
  const auto zeros = mpz_scan1(mantissa.get(), 0);
  mpz_tdiv_q_2exp(mantissa.get(), mantissa.get(), zeros);
  return {mantissa.integer(), power + static_cast<int>(zeros)};
}

// An end rounded outward to 62 bits, which everything here takes a short way with.
Dyadic short_fraction(mpfr_srcptr end, bool is_lower) {
  if (mpfr_zero_p(end) || mpfr_get_exp(end) < -farthest) return fraction(end, is_lower);
  constexpr int bits = 62;
  MPFR_DECL_INIT(rounded_end, bits);
  mpfr_set(rounded_end, end, is_lower ? MPFR_RNDD : MPFR_RNDU);
  const auto exponent = static_cast<int>(mpfr_get_exp(rounded_end)) - bits;
  mpfr_mul_2si(rounded_end, rounded_end, -exponent, MPFR_RNDN);
  return {mpfr_get_si(rounded_end, MPFR_RNDN), exponent};
}

bool is_near(mpfr_srcptr end) { return mpfr_number_p(end) && (mpfr_zero_p(end) || mpfr_get_exp(end) <= farthest); }

// Tells whether all that lies between the ends is beyond 2^farthest, and of one sign.
bool is_far(const Ends& ends) {
  const auto is_far_end = [](mpfr_srcptr end) {
    return mpfr_inf_p(end) || (mpfr_regular_p(end) && mpfr_get_exp(end) > farthest);
  };
  return is_far_end(ends.left()) && is_far_end(ends.right()) && mpfr_sgn(ends.left()) == mpfr_sgn(ends.right());
}

template <class F>
Real joined(const Real& a, const Real& b, F&& f) {
  return made(std::max(a.bits(), b.bits()), [&](mpfi_t out) { f(out, a.ends().value, b.ends().value); });
}

// Tells whether every number strictly between the ends rounds alike. The middle is one.
bool is_decided(const Dyadic& lower, const Dyadic& upper, const Dyadic& middle, const Format& format) {
  const Scalar below = rounded({middle, 1}, format, Rounding::down), above = rounded({middle, 1}, format, Rounding::up);
  if (below.is_finite() && above.is_finite() && below.value() == above.value()) return false;
  if (below.is_finite() && lower < below.value()) return false;
  if (above.is_finite() && above.value() < upper) return false;
  Dyadic half = format.overflow_threshold();
  if (!below.is_finite())
    half = -half;
  else if (above.is_finite())
    half = (below.value() + above.value()) * Dyadic::power_of_two(-1);
  return upper <= half || half <= lower;
}

std::optional<StandIn> middle_of(const Dyadic& lower, const Dyadic& upper, const Format& format) {
  const Dyadic half = Dyadic::power_of_two(-1), middle = (lower + upper) * half;
  if (!is_decided(lower, upper, middle, format)) return std::nullopt;
  return StandIn{{middle, 1}, {(upper - lower) * half, 1}};
}

}  // namespace

Real::Real(const Ratio& value, int bits)
    : Real(made(bits, [&](mpfi_t out) {
        set(&out->left, value.numerator, MPFR_RNDD);
        set(&out->right, value.numerator, MPFR_RNDU);
        if (value.denominator == 1) return;
        Whole divisor(value.denominator);
        mpfi_div_z(out, out, divisor.get());
      })) {}

int Real::bits() const { return static_cast<int>(mpfi_get_prec(ends_->value)); }
bool Real::is_exact() const { return is_bounded() && mpfr_equal_p(ends_->left(), ends_->right()); }
bool Real::is_bounded() const { return mpfr_number_p(ends_->left()) && mpfr_number_p(ends_->right()); }
bool Real::is_positive() const { return mpfr_sgn(ends_->left()) > 0; }
bool Real::is_negative() const { return mpfr_sgn(ends_->right()) < 0; }
Dyadic Real::lower() const { return fraction(ends_->left(), true); }
Dyadic Real::upper() const { return fraction(ends_->right(), false); }

double Real::size() const {
  return std::max(mpfr_get_d(ends_->right(), MPFR_RNDU), -mpfr_get_d(ends_->left(), MPFR_RNDD));
}

Real operator+(const Real& a, const Real& b) { return joined(a, b, mpfi_add); }
Real operator-(const Real& a, const Real& b) { return joined(a, b, mpfi_sub); }
Real operator*(const Real& a, const Real& b) { return joined(a, b, mpfi_mul); }
Real operator/(const Real& a, const Real& b) { return joined(a, b, mpfi_div); }
Real operator-(const Real& a) {
  return made(a.bits(), [&](mpfi_t out) { mpfi_neg(out, a.ends().value); });
}

Real square_root(const Real& a) {
  return made(a.bits(), [&](mpfi_t out) { mpfi_sqrt(out, a.ends().value); });
}

std::optional<StandIn> stand_in(const std::function<Real(int bits)>& at, const Format& format) {
  for (int bits = 96; bits <= 1536; bits *= 2) {
    const Real number = at(bits);
    if (is_far(number.ends())) return StandIn{{{number.is_negative() ? -1 : 1, farthest}, 1}, {}};
    if (!number.is_bounded() || !is_near(number.ends().left()) || !is_near(number.ends().right())) continue;
    if (number.is_exact()) return StandIn{{number.lower(), 1}, {}};
    // 2^-61 of the number is nothing beside an ulp, but of f64.
    if (format.precision <= 24)
      if (auto found = middle_of(short_fraction(number.ends().left(), true),
                                 short_fraction(number.ends().right(), false), format))
        return found;
    if (auto found = middle_of(number.lower(), number.upper(), format)) return found;
  }
  return std::nullopt;
}

}  // namespace assay::oracles
