// SPDX-License-Identifier: Apache-2.0
#include "oracles/rules/selection.h"

#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "oracles/judging/judge.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace assay::oracles {
namespace {

// One selected element and where it stands; or, as the order is read, at any place of its equals.
struct Pick {
  Scalar value;
  Int place = 0;
  bool is_any = false;
};

// What an element of either output is.
struct Selected {
  Element value, place;
};

// One line of X with its picks, and which elements of the outputs they are.
class Line {
 public:
  Line(const SelectionRule& rule, const Call& call, const Readings& readings, std::vector<Scalar> x)
      : rule_(&rule),
        type_(call.type(call.definition().inputs.front().name).dtype),
        is_ordered_(rule.is_ordered(call)),
        x_(std::move(x)) {
    has_nan_ = std::ranges::any_of(x_, is_nan);
    pick(call, readings);
    const auto first = std::ranges::find_if(x_, [&](const Scalar& each) { return vanishes(each); });
    ties_if_flushed_ =
        std::any_of(first, x_.end(), [&](const Scalar& each) { return vanishes(each) && !same(each, *first); });
  }

  // Before any output is known: in an order that is open each may be any of the picks.
  std::vector<Selected> alone() const {
    std::vector<Selected> all;
    if (has_nan_) return std::vector<Selected>(picks_.size(), nothing_claimed());
    const bool is_open = !is_ordered_ && picks_.size() > 1;
    std::vector<Scalar> values;
    std::set<Int> places;
    for (const Pick& each : is_open ? picks_ : std::vector<Pick>()) {
      values.push_back(each.value);
      places.insert(each.place);
      if (each.is_any) places.insert(equals_.begin(), equals_.end());
    }
    for (const Pick& each : picks_) {
      all.push_back(is_open ? Selected{one_of(rule_->order_ruling, values), placed({places.begin(), places.end()})}
                            : selected(each, {}));
      if (is_open) all.back().value.options.insert(all.back().value.options.begin(), each.value);  // the order's own
    }
    return all;
  }

  std::vector<Selected> facing(std::span<const Scalar> values, std::span<const Int> places) const {
    const std::vector<Pick> met = is_ordered_ ? picks_ : arranged(places);
    if (has_nan_ && !fits(met, values, places)) return pairs(values, places);
    const std::set<Int> taken(places.begin(), places.end());
    std::vector<Selected> all;
    std::set<Int> seen;
    for (std::size_t i = 0; i < met.size(); ++i) {
      const Pick& each = met[i];
      all.push_back(
          has_nan_ ? Selected{one_of(rule_->nan_ruling, {each.value}), one_of(rule_->nan_ruling, {scalar(each.place)})}
                   : selected(each, taken));
      // Of flushed subnormals that tie any may be taken, but each once, and with its value.
      const bool is_pair = stands(values[i], places[i]) && seen.insert(places[i]).second;
      if (!is_pair && all.back().place.kind == Kind::unscored) all.back().place = placed({each.place});
    }
    return all;
  }

  const std::vector<Scalar>& operands() const { return x_; }

 private:
  bool vanishes(const Scalar& value) const {
    return value.is_zero() || (is_float(type_) && value.is_finite() && value.is_subnormal(format_of(type_)));
  }

  bool is_place(Int place) const { return place >= 0 && place < static_cast<Int>(x_.size()); }
  // Tells whether the value is that of the place, or that flushed to zero.
  bool stands(const Scalar& value, Int place) const {
    if (!is_place(place)) return false;
    const Scalar& there = x_[static_cast<std::size_t>(place)];
    return same(there, value) || (vanishes(there) && value.is_zero());
  }

  void pick(const Call& call, const Readings& readings) {
    std::vector<Int> order(x_.size());
    std::iota(order.begin(), order.end(), Int{0});
    const auto at = [&](Int place) -> const Scalar& { return x_[static_cast<std::size_t>(place)]; };
    std::ranges::stable_sort(order, [&](Int a, Int b) { return rule_->precedes(call, at(a), at(b)); });
    const auto count = static_cast<std::size_t>(rule_->count(call));
    for (std::size_t i = 0; i < count; ++i) picks_.push_back({at(order[i]), order[i]});
    if (picks_.empty() || is_ordered_ || readings.of(rule_->order_ruling) != "tie-any") return;
    const Scalar last = picks_.back().value;
    for (Int place = 0; place < static_cast<Int>(x_.size()); ++place)
      if (same(at(place), last)) equals_.push_back(place);
    for (Pick& each : picks_) each.is_any = equals_.size() > 1 && same(each.value, last);
  }

  static Selected nothing_claimed() {
    return {unscored("no order is stated for a line with NaN"), unscored("no order is stated for a line with NaN")};
  }

  // `taken`: places that other elements of the outputs hold.
  Selected selected(const Pick& pick, const std::set<Int>& taken) const {
    if (ties_if_flushed_ && vanishes(pick.value))
      return {exactly(pick.value, type_), unscored("flushed subnormals tie")};
    std::vector<Int> places{pick.place};
    for (const Int place : pick.is_any ? equals_ : std::vector<Int>())
      if (place != pick.place && !taken.contains(place)) places.push_back(place);
    return {exactly(pick.value, type_), placed(places)};
  }

  Element placed(const std::vector<Int>& places) const {
    if (places.size() == 1) return exactly(scalar(places.front()), DType::i64);
    std::vector<Scalar> options;
    for (const Int place : places) options.push_back(scalar(place));
    return one_of(rule_->order_ruling, std::move(options));
  }

  // The picks in the order of the places that were answered; where a place is none of theirs, the next of those left.
  std::vector<Pick> arranged(std::span<const Int> places) const {
    std::map<Int, Pick> of_place;
    std::vector<Pick> of_equals, left;
    for (const Pick& each : picks_)
      each.is_any ? of_equals.push_back(each) : static_cast<void>(of_place.emplace(each.place, each));
    std::set<Int> equals(equals_.begin(), equals_.end());
    std::vector<std::optional<Pick>> met(picks_.size());
    for (std::size_t i = 0; i < met.size(); ++i) {
      if (const auto found = of_place.extract(places[i])) {
        met[i] = found.mapped();
      } else if (!of_equals.empty() && equals.erase(places[i]) > 0) {
        met[i] = Pick{of_equals.back().value, places[i]};
        of_equals.pop_back();
      }
    }
    for (const Pick& each : picks_)
      if (of_place.contains(each.place)) left.push_back(each);
    for (Pick& each : of_equals) {  // at a place of equals that nothing else holds
      each.place = *equals.begin();
      equals.erase(equals.begin());
      left.push_back(each);
    }
    std::vector<Pick> all;
    auto next = left.begin();
    for (const std::optional<Pick>& each : met) all.push_back(each ? *each : *next++);
    return all;
  }

  static bool fits(const std::vector<Pick>& picks, std::span<const Scalar> values, std::span<const Int> places) {
    for (std::size_t i = 0; i < picks.size(); ++i)
      if (!same(picks[i].value, values[i]) || picks[i].place != places[i]) return false;
    return true;
  }

  // Of a line with NaN: every value stands at its place, and no place comes twice.
  std::vector<Selected> pairs(std::span<const Scalar> values, std::span<const Int> places) const {
    std::vector<Selected> all;
    std::set<Int> taken;
    for (std::size_t i = 0; i < values.size(); ++i) {
      all.push_back(nothing_claimed());
      if (!is_place(places[i]) || !taken.insert(places[i]).second)
        all.back().place = one_of(rule_->nan_ruling, free(taken));
      if (is_place(places[i]) && !stands(values[i], places[i]))
        all.back().value = one_of(rule_->nan_ruling, {x_[static_cast<std::size_t>(places[i])]});
    }
    return all;
  }

  std::vector<Scalar> free(const std::set<Int>& taken) const {
    std::vector<Scalar> places;
    for (Int place = 0; place < static_cast<Int>(x_.size()); ++place)
      if (!taken.contains(place)) places.push_back(scalar(place));
    return places;
  }

  const SelectionRule* rule_;
  DType type_;
  bool is_ordered_, has_nan_ = false, ties_if_flushed_ = false;
  std::vector<Scalar> x_;
  std::vector<Pick> picks_;
  std::vector<Int> equals_;  // where order is open to them: the places of those equal to the last
};

// The lines of X along an axis, and where their picks stand in the outputs.
struct Lines {
  Call call;
  Shape x, shape;  // of X, of either output
  std::size_t axis;
  std::vector<Line> lines;
  std::vector<std::vector<Selected>> elements;  // per line

  Int inner() const { return volume(std::span(x).subspan(axis + 1)); }
  Int line_of(Int index) const { return index / (shape[axis] * inner()) * inner() + index % inner(); }
  std::size_t pick_of(Int index) const { return static_cast<std::size_t>(index / inner() % shape[axis]); }
  Int at(Int line, Int pick, Int extent) const { return (line / inner() * extent + pick) * inner() + line % inner(); }
  const Selected& element(Int index) const {
    return elements[static_cast<std::size_t>(line_of(index))][pick_of(index)];
  }
};

Shape output_shape(const SelectionRule& rule, const Call& call) {
  Shape shape = call.shape(call.definition().inputs.front().name);
  shape[static_cast<std::size_t>(rule.axis(call))] = rule.count(call);
  return shape;
}

Lines lines_of(const SelectionRule& rule, const Call& call, const Tensor& in, const Readings& readings) {
  Lines all{call, in.shape(), output_shape(rule, call), static_cast<std::size_t>(rule.axis(call)), {}, {}};
  const Int extent = all.x[all.axis];
  for (Int line = 0; extent > 0 && line < volume(all.x) / extent; ++line) {
    std::vector<Scalar> x;
    for (Int i = 0; i < extent; ++i) x.push_back(scalar(in, all.at(line, i, extent)));
    all.lines.emplace_back(rule, call, readings, std::move(x));
  }
  return all;
}

class SelectedAnswer final : public Answer {
 public:
  SelectedAnswer(std::shared_ptr<const Lines> lines, bool gives_values, DType dtype)
      : lines_(std::move(lines)), gives_values_(gives_values), dtype_(dtype) {}

  Shape shape() const override { return lines_->shape; }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override {
    const Selected& both = lines_->element(index);
    return gives_values_ ? both.value : both.place;
  }
  std::vector<Tolerance> wider(Int index) const override {
    if (!gives_values_ || !is_float(dtype_)) return {};
    return {flushing(element(index), line(index).operands(), dtype_)};
  }
  std::vector<ProofTerm> taps(Int index) const override {
    const std::string& name = lines_->call.definition().inputs.front().name;
    const std::vector<Scalar>& x = line(index).operands();
    std::vector<ProofTerm> all;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Int at = lines_->at(lines_->line_of(index), static_cast<Int>(i), lines_->x[lines_->axis]);
      all.push_back({{hexadecimal(x[i])}, place(name, lines_->x, at)});
    }
    return all;
  }

 private:
  const Line& line(Int index) const { return lines_->lines[static_cast<std::size_t>(lines_->line_of(index))]; }
  std::shared_ptr<const Lines> lines_;
  bool gives_values_;
  DType dtype_;
};

Answers answers_of(Lines lines) {
  const auto shared = std::make_shared<const Lines>(std::move(lines));
  const Definition& definition = shared->call.definition();
  Answers answers;
  for (std::size_t i = 0; i < 2; ++i)
    answers.push_back(
        std::make_unique<SelectedAnswer>(shared, i == 0, definition.type_of(shared->call, definition.outputs.at(i))));
  return answers;
}

}  // namespace

Oracle selected(SelectionRule rule) {
  Oracle oracle;
  oracle.answer = [rule](const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
    Lines lines = lines_of(rule, call, *in.at(0), readings);
    for (const Line& line : lines.lines) lines.elements.push_back(line.alone());
    return answers_of(std::move(lines));
  };
  oracle.given = [rule](const Call& call, const Operands& in, const Readings& readings,
                        const std::vector<Tensor>& got) {
    Lines lines = lines_of(rule, call, *in.at(0), readings);
    const Int count = lines.shape[lines.axis];
    for (std::size_t at = 0; at < lines.lines.size(); ++at) {
      std::vector<Scalar> values;
      std::vector<Int> places;
      for (Int i = 0; i < count; ++i) {
        const Int index = lines.at(static_cast<Int>(at), i, count);
        values.push_back(scalar(got.at(0), index));
        places.push_back(got.at(1).as<Int>()[static_cast<std::size_t>(index)]);
      }
      lines.elements.push_back(lines.lines[at].facing(values, places));
    }
    return answers_of(std::move(lines));
  };
  oracle.shape = [rule](const Call& call, const Readings&) -> std::optional<Shape> { return output_shape(rule, call); };
  return without_rounding(std::move(oracle));
}

}  // namespace assay::oracles
