// SPDX-License-Identifier: Apache-2.0
// The exact answer of MeanVarianceNormalization: an element less the mean of its group, over the deviation and what the
// body adds to it (reductions 6). The body stays in the type.
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"
#include "reference/flat_index.h"

#include <algorithm>
#include <map>

namespace assay::oracles {
namespace {

class DeviationAnswer final : public TreeAnswer {
 public:
  DeviationAnswer(std::size_t, const Call& call, const Operands& in, const Readings& readings,
                  const Arithmetic& declared)
      : TreeAnswer(in[0]->dtype(), declared), readings_(readings), x_(*in[0]), is_shared_(x_.shape().size()) {
    for (const Int axis : call.ints("axes")) is_shared_[axis_in(call.rank("X"), axis)] = true;
    for (std::size_t axis = 0; axis < is_shared_.size(); ++axis) count_ *= is_shared_[axis] ? x_.extent(axis) : 1;
  }

  Shape shape() const override { return x_.shape(); }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (const Int at : members(index)) all.push_back({{hexadecimal(x_.at(at))}, place("X", x_.shape(), at)});
    return all;
  }

 private:
  Int terms() const override { return count_; }

  // The elements that stand where this one does on every axis that is not shared.
  Ints members(Int index) const {
    Ints all;
    Shape at = position(x_.shape(), index);
    for (Int i = 0; i < count_; ++i) {
      Int rest = i;
      for (std::size_t axis = at.size(); axis-- > 0;)
        if (is_shared_[axis]) at[axis] = rest % x_.extent(axis), rest /= x_.extent(axis);
      all.push_back(flat_index(x_.shape(), at));
    }
    return all;
  }

  const Together& group_of(Int index) const {
    const Ints places = members(index);
    const auto known = groups_.find(places.front());
    if (known != groups_.end()) return known->second;
    std::vector<Scalar> x;
    for (const Int at : places) x.push_back(x_.at(at));
    return groups_.emplace(places.front(), Together(std::move(x))).first->second;
  }

  TreeValue value_at(Int index) const override {
    const Together& of = group_of(index);
    if (!of.group) return exactly(nan(), dtype());
    if (count_ == 1 || std::ranges::all_of(of.x, &Scalar::is_zero)) return one_of("N49", {Scalar(), nan()});
    const Tree apart = operand(x_.at(index)) - of.group->mean();
    if (readings_.of("N10") == "no-epsilon") return over_root(apart, of.group->variance());
    Tree epsilon = operand(scalar_of(static_cast<double>(1e-9F)));
    if (dtype() == DType::f64) epsilon = cast(epsilon, DType::f32);  // 1e-9 has more digits there
    return apart / (root(of.group->variance()) + epsilon);
  }

  Readings readings_;
  Cells x_;
  std::vector<bool> is_shared_;
  Int count_ = 1;
  mutable std::map<Int, Together> groups_;
};

}  // namespace

Oracle mean_variance_normalization() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return answers_of<DeviationAnswer>(call, in, readings, declared);
  };
  oracle.shape = [](const Call& call, const Readings& readings) -> std::optional<Shape> {
    const bool counts_from_end = std::ranges::any_of(call.ints("axes"), [](Int axis) { return axis < 0; });
    if (counts_from_end && readings.of("N1") == "refuse") return std::nullopt;
    if (call.type("X").dtype != DType::f32 && readings.of("N50") == "body-only-f32") return std::nullopt;
    if (volume(call.shape("X")) == 0 && readings.of("N48") == "refuse") return std::nullopt;
    return call.shape("X");
  };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
