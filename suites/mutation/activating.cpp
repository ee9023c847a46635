// SPDX-License-Identifier: Apache-2.0
// FusedConv by the windows of the gather engine, in f32 or f64: what is added and the activation come behind the sums.
#include "suites/mutation/family.h"
#include "suites/mutation/gather.h"

#include <algorithm>
#include <cmath>

namespace assay::mutation {
namespace {

enum class Defect { none, forgets_added, forgets_activation, adds_last, takes_usual_parameters };

double activated(const std::string& name, double first, double second, double z) {
  if (name == "Relu") return z < 0 ? 0 : z;
  if (name == "Tanh") return std::tanh(z);
  if (name == "Sigmoid") return 1 / (1 + std::exp(-z));
  if (name == "LeakyRelu") return z >= 0 ? z : first * z;
  if (name == "Clip") return std::fmin(std::fmax(z, first), second);
  if (name == "HardSigmoid") return std::fmax(0.0, std::fmin(1.0, first * z + second));
  return z;
}

std::pair<double, double> usual(const std::string& name) {
  if (name == "LeakyRelu") return {0.01, 0};
  return name == "Clip" ? std::pair{0.0, 6.0} : std::pair{0.2, 0.5};
}

Tensor widened(const Tensor& in, DType to) {
  Tensor out({to, in.shape()});
  for_float(in.dtype(), [&]<class T>() {
    for_float(to, [&]<class F>() {
      std::ranges::transform(in.as<T>(), out.as<F>().begin(), [](T x) { return F(static_cast<double>(x)); });
    });
  });
  return out;
}

Kernel fusing(GatherDeviation deviation, Defect defect = Defect::none) {
  return [conv = gathering(std::move(deviation)), defect](const Call& call, Inputs in) {
    const DType type = in[0]->dtype(), wide = type == DType::f64 ? DType::f64 : DType::f32;
    std::vector<Tensor> operands;
    for (const Tensor* each : in) operands.push_back(each ? widened(*each, wide) : Tensor());
    const auto operand = [&](std::size_t i) { return i < in.size() && in[i] ? &operands[i] : nullptr; };
    const Tensor* const inputs[] = {operand(0), operand(1), operand(2)};
    const Tensor sums = conv(standing_for(call, operands[0].type(), operands[1].type()), inputs).only();
    const Tensor* const added = defect == Defect::forgets_added ? nullptr : operand(3);
    const bool has_activation = call.states("activation") && defect != Defect::forgets_activation;
    const std::string name = has_activation ? call.text("activation") : "";
    const Reals p = call.states("activation_params") ? call.reals("activation_params") : Reals{};
    std::pair<double, double> of{p.empty() ? 0 : static_cast<double>(p.front()),
                                 p.empty() ? 0 : static_cast<double>(p.back())};
    if (defect == Defect::takes_usual_parameters) of = usual(name);
    Tensor y({type, sums.shape()});
    for_float(type, [&]<class T>() {
      for_float(wide, [&]<class F>() {
        for (std::size_t i = 0; i < y.as<T>().size(); ++i) {
          const double sum = static_cast<double>(sums.as<F>()[i]),
                       z = added ? static_cast<double>(added->as<F>()[i]) : 0;
          const bool adds_last = defect == Defect::adds_last;
          const double value = activated(name, of.first, of.second, adds_last ? sum : sum + z) + (adds_last ? z : 0);
          y.as<T>()[i] = T(value);
        }
      });
    });
    return y;
  };
}

// Slips of geometry that Conv shares; what misreads an attribute is derived.
constexpr std::string_view slips[] = {
    "swaps-pads",         "interleaves-pads",    "takes-lower-for-upper", "pads-same-undilated", "swaps-strides",
    "swaps-dilations",    "drops-border-tap",    "drops-last-tap",        "shifts-last-window",  "flips-kernel",
    "drops-bias",         "drops-bias-last-map", "adds-bias-twice",       "reads-first-group",   "interleaves-groups",
    "drops-last-channel", "transposes-kernel",   "weighs-as-first-group", "stops-before-tail",
};

}  // namespace

std::vector<VariantKernel> activating_variants(const std::string& op) {
  if (op != "FusedConv") return {};
  using Order = Accumulation::Order;
  return {
      variant_of("sequential", "one term after the other", fusing({})),
      variant_of("pairwise", "by halves", fusing({.accumulation = {.order = Order::pairwise}})),
      variant_of("reversed", "from the last term to the first", fusing({.accumulation = {.order = Order::reversed}}))};
}

std::optional<Kernel> windowed_sums(const std::string& op, const GatherDeviation& deviation) {
  if (op != "FusedConv") return std::nullopt;
  return fusing(deviation);
}

std::vector<Bug> activating_bugs(const std::string& op) {
  if (op != "FusedConv") return {};
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, fusing({}, defect));
  };
  std::vector<Bug> bugs{
      bug("forgets-added", "Z is not added", Defect::forgets_added),
      bug("forgets-activation", "sums are handed out as they are", Defect::forgets_activation),
      bug("adds-last", "Z is added behind the activation", Defect::adds_last),
      bug("takes-usual-parameters", "activation_params are not read", Defect::takes_usual_parameters)};
  borrow(bugs, {"com.microsoft", op, 1}, "conv", slips);
  return bugs;
}

}  // namespace assay::mutation
