// SPDX-License-Identifier: Apache-2.0
// The exact answer of Dropout: in inference a copy. In training what is kept is scaled, and which elements are kept is
// the backend's; of many of them the share that is kept has to be near its probability.
#include "oracles/exact/functions.h"
#include "oracles/exact/operands.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <cmath>
#include <set>

namespace assay::oracles {
namespace {

// Of fewer elements the share that is kept says little.
constexpr Int fewest_counted = 10'000;

// A call with what was answered to it, where elements are judged in its light.
struct Dropping {
  Call call;
  Readings readings;
  Tensor data;
  std::optional<Scalar> ratio;  // in training
  std::vector<Tensor> got = {};

  bool is_dropped(Int index) const {
    return scalar(got.back(), index).is_zero() && (got.size() > 1 || !scalar(data, index).is_zero());
  }

  // How many elements more are dropped than chance explains or, less than 0, are kept. By Hoeffding's inequality the
  // share is off by sqrt(ln(2 / p) / 2n) with probability p at most, here 10^-9.
  Int surplus() const {
    const Int count = data.elements();
    if (!ratio || got.size() < 2 || count < fewest_counted) return 0;
    Int dropped = 0;
    for (Int i = 0; i < count; ++i) dropped += is_dropped(i) ? 1 : 0;
    const double n = static_cast<double>(count), off = static_cast<double>(dropped) - n * ratio->as_double();
    const double chance = std::sqrt(std::log(2e9) / 2 * n);
    return static_cast<Int>(off > chance ? std::ceil(off - chance) : off < -chance ? std::floor(off + chance) : 0);
  }
};

std::optional<Scalar> ratio_in_training(const Call& call, const Operands& in, const Readings& readings) {
  const Definition& definition = call.definition();
  if (definition.attribute("is_test") && call.integer("is_test") == 0) return scalar_of(call.real("ratio"));
  if (!definition.input("training_mode") || in.size() < 3 || !in[2] || scalar(*in[2], 0).is_zero()) return std::nullopt;
  if (!in[1] && readings.of("E44") == "copy") return std::nullopt;
  const Scalar ratio = in[1] ? scalar(*in[1], 0) : scalar_of(0.5);
  return ratio.is_zero() ? std::nullopt : std::optional(ratio);
}

class DroppedAnswer final : public Answer {
 public:
  DroppedAnswer(std::shared_ptr<const Dropping> of, bool is_mask)
      : of_(std::move(of)),
        is_mask_(is_mask),
        dtype_(of_->call.definition().type_of(of_->call, of_->call.definition().outputs.at(is_mask ? 1 : 0))),
        surplus_(of_->surplus()) {}

  Shape shape() const override { return of_->data.shape(); }
  DType dtype() const override { return dtype_; }

  Element element(Int index) const override {
    const Scalar x = scalar(of_->data, index);
    if (!of_->ratio) return is_mask_ ? mask_in_inference() : exactly(x, dtype_);
    if (of_->got.empty()) return unscored("which elements are dropped is random");
    const bool is_dropped = of_->is_dropped(index);
    if (is_mask_)
      return exactly(truth(is_dropped ? is_one_too_many(index, true) : !is_one_too_many(index, false)), dtype_);
    if (is_dropped) return x.is_finite() ? exactly(Scalar(), dtype_) : unscored("0 times what is not finite");
    return x.is_finite() ? scaled(x) : exactly(x, dtype_);
  }

  std::vector<Tolerance> wider(Int index) const override {
    if (is_mask_) return {};
    std::vector<Tolerance> all{flushing(element(index), {scalar(of_->data, index)}, dtype_)};
    const DType scale = of_->call.has("ratio") ? of_->call.type("ratio").dtype : DType::f32;
    for (const DType type : std::set{DType::f32, scale})
      if (of_->ratio && format_of(type).precision < format_of(dtype_).precision) {
        all.push_back(beyond(type == DType::f32 ? "f64 computed in f32" : "scaled in the type of ratio"));
        all.back().budget = four_ulps(element(index).value, type);
        all.back().may_overflow = true;
      }
    return all;
  }

  std::vector<ProofTerm> taps(Int index) const override {
    const std::string& name = of_->call.definition().inputs.front().name;
    return {{{written(scalar(of_->data, index), of_->data.dtype())}, place(name, shape(), index)}};
  }

 private:
  Element mask_in_inference() const {
    if (of_->call.definition().ruling("E43")) return unscored("what mask holds in inference is not said");
    return exactly(truth(true), dtype_);
  }

  // Tells whether an element is one of those that are dropped, or kept, more often than chance explains.
  bool is_one_too_many(Int index, bool is_dropped) const { return is_dropped ? index < surplus_ : index < -surplus_; }

  static Ratio four_ulps(const Ratio& value, DType type) {
    const double size = std::abs(approximate(value)) * (1 + 0x1p-40);
    return ratio(scalar_of(bound(FunctionTolerance{4, 0, 0, 1}, size, format_of(type))));
  }

  // 1 - ratio, its reciprocal and the product are rounded, in the type of the output where that is narrow.
  Element scaled(const Scalar& x) const {
    const Dyadic kept = Dyadic::power_of_two(0) - of_->ratio->value();
    Element out;
    out.terms = 1;
    out.value = {Dyadic{x.value().mantissa, x.value().exponent - kept.exponent}, kept.mantissa};
    out.magnitude = abs(out.value);
    out.required.budget = four_ulps(out.value, dtype_);
    out.required.arithmetic = "three roundings";
    return out;
  }

  std::shared_ptr<const Dropping> of_;
  bool is_mask_;
  DType dtype_;
  Int surplus_;
};

Answers answers_of(const Call& call, const Operands& in, const Readings& readings, const std::vector<Tensor>& got) {
  const auto of =
      std::make_shared<const Dropping>(Dropping{call, readings, *in.at(0), ratio_in_training(call, in, readings), got});
  Answers answers(std::make_unique<DroppedAnswer>(of, false));
  if (call.requests("mask")) answers.push_back(std::make_unique<DroppedAnswer>(of, true));
  return answers;
}

}  // namespace

Oracle dropout() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
    return answers_of(call, in, readings, {});
  };
  oracle.given = answers_of;
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(call.shape("data")); };
  oracle.is_random = [](const Call& call) {
    return call.definition().attribute("is_test") ? call.integer("is_test") == 0 : call.has("training_mode");
  };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
