// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression a third time, in float: the best of what is left is taken, and what it covers is struck out.
#include "reference/families/elementwise.h"
#include "suites/mutation/creating.h"

#include <algorithm>
#include <array>

namespace assay::mutation {
namespace {

using oracles::Level;

struct Suppressing {
  bool in_double = false;
  // Other readings.
  bool keeps_equal = false, takes_last = false;
  // Slips.
  bool covers_at_threshold = false, trusts_corners = false, has_no_end = false, shares_classes = false,
       is_first_batch = false, divides_by_smaller = false, adds_areas = false, forgets_scores = false;
};

template <class A>
struct Rectangle {
  std::array<A, 4> at;  // the lower corner, the upper corner

  A side(std::size_t axis) const { return std::max<A>(at[axis + 2] - at[axis], 0); }
  A area() const { return side(0) * side(1); }
};

template <class A>
Rectangle<A> rectangle(const Suppressing& how, const Call& call, const Tensor& boxes, Int box) {
  Rectangle<A> out;
  for (std::size_t i = 0; i < 4; ++i) out.at[i] = static_cast<A>(number_at(boxes, 4 * box + static_cast<Int>(i)));
  for (std::size_t axis = 0; axis < 2; ++axis)
    if (call.integer("center_point_box") == 1) {
      const A half = out.at[axis + 2] / 2;
      out.at[axis + 2] = out.at[axis] + half;
      out.at[axis] -= half;
    } else if (!how.trusts_corners && out.at[axis] > out.at[axis + 2]) {
      std::swap(out.at[axis], out.at[axis + 2]);
    }
  return out;
}

template <class A>
bool covers(const Suppressing& how, const Rectangle<A>& a, const Rectangle<A>& b, A threshold) {
  Rectangle<A> both;
  for (std::size_t i = 0; i < 4; ++i) both.at[i] = i < 2 ? std::max(a.at[i], b.at[i]) : std::min(a.at[i], b.at[i]);
  if (both.area() == 0 || a.area() == 0 || b.area() == 0) return false;
  const A together = how.divides_by_smaller ? std::min(a.area(), b.area())
                     : how.adds_areas       ? a.area() + b.area()
                                            : a.area() + b.area() - both.area();
  const A overlap = both.area() / together;
  return how.covers_at_threshold ? overlap >= threshold : overlap > threshold;
}

template <class A>
Ints left_of(const Suppressing& how, const Call& call, Inputs in) {
  const auto number = [&](std::size_t input, double otherwise) {
    return in.size() > input && in[input] ? number_at(*in[input], 0) : otherwise;
  };
  const Int batches = call.dim("boxes", 0), boxes = call.dim("boxes", 1), classes = call.dim("scores", 1);
  const Int most = how.has_no_end ? boxes : static_cast<Int>(number(2, 0));
  const A threshold = static_cast<A>(number(3, 0));
  const bool has_least = in.size() > 4 && in[4] && !how.forgets_scores;
  Ints rows;
  for (Int batch = 0; batch < batches; ++batch) {
    std::vector<Rectangle<A>> taken;
    for (Int of = 0; of < classes; ++of) {
      std::vector<bool> is_left(static_cast<std::size_t>(boxes), true);
      if (!how.shares_classes) taken.clear();
      const auto score = [&](Int box) { return number_at(*in[1], (batch * classes + of) * boxes + box); };
      for (Int count = 0; count < most;) {
        Int best = -1;
        for (Int box = 0; box < boxes; ++box) {
          const bool is_enough =
              !has_least || score(box) > number(4, 0) || (how.keeps_equal && score(box) == number(4, 0));
          if (!is_left[static_cast<std::size_t>(box)] || !is_enough) continue;
          if (best < 0 || score(box) > score(best) || (how.takes_last && score(box) == score(best))) best = box;
        }
        if (best < 0) break;
        is_left[static_cast<std::size_t>(best)] = false;
        const auto one = rectangle<A>(how, call, *in[0], (how.is_first_batch ? 0 : batch) * boxes + best);
        if (std::ranges::any_of(taken, [&](const auto& other) { return covers(how, one, other, threshold); })) continue;
        taken.push_back(one);
        rows.insert(rows.end(), {batch, of, best});
        ++count;
      }
    }
  }
  return rows;
}

Kernel suppressing(Suppressing how) {
  return [how](const Call& call, Inputs in) {
    const Ints rows = how.in_double ? left_of<double>(how, call, in) : left_of<float>(how, call, in);
    Tensor y({DType::i64, {std::ssize(rows) / 3, 3}});
    std::ranges::copy(rows, y.as<Int>().begin());
    return Values(std::move(y));
  };
}

}  // namespace

std::vector<VariantKernel> suppressing_variants(const std::string& op) {
  if (op != "NonMaxSuppression") return {};
  return {variant_of("sequential", "the best of what is left", suppressing({})),
          variant_of("in-double", "areas are computed in double", suppressing({.in_double = true})),
          {{"keeps-equal", Level::L2, "a score that is the threshold stays", "M37", "keep-equal"},
           suppressing({.keeps_equal = true})},
          {{"later-box-first", Level::L2, "of equal scores the last comes first", "M38", "any"},
           suppressing({.takes_last = true})}};
}

std::vector<Bug> suppressing_bugs(const std::string& op) {
  if (op != "NonMaxSuppression") return {};
  const auto bug = [&](const char* name, const char* what, Suppressing how) {
    return bug_of(op, name, what, suppressing(how));
  };
  return {bug("covers-at-threshold", "an overlap that is the threshold is too much", {.covers_at_threshold = true}),
          bug("trusts-corners", "the first corner is taken for the lower one", {.trusts_corners = true}),
          bug("has-no-end", "as many are selected as there are", {.has_no_end = true}),
          bug("shares-classes", "boxes of one class cover those of the next", {.shares_classes = true}),
          bug("is-first-batch", "every batch has the boxes of the first", {.is_first_batch = true}),
          bug("divides-by-smaller", "an overlap is a share of the smaller box", {.divides_by_smaller = true}),
          bug("adds-areas", "what both share counts twice", {.adds_areas = true}),
          bug("forgets-scores", "score_threshold is not looked at", {.forgets_scores = true})};
}

}  // namespace assay::mutation
