// SPDX-License-Identifier: Apache-2.0
// The exact answer of com.microsoft MatMulNBits (windows-and-products 3.19): a dot of A and of the numbers that B
// stands for, w = (q - z) s.
//
// Who writes w down rounds it once or, of a zero point that is a float, twice: 3 u of the sum of the sizes besides what
// the order of summation costs, where f32 does not hold every w. accuracy_level admits A in f16 (2), in bf16 (3), or in
// int8 by blocks (4): off by half a step of 1/127 of the largest of the block, and a rounding of that.
#include "oracles/exact/dot.h"
#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <limits>

namespace assay::oracles {
namespace {

Int up(Int a, Int b) { return (a + b - 1) / b; }

// Makes a scalar of a number; none where 64 bits do not hold it.
std::optional<Scalar> as_scalar(Dyadic value) {
  if (value.mantissa == 0) return Scalar();
  const bool is_negative = value.mantissa < 0;
  Integer size = is_negative ? Integer(-value.mantissa) : value.mantissa;
  const auto zeros = boost::multiprecision::lsb(size);
  size >>= zeros;
  if (size > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return Scalar{Scalar::Class::finite, is_negative, static_cast<std::uint64_t>(size),
                value.exponent + static_cast<int>(zeros)};
}

class NBitsAnswer final : public Answer {
 public:
  NBitsAnswer(const Call& call, const Operands& in, const Arithmetic& declared)
      : dtype_(call.type("A").dtype),
        declared_(declared),
        depth_(call.integer("K")),
        columns_(call.integer("N")),
        block_(call.integer("block_size")),
        bits_(call.integer("bits")),
        level_(call.integer("accuracy_level")),
        a_(*in.at(0)),
        b_(*in.at(1)),
        scales_(scalars(*in.at(2))),
        zeros_(given(in, 3)),
        shape_(call.shape("A")) {
    shape_.back() = columns_;
    if (call.has("g_idx")) groups_ = call.ints("g_idx");
    if (const std::optional<Tensor> bias = given(in, 5)) bias_ = scalars(*bias);
    for (Int n = 0; n < columns_; ++n)
      for (Int k = 0; k < depth_; ++k) weights_.push_back(weight(n, k));
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override { return enclosed(index, Summing::bins); }
  Element defined(Int index) const override { return enclosed(index, Summing::definition); }
  std::vector<Tolerance> wider(Int index) const override {
    if (element(index).kind != Kind::finite) return {};
    std::vector<Tolerance> all = widen(dot(index), dtype_, declared_);
    for (Tolerance& each : all) each.budget = each.budget + besides(index);
    return all;
  }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (Int k = 0; k < depth_; ++k) {
      const std::optional<Scalar>& w = at(index % columns_, k);
      const Int cell = index / columns_ * depth_ + k;
      all.push_back(
          {{hexadecimal(a_.at(cell)), w ? hexadecimal(*w) : "?"},
           place("A", a_.shape(), cell) + " w[" + std::to_string(index % columns_) + "," + std::to_string(k) + "]"});
    }
    if (bias_) all.push_back({{hexadecimal(bias_->at(index % columns_))}, "bias"});
    return all;
  }

 private:
  static std::optional<Tensor> given(const Operands& in, std::size_t input) {
    return in.size() > input ? in[input] : std::nullopt;
  }
  const std::optional<Scalar>& at(Int n, Int k) const { return weights_[static_cast<std::size_t>(n * depth_ + k)]; }

  // `bits` bits of a byte; the first number of a byte has the lowest.
  Int code(const Tensor& from, Int row, Int at) const {
    const Int each = 8 / bits_;
    const auto byte = static_cast<std::size_t>(row + at / each);
    return from.as<std::uint8_t>()[byte] / (Int{1} << bits_ * (at % each)) % (Int{1} << bits_);
  }

  std::optional<Scalar> weight(Int n, Int k) const {
    const Int blocks = up(depth_, block_), group = groups_.empty() ? k / block_ : groups_[static_cast<std::size_t>(k)];
    const Int q = code(b_, (n * blocks + k / block_) * (block_ * bits_ / 8), k % block_);
    const Scalar& s = scales_.at(n * blocks + group);
    Scalar z = scalar(Int{1} << (bits_ - 1));
    if (zeros_ && zeros_->dtype() == DType::u8)
      z = scalar(code(*zeros_, n * up(blocks * bits_, 8), group));
    else if (zeros_)
      z = scalar(*zeros_, n * blocks + group);
    if (!s.is_finite() || !z.is_finite()) return std::nullopt;
    return as_scalar((Dyadic{q, 0} - z.value()) * s.value());
  }

  Dot dot(Int index) const {
    Dot sum;
    for (Int k = 0; k < depth_; ++k) {
      const Int cell = index / columns_ * depth_ + k;
      sum.terms.push_back({a_.at(cell), *at(index % columns_, k), cell, 0});
    }
    if (bias_) sum.terms.push_back({bias_->at(index % columns_), std::nullopt, index % columns_, 0});
    return sum;
  }

  Element enclosed(Int index, Summing how) const {
    for (Int k = 0; k < depth_; ++k) {
      if (!at(index % columns_, k)) return unscored("a scale or a zero point is not finite, or has too many bits");
      if (leaves_narrow_type(a_.at(index / columns_ * depth_ + k)))
        return unscored("the type that accuracy_level admits for A does not hold it");
    }
    Element out = enclose(dot(index), dtype_, how);
    if (out.kind == Kind::finite) out.required.budget = out.required.budget + besides(index);
    return out;
  }

  bool leaves_narrow_type(const Scalar& a) const {
    return level_ >= 2 && (!a.is_finite() || (level_ == 2 && Dyadic::power_of_two(15) < abs(a.value())));
  }

  // Returns what it costs to write down w, and to take A as accuracy_level admits it.
  Ratio besides(Int index) const {
    const Format& single = format_of(DType::f32);
    const Int n = index % columns_, row = index / columns_ * depth_;
    bool holds_all = true;
    Dyadic sizes, half_steps;
    for (Int k = 0; k < depth_; ++k) {
      const Scalar &a = a_.at(row + k), &w = *at(n, k);
      if (!a.is_finite()) return {};
      holds_all = holds_all && same(rounded(ratio(w), single), w);
      sizes += abs(a.value() * w.value());
      if (level_ == 4) half_steps += largest(row, k / block_) * abs(w.value());
    }
    Ratio out;
    if (!holds_all)
      out = Ratio{sizes * Dyadic{3, single.unit_exponent()}, 1} +
            Ratio{Dyadic{depth_, single.smallest_exponent()} * Dyadic{Int{1} << 20, 0}, 1};
    if (level_ == 2 || level_ == 3)
      out = out + Ratio{sizes * Dyadic{2, format_of(level_ == 2 ? DType::f16 : DType::bf16).unit_exponent()}, 1};
    return level_ == 4 ? out + Ratio{half_steps * Dyadic{33, -5}, 254} : out;  // 33/32: the step itself is rounded
  }
  // The largest of A in a block.
  Dyadic largest(Int row, Int block) const {
    Dyadic most;
    for (Int k = block * block_; k < std::min(depth_, (block + 1) * block_); ++k)
      if (a_.at(row + k).is_finite()) most = std::max(most, abs(a_.at(row + k).value()));
    return most;
  }

  DType dtype_;
  Arithmetic declared_;
  Int depth_, columns_, block_, bits_, level_;
  Cells a_;
  Tensor b_;
  Scalars scales_;
  std::optional<Tensor> zeros_;
  Shape shape_;
  Ints groups_;
  std::optional<Scalars> bias_;
  std::vector<std::optional<Scalar>> weights_;
};

Answers answer(const Call& call, const Operands& in, const Readings&, const Arithmetic& declared) {
  return std::make_unique<NBitsAnswer>(call, in, declared);
}

std::optional<Shape> shape(const Call& call, const Readings&) {
  Shape y = call.shape("A");
  y.back() = call.integer("N");
  return y;
}

}  // namespace

Oracle matmul_nbits() {
  Oracle oracle = with_touched({answer, shape, {}});
  oracle.factors = {"A"};
  return oracle;
}

}  // namespace assay::oracles
