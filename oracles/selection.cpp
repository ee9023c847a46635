// SPDX-License-Identifier: Apache-2.0
#include "oracles/selection.h"

#include "oracles/finding.h"
#include "oracles/judge.h"
#include "oracles/operands.h"
#include "oracles/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <memory>
#include <set>

namespace assay::oracles {
namespace {

bool is_nan(const Scalar& value) { return value.is == Scalar::Class::nan; }

bool has(const std::vector<Int>& places, Int place) { return std::ranges::find(places, place) != places.end(); }

// One selected element: its value, and the places any one of which it may be said to stand at.
struct Pick {
  Scalar value;
  std::vector<Int> places;
};

// Returns the picks of a line in their order: an element comes where as many come before it.
std::vector<Pick> picks_of(const SelectionRule& rule, const Call& call, const Readings& readings,
                           const std::vector<Scalar>& x) {
  const auto count = static_cast<std::size_t>(rule.count(call));
  std::vector<Pick> all(count);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::size_t before = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      before += rule.precedes(call, x[j], x[i]) || (j < i && !rule.precedes(call, x[i], x[j])) ? 1 : 0;
    if (before < count) all[before] = {x[i], {static_cast<Int>(i)}};
  }
  if (count == 0 || rule.is_ordered(call) || readings.of(rule.order_ruling) != "tie-any") return all;
  std::vector<Int> like_the_last;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (same(x[i], all.back().value)) like_the_last.push_back(static_cast<Int>(i));
  for (Pick& each : all)
    if (same(each.value, all.back().value)) each.places = like_the_last;
  return all;
}

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
        x_(std::move(x)),
        picks_(picks_of(rule, call, readings, x_)) {}

  // Before any output is known: in an order that is open each may be any of the picks.
  std::vector<Selected> alone() const {
    if (has_nan()) return std::vector<Selected>(picks_.size(), nothing_claimed());
    std::vector<Selected> all;
    for (std::size_t i = 0; i < picks_.size(); ++i)
      all.push_back(is_ordered_ || picks_.size() < 2 ? selected(picks_[i]) : any_from(i));
    return all;
  }

  std::vector<Selected> facing(std::span<const Scalar> values, std::span<const Int> places) const {
    const std::vector<Pick> met = is_ordered_ ? picks_ : arranged(places);
    std::vector<Selected> all;
    if (has_nan() && !fits(met, values, places)) return pairs(values, places);
    for (const Pick& pick : met)
      all.push_back(has_nan() ? Selected{one_of(rule_->nan_ruling, {pick.value}),
                                         one_of(rule_->nan_ruling, {scalar(pick.places.front())})}
                              : selected(pick));
    return all;
  }

  const std::vector<Scalar>& operands() const { return x_; }

 private:
  bool has_nan() const { return std::ranges::any_of(x_, is_nan); }
  bool vanishes(const Scalar& value) const {
    return value.is_zero() || (is_float(type_) && value.is_finite() && value.is_subnormal(format_of(type_)));
  }
  // Tells whether numbers that differ are all zeros where subnormals are flushed.
  bool ties_if_flushed(const Scalar& value) const {
    return vanishes(value) &&
           std::ranges::any_of(x_, [&](const Scalar& other) { return vanishes(other) && !same(other, value); });
  }

  static Selected nothing_claimed() {
    return {unscored("no order is stated for a line with NaN"), unscored("no order is stated for a line with NaN")};
  }

  Selected selected(const Pick& pick) const {
    if (ties_if_flushed(pick.value)) return {exactly(pick.value, type_), unscored("flushed subnormals tie")};
    return {exactly(pick.value, type_), placed(pick.places)};
  }

  Element placed(const std::vector<Int>& places) const {
    if (places.size() == 1) return exactly(scalar(places.front()), DType::i64);
    std::vector<Scalar> options;
    for (const Int place : places) options.push_back(scalar(place));
    return one_of(rule_->order_ruling, std::move(options));
  }

  // The value of the order first.
  Selected any_from(std::size_t first) const {
    std::vector<Scalar> values;
    std::vector<Int> places;
    for (std::size_t i = 0; i < picks_.size(); ++i) {
      const Pick& pick = picks_[(first + i) % picks_.size()];
      values.push_back(pick.value);
      for (const Int place : pick.places)
        if (!has(places, place)) places.push_back(place);
    }
    std::ranges::sort(places);
    return {one_of(rule_->order_ruling, std::move(values)), placed(places)};
  }

  // The picks in the order of the places that were answered; where a place is none of theirs, the next of those left.
  std::vector<Pick> arranged(std::span<const Int> places) const {
    std::vector<std::optional<Pick>> met(picks_.size());
    std::vector<Pick> left = picks_;
    std::set<Int> taken;
    for (std::size_t i = 0; i < met.size(); ++i) {
      const auto pick = std::ranges::find_if(left, [&](const Pick& each) { return has(each.places, places[i]); });
      if (pick == left.end() || !taken.insert(places[i]).second) continue;
      met[i] = Pick{pick->value, {places[i]}};
      left.erase(pick);
    }
    std::vector<Pick> all;
    for (const std::optional<Pick>& each : met) {
      if (each) {
        all.push_back(*each);
        continue;
      }
      std::erase_if(left.front().places, [&](Int place) { return taken.contains(place); });
      all.push_back(left.front());
      left.erase(left.begin());
    }
    return all;
  }

  static bool fits(const std::vector<Pick>& picks, std::span<const Scalar> values, std::span<const Int> places) {
    for (std::size_t i = 0; i < picks.size(); ++i)
      if (!same(picks[i].value, values[i]) || !has(picks[i].places, places[i])) return false;
    return true;
  }

  // Of a line with NaN: every value stands at its place, and no place comes twice.
  std::vector<Selected> pairs(std::span<const Scalar> values, std::span<const Int> places) const {
    std::vector<Selected> all;
    std::set<Int> taken;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool is_place = places[i] >= 0 && places[i] < static_cast<Int>(x_.size());
      const Scalar there = is_place ? x_[static_cast<std::size_t>(places[i])] : Scalar();
      const bool is_there = same(there, values[i]) || (vanishes(there) && values[i].is_zero());
      all.push_back(nothing_claimed());
      if (is_place && !is_there) all.back().value = one_of(rule_->nan_ruling, {there});
      if (!is_place || !taken.insert(places[i]).second) all.back().place = one_of(rule_->nan_ruling, free(taken));
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
  bool is_ordered_;
  std::vector<Scalar> x_;
  std::vector<Pick> picks_;
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
  std::vector<Allowance> wider(Int index) const override {
    if (!gives_values_ || !is_float(dtype_)) return {};
    return {flushing(element(index), line(index).operands(), dtype_)};
  }
  std::vector<Tap> taps(Int index) const override {
    const std::string& name = lines_->call.definition().inputs.front().name;
    const std::vector<Scalar>& x = line(index).operands();
    std::vector<Tap> all;
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
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
