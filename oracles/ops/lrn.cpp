// SPDX-License-Identifier: Apache-2.0
// The exact answer of LRN (windows-and-products 3.15): an element over a power of a base, bias and the mean square of
// the channels around it. A kernel may carry its sum from channel to channel: with q the base, Q the largest of the C
// bases of a place, that is off by 3 C u Q / q more, and widens the widest interval as long as Q <= 2^8 q (W51).
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"
#include "reference/flat_index.h"

#include <algorithm>

namespace assay::oracles {
namespace {

class ResponseAnswer final : public TreeAnswer {
 public:
  ResponseAnswer(std::size_t, const Call& call, const Operands& in, const Readings& readings,
                 const Arithmetic& declared)
      : TreeAnswer(in[0]->dtype(), declared),
        x_(*in[0]),
        size_(call.integer("size")),
        alpha_(real(call, "alpha")),
        beta_(real(call, "beta")),
        bias_(real(call, "bias")),
        spreads_(readings.of("W51") == "band-matrix") {}

  Shape shape() const override { return x_.shape(); }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (const Int at : region(index)) all.push_back({{hexadecimal(x_.at(at))}, place("X", x_.shape(), at)});
    return all;
  }

 private:
  static Scalar real(const Call& call, const char* name) { return scalar_of(static_cast<double>(call.real(name))); }

  Int terms() const override { return std::min(size_, x_.extent(1)); }

  // Returns the places of the channels around one, at the same place of their planes.
  std::vector<Int> region(Int index) const {
    Shape at = position(x_.shape(), index);
    const Int channel = at[1];
    std::vector<Int> all;
    for (at[1] = 0; at[1] < x_.extent(1); ++at[1]) {
      const Int ahead = at[1] - channel;
      if (-2 * ahead <= size_ - 1 && 2 * ahead <= size_) all.push_back(flat_index(x_.shape(), at));
    }
    return all;
  }

  std::vector<Scalar> values(const std::vector<Int>& places) const {
    std::vector<Scalar> all;
    for (const Int at : places) all.push_back(x_.at(at));
    return all;
  }

  std::vector<Int> channels(Int index) const {
    Shape at = position(x_.shape(), index);
    std::vector<Int> all;
    for (at[1] = 0; at[1] < x_.extent(1); ++at[1]) all.push_back(flat_index(x_.shape(), at));
    return all;
  }

  TreeValue value_at(Int index) const override {
    const Scalar own = x_.at(index);
    const auto is_strange = [](const Scalar& x) { return !x.is_finite(); };
    if (is_nan(own) || (spreads_ && std::ranges::any_of(values(channels(index)), is_strange)))
      return exactly(nan(), dtype());
    const Together around(values(region(index)));
    if (!around.group) return of_strange(around.x, own);
    const Tree base = base_of(*around.group);
    if (base->fraction()->numerator <= Dyadic{}) return unscored("a power of a base that is not above 0");
    return in_format(operand(own) / power(drifting(base, carried(index, *base)), beta_));
  }

  // An infinity around makes the base infinite, and NaN makes it NaN.
  TreeValue of_strange(const std::vector<Scalar>& around, const Scalar& own) const {
    const auto is_positive = [](const Scalar& x) { return !x.negative && !x.is_zero(); };
    if (!is_positive(alpha_) || !is_positive(beta_)) return unscored("a power of a base that is no number");
    return exactly(is_infinite(own) || std::ranges::any_of(around, is_nan) ? nan() : Scalar(), dtype());
  }

  Tree base_of(const Group& group) const {
    return operand(bias_) + operand(alpha_) / operand(scalar(size_)) * group.sum_of_squares();
  }

  // Returns how many roundings of the base a sum that is carried along the channels may be off by; none beyond 2^8.
  double carried(Int index, const TreeNode& own) const {
    double most = 0;
    for (const Int channel : channels(index)) {
      double squares = 0;
      for (const Scalar& x : values(region(channel))) squares += x.as_double() * x.as_double();
      most = std::max(most, bias_.as_double() + alpha_.as_double() / static_cast<double>(size_) * squares);
    }
    const double times = most / own.least();
    return times <= 256 ? 3 * static_cast<double>(x_.extent(1)) * times : 0;
  }

  Cells x_;
  Int size_;
  Scalar alpha_, beta_, bias_;
  bool spreads_;
};

}  // namespace

Oracle lrn() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return answers_of<ResponseAnswer>(call, in, readings, declared);
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(call.shape("X")); };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
