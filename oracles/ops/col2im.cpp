// SPDX-License-Identifier: Apache-2.0
// The exact answer of Col2Im (windows-and-products 3.8): cell y of a map is the sum of what taps k of blocks l hold
// with y + before = l s + k d on every axis; of bool whether one of them holds, of strings nobody says (M27).
#include "oracles/exact/geometry.h"
#include "oracles/exact/operands.h"
#include "oracles/families/accumulation.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"
#include "reference/flat_index.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

// Returns the shape of the image; none where bool or strings are refused, as M27 may be read.
std::optional<Shape> shape(const Call& call, const Readings& readings) {
  const DType type = call.type("input").dtype;
  if (!is_float(type) && !is_integer(type) && readings.of("M27") == "refuse") return std::nullopt;
  Shape out{call.dim("input", 0), call.dim("input", 1) / volume(call.ints("block_shape"))};
  for (const Int extent : call.ints("image_shape")) out.push_back(extent);
  return out;
}

class FoldedAnswer final : public Answer {
 public:
  FoldedAnswer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : shape_(*oracles::shape(call, readings)),
        x_(*in[0]),
        block_(call.ints("block_shape")),
        strides_(call.ints("strides")),
        dilations_(call.ints("dilations")),
        before_(call.ints("pads")),
        readings_(readings),
        declared_(declared) {
    for (std::size_t i = 0; i < block_.size(); ++i) {
      const Int room = shape_[i + 2] + before_[i] + before_[i + block_.size()] - dilations_[i] * (block_[i] - 1) - 1;
      blocks_.push_back(room / strides_[i] + 1);
    }
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return x_.tensor().dtype(); }

  Element element(Int index) const override {
    const std::vector<Scalar> x = operands(index);
    if (dtype() == DType::string) return undefined("M27", "nobody says what a sum of strings is");
    if (dtype() != DType::boolean) return joined(Joining::sum, x, dtype(), readings_);
    return exactly(truth(std::ranges::any_of(x, [](const Scalar& each) { return !each.is_zero(); })), dtype());
  }

  std::vector<Tolerance> wider(Int index) const override {
    return is_float(dtype()) ? wider_joined(Joining::sum, operands(index), dtype(), declared_)
                             : std::vector<Tolerance>{};
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (const Int at : places(index)) all.push_back({{written(x_.at(at), dtype())}, place("input", x_.shape(), at)});
    return all;
  }

 private:
  // Returns where in the input the terms of an element stand.
  std::vector<Int> places(Int index) const {
    const Shape at = position(shape_, index);
    std::vector<Int> all;
    each(block_, [&](const std::vector<Int>& tap) {
      Shape block;
      for (std::size_t i = 0; i < tap.size(); ++i) {
        const Int from = at[i + 2] + before_[i] - tap[i] * dilations_[i];
        if (from < 0 || from % strides_[i] != 0 || from / strides_[i] >= blocks_[i]) return;
        block.push_back(from / strides_[i]);
      }
      const Int row = at[1] * volume(block_) + flat_index(block_, tap);
      all.push_back(flat_index(x_.shape(), {at[0], row, flat_index(blocks_, block)}));
    });
    return all;
  }
  std::vector<Scalar> operands(Int index) const {
    std::vector<Scalar> x;
    for (const Int at : places(index)) x.push_back(x_.at(at));
    return x;
  }

  Shape shape_, blocks_;
  Cells x_;
  Ints block_, strides_, dilations_, before_;
  Readings readings_;
  Arithmetic declared_;
};

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
  return Answers(std::make_unique<FoldedAnswer>(call, in, readings, declared));
}

}  // namespace

Oracle col2im() { return with_touched({answer, shape, {}}); }

}  // namespace assay::oracles
