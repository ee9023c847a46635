// SPDX-License-Identifier: Apache-2.0
// ReduceSum and its relatives a third time: every element is dealt to its group in the order of memory, and a group is
// worked out by itself, in f32 (f64 for f64) or in integers of any size.
#include "suites/mutation/family.h"

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace assay::mutation {
namespace {

using oracles::Level;
using Whole = boost::multiprecision::cpp_int;

// How a group is worked out.
struct Reducing {
  enum class Order { forward, backward, pairwise };
  Order order = Order::forward;
  bool in_double = false, rounds_nodes = false, rounds_sums = false;
  bool divides_first = false, by_reciprocal = false, is_unshifted = false;
  bool saturates = false, skips_nan = false, rounds_down = false;
  // Slips.
  bool forgets_last = false, first_axis_only = false, counts_from_front = false, one_fewer = false;
  bool integers_in_f32 = false, forgets_last_step = false, begins_at_zero = false, forgets_first_step = false;
};

template <class T>
using Groups = std::vector<std::vector<T>>;

std::set<Int> axes_of(const Reducing& how, const Call& call) {
  const Ints listed = call.states("axes") ? call.ints("axes") : Ints{};
  const bool is_noop = call.definition().attribute("noop_with_empty_axes") && call.integer("noop_with_empty_axes") == 1;
  std::set<Int> axes;
  for (Int axis : listed) {
    if (how.first_axis_only && !axes.empty()) break;
    axes.insert(axis >= 0 ? axis : how.counts_from_front ? 0 : axis + call.rank("data"));
  }
  for (Int axis = 0; listed.empty() && !is_noop && axis < call.rank("data"); ++axis) axes.insert(axis);
  return axes;
}

// Deals the elements out; the axes that were meant say what shape comes of it.
template <class T>
Groups<T> dealt(const Reducing& how, const Call& call, std::span<const T> x, std::size_t count) {
  Groups<T> groups(count);
  const Shape& shape = call.shape("data");
  const std::set<Int> axes = axes_of(how, call);
  for (std::size_t i = 0; i < x.size() && count > 0; ++i) {
    std::size_t group = 0, steps = 1, rest = i;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(shape[axis]);
      if (!axes.contains(static_cast<Int>(axis))) group += rest % extent * steps, steps *= extent;
      rest /= extent;
    }
    groups[group % count].push_back(x[i]);
  }
  if (how.forgets_last)
    for (std::vector<T>& group : groups)
      if (group.size() > 1) group.pop_back();
  return groups;
}

template <class S, class F>
S combined(const Reducing& how, std::vector<S> terms, S start, F f) {
  if (how.order == Reducing::Order::backward) std::ranges::reverse(terms);
  while (how.order == Reducing::Order::pairwise && terms.size() > 1) {
    std::vector<S> halves;
    for (std::size_t i = 0; i + 1 < terms.size(); i += 2) halves.push_back(f(terms[i], terms[i + 1]));
    if (terms.size() % 2 == 1) halves.push_back(terms.back());
    terms = std::move(halves);
  }
  for (const S& each : terms) start = f(start, each);
  return start;
}

template <class S, class F>
S logarithm_of_exponentials(const Reducing& how, const std::vector<S>& x, F sum) {
  const S most = x.empty() ? -INFINITY : *std::ranges::max_element(x);
  const bool has_nan = std::ranges::any_of(x, [](S each) { return each != each; });
  if (has_nan) return NAN;
  if (std::isinf(most)) return most;
  const S shift = how.is_unshifted && std::abs(most) < 60 ? S(0) : most;
  std::vector<S> terms;
  for (const S each : x) terms.push_back(std::exp(each - shift));
  return shift + (how.forgets_last_step ? sum(terms) : std::log(sum(terms)));
}

// A group of floats, in S.
template <class S, class T>
T real(const Reducing& how, const std::string& op, const std::vector<T>& group) {
  const auto node = [&](S value) {
    return how.rounds_nodes ? static_cast<S>(static_cast<double>(T(static_cast<double>(value)))) : value;
  };
  const auto add = [&](S a, S b) {
    return how.rounds_sums ? static_cast<S>(static_cast<double>(T(static_cast<double>(a + b)))) : a + b;
  };
  const bool squares = op == "ReduceL2" || op == "ReduceSumSquare", has_sizes = op == "ReduceL1";
  const auto n = static_cast<S>(group.size());
  std::vector<S> x;
  for (const T each : group) {
    const S value = static_cast<S>(static_cast<double>(each));
    const bool steps = !how.forgets_first_step;
    x.push_back(squares && steps ? node(value * value) : has_sizes && steps ? std::abs(value) : value);
    if (how.divides_first && op == "ReduceMean") x.back() /= n;
  }
  const auto sum = [&](const std::vector<S>& terms) { return combined(how, terms, S(0), add); };
  S value;
  if (op == "ReduceProd")
    value = combined(how, x, S(1), [](S a, S b) { return a * b; });
  else if (op == "ReduceLogSumExp")
    value = logarithm_of_exponentials(how, x, sum);
  else
    value = op == "ReduceSumSquare" || op == "ReduceSum" ? sum(x) : node(sum(x));
  if (op == "ReduceMean" && !how.divides_first)
    value = how.by_reciprocal ? value * (S(1) / n) : value / (how.one_fewer && n > 1 ? n - 1 : n);
  if (op == "ReduceL2" && !how.forgets_last_step) value = std::sqrt(value);
  if (op == "ReduceLogSum" && !how.forgets_last_step) value = std::log(value);
  return T(static_cast<double>(value));
}

template <class T>
T cut(double x) {
  const bool fits =
      x < std::ldexp(1.0, std::numeric_limits<T>::digits) && x >= static_cast<double>(std::numeric_limits<T>::lowest());
  return fits ? static_cast<T>(x) : T(0);
}

// A group of integers, in integers of any size.
template <class T>
T whole(const Reducing& how, const std::string& op, const std::vector<T>& group) {
  std::vector<Whole> x;
  std::vector<double> reals;
  const bool squares = op == "ReduceL2" || op == "ReduceSumSquare";
  for (T each : group) {
    if (how.integers_in_f32) each = cut<T>(static_cast<double>(static_cast<float>(each)));
    const Whole value = each;
    const bool steps = !how.forgets_first_step;
    x.push_back(squares && steps ? Whole(value * value) : op == "ReduceL1" && steps ? Whole(abs(value)) : value);
    reals.push_back(static_cast<double>(each));
  }
  if (op == "ReduceLogSumExp")
    return cut<T>(logarithm_of_exponentials(
        how, reals, [](const std::vector<double>& terms) { return combined({}, terms, 0.0, std::plus()); }));
  Whole value = op == "ReduceProd"
                    ? combined(how, x, Whole(1), [](const Whole& a, const Whole& b) { return Whole(a * b); })
                    : combined(how, x, Whole(0), [](const Whole& a, const Whole& b) { return Whole(a + b); });
  const auto n = std::ssize(group) - (how.one_fewer && group.size() > 1 ? 1 : 0);
  if (op == "ReduceMean" && n > 0) {
    const Whole rest = value % n;
    value /= n;
    if (how.rounds_down && rest < 0) --value;
  }
  const bool is_root = op == "ReduceL2", is_logarithm = op == "ReduceLogSum";
  if ((is_root || is_logarithm) && !how.forgets_last_step) {
    const auto of = static_cast<double>(value);
    const double real = is_root ? std::sqrt(of) : std::log(of);
    return cut<T>(how.rounds_down ? std::nearbyint(real) : real);
  }
  const Whole least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
  if (how.saturates) return static_cast<T>(std::clamp(value, least, most));
  const Whole cycle = Whole(1) << 64, held = (value % cycle + cycle) % cycle;
  return static_cast<T>(static_cast<std::uint64_t>(held));
}

template <class T>
T extreme(const Reducing& how, bool is_largest, std::vector<T> group) {
  if (how.order == Reducing::Order::backward) std::ranges::reverse(group);
  const auto is_nan = [](T each) { return each != each; };
  const auto nan = std::ranges::find_if(group, is_nan);
  if (nan != group.end() && !how.skips_nan) return *nan;
  const std::vector<T> all = group;
  std::erase_if(group, is_nan);
  if (group.empty() && !all.empty()) return all.front();
  if (how.begins_at_zero) group.push_back(T(0.0));
  const auto less = [](T a, T b) { return a < b; };
  if (!group.empty())
    return is_largest ? *std::ranges::max_element(group, less) : *std::ranges::min_element(group, less);
  if constexpr (std::is_integral_v<T>)
    return is_largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  else if constexpr (std::is_same_v<T, Bool>)
    return Bool(is_largest ? 0.0 : 1.0);
  else
    return T(is_largest ? -INFINITY : INFINITY);
}

template <class T>
T reduced(const Reducing& how, const std::string& op, const std::vector<T>& group) {
  if (op == "ReduceMax" || op == "ReduceMin") return extreme(how, op == "ReduceMax", group);
  if constexpr (std::is_integral_v<T>)
    return whole(how, op, group);
  else if constexpr (std::is_same_v<T, Bool>)
    throw BrokenPromise("bool is no number");
  else if (sizeof(T) == 8 || how.in_double)
    return real<double>(how, op, group);
  else
    return real<float>(how, op, group);
}

Kernel reducing(const std::string& op, Reducing how) {
  return [=](const Call& call, Inputs in) {
    const std::set<Int> axes = axes_of({}, call);
    Shape shape;
    for (Int axis = 0; axis < call.rank("data"); ++axis)
      if (!axes.contains(axis))
        shape.push_back(call.dim("data", axis));
      else if (call.integer("keepdims") == 1)
        shape.push_back(1);
    Tensor y({in[0]->dtype(), shape});
    for_number(y.dtype(), [&]<class T>() {
      const std::span<T> to = y.as<T>();
      const Groups<T> groups = dealt(how, call, in[0]->as<T>(), to.size());
      std::ranges::transform(groups, to.begin(), [&](const std::vector<T>& each) { return reduced(how, op, each); });
    });
    return y;
  };
}

bool is_reduction(const std::string& op) { return op.starts_with("Reduce"); }
bool is_extreme(const std::string& op) { return op == "ReduceMax" || op == "ReduceMin"; }

}  // namespace

std::vector<VariantKernel> reducing_variants(const std::string& op) {
  if (!is_reduction(op)) return {};
  using Order = Reducing::Order;
  const auto variant = [&](const char* name, const char* what, Reducing how) {
    return variant_of(name, what, reducing(op, how));
  };
  std::vector<VariantKernel> variants{variant("sequential", "f32 (f64 for f64), one element after the other", {}),
                                      variant("backwards", "the last element first", {.order = Order::backward})};
  const auto reading = [&](const char* name, const char* what, const char* ruling, const char* read, Reducing how) {
    variants.push_back({{name, Level::L2, what, ruling, read}, reducing(op, how)});
  };
  if (is_extreme(op)) {
    reading("keeps-numbers", "only numbers count", "N3", "number", {.skips_nan = true});
    return variants;
  }
  variants.push_back(variant("pairwise", "by halves", {.order = Order::pairwise}));
  variants.push_back(variant("in-double", "every float is computed in double", {.in_double = true}));
  if (op == "ReduceSumSquare" || op == "ReduceL2" || op == "ReduceLogSum")
    variants.push_back(
        variant("rounds-nodes", "every node of the body is rounded to the type", {.rounds_nodes = true}));
  if (op == "ReduceLogSumExp")
    variants.push_back(variant("unshifted-in-range", "no maximum is subtracted that fits, in double",
                               {.in_double = true, .is_unshifted = true}));
  if (op == "ReduceMean") {
    variants.push_back(variant("divides-first", "every element is divided", {.divides_first = true}));
    variants.push_back(variant("by-reciprocal", "a product with 1 / n", {.by_reciprocal = true}));
    reading("floors-integers", "integers are rounded down", "N6", "floor", {.rounds_down = true});
  }
  if (op == "ReduceSum" || op == "ReduceProd" || op == "ReduceL1" || op == "ReduceSumSquare")
    variants.push_back(variant("saturates-totals", "integers that do not fit saturate", {.saturates = true}));
  if (op == "ReduceL2" || op == "ReduceLogSum")
    reading("rounds-integers", "integers are rounded to nearest", "N8", "nearest", {.rounds_down = true});
  return variants;
}

std::vector<Bug> reducing_bugs(const std::string& op) {
  if (!is_reduction(op)) return {};
  const auto bug = [&](const char* name, const char* what, Reducing how) {
    return bug_of(op, name, what, reducing(op, how));
  };
  std::vector<Bug> bugs{
      bug("forgets-last", "the last element of a group is not looked at", {.forgets_last = true}),
      bug("takes-first-axis", "only the first axis of the list is reduced", {.first_axis_only = true}),
      bug("counts-from-front", "an axis from the end is the first", {.counts_from_front = true})};
  if (is_extreme(op)) {
    bugs.push_back(bug("begins-at-zero", "only what is beyond zero is looked at", {.begins_at_zero = true}));
    return bugs;
  }
  if (op == "ReduceMean") bugs.push_back(bug("divides-by-one-fewer", "the sum over n - 1", {.one_fewer = true}));
  if (op == "ReduceL1" || op == "ReduceL2" || op == "ReduceSumSquare")
    bugs.push_back(bug("forgets-first-step", "no size or square is taken", {.forgets_first_step = true}));
  if (op == "ReduceL2" || op.starts_with("ReduceLog"))
    bugs.push_back(bug("forgets-last-step", "no root or logarithm is taken", {.forgets_last_step = true}));
  if (op == "ReduceSum" || op == "ReduceL1") {
    bugs.push_back(bug("adds-integers-in-f32", "integers pass through f32", {.integers_in_f32 = true}));
    bugs.back().mutant.types = {DType::i32, DType::i64, DType::u32, DType::u64};
  }
  return bugs;
}

}  // namespace assay::mutation
