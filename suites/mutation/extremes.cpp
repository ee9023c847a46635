// SPDX-License-Identifier: Apache-2.0
// ArgMax, ArgMin and Hardmax a third time: every element is looked at once, in the order of memory, and each line
// remembers the best it has met.
#include "suites/mutation/family.h"

#include <functional>
#include <numeric>

namespace assay::mutation {
namespace {

enum Defect { none, takes_last, counts_whole, forgets_last, begins_at_zero, marks_all, lays_otherwise };

Kernel extreme(bool is_least, bool marks, Defect defect, bool skips_nan = false) {
  return [=](const Call& call, Inputs in) {
    const Shape shape = in[0]->shape();
    const auto rank = static_cast<Int>(shape.size());
    const Int said = call.integer("axis"), axis = said < 0 ? said + rank : said;
    const bool flattens = marks && (call.definition().version.since_version < 13) != (defect == lays_otherwise);
    Int behind = 1, length = 1, lines = 1;
    for (Int i = 0; i < rank; ++i) {
      const Int extent = shape[static_cast<std::size_t>(i)];
      const bool is_along = i == axis || (flattens && i > axis);
      (is_along ? length : lines) *= extent;
      if (i > axis && !flattens) behind *= extent;
    }
    const bool last =
        defect == takes_last || (call.states("select_last_index") && call.integer("select_last_index") != 0);
    Shape out = shape;
    if (!marks) out.erase(out.begin() + axis);
    if (!marks && call.integer("keepdims") != 0) out.insert(out.begin() + axis, 1);
    Tensor y({marks ? in[0]->dtype() : DType::i64, out});
    for_number(in[0]->dtype(), [&]<class T>() {
      const std::span<const T> x = in[0]->as<T>();
      std::vector<Int> best(static_cast<std::size_t>(lines), -1);
      const auto line_of = [&](Int i) { return static_cast<std::size_t>(i / (length * behind) * behind + i % behind); };
      for (Int i = 0; i < std::ssize(x); ++i) {
        if (defect == forgets_last && length > 1 && i / behind % length == length - 1) continue;
        Int& met = best[line_of(i)];
        const T a = x[static_cast<std::size_t>(i)], b = met < 0 ? T(0) : x[static_cast<std::size_t>(met)];
        const bool beats = a == a && (is_least ? a < b : a > b);
        const bool is_first = met < 0 && (defect != begins_at_zero || beats);
        const bool is_nan = a != a && b == b && !skips_nan, was_nan = b != b && a == a && skips_nan;
        if (is_first || (met >= 0 && (beats || is_nan || was_nan || (last && a == b)))) met = i;
      }
      for (std::size_t line = 0; !marks && line < best.size() && length > 0; ++line)
        y.as<Int>()[line] = defect == counts_whole ? best[line] : std::max<Int>(best[line], 0) / behind % length;
      if constexpr (!std::is_integral_v<T> && !std::is_same_v<T, Bool>)
        for (Int i = 0; marks && i < std::ssize(x); ++i) {
          const Int met = best[line_of(i)];
          const bool is_equal = met >= 0 && x[static_cast<std::size_t>(met)] == x[static_cast<std::size_t>(i)];
          if (met == i || (defect == marks_all && is_equal)) y.as<T>()[static_cast<std::size_t>(i)] = T(1.0);
        }
    });
    return y;
  };
}

// One kernel in the versions that have a ruling, another in the others.
Kernel only_where(const char* ruling, Kernel there, Kernel elsewhere) {
  return [=](const Call& call, Inputs in) { return (call.definition().ruling(ruling) ? there : elsewhere)(call, in); };
}

}  // namespace

std::vector<VariantKernel> extreme_variants(const std::string& op) {
  const bool least = op == "ArgMin", marks = op == "Hardmax";
  if (op != "ArgMax" && !least && !marks) return {};
  std::vector<VariantKernel> variants{
      variant_of("sequential", "one element after the other", extreme(least, marks, none)),
      variant_of("skips-nan", "a NaN is looked at only where there is nothing else",
                 extreme(least, marks, none, true))};
  if (!marks)
    variants.push_back({{"takes-last", oracles::Level::L2, "of equal ones the last is taken", "M31", "last"},
                        only_where("M31", extreme(least, marks, takes_last), extreme(least, marks, none))});
  return variants;
}

std::vector<Bug> extreme_bugs(const std::string& op) {
  const bool least = op == "ArgMin", marks = op == "Hardmax";
  if (op != "ArgMax" && !least && !marks) return {};
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    const Kernel slipped = extreme(least, marks, defect), right = extreme(least, marks, none);
    return bug_of(op, name, what,
                  defect == takes_last ? only_where("M31", right, slipped) : slipped);  // a reading there
  };
  std::vector<Bug> bugs{bug("forgets-last", "the last element of a line is not looked at", forgets_last),
                        bug("begins-at-zero", "only what is beyond zero is looked at", begins_at_zero),
                        bug("takes-last", "of equal ones the last is taken", takes_last)};
  if (marks) {
    bugs.push_back(bug("marks-all", "all that equal the largest are 1", marks_all));
    bugs.push_back(bug("lays-otherwise", "lines along one axis before 13, of all axes from 13 on", lays_otherwise));
  } else {
    bugs.push_back(bug("counts-whole", "indices count the whole tensor", counts_whole));
  }
  return bugs;
}

}  // namespace assay::mutation
