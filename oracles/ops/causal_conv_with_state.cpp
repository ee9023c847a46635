// SPDX-License-Identifier: Apache-2.0
// The exact answers of CausalConvWithState (windows-and-products 3.3): a convolution of one channel at a time, perhaps
// followed by z * sigmoid(z), whose slope is below 1.1. Of an error B of z the output errs by 1.1 (B + u_T |z|) and the
// row of swish (functions.h): the body rounds z to the type, others do not (W8).
#include "oracles/exact/expression.h"
#include "oracles/exact/functions.h"
#include "oracles/exact/operands.h"
#include "oracles/families/products.h"
#include "oracles/rules/activated.h"
#include "oracles/rules/convolution.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <array>
#include <cmath>

namespace assay::oracles {
namespace {

// Holds z, which a policy computes to within its input_error.
class Gated final : public Expression {
 public:
  Gated(Ratio z, DType type) : z_(std::move(z)), size_(size_of(z_)), type_(format_of(type)) {}
  Real value(int bits) const override {
    return enclosed(Function::swish, std::array{Real(z_, bits), Real(Int{1}, bits)});
  }
  double error(const Policy& p) const override {
    const double size = size_ + p.input_error;
    const double rounding = std::ldexp(size, type_.unit_exponent()) + std::ldexp(1.0, type_.smallest_exponent());
    const double most = size + rounding;
    return 1.1 * (p.input_error + p.truncation * rounding) + p.imprecision * (most + 1) +
           p.truncation * bound(Function::swish, std::array{most, 1.0}, most, p.working) + p.lost_input;
  }
  // Rounded to the type z may be minus infinity, of which the product is NaN.
  bool breaks_down(const Policy& p) const override {
    return z_.numerator < Dyadic{} && !(size_ + p.input_error < std::ldexp(0.99, type_.max_exponent + 1));
  }

 private:
  Ratio z_;
  double size_;
  Format type_;
};

// Returns the gate, which of minus infinity is NaN, or the limit.
ActivationRule gate(DType type) {
  return {[type](const Ratio& z) { return std::make_unique<Gated>(z, type); },
          [type](const Scalar& z) {
            return is_infinite(z) && z.negative ? one_of("E50", {nan(), Scalar()}) : exactly(z, type);
          }};
}

// The last cells of the lines of past_state, or zeros, and input.
class StateAnswer final : public Answer {
 public:
  StateAnswer(const Tensor& input, const std::optional<Tensor>& past, Int kept)
      : input_(scalars(input)),
        past_(past ? scalars(*past) : Scalars{}),
        dtype_(input.dtype()),
        shape_{input.shape()[0], input.shape()[1], kept} {}

  Shape shape() const override { return shape_; }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override { return exactly(value(index), dtype_); }
  std::vector<Tolerance> wider(Int index) const override { return wider_of_copies(element(index), dtype_); }
  std::vector<ProofTerm> taps(Int index) const override { return {{{written(value(index), dtype_)}, "the state"}}; }

 private:
  Scalar value(Int index) const {
    const Int kept = shape_[2], length = input_.extent(2), line = index / kept, place = index % kept + length;
    if (place >= kept) return input_.at(line * length + place - kept);
    return past_.values.empty() ? Scalar() : past_.at(line * kept + place);
  }

  Scalars input_, past_;
  DType dtype_;
  Shape shape_;
};

// Input behind the state it starts with, line by line.
Tensor behind(const Tensor& past, const Tensor& input) {
  const Int kept = past.shape()[2], length = input.shape()[2], lines = input.shape()[0] * input.shape()[1];
  Tensor z({input.dtype(), {input.shape()[0], input.shape()[1], kept + length}});
  const auto bytes = static_cast<Int>(size_of(input.dtype()));
  auto to = z.bytes().begin();
  for (Int line = 0; line < lines; ++line)
    for (const auto& [from, count] : {std::pair{&past, kept * bytes}, {&input, length * bytes}})
      to = std::ranges::copy(
               from->bytes().subspan(static_cast<std::size_t>(line * count), static_cast<std::size_t>(count)), to)
               .out;
  return z;
}

Answers answer(const Call& call, const Operands& in, const Readings&, const Arithmetic& declared) {
  const Tensor& input = *in.at(0);
  const std::optional<Tensor> past = given(in, 3);
  const Int length = input.shape()[2], taps = call.dim("weight", 2);
  Answers out;
  if (input.elements() == 0) {  // nothing is computed
    out.push_back(std::make_unique<StateAnswer>(input, std::nullopt, length));
  } else {
    // Without a state what stands before the first cell is padding, whether it is multiplied or not (A14).
    const WindowAxis axis{
        .in = length + (past ? taps - 1 : 0), .taps = taps, .before = past ? 0 : taps - 1, .windows = length};
    out.push_back(convolution({past ? behind(*past, input) : input, *in.at(1), given(in, 2), input.shape()[1]}, {axis},
                              declared));
    if (call.text("activation") != "none") out[0] = activated(std::move(out[0]), gate(input.dtype()), declared);
  }
  out.push_back(std::make_unique<StateAnswer>(input, past, taps - 1));
  return out;
}

std::optional<Shape> shape(const Call& call, const Readings&) { return call.shape("input"); }

}  // namespace

Oracle causal_conv_with_state() {
  Oracle out = with_touched({answer, shape, {}});
  out.factors = {"input", "weight", "past_state"};
  return out;
}

}  // namespace assay::oracles
