// SPDX-License-Identifier: Apache-2.0
// The exact answer of Unique: slices are met one after the other, and each is one that was met before or a new one;
// what is new stands in the order in which it was met, or behind all that are less.
#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

struct Kept {
  Int first, count;
};

// What is kept of X, in its order, and which of it each slice is.
class Kinds {
 public:
  Kinds(const Call& call, const Readings& readings)
      : x_(*call.node().inputs.find("X")->second.data), each_nan_(readings.of("M35") == "each-nan") {
    if (call.states("axis")) axis_ = axis_in(call.rank("X"), call.integer("axis"));
    const Int slices = axis_ ? x_.extent(*axis_) : volume(x_.shape());
    for (Int i = 0; i < slices; ++i) {
      const auto met = std::ranges::find_if(kept, [&](const Kept& each) { return is_same(each.first, i); });
      is_of_.push_back(met != kept.end() ? met->first : i);
      met != kept.end() ? static_cast<void>(++met->count) : kept.push_back({i, 1});
    }
    if (call.integer("sorted") == 1)
      std::ranges::stable_sort(kept, [&](const Kept& a, const Kept& b) { return order(a.first, b.first) < 0; });
  }

  std::vector<Kept> kept;

  Shape shape() const {
    if (!axis_) return {std::ssize(kept)};
    Shape out = x_.shape();
    out[*axis_] = std::ssize(kept);
    return out;
  }
  // Where in X the element of Y stands.
  Int origin_of(Int index) const {
    if (!axis_) return kept[static_cast<std::size_t>(index)].first;
    Shape at = position(shape(), index);
    at[*axis_] = kept[static_cast<std::size_t>(at[*axis_])].first;
    return origin(x_.shape(), at).place;
  }
  Int slices() const { return std::ssize(is_of_); }
  Int place_of(Int slice) const {
    const Int first = is_of_[static_cast<std::size_t>(slice)];
    return std::ranges::find(kept, first, &Kept::first) - kept.begin();
  }
  const Cells& x() const { return x_; }

 private:
  Scalar at(Int slice, Int element) const {
    if (!axis_) return x_.at(slice);
    Shape others = x_.shape();
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*axis_));
    Shape place = position(others, element);
    place.insert(place.begin() + static_cast<std::ptrdiff_t>(*axis_), slice);
    return x_.at(origin(x_.shape(), place).place);
  }
  Int elements() const {
    Int all = 1;
    for (std::size_t axis = 0; axis_ && axis < x_.shape().size(); ++axis) all *= axis == *axis_ ? 1 : x_.extent(axis);
    return all;
  }
  // Below 0 where a comes first; NaN comes last.
  int order(Int a, Int b) const {
    for (Int i = 0; i < elements(); ++i) {
      const Scalar mine = at(a, i), other = at(b, i);
      if (is_nan(mine) != is_nan(other)) return is_nan(other) ? -1 : 1;
      if (is_nan(mine) || same(mine, other)) continue;
      if (mine.text) return *mine.text < *other.text ? -1 : 1;
      return is_less(mine, other) ? -1 : 1;
    }
    return 0;
  }
  bool is_same(Int a, Int b) const {
    for (Int i = 0; each_nan_ && i < elements(); ++i)
      if (is_nan(at(b, i))) return false;
    return order(a, b) == 0;
  }

  Cells x_;
  bool each_nan_;
  std::optional<std::size_t> axis_;
  std::vector<Int> is_of_;  // of each slice the first that is the same
};

class KeptAnswer final : public Answer {
 public:
  explicit KeptAnswer(std::shared_ptr<const Kinds> kinds) : kinds_(std::move(kinds)) {}
  Shape shape() const override { return kinds_->shape(); }
  DType dtype() const override { return kinds_->x().tensor().dtype(); }
  Element element(Int index) const override { return exactly(kinds_->x().at(kinds_->origin_of(index)), dtype()); }
  std::vector<Tolerance> wider(Int index) const override {
    if (!is_float(dtype())) return {};
    return {flushing(element(index), {kinds_->x().at(kinds_->origin_of(index))}, dtype())};
  }
  std::vector<ProofTerm> taps(Int index) const override {
    const Int from = kinds_->origin_of(index);
    return {{{written(kinds_->x().at(from), dtype())}, place("X", kinds_->x().shape(), from)}};
  }
  std::pair<const Tensor*, Int> copied(Int index) const override {
    return {&kinds_->x().tensor(), kinds_->origin_of(index)};
  }

 private:
  std::shared_ptr<const Kinds> kinds_;
};

class CountedAnswer final : public Answer {
 public:
  explicit CountedAnswer(std::vector<Int> numbers) : numbers_(std::move(numbers)) {}
  Shape shape() const override { return {std::ssize(numbers_)}; }
  DType dtype() const override { return DType::i64; }
  Element element(Int index) const override {
    return exactly(scalar(numbers_[static_cast<std::size_t>(index)]), dtype());
  }
  std::vector<Tolerance> wider(Int) const override { return {}; }
  std::vector<ProofTerm> taps(Int) const override { return {}; }

 private:
  std::vector<Int> numbers_;
};

}  // namespace

Oracle unique() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands&, const Readings& readings, const Arithmetic&) {
    const auto kinds = std::make_shared<const Kinds>(call, readings);
    Answers all(std::make_unique<KeptAnswer>(kinds));
    std::vector<Int> first, places, counts;
    for (const Kept& each : kinds->kept) first.push_back(each.first), counts.push_back(each.count);
    for (Int i = 0; i < kinds->slices(); ++i) places.push_back(kinds->place_of(i));
    if (call.requests("indices")) all.push_back(std::make_unique<CountedAnswer>(std::move(first)));
    if (call.requests("inverse_indices")) all.push_back(std::make_unique<CountedAnswer>(std::move(places)));
    if (call.requests("counts")) all.push_back(std::make_unique<CountedAnswer>(std::move(counts)));
    return all;
  };
  oracle.shape = [](const Call& call, const Readings& readings) {
    return std::optional<Shape>(Kinds(call, readings).shape());
  };
  return without_rounding(std::move(oracle));
}

}  // namespace assay::oracles
