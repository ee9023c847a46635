// SPDX-License-Identifier: Apache-2.0
// The exact answers of Scatter, ScatterElements and ScatterND: an element of data, one of the updates that go there, or
// the sum, product or extreme of all of them, in any order.
#include "oracles/exact/operands.h"
#include "oracles/families/accumulation.h"
#include "oracles/families/elementwise.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"
#include "reference/flat_index.h"
#include "reference/operator.h"

#include <algorithm>
#include <map>

namespace assay::oracles {
namespace {

// Returns where in data an element of updates goes, by where it stands.
using Target = Shape (*)(const Call&, const Ints& indices, const Shape& at);

Int index_at(const Call& call, const Ints& indices, const Shape& at, Int extent) {
  const Int said = indices[static_cast<std::size_t>(flat_index(call.shape("indices"), at))];
  return said < 0 ? said + extent : said;
}

Shape along_axis(const Call& call, const Ints& indices, const Shape& at) {
  const std::size_t axis = axis_in(call.rank("data"), call.integer("axis"));
  Shape to = at;
  to[axis] = index_at(call, indices, at, call.shape("data")[axis]);
  return to;
}

Shape by_tuple(const Call& call, const Ints& indices, const Shape& at) {
  const auto tuple_axes = at.begin() + call.rank("indices") - 1;
  Shape to, in_tuple(at.begin(), tuple_axes);
  in_tuple.push_back(0);
  for (Int& k = in_tuple.back(); k < call.shape("indices").back(); ++k)
    to.push_back(index_at(call, indices, in_tuple, call.dim("data", k)));
  to.insert(to.end(), tuple_axes, at.end());
  return to;
}

Element all_of(const std::vector<Scalar>& options, const char* ruling, DType dtype) {
  const bool is_one = std::ranges::all_of(options, [&](const Scalar& each) { return same(each, options.front()); });
  return is_one ? exactly(options.front(), dtype) : one_of(ruling, options);
}

// The largest or the smallest; where one is NaN that or any number.
Element extreme(const std::vector<Scalar>& x, bool is_largest, DType dtype) {
  std::vector<Scalar> numbers;
  std::ranges::copy_if(x, std::back_inserter(numbers), [](const Scalar& each) { return !is_nan(each); });
  if (numbers.size() < x.size()) {
    numbers.insert(numbers.begin(), nan());
    return all_of(numbers, "M25", dtype);
  }
  return exactly(is_largest ? *std::ranges::max_element(x, is_less) : *std::ranges::min_element(x, is_less), dtype);
}

class ScatteredAnswer final : public Answer {
 public:
  ScatteredAnswer(Target to, const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : call_(call), in_(in), readings_(readings), declared_(declared) {
    if (call.definition().attribute("reduction")) how_ = call.text("reduction");
    const Shape& updates = in_.back()->shape();
    const Ints indices = call.ints("indices");
    for (Int i = 0; i < volume(updates); ++i)
      comers_[flat_index(shape(), to(call, indices, position(updates, i)))].push_back(i);
  }

  Shape shape() const override { return in_.front()->shape(); }
  DType dtype() const override { return in_.front()->dtype(); }

  Element element(Int index) const override {
    std::vector<Scalar> x = operands(index);
    if (x.size() == 1) return exactly(x.front(), dtype());
    if (how_ == "none") {
      std::swap(x.front(), x.back());  // the last, then the first and the others
      x.pop_back();
      return all_of(x, "M24", dtype());
    }
    if (dtype() == DType::string) return undefined("M27", "nobody says what a sum of strings is");
    if (how_ == "max" || how_ == "min") return extreme(x, how_ == "max", dtype());
    if (dtype() == DType::boolean) return extreme(x, how_ == "add", dtype());
    return joined(joining(), x, dtype(), readings_);
  }

  std::vector<Tolerance> wider(Int index) const override {
    const std::vector<Scalar> x = operands(index);
    if (!is_float(dtype())) return {};
    if (how_ == "none" || x.size() == 1)
      return declared_.flushes_subnormals ? std::vector{flushing(element(index), x, dtype())}
                                          : std::vector<Tolerance>{};
    if (how_ == "max" || how_ == "min") return {flushing(element(index), x, dtype())};
    return wider_joined(joining(), x, dtype(), declared_);
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all{{{written(scalar(*in_.front(), index), dtype())}, place("data", shape(), index)}};
    for (const Int i : comers(index))
      all.push_back({{written(scalar(*in_.back(), i), dtype())}, place("updates", in_.back()->shape(), i)});
    return all;
  }

  std::pair<const Tensor*, Int> copied(Int index) const override {
    const std::vector<Int>& from = comers(index);
    if (from.empty()) return {&*in_.front(), index};
    if (from.size() > 1 || how_ != "none") return {};
    return {&*in_.back(), from.front()};
  }

 private:
  const std::vector<Int>& comers(Int index) const {
    static const std::vector<Int> none;
    const auto found = comers_.find(index);
    return found == comers_.end() ? none : found->second;
  }

  // Returns what is there, then what comes.
  std::vector<Scalar> operands(Int index) const {
    std::vector<Scalar> x{scalar(*in_.front(), index)};
    for (const Int i : comers(index)) x.push_back(scalar(*in_.back(), i));
    return x;
  }

  Joining joining() const { return how_ == "add" ? Joining::sum : Joining::product; }

  Call call_;
  Operands in_;
  Readings readings_;
  Arithmetic declared_;
  std::string how_ = "none";
  std::map<Int, std::vector<Int>> comers_;
};

// Readings refuse reductions of what is no number, and versions that are deprecated.
std::optional<Shape> as_data(const Call& call, const Readings& readings) {
  const bool is_number = is_float(call.type("data").dtype) || is_integer(call.type("data").dtype);
  const bool reduces = call.definition().attribute("reduction") && call.text("reduction") != "none";
  if ((!is_number && reduces && readings.of("M27") == "refuse") || readings.of("M54") == "refuse") return std::nullopt;
  return call.shape("data");
}

template <Target to>
Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
  return Answers(std::make_unique<ScatteredAnswer>(to, call, in, readings, declared));
}

}  // namespace

Oracle scatter() { return without_rounding({answer<along_axis>, as_data, {}}); }
Oracle scatter_elements() { return with_touched({answer<along_axis>, as_data, {}}); }
Oracle scatter_nd() { return with_touched({answer<by_tuple>, as_data, {}}); }

}  // namespace assay::oracles
