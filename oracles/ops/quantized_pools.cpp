// SPDX-License-Identifier: Apache-2.0
// The exact answers of com.microsoft QLinearAveragePool and QLinearGlobalAveragePool (windows-and-products 3.19),
// either order of rounding and adding the zero point admitted.
//
// With S the sum of x - zx over the taps inside X and n the taps that count, the mean is v = S sx / (n sy) in steps of
// y. Who dequantizes every tap first, the zero point with it or apart, rounds each twice, adds n of them, and divides
// by n and by sy or multiplies with their reciprocals: at most n + 8 roundings of partial results, none of which is
// larger than M = (sum of |x| + |zx|) |sx / (n sy)| + |zy|. Their squares stay below (n / 64) u M for n up to 2^18.
#include "oracles/rules/pool.h"
#include "oracles/rules/requantizing.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

class QuantizedMean final : public Answer {
 public:
  QuantizedMean(const Call& call, const Operands& in, const Readings& readings)
      : pool_(call, in, readings),
        type_(in.at(0)->dtype()),
        x_scale_(scalar(*in.at(1), 0)),
        y_scale_(scalar(*in.at(3), 0)),
        x_zero_(zero(in, 2)),
        y_zero_(zero(in, 4)),
        counts_padding_(call.definition().attribute("count_include_pad") && call.integer("count_include_pad") != 0) {}

  Shape shape() const override { return pool_.shape; }
  DType dtype() const override { return type_; }

  Element element(Int index) const override {
    const Mean mean = mean_of(index);
    if (mean.count == 0) return unscored("a window holds no cell of X");
    for (const Scalar* scale : {&x_scale_, &y_scale_})
      if (!is_moderate(*scale)) return unscored("a scale is zero, NaN, or beyond 2^100 or 2^-100");
    if (mean.count > Int{1} << 18) return unscored("a mean of more than 2^18 taps");
    const Ratio v = divided({Dyadic{mean.sum, 0} * x_scale_.value(), mean.count}, y_scale_);
    const Element rounded_first = within({type_}, v, slack(mean), y_zero_);
    Element out = joined(rounded_first, within({type_, true}, v, slack(mean), y_zero_));
    out.terms = mean.count;
    return out;
  }

  std::vector<Tolerance> wider(Int index) const override {
    const Element of = element(index);
    if (of.kind != Kind::finite) return {};
    return one_step_off({type_}, of, y_zero_, is_exact(mean_of(index)));
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (const ExactTap& tap : pool_.taps(index))
      all.push_back({{std::to_string(tap.value.as_integer() - x_zero_)}, place("X", pool_.x.shape(), tap.at)});
    const auto add = [&](const char* name, std::string factor) { all.push_back({{std::move(factor)}, name}); };
    add("x_scale", hexadecimal(x_scale_));
    add("divisor", "1/" + std::to_string(mean_of(index).count));
    add("y_scale", hexadecimal(y_scale_));
    add("y_zero_point", std::to_string(y_zero_));
    return all;
  }

 private:
  struct Mean {
    Int sum = 0, most = 0, count = 0;  // most: of what could be summed instead
  };

  static Int zero(const Operands& in, std::size_t place) {
    return in.size() > place && in[place] ? scalar(*in[place], 0).as_integer() : 0;
  }
  static bool is_moderate(const Scalar& scale) {
    const Ratio size = abs(ratio(scale));
    return scale.is_finite() && !scale.is_zero() && size < Ratio{Dyadic::power_of_two(100), 1} &&
           Ratio{Dyadic::power_of_two(-100), 1} < size;
  }

  Mean mean_of(Int index) const {
    Mean mean;
    for (const ExactTap& tap : pool_.taps(index)) {
      const Int code = tap.value.as_integer();
      mean.sum += code - x_zero_;
      mean.most += std::abs(code) + std::abs(x_zero_);
      ++mean.count;
    }
    if (!counts_padding_) return mean;
    const Int inside = mean.count;
    mean.count = pool_.counted(index);
    mean.most += 2 * std::abs(x_zero_) * (mean.count - inside);  // who pads X with its zero point
    return mean;
  }

  // Powers of two scale and divide sums of few bits.
  bool is_exact(const Mean& mean) const {
    const auto is_plain = [](const Scalar& scale) { return scale.significand == 1 && std::abs(scale.exponent) < 8; };
    return is_plain(x_scale_) && is_plain(y_scale_) && mean.most < Int{1} << 24 && (mean.count & (mean.count - 1)) == 0;
  }
  Ratio slack(const Mean& mean) const {
    if (is_exact(mean)) return {};
    const Ratio most = abs(divided({Dyadic{mean.most, 0} * x_scale_.value(), mean.count}, y_scale_)) +
                       Ratio{{std::abs(y_zero_), 0}, 1};
    return units_of_f32(most, mean.count + mean.count / 64 + 9);
  }

  Pool pool_;
  DType type_;
  Scalar x_scale_, y_scale_;
  Int x_zero_, y_zero_;
  bool counts_padding_;
};

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
  return std::make_unique<QuantizedMean>(call, in, readings);
}

std::vector<std::string> touched(const Call& call, const Operands*, Int) {
  return touched_by_geometry(call, sliding(call));
}

}  // namespace

Oracle qlinear_average_pool() { return {answer, pooled_shape, touched}; }
Oracle qlinear_global_average_pool() { return qlinear_average_pool(); }

}  // namespace assay::oracles
