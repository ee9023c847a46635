// SPDX-License-Identifier: Apache-2.0
// The exact answers of DFT and STFT (reductions 9). Either part of a bin is a sum of dyadic numbers times cosines of
// multiples of 1/M of a turn, M = lcm(4, N), which are brought together in the first quarter. It is a fraction where,
// of M-th roots of unity, it is one: each prime p of M lets a root be written as the p - 1 others that lie M/p apart,
// what is left is a basis, and 1 is in it. Else it is enclosed.
//
// With |x| the sum of the sizes of all parts, a part errs by max(n + 32, 36 log2 N) u |x|: the n products of a direct
// sum, or the stages of a fast one, with twiddles of 28 u. By angles that are not reduced it is (19 N + 32) u |x|, by
// Bluestein's convolution 84 log2 4N sqrt(4N) u |x|_2 at the worst; both are below the level.
#include "oracles/exact/functions.h"
#include "oracles/exact/operands.h"
#include "oracles/exact/tree_bounds.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace assay::oracles {
namespace {

// Encloses the cosines of multiples of a turn over 4 * quarter, up to a quarter of a turn.
class Cosines {
 public:
  explicit Cosines(Int quarter) : quarter_(quarter) {}
  Int quarter() const { return quarter_; }
  const std::vector<Real>& of(int bits) const {
    std::vector<Real>& all = known_[bits];
    if (!all.empty()) return all;
    const Real pi = enclosed(Function::acos, std::array{Real(Int{-1}, bits)});
    all.emplace_back(Int{1}, bits);
    for (Int t = 1; t < quarter_; ++t)
      all.push_back(enclosed(Function::cos, std::array{pi * Real(Ratio{{t, 0}, 2 * quarter_}, bits)}));
    return all;
  }

 private:
  Int quarter_;
  mutable std::map<int, std::vector<Real>> known_;
};

Ints primes_of(Int number) {
  Ints primes;
  for (Int p = 2; number > 1; ++p) {
    if (number % p == 0) primes.push_back(p);
    while (number % p == 0) number /= p;
  }
  return primes;
}

// Returns a sum of weights times the cosines of that many steps, where it is a fraction.
std::optional<Dyadic> fraction_of(const std::vector<Dyadic>& weights) {
  const Int quarter = std::ssize(weights), turn = 4 * quarter;
  int exponent = 0;
  for (const Dyadic& each : weights)
    if (!each.is_zero()) exponent = std::min(exponent, each.exponent);
  std::vector<Integer> roots(static_cast<std::size_t>(turn));  // twice the sum
  const auto root = [&](Int at) -> Integer& { return roots[static_cast<std::size_t>(at % turn)]; };
  for (Int t = 0; t < quarter; ++t) {
    const Dyadic& weight = weights[static_cast<std::size_t>(t)];
    if (weight.is_zero()) continue;
    const Integer scaled = weight.mantissa << static_cast<unsigned>(weight.exponent - exponent);
    root(t) += scaled;
    root(turn - t) += scaled;
  }
  for (const Int p : primes_of(turn)) {
    Int power = p;
    while (turn % (power * p) == 0) power *= p;
    for (Int at = 0; at < turn; ++at) {
      if (at % power / (power / p) != p - 1 || root(at) == 0) continue;
      for (Int i = 1; i < p; ++i) root(at + i * (turn / p)) -= root(at);
      root(at) = 0;
    }
  }
  if (std::any_of(roots.begin() + 1, roots.end(), [](const Integer& each) { return each != 0; })) return std::nullopt;
  return Dyadic{roots.front(), exponent - 1};
}

// Holds a sample, or the product of one and what it is weighed with; its parts need be no numbers.
struct Part {
  Scalar x;
  std::optional<Scalar> weight;

  bool is_nan() const {
    if (!weight) return oracles::is_nan(x);
    return oracles::is_nan(x) || oracles::is_nan(*weight) || (is_infinite(x) && weight->is_zero()) ||
           (is_infinite(*weight) && x.is_zero());
  }
  bool is_finite() const { return x.is_finite() && (!weight || weight->is_finite()); }
  Dyadic value() const { return weight ? x.value() * weight->value() : x.value(); }
};
struct Sample {
  Int n;
  Part real;
  std::optional<Part> imaginary;
  bool is_conjugate = false;
};

// Holds what is transformed at once: N, the samples that are there, and their sizes.
struct Samples {
  Int length = 1;
  bool is_complex = false, is_weighed = false;
  std::vector<Sample> all;
  double sizes = 0, norm = 0, others = 0;  // |x|, |x|_2, and what an error of one factor is multiplied by

  void measure() {
    Dyadic sum, squares;
    for (const Sample& each : all)
      for (const std::optional<Part>& part : {std::optional(each.real), each.imaginary}) {
        if (!part || !part->is_finite()) continue;
        sum += abs(part->value());
        squares += part->value() * part->value();
        others += part->weight ? std::abs(part->weight->as_double()) + std::abs(part->x.as_double()) : 1;
      }
    sizes = size_of(Ratio{sum, 1});
    norm = std::sqrt(size_of(Ratio{squares, 1})) * raised;
    others *= raised;
  }
};

// Works out one part of one bin.
class Bin final : public Expression {
 public:
  Bin(const Samples& samples, const Cosines& cosines, Int k, bool is_imaginary, bool is_inverse)
      : samples_(samples),
        cosines_(cosines),
        weights_(static_cast<std::size_t>(cosines.quarter())),
        divisor_(is_inverse ? samples.length : 1) {
    const Int quarter = cosines.quarter(), length = samples.length, step = 4 * quarter / length;
    for (const Sample& each : samples.all) {
      // y = (a + bi)(cos t - i sin t), or + where it is inverse; sin t = cos(t - a quarter of a turn).
      const Int turn = (k * each.n % length * (is_inverse ? length - 1 : 1)) % length * step;
      add(is_imaginary ? turn + quarter : turn, each.real, false);
      if (each.imaginary) add(is_imaginary ? turn : turn - quarter, *each.imaginary, each.is_conjugate);
    }
    if (is_open() || has_nan || has_infinity) return;
    sum_.emplace(summed(first_bits));
    if (may_be_fraction()) fraction_ = fraction_of(weights_);
  }

  bool has_nan = false, has_infinity = false;
  bool is_open() const { return is_open_ && !has_nan; }

  Real value(int bits) const override {
    if (fraction_) return Real(Ratio{*fraction_, divisor_}, bits);
    return (bits == first_bits ? *sum_ : summed(bits)) / Real(divisor_, bits);
  }

  double error(const Policy& p) const override {
    const auto n = static_cast<double>(samples_.length), stages = std::ceil(std::log2(n));
    const double terms = (samples_.is_complex ? 2 : 1) * n;
    const double off = (samples_.is_weighed ? 3 : 1) * p.input_error * samples_.sizes + p.lost_input * samples_.others;
    const double size = samples_.sizes + off;
    double roundings = n > 1 ? std::max(terms + 32, 36 * stages) : 0;
    if (p.level == Level::widest && n > 1) roundings = std::max(roundings, 19 * n + 32);
    double e = off + gamma_of(roundings + (samples_.is_weighed ? 1 : 0), p.unit()) * size;
    if (p.level == Level::widest && n > 1)
      e = std::max(e, off + 84 * (stages + 2) * std::sqrt(4 * n) * p.unit() * (samples_.norm + off));
    e += p.imprecision * (1 + stages) * size;
    if (n > 1 || samples_.is_weighed || p.flushes) e += 4 * (n + terms) * lost(p);
    if (divisor_ == 1) return proven(e);
    return proven(e / n + rho(p, (samples_.sizes + e) / n, 2) + lost(p));
  }

  // Bluestein's convolution adds up so much; every operation in the type does not suit it.
  bool breaks_down(const Policy& p) const override {
    const auto n = static_cast<double>(samples_.length);
    const double grows = n < 2 ? 1 : p.level == Level::L3 ? 2 : 2 * std::pow(4 * n, 1.5);
    return !(samples_.sizes * grows < std::ldexp(1.0, p.working.max_exponent));
  }
  // There is no body, and no sine of 10 bits: only declared operands are that coarse.
  bool is_met_by(const Policy& p) const override {
    const bool has_coarse_functions = p.imprecision > 0x1p-16 && p.input_error == 0;
    return p.is_fused() && !p.takes_logarithm && !p.is_unshifted && !has_coarse_functions;
  }

 private:
  static constexpr int first_bits = 96;

  Real summed(int bits) const {
    const std::vector<Real>& cosines = cosines_.of(bits);
    Real sum(Int{0}, bits);
    for (std::size_t t = 0; t < weights_.size(); ++t)
      if (!weights_[t].is_zero()) sum = sum + Real(Ratio{weights_[t], 1}, bits) * cosines[t];
    return sum;
  }

  // A fraction is a multiple of half the smallest unit of the weights: mostly none is near.
  bool may_be_fraction() const {
    int unit = 0;
    for (const Dyadic& each : weights_)
      if (!each.is_zero()) unit = std::min(unit, each.exponent);
    const auto floored = [&](Dyadic x) {
      x.exponent -= unit - 1;
      const Integer down = truncated(Ratio{x, 1});
      return Dyadic{down, 0} > x ? Integer(down - 1) : down;
    };
    const Dyadic least = sum_->lower();
    const Integer below = floored(least);
    return below != floored(sum_->upper()) || Dyadic{below, unit - 1} == least;
  }

  void add(Int turn, const Part& part, bool is_negative) {
    const Int quarter = cosines_.quarter(), whole = 4 * quarter;
    turn = (turn + whole) % whole;
    turn = std::min(turn, whole - turn);
    if (turn > quarter) turn = 2 * quarter - turn, is_negative = !is_negative;
    if (turn == quarter || !part.is_finite()) {
      if (part.is_finite()) return;
      is_open_ |= turn == quarter;  // 0 times that, or left out
      has_nan |= turn < quarter && part.is_nan();
      has_infinity |= turn < quarter;
      return;
    }
    weights_[static_cast<std::size_t>(turn)] += is_negative ? -part.value() : part.value();
  }

  const Samples& samples_;
  const Cosines& cosines_;
  std::vector<Dyadic> weights_;
  std::optional<Real> sum_;  // of the first bits
  std::optional<Dyadic> fraction_;
  Int divisor_;
  bool is_open_ = false;
};

// Where an element stands: in which line of samples, which part of which bin.
struct InBin {
  Int line, k;
  bool is_imaginary;
};

class TransformAnswer : public Answer {
 public:
  DType dtype() const override { return dtype_; }
  Shape shape() const override { return shape_; }

  Element element(Int index) const override {
    const InBin at = bin_at(index);
    const Samples& samples = samples_at(at.line);
    const Bin bin = bin_of(samples, at);
    Element out = element_of(bin);
    out.terms = std::ssize(samples.all);
    return out;
  }

  std::vector<Tolerance> wider(Int index) const override {
    const InBin at = bin_at(index);
    const Bin bin = bin_of(samples_at(at.line), at);
    const Element element = element_of(bin);
    if (element.kind != Kind::finite) return {};
    std::vector<Tolerance> all = tolerances(bin, element, dtype_, declared_), more;
    for (Policy each : wider_policies(dtype_)) {
      if (!bin.is_met_by(each) || (each.level != Level::L2t && each.level != Level::L3)) continue;
      each.level = Level::widest;
      const double error = bin.error(each);
      if (!std::isfinite(error)) continue;
      more.push_back(beyond(each.arithmetic.text() + ", angles not reduced or a convolution"));
      more.back().budget = budget_of(error, element.blur);
    }
    all.insert(std::ranges::find(all, Level::widest, &Tolerance::level), more.begin(), more.end());
    return all;
  }

  std::vector<ProofTerm> taps(Int index) const override {
    const InBin at = bin_at(index);
    std::vector<ProofTerm> all;
    for (const Sample& each : samples_at(at.line).all) {
      const std::string turn = std::to_string(at.k * each.n) + "/" + std::to_string(length_) + " turns";
      for (const std::optional<Part>& part : {std::optional(each.real), each.imaginary}) {
        if (!part) continue;
        all.push_back({{hexadecimal(part->x), turn}, "sample " + std::to_string(each.n)});
        if (part->weight) all.back().factors.push_back(hexadecimal(*part->weight));
      }
    }
    return all;
  }

 protected:
  TransformAnswer(DType dtype, Shape shape, Int length, bool is_inverse, const Arithmetic& declared)
      : dtype_(dtype),
        declared_(declared),
        shape_(std::move(shape)),
        length_(length),
        is_inverse_(is_inverse),
        cosines_(std::lcm(Int{4}, length) / 4) {}

  Int length() const { return length_; }

 private:
  virtual InBin bin_at(Int index) const = 0;
  virtual Samples samples_of(Int line) const = 0;

  const Samples& samples_at(Int line) const {
    constexpr std::size_t most_kept = 4096;
    const auto known = lines_.find(line);
    if (known != lines_.end()) return known->second;
    if (lines_.size() > most_kept) lines_.clear();
    Samples samples = samples_of(line);
    samples.length = length_;
    samples.measure();
    return lines_.emplace(line, std::move(samples)).first->second;
  }

  Bin bin_of(const Samples& samples, const InBin& at) const {
    return Bin(samples, cosines_, at.k, at.is_imaginary, is_inverse_);
  }

  Element element_of(const Bin& bin) const {
    if (bin.has_nan) return exactly(nan(), dtype_);
    if (bin.is_open()) return unscored("0 times what is no number, or nothing");
    if (bin.has_infinity) return one_of("N69", {nan(), infinity(), infinity(true)});
    return computed(bin, dtype_, {required_policies(dtype_).front()});
  }

  DType dtype_;
  Arithmetic declared_;
  Shape shape_;
  Int length_;
  bool is_inverse_;
  Cosines cosines_;
  mutable std::map<Int, Samples> lines_;
};

bool is_set(const Call& call, const char* flag, const Readings& readings) {
  const Int value = call.integer(flag);
  return readings.of("N42") == "only-one" ? value == 1 : value != 0;
}

// -- DFT

struct Transform {
  std::size_t axis;
  Int length;
  bool is_inverse, is_onesided, keeps_bins;
  Shape shape;

  Transform(const Call& call, const Readings& readings)
      : is_inverse(is_set(call, "inverse", readings)),
        is_onesided(is_set(call, "onesided", readings)),
        keeps_bins(readings.of("N27") == "as-given") {
    const bool is_input = call.definition().attribute("axis") == nullptr;
    shape = call.shape("input");
    axis = axis_in(std::ssize(shape), is_input && !call.has("axis") ? -2 : call.integer("axis"));
    length = shape[axis];
    if (is_inverse && is_onesided) length = 2 * length - 2;
    if (call.has("dft_length")) length = call.integer("dft_length");
    shape[axis] = is_onesided && !is_inverse ? length / 2 + 1 : length;
    shape.back() = is_onesided && is_inverse ? 1 : 2;
  }
};

class DftAnswer final : public TransformAnswer {
 public:
  DftAnswer(const Transform& of, const Operands& in, const Arithmetic& declared)
      : TransformAnswer(in[0]->dtype(), of.shape, of.length, of.is_inverse, declared),
        x_(*in[0]),
        of_(of),
        behind_(volume(std::span(of.shape).subspan(of.axis + 1)) / std::max<Int>(of.shape.back(), 1)) {}

 private:
  InBin bin_at(Int index) const override {
    const Int parts = of_.shape.back(), bins = of_.shape[of_.axis], pair = index / parts;
    return {pair / (bins * behind_) * behind_ + pair % behind_, pair / behind_ % bins, index % parts == 1};
  }

  Samples samples_of(Int line) const override {
    const Int parts = x_.shape().back(), given = x_.extent(of_.axis);
    const bool mirrors = of_.is_onesided && of_.is_inverse;
    Samples out;
    out.is_complex = parts == 2 && !mirrors;
    const Int last = mirrors && !of_.keeps_bins ? length() / 2 : length() - 1;
    for (Int n = 0; n <= std::min(given - 1, last); ++n) {
      const Int at = ((line / behind_ * given + n) * behind_ + line % behind_) * parts;
      Sample sample{n, {x_.at(at), {}}, {}};
      const bool is_alone = n == 0 || 2 * n == length();
      if (parts == 2) sample.imaginary = Part{x_.at(at + 1), {}};  // of what is alone it meets a sine of 0
      out.all.push_back(sample);
      if (!mirrors || is_alone || 2 * n > length() || (of_.keeps_bins && length() - n < given)) continue;
      sample.n = length() - n;
      sample.is_conjugate = true;
      out.all.push_back(sample);
    }
    return out;
  }

  Cells x_;
  Transform of_;
  Int behind_;  // complex numbers from one sample to the next
};

// -- STFT

Int frame_length(const Call& call) {
  if (call.has("frame_length")) return call.integer("frame_length");
  return call.has("window") ? call.dim("window", 0) : call.dim("signal", 1);
}

Shape of_frames(const Call& call, const Readings& readings) {
  const Int length = frame_length(call), room = call.dim("signal", 1) - length;
  return {call.dim("signal", 0), room / call.integer("frame_step") + 1,
          is_set(call, "onesided", readings) ? length / 2 + 1 : length, 2};
}

class StftAnswer final : public TransformAnswer {
 public:
  StftAnswer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : TransformAnswer(in[0]->dtype(), of_frames(call, readings), frame_length(call), false, declared),
        signal_(*in[0]),
        step_(call.integer("frame_step")) {
    if (call.has("window")) window_.emplace(*in[2]);
  }

 private:
  InBin bin_at(Int index) const override {
    const Int bins = shape()[2];
    return {index / (2 * bins), index / 2 % bins, index % 2 == 1};
  }

  Samples samples_of(Int line) const override {
    const Int parts = signal_.extent(2), frames = shape()[1];
    const Int first = line / frames * signal_.extent(1) + line % frames * step_;
    Samples out;
    out.is_complex = parts == 2;
    out.is_weighed = window_.has_value();
    for (Int n = 0; n < length(); ++n) {
      const auto part = [&](Int which) {
        return Part{signal_.at((first + n) * parts + which), window_ ? std::optional(window_->at(n)) : std::nullopt};
      };
      out.all.push_back({n, part(0), parts == 2 ? std::optional(part(1)) : std::nullopt});
    }
    return out;
  }

  Cells signal_;
  std::optional<Cells> window_;
  Int step_;
};

}  // namespace

Oracle stft() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return Answers(std::make_unique<StftAnswer>(call, in, readings, declared));
  };
  oracle.shape = [](const Call& call, const Readings& readings) { return std::optional(of_frames(call, readings)); };
  oracle.factors = {"signal", "window"};
  return with_touched(std::move(oracle));
}

Oracle dft() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return Answers(std::make_unique<DftAnswer>(Transform(call, readings), in, declared));
  };
  oracle.shape = [](const Call& call, const Readings& readings) {
    return std::optional(Transform(call, readings).shape);
  };
  oracle.factors = {"input"};
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
