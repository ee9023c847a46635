// SPDX-License-Identifier: Apache-2.0
// The exact answer of NonMaxSuppression (movement 5.5). A corner that is centre ± size / 2 errs by u m at most, m the
// largest coordinate, so that of sides of s or more the overlap errs, relatively, by less than 2^-18 (1 + m / s), which
// admits divisions that are not rounded right; corners that are given, or are numbers of the format, by 2^-18. Where
// areas are exact and their union is a power of two, any division is exact. What an overlap that lies as near to the
// threshold selects is left open, and so is what M39 names.
#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace assay::oracles {
namespace {

constexpr int slack = -18;  // 2^-18 = 64 u, of which 17 are roundings

const Format& f32() { return format_of(DType::f32); }
bool is_number(const Dyadic& x) { return rounded({x, 1}, f32()).value() == x; }
bool is_subnormal(const Scalar& x) { return x.is_finite() && x.is_subnormal(f32()); }

struct Corners {
  std::array<Dyadic, 2> low, high;
  bool are_exact = true;

  Dyadic side(std::size_t axis) const { return high[axis] - low[axis]; }
  Dyadic area() const { return side(0) * side(1); }
};

// Returns what two boxes share; sides of 0 where that is nothing.
Corners shared_by(const Corners& a, const Corners& b) {
  Corners both;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    both.low[axis] = std::max(a.low[axis], b.low[axis]);
    both.high[axis] = std::max(std::min(a.high[axis], b.high[axis]), both.low[axis]);
  }
  both.are_exact = a.are_exact && b.are_exact;
  return both;
}

enum class Decision { no, yes, open };

// Tells whether sums and differences of the areas are numbers of the format, in any order.
bool are_exact(const Corners& a, const Corners& b, const Corners& both) {
  const Dyadic all = a.area() + b.area();
  int least = 0;
  for (const Corners* each : {&a, &b, &both}) {
    if (!each->are_exact || !is_number(each->side(0)) || !is_number(each->side(1))) return false;
    const Scalar area = rounded({each->area(), 1}, f32());
    if (area.value() != each->area()) return false;
    least = std::min(least, area.exponent);
  }
  return all <= Dyadic::power_of_two(least + f32().precision);
}

// Tells whether two boxes overlap by more than the threshold.
Decision decide(const Corners& a, const Corners& b, const Dyadic& threshold) {
  const Corners both = shared_by(a, b);
  Dyadic largest, least = Dyadic::power_of_two(40);
  for (const Corners* each : {&a, &b})
    for (std::size_t axis = 0; axis < 2; ++axis) {
      largest = std::max({largest, abs(each->low[axis]), abs(each->high[axis])});
      if (each->side(axis).is_zero()) return Decision::no;  // however it is computed
      least = std::min(least, each->side(axis));
    }
  if (both.area().is_zero()) {
    const auto is_apart = [&](std::size_t axis) {
      const Dyadic gap = both.low[axis] - std::min(a.high[axis], b.high[axis]);
      return Dyadic::power_of_two(-slack) * gap > largest;
    };
    return both.are_exact || is_apart(0) || is_apart(1) ? Decision::no : Decision::open;
  }
  least = std::min({least, both.side(0), both.side(1)});
  if (least < Dyadic::power_of_two(-40) || largest > Dyadic::power_of_two(40)) return Decision::open;
  const Dyadic together = a.area() + b.area() - both.area();
  const Dyadic off = both.area() - threshold * together;  // its sign decides
  const Decision exact = off > Dyadic{} ? Decision::yes : Decision::no;
  if (are_exact(a, b, both) && rounded({together, 1}, f32()).significand == 1) return exact;
  const Dyadic reach = both.are_exact ? least : least + largest;
  const bool is_clear = Dyadic::power_of_two(-slack) * abs(off) * least > reach * both.area();
  return is_clear ? exact : Decision::open;
}

using Row = std::array<Int, 3>;
using Rows = std::vector<Row>;

class Selection {
 public:
  Selection(const Call& call, const Readings& readings)
      : boxes_(*call.node().inputs.find("boxes")->second.data),
        scores_(*call.node().inputs.find("scores")->second.data),
        readings_(readings),
        is_centred_(call.integer("center_point_box") == 1) {
    if (call.has("max_output_boxes_per_class")) most_ = call.integer("max_output_boxes_per_class");
    if (call.has("iou_threshold")) most_overlap_ = of(call.real("iou_threshold"));
    if (call.has("score_threshold")) least_score_ = of(call.real("score_threshold"));
    for (Int box = 0; box < boxes_.extent(0) * boxes_.extent(1); ++box) corners_.push_back(corners_of(box));
    for (Int i = 0; i < volume(scores_.shape()); ++i)
      is_plain_ &= !is_nan(scores_.at(i)) && !is_subnormal(scores_.at(i));
  }

  // Selects as ruled, or as the score that is the threshold is read; nothing where that is left open.
  std::optional<Rows> rows() const {
    Rows all;
    for (Int line = 0; line < lines(); ++line) {
      const std::size_t first = all.size();
      std::vector<Int> order = candidates(line);
      std::ranges::stable_sort(order, [&](Int a, Int b) { return is_less(score(line, b), score(line, a)); });
      for (const Int box : order) {
        if (static_cast<Int>(all.size() - first) >= most_) break;
        Decision is_covered = Decision::no;
        for (std::size_t i = first; i < all.size() && is_covered != Decision::yes; ++i)
          if (const Decision one = meet(line, all[i][2], box); one != Decision::no) is_covered = one;
        if (is_covered == Decision::open) return std::nullopt;
        if (is_covered == Decision::no) all.push_back({line / classes(), line % classes(), box});
      }
    }
    return is_plain_ ? std::optional(all) : std::nullopt;
  }

  // Tells whether the rows are those of some order among equal scores: no two of a batch and class cover each other,
  // and every other candidate is covered by one of no lower score, or has as many before it as are admitted.
  bool admits(const Rows& got) const {
    std::vector<std::vector<Int>> taken(static_cast<std::size_t>(lines()));
    for (const Row& row : got) {
      if (row[0] < 0 || row[0] >= boxes_.extent(0) || row[1] < 0 || row[1] >= classes()) return false;
      taken[static_cast<std::size_t>(row[0] * classes() + row[1])].push_back(row[2]);
    }
    for (Int line = 0; line < lines(); ++line) {
      const std::vector<Int>& mine = taken[static_cast<std::size_t>(line)];
      std::vector<Int> others = candidates(line);
      const bool is_full = std::ssize(mine) == most_;
      if (std::ssize(mine) > most_) return false;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        if (std::erase(others, mine[i]) == 0) return false;  // no candidate, or met before
        for (std::size_t j = 0; j < i; ++j)
          if (meet(line, mine[i], mine[j]) == Decision::yes) return false;
      }
      for (const Int other : others) {
        const auto is_before = [&](Int box) { return !is_less(score(line, box), score(line, other)); };
        const auto covers = [&](Int box) { return is_before(box) && meet(line, box, other) != Decision::no; };
        if (!(is_full && std::ranges::all_of(mine, is_before)) && std::ranges::none_of(mine, covers)) return false;
      }
    }
    return true;
  }

  bool has_ties() const {
    for (Int line = 0; line < lines(); ++line) {
      const std::vector<Int> all = candidates(line);
      for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (same(score(line, all[i]), score(line, all[j]))) return true;
    }
    return false;
  }
  bool meets_threshold() const {
    for (Int i = 0; least_score_ && i < volume(scores_.shape()); ++i)
      if (same(scores_.at(i), *least_score_)) return true;
    return false;
  }
  bool has_empty_boxes() const {
    return std::ranges::count_if(corners_, [](const Corners& each) { return each.area().is_zero(); }) > 1;
  }

 private:
  // Reads a threshold; it is plain where no hardware reads another number.
  Scalar of(float threshold) {
    const Scalar value = scalar_of(static_cast<double>(threshold));
    is_plain_ &= !is_nan(value) && !is_subnormal(value);
    return value;
  }
  Int classes() const { return scores_.extent(1); }
  Int lines() const { return scores_.extent(0) * classes(); }
  Scalar score(Int line, Int box) const { return scores_.at(line * scores_.extent(2) + box); }

  Corners corners_of(Int box) {
    Corners out;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const Scalar first = boxes_.at(4 * box + static_cast<Int>(axis)),
                   second = boxes_.at(4 * box + 2 + static_cast<Int>(axis));
      if (!first.is_finite() || !second.is_finite()) return is_plain_ = false, out;
      const Dyadic a = first.value(), b = second.value();
      const Dyadic half = b * Dyadic::power_of_two(-1);
      out.low[axis] = is_centred_ ? a - half : std::min(a, b);
      out.high[axis] = is_centred_ ? a + half : std::max(a, b);
      is_plain_ &= out.low[axis] <= out.high[axis];
      out.are_exact &= is_number(out.low[axis]) && is_number(out.high[axis]);
    }
    return out;
  }

  std::vector<Int> candidates(Int line) const {
    std::vector<Int> all(static_cast<std::size_t>(scores_.extent(2)));
    std::iota(all.begin(), all.end(), Int{0});
    std::erase_if(all, [&](Int box) {
      if (!least_score_) return false;
      const bool is_removed = is_less(score(line, box), *least_score_);
      return is_removed || (readings_.of("M37") == "strictly-greater" && same(score(line, box), *least_score_));
    });
    return all;
  }

  Decision meet(Int line, Int a, Int b) const {
    const Int first = line / classes() * boxes_.extent(1);
    const auto corners = [&](Int box) -> const Corners& { return corners_[static_cast<std::size_t>(first + box)]; };
    const bool is_nothing = corners(a).area().is_zero() && corners(b).area().is_zero();
    if (is_nothing && readings_.of("M67") == "cover") return Decision::yes;
    return decide(corners(a), corners(b), most_overlap_.value());
  }

  Cells boxes_, scores_;
  Readings readings_;
  bool is_centred_, is_plain_ = true;
  Int most_ = 0;
  Scalar most_overlap_;
  std::optional<Scalar> least_score_;
  std::vector<Corners> corners_;
};

// Answers these rows, or leaves as many open.
class RowsAnswer final : public Answer {
 public:
  RowsAnswer(Rows rows, bool is_open) : rows_(std::move(rows)), is_open_(is_open) {}
  Shape shape() const override { return {std::ssize(rows_), 3}; }
  DType dtype() const override { return DType::i64; }
  Element element(Int index) const override {
    if (is_open_) return unscored("an overlap within rounding of the threshold, or NaN (M39)");
    return exactly(scalar(rows_[static_cast<std::size_t>(index / 3)][static_cast<std::size_t>(index % 3)]), dtype());
  }
  std::vector<Tolerance> wider(Int) const override { return {}; }
  std::vector<ProofTerm> taps(Int) const override { return {}; }

 private:
  Rows rows_;
  bool is_open_;
};

Answers answer(const Call& call, const Operands&, const Readings& readings, const Arithmetic&) {
  const std::optional<Rows> rows = Selection(call, readings).rows();
  return std::make_unique<RowsAnswer>(rows.value_or(Rows{{}}), !rows);
}

std::optional<Rows> rows_of(const std::vector<Tensor>& got) {
  if (got.empty() || got[0].dtype() != DType::i64 || got[0].shape().size() != 2 || got[0].shape()[1] != 3)
    return std::nullopt;
  Rows rows(static_cast<std::size_t>(got[0].shape()[0]));
  for (std::size_t i = 0; i < 3 * rows.size(); ++i) rows[i / 3][i % 3] = got[0].as<Int>()[i];
  return rows;
}

// Answers what came back where it is as right: rows in another order, or those of another order among equal scores.
Answers facing(const Call& call, const Operands& in, const Readings& readings, const std::vector<Tensor>& got) {
  const Selection selection(call, readings);
  const std::optional<Rows> ruled = selection.rows();
  const std::optional<Rows> rows = rows_of(got);
  if (!rows) return answer(call, in, readings, {});
  if (!ruled) return std::make_unique<RowsAnswer>(*rows, true);
  const bool is_any_order = readings.of("M68") == "any" && std::ranges::is_permutation(*rows, *ruled);
  const bool is_any_of_equals = readings.of("M38") == "any" && selection.admits(*rows);
  return std::make_unique<RowsAnswer>(is_any_order || is_any_of_equals ? *rows : *ruled, false);
}

}  // namespace

Oracle non_max_suppression() {
  Oracle oracle;
  oracle.answer = answer;
  oracle.given = facing;
  oracle.leaves_shape_open = true;  // any box of one score may be selected, and how many follow depends on it
  oracle.shape = [](const Call& call, const Readings& readings) -> std::optional<Shape> {
    const std::optional<Rows> rows = Selection(call, readings).rows();
    return rows && readings.of("M38") != "any" ? std::optional(Shape{std::ssize(*rows), 3}) : std::nullopt;
  };
  oracle.touched = [](const Call& call, const Operands*, Int) {
    const Selection selection(call, {});
    std::vector<std::string> ids;
    if (selection.meets_threshold()) ids.emplace_back("M37");
    if (selection.has_ties()) ids.emplace_back("M38");
    if (selection.has_empty_boxes()) ids.emplace_back("M67");
    return ids;
  };
  oracle.rounds = false;
  return oracle;
}

}  // namespace assay::oracles
