// SPDX-License-Identifier: Apache-2.0
// The exact answer of MaxUnpool: where no index leads 0, else the element of X whose index it is, or one of them (W18).
// By another reading indices count in the shape that is inferred, which stands in a corner of output_shape (W17).
#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"
#include "reference/flat_index.h"
#include "reference/operator.h"

#include <algorithm>
#include <functional>
#include <map>

namespace assay::oracles {
namespace {

Shape inferred(const Call& call) {
  Shape shape = call.shape("X");
  const Ints kernel = call.ints("kernel_shape"), strides = call.ints("strides"), pads = call.ints("pads");
  const std::size_t axes = kernel.size();
  for (std::size_t i = 0; i < axes; ++i)
    shape[2 + i] = (shape[2 + i] - 1) * strides[i] + kernel[i] - pads[i] - pads[axes + i];
  return shape;
}

bool is_less(const Call& call) {
  return call.states("output_shape") &&
         !std::ranges::equal(call.ints("output_shape"), inferred(call), std::greater_equal());
}

Shape counted_in(const Call& call, const Readings& readings) {
  const bool is_stated = call.states("output_shape") && (is_less(call) || readings.of("W17") == "output-space");
  return is_stated ? call.ints("output_shape") : inferred(call);
}

// None where an index does not fit into the other shape, which has no place for it.
std::optional<Shape> shape(const Call& call, const Readings& readings) {
  if (is_less(call) && readings.of("W63") == "refuse") return std::nullopt;
  const Shape counted = counted_in(call, readings);
  if (std::ranges::any_of(counted, [](Int extent) { return extent < 0; }) ||
      std::ranges::any_of(call.ints("I"), [&](Int at) { return at >= volume(counted); }))
    return std::nullopt;
  return call.states("output_shape") ? call.ints("output_shape") : counted;
}

class UnpooledAnswer final : public Answer {
 public:
  UnpooledAnswer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : shape_(*oracles::shape(call, readings)), x_(*in[0]), declared_(declared) {
    const Shape counted = counted_in(call, readings);
    for (Int i = 0; const Int at : call.ints("I")) comers_[flat_index(shape_, position(counted, at))].push_back(i++);
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return x_.dtype(); }

  Element element(Int index) const override {
    std::vector<Scalar> x = operands(index);
    std::ranges::rotate(x, x.end() - 1);  // the last, then the first and the others
    const bool is_one = std::ranges::all_of(x, [&](const Scalar& each) { return same(each, x.front()); });
    return is_one ? exactly(x.front(), dtype()) : one_of("W18", x);
  }

  std::vector<Tolerance> wider(Int index) const override {
    if (!declared_.flushes_subnormals) return {};
    return {flushing(element(index), operands(index), dtype())};
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (const Int i : comers(index)) all.push_back({{hexadecimal(scalar(x_, i))}, place("X", x_.shape(), i)});
    return all;
  }

  std::pair<const Tensor*, Int> copied(Int index) const override {
    const std::vector<Int> from = comers(index);
    return from.size() == 1 ? std::pair(&x_, from.front()) : std::pair<const Tensor*, Int>();
  }

 private:
  std::vector<Int> comers(Int index) const {
    const auto found = comers_.find(index);
    return found == comers_.end() ? std::vector<Int>() : found->second;
  }
  std::vector<Scalar> operands(Int index) const {
    std::vector<Scalar> x;
    for (const Int i : comers(index)) x.push_back(scalar(x_, i));
    return x.empty() ? std::vector{Scalar()} : x;
  }

  Shape shape_;
  Tensor x_;
  Arithmetic declared_;
  std::map<Int, std::vector<Int>> comers_;
};

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
  return Answers(std::make_unique<UnpooledAnswer>(call, in, readings, declared));
}

}  // namespace

Oracle max_unpool() { return without_rounding({answer, shape, {}}); }

}  // namespace assay::oracles
