// SPDX-License-Identifier: Apache-2.0
// The exact answer of com.microsoft FusedConv (windows-and-products 3.19): a convolution, Z one term more of its sums,
// followed by an activation. What it makes of an error of the sum follows from its slope; a sum may be rounded to the
// type before.
#include "oracles/exact/composite.h"
#include "oracles/families/products.h"
#include "oracles/rules/activated.h"
#include "oracles/rules/convolution.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <cmath>

namespace assay::oracles {
namespace {

// A sum, missed by the policy's input_error and a rounding to the type.
class Sum final : public Expression {
 public:
  Sum(Ratio z, DType type) : z_(std::move(z)), size_(size_of(z_)), type_(format_of(type)) {}
  Real value(int bits) const override { return Real(z_, bits); }
  double error(const Policy& p) const override {
    const double size = size_ + p.input_error;
    const double rounding = std::ldexp(size, type_.unit_exponent()) + std::ldexp(1.0, type_.smallest_exponent());
    return (p.input_error + p.truncation * rounding + p.lost_input) * (1 + 0x1p-40);
  }
  bool breaks_down(const Policy& p) const override {
    return !(size_ + p.input_error < std::ldexp(0.99, type_.max_exponent + 1));
  }

 private:
  Ratio z_;
  double size_;
  Format type_;
};

struct Chosen {
  std::string name;
  Scalar first, second;  // of activation_params
};

Chosen chosen(const Call& call) {
  Reals p = call.states("activation_params") ? call.reals("activation_params") : Reals{};
  p.resize(2);
  return {call.text("activation"), scalar_of(static_cast<double>(p[0])), scalar_of(static_cast<double>(p[1]))};
}

Tree tree_of(const Chosen& f, const Tree& z) {
  if (f.name == "Relu") return clamped(z, Scalar(), std::nullopt);
  if (f.name == "Tanh") return function_of(Function::tanh, z);
  if (f.name == "Sigmoid") return function_of(Function::sigmoid, z);
  if (f.name == "LeakyRelu") return leaky(z, f.first);
  if (f.name == "Clip") return clamped(z, f.first, f.second);
  return clamped(sum_of({operand(f.first) * z, operand(f.second)}), Scalar(), scalar(1));
}

Element of_infinity(const Chosen& f, bool is_negative, DType type) {
  if (f.name == "Relu") return exactly(is_negative ? Scalar() : infinity(), type);
  if (f.name == "Tanh") return exactly(scalar(is_negative ? -1 : 1), type);
  if (f.name == "Sigmoid") return exactly(is_negative ? Scalar() : scalar(1), type);
  if (f.name == "Clip") return exactly(rounded(ratio(is_negative ? f.first : f.second), format_of(type)), type);
  const bool is_bent = f.name == "HardSigmoid" || is_negative;
  if (is_bent && f.first.is_zero()) return unscored("0 times an infinity");
  const bool is_below = f.first.negative != is_negative;
  if (f.name == "HardSigmoid") return exactly(is_below ? Scalar() : scalar(1), type);
  return exactly(is_bent ? infinity(is_below) : infinity(), type);
}

ActivationRule activation_of(const Chosen& f, DType type) {
  const bool compares = f.name == "Relu" || f.name == "Clip" || f.name == "HardSigmoid";
  return {.of = [=](const Ratio& z) { return expression(tree_of(f, leaf(std::make_unique<Sum>(z, type)))); },
          .of_special =
              [=](const Scalar& z) {
                if (is_nan(z)) return compares ? unscored("NaN is compared") : exactly(nan(), type);
                return of_infinity(f, z.negative, type);
              },
          .keeps_nan = !compares};
}

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
  std::unique_ptr<Answer> z = convolution({*in.at(0), *in.at(1), given(in, 2), call.integer("group"), given(in, 3)},
                                          *tracks(call, sliding(call), readings), declared);
  if (!call.states("activation")) return z;
  return activated(std::move(z), activation_of(chosen(call), in.at(0)->dtype()), declared);
}

std::optional<Shape> shape(const Call& call, const Readings& readings) {
  return windowed(call, call.dim("X", 0), call.dim("W", 0), readings);
}

std::vector<std::string> touched(const Call& call, const Operands*, Int) {
  return touched_by_geometry(call, sliding(call));
}

}  // namespace

Oracle fused_conv() { return {answer, shape, touched, false, {"X", "W"}}; }

}  // namespace assay::oracles
