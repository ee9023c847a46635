// SPDX-License-Identifier: Apache-2.0
// ConvInteger by the windows of the gather engine.
#include "suites/mutation/family.h"
#include "suites/mutation/gather.h"

#include <algorithm>
#include <limits>

namespace assay::mutation {
namespace {

enum class Defect { none, ignores_x_zero, ignores_w_zero, takes_first_w_zero, pads_with_code_zero, saturates_pairs };

Int read(const Tensor& tensor, Int at) {
  const auto place = static_cast<std::size_t>(at);
  return tensor.dtype() == DType::u8 ? Int{tensor.as<std::uint8_t>()[place]} : Int{tensor.as<std::int8_t>()[place]};
}

Int zero_of(Inputs in, std::size_t input, Int at) {
  if (in.size() <= input || !in[input]) return 0;
  return read(*in[input], in[input]->elements() == 1 ? 0 : at);
}

Kernel convolving(Defect defect, bool saturates = false) {
  return [=](const Call& call, Inputs in) {
    const GatherPlan plan =
        plan_of(standing_for(call, {DType::f32, call.shape("x")}, {DType::f32, call.shape("w")}), {});
    Tensor y({DType::i32, plan.output()});
    const std::span<std::int32_t> to = y.as<std::int32_t>();
    const Int row = plan.depth * product_of(plan, &GatherAxis::kernel);
    for (std::size_t flat = 0; flat < to.size(); ++flat) {
      const Int m = place_of(plan, static_cast<Int>(flat)).m;
      const Int x_zero = defect == Defect::ignores_x_zero ? 0 : zero_of(in, 2, 0);
      const Int w_zero =
          defect == Defect::ignores_w_zero ? 0 : zero_of(in, 3, defect == Defect::takes_first_w_zero ? 0 : m);
      std::vector<Int> products;
      Int outside = 0;
      for (Int tap = 0; tap < row; ++tap) outside += read(*in[1], m * row + tap) - w_zero;
      for (const Gathered::Term& term : gathered_at(plan, flat, {}).terms) {
        const Int weight = read(*in[1], term.w) - w_zero;
        products.push_back((read(*in[0], term.x) - x_zero) * weight);
        outside -= weight;
      }
      Int sum = defect == Defect::pads_with_code_zero ? -x_zero * outside : 0;
      for (std::size_t i = 0; i < products.size(); i += 2) {
        const Int pair = products[i] + (i + 1 < products.size() ? products[i + 1] : 0);
        sum += defect == Defect::saturates_pairs ? std::clamp<Int>(pair, -32768, 32767) : pair;
      }
      using Limits = std::numeric_limits<std::int32_t>;
      to[flat] = static_cast<std::int32_t>(saturates ? std::clamp<Int>(sum, Limits::min(), Limits::max()) : sum);
    }
    return y;
  };
}

}  // namespace

std::vector<VariantKernel> integer_convolution_variants() {
  return {
      variant_of("sequential", "one term after the other", convolving(Defect::none)),
      {{"saturates-32-bits", oracles::Level::L2, "a sum beyond 32 bits is the nearest that fits", "W7", "saturate32"},
       convolving(Defect::none, true)}};
}

std::vector<Bug> integer_convolution_bugs() {
  const auto bug = [](const char* name, const char* what, Defect defect) {
    return bug_of("ConvInteger", name, what, convolving(defect));
  };
  return {bug("ignores-x-zero-point", "x has no zero point", Defect::ignores_x_zero),
          bug("ignores-w-zero-point", "w has no zero point", Defect::ignores_w_zero),
          bug("takes-first-w-zero-point", "the first map's zero point is that of all", Defect::takes_first_w_zero),
          bug("pads-with-code-zero", "the padding is code 0, not the zero point", Defect::pads_with_code_zero),
          bug("saturates-pairs", "sums of two products saturate at 16 bits", Defect::saturates_pairs)};
}

}  // namespace assay::mutation
