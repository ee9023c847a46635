// SPDX-License-Identifier: Apache-2.0
// Einsum a third time: tensors with named axes, contracted all at once or two after the other along a path.
#include "suites/mutation/family.h"

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace assay::mutation {
namespace {

using oracles::Level;

enum class Path { none, forwards, backwards };
enum class Sum { forwards, backwards, fused, in_double, in_type };
enum class Defect {
  none,
  drops_last_term,
  sums_off_diagonal,
  keeps_order_of_letters,
  ignores_order_of_output,
  folds_case,
  puts_ellipsis_last,
  leaves_out_third,
  takes_first_of_lonely,
  sums_in_double
};

struct Manner {
  Path path = Path::none;
  Sum sum = Sum::forwards;
  bool sums_alone = false;  // what no other has, before anything else
  Defect defect = Defect::none;
  bool saturates = false;
};

bool contains(const std::string& all, char label) { return all.find(label) != std::string::npos; }

// What the axes of the operands and the output are called; those under an ellipsis 0, 1, ….
struct Named {
  std::vector<std::string> operands;
  std::string output;
};

std::string replaced(std::string term, const std::string& under) {
  const std::size_t at = term.find("...");
  return at == std::string::npos ? term : term.substr(0, at) + under + term.substr(at + 3);
}

std::string order_of_appearance(const Named& named, const std::string& of) {
  std::string all;
  for (const std::string& term : named.operands)
    for (const char label : term)
      if (contains(of, label) && !contains(all, label)) all += label;
  return all;
}

Named named(const Call& call, Inputs in, Defect defect) {
  std::string text, under;
  for (const char c : call.text("equation"))
    if (c != ' ') text += c;
  const std::size_t arrow = text.find("->");
  Named out;
  for (std::size_t from = 0, input = 0; from <= std::min(arrow, text.size()); ++input) {
    const std::size_t to = std::min({text.find(',', from), arrow, text.size()});
    const std::string term = text.substr(from, to - from);
    if (const std::size_t at = term.find("..."); at != std::string::npos)
      under = std::string("0123456789").substr(0, in[input]->shape().size() + 3 - term.size());
    out.operands.push_back(replaced(term, under));
    from = to + 1;
  }
  if (arrow != std::string::npos) {
    out.output = replaced(text.substr(arrow + 2), under);
    if (defect == Defect::ignores_order_of_output) out.output = order_of_appearance(out, out.output);
    return out;
  }
  std::map<char, int> counts;
  for (const std::string& term : out.operands)
    for (const char label : term) ++counts[label];
  for (const auto& [label, count] : counts)
    if (count == 1 && label > '9') out.output += label;
  if (defect == Defect::keeps_order_of_letters) out.output = order_of_appearance(out, out.output);
  out.output = defect == Defect::puts_ellipsis_last ? out.output + under : under + out.output;
  return out;
}

using Extents = std::map<char, Int>;
Extents extents_of(const Named& all, Inputs in) {
  Extents extents;
  for (std::size_t i = 0; i < all.operands.size(); ++i)
    for (std::size_t axis = 0; axis < all.operands[i].size(); ++axis)
      if (Int& extent = extents.emplace(all.operands[i][axis], 1).first->second; extent == 1)
        extent = in[i]->shape()[axis];
  return extents;
}

// A and a are one letter, where they may be.
void fold_case(Named& all, const Extents& extents) {
  for (const auto& [label, extent] : extents) {
    const char other = static_cast<char>(label | 0x20);
    const auto twin = extents.find(other);
    if (label == other || twin == extents.end() || twin->second != extent || contains(all.output, label)) continue;
    for (std::string& term : all.operands) std::ranges::replace(term, label, other);
  }
}

template <class A>
struct Factor {
  std::string labels;
  Shape shape;
  std::vector<A> values;
};

// Where in a factor the position named by the labels lies; along an axis of one element there is but one.
template <class A>
std::size_t place(const Factor<A>& factor, const Extents& at) {
  Int flat = 0;
  for (std::size_t axis = 0; axis < factor.shape.size(); ++axis)
    flat = flat * factor.shape[axis] + (factor.shape[axis] == 1 ? 0 : at.at(factor.labels[axis]));
  return static_cast<std::size_t>(flat);
}

void go_to(Extents& at, const std::string& labels, const Extents& extents, Int flat) {
  for (std::size_t i = labels.size(); i-- > 0;) {
    const Int extent = extents.at(labels[i]);
    at[labels[i]] = flat % extent;
    flat /= extent;
  }
}

Int count_of(const std::string& labels, const Extents& extents) {
  Int all = 1;
  for (const char label : labels) all *= extents.at(label);
  return all;
}

template <class A>
A added(A sum, const std::vector<A>& factors, Sum how) {
  const bool fuses = std::is_floating_point_v<A> && how == Sum::fused && factors.size() > 1;
  A product = factors.front();
  for (std::size_t i = 1; i + (fuses ? 1 : 0) < factors.size(); ++i) product = static_cast<A>(product * factors[i]);
  if constexpr (std::is_floating_point_v<A>)
    if (fuses) return std::fma(product, factors.back(), sum);
  return static_cast<A>(sum + product);
}

template <class A>
Factor<A> contracted(const std::vector<Factor<A>>& factors, const std::string& output, const Extents& extents,
                     const Manner& how) {
  Factor<A> out{output, {}, {}};
  for (const char label : output) out.shape.push_back(extents.at(label));
  std::string summed;
  for (const Factor<A>& factor : factors)
    for (const char label : factor.labels)
      if (!contains(output + summed, label)) summed += label;
  const Int terms = count_of(summed, extents) - (how.defect == Defect::drops_last_term && !summed.empty() ? 1 : 0);
  Extents at;
  std::vector<A> met(factors.size());
  for (Int i = 0; i < count_of(output, extents); ++i) {
    go_to(at, output, extents, i);
    A sum = static_cast<A>(0);
    for (Int k = 0; k < terms; ++k) {
      go_to(at, summed, extents, how.sum == Sum::backwards ? terms - 1 - k : k);
      for (std::size_t f = 0; f < factors.size(); ++f) met[f] = factors[f].values[place(factors[f], at)];
      sum = added(sum, met, how.sum);
    }
    out.values.push_back(sum);
  }
  return out;
}

// The labels of these factors that the output or another factor needs.
template <class A>
std::string needed(const std::vector<Factor<A>>& of, const std::vector<Factor<A>>& others, const std::string& output) {
  std::string elsewhere = output, out;
  for (const Factor<A>& other : others) elsewhere += other.labels;
  for (const Factor<A>& factor : of)
    for (const char label : factor.labels)
      if (contains(elsewhere, label) && !contains(out, label)) out += label;
  return out;
}

// Contracts two factors after the other; what lies between is kept in T.
template <class T, class A>
std::vector<A> along_path(std::vector<Factor<A>> factors, const std::string& output, const Extents& extents,
                          const Manner& how) {
  const auto kept = [](Factor<A> factor) {
    if constexpr (std::is_floating_point_v<A>)
      for (A& value : factor.values) value = static_cast<A>(static_cast<double>(T(static_cast<double>(value))));
    return factor;
  };
  if (how.path == Path::backwards) std::ranges::reverse(factors);
  for (std::size_t i = 0; how.sums_alone && factors.size() > 1 && i < factors.size(); ++i) {
    std::vector<Factor<A>> others = factors;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const std::string keeps = needed<A>({factors[i]}, others, output);
    if (keeps.size() < factors[i].labels.size()) factors[i] = kept(contracted<A>({factors[i]}, keeps, extents, how));
  }
  while (how.path != Path::none && factors.size() > 2) {
    const std::vector<Factor<A>> pair{factors[0], factors[1]}, rest(factors.begin() + 2, factors.end());
    factors[1] = kept(contracted(pair, needed(pair, rest, output), extents, how));
    factors.erase(factors.begin());
  }
  return contracted(factors, output, extents, how).values;
}

template <class T, class A>
std::vector<A> computed(const Call& call, Inputs in, const Manner& how, Shape& shape) {
  Named all = named(call, in, how.defect);
  Extents extents = extents_of(all, in);
  if (how.defect == Defect::folds_case) fold_case(all, extents);
  if (how.defect == Defect::sums_off_diagonal)
    for (std::string& term : all.operands)
      for (std::size_t axis = 1; axis < term.size(); ++axis)
        if (term.find(term[axis]) < axis) {
          extents['!'] = extents.at(term[axis]);  // a letter of its own
          term[axis] = '!';
        }
  std::vector<Factor<A>> factors;
  for (std::size_t i = 0; i < all.operands.size(); ++i) {
    Factor<A>& factor = factors.emplace_back(Factor<A>{all.operands[i], in[i]->shape(), {}});
    for (const T value : in[i]->as<T>()) factor.values.push_back(static_cast<A>(value));
  }
  if (how.defect == Defect::leaves_out_third && factors.size() > 2)
    std::ranges::fill(factors[2].values, static_cast<A>(1));
  if (how.defect == Defect::takes_first_of_lonely)
    for (auto& [label, extent] : extents) {
      const char own = label;
      const auto holders = std::ranges::count_if(all.operands, [&](auto& term) { return contains(term, own); });
      if (factors.size() > 1 && holders == 1 && !contains(all.output, own)) extent = std::min<Int>(extent, 1);
    }
  for (const char label : all.output) shape.push_back(extents.at(label));
  return along_path<T, A>(std::move(factors), all.output, extents, how);
}

template <class T>
T nearest(const boost::multiprecision::cpp_int& value) {
  using Limits = std::numeric_limits<T>;
  if (value > Limits::max()) return Limits::max();
  return value < Limits::min() ? Limits::min() : static_cast<T>(value);
}

template <class T, class A, class F>
Tensor written_as(const Call& call, Inputs in, const Manner& how, F finish) {
  Shape shape;
  const std::vector<A> values = computed<T, A>(call, in, how, shape);
  Tensor y({in[0]->dtype(), shape});
  std::ranges::transform(values, y.as<T>().begin(), finish);
  return y;
}

Kernel contracting(const Manner& how) {
  return [how](const Call& call, Inputs in) -> Values {
    return for_number(in[0]->dtype(), [&]<class T>() {
      if constexpr (std::is_integral_v<T>) {
        if (how.saturates) return written_as<T, boost::multiprecision::cpp_int>(call, in, how, nearest<T>);
        if (how.defect == Defect::sums_in_double)
          return written_as<T, double>(call, in, how, [](double x) { return static_cast<T>(static_cast<Int>(x)); });
        return written_as<T, std::uint64_t>(call, in, how, [](std::uint64_t x) { return static_cast<T>(x); });
      } else {
        const auto rounded = [](auto x) { return T(static_cast<double>(x)); };
        using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;
        if (how.sum == Sum::in_double) return written_as<T, Wide>(call, in, how, rounded);
        if (how.sum == Sum::in_type) return written_as<T, T>(call, in, how, rounded);
        return written_as<T, accumulator_t<T>>(call, in, how, rounded);
      }
    });
  };
}

}  // namespace

std::vector<VariantKernel> contracting_variants(const std::string& op) {
  if (op != "Einsum") return {};
  return {variant_of("sequential", "one term after the other", contracting({})),
          variant_of("reversed", "from the last term to the first", contracting({.sum = Sum::backwards})),
          variant_of("fma", "the last factor by fused multiply-add", contracting({.sum = Sum::fused})),
          variant_of("f64", "a wider accumulator, one rounding", contracting({.sum = Sum::in_double})),
          variant_of("path", "two operands after the other, kept in the type", contracting({.path = Path::forwards})),
          variant_of("path-reversed", "the same from the last operand on", contracting({.path = Path::backwards})),
          variant_of("sums-alone", "what no other operand has is summed first",
                     contracting({.path = Path::forwards, .sums_alone = true})),
          variant_of("sums-alone-reversed", "the same from the last operand on",
                     contracting({.path = Path::backwards, .sum = Sum::backwards, .sums_alone = true})),
          variant_of("in-type", "every operation in the type", contracting({.sum = Sum::in_type}), Level::L3),
          variant_of("path-in-type", "every operation in the type, two operands after the other",
                     contracting({.path = Path::forwards, .sum = Sum::in_type, .sums_alone = true}), Level::L3),
          {{"saturates-products", Level::L2, "integers that do not fit are the nearest that fit", "W20", "saturate"},
           contracting({.saturates = true})}};
}

std::vector<Bug> contracting_bugs(const std::string& op) {
  if (op != "Einsum") return {};
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, contracting({.defect = defect}));
  };
  std::vector<Bug> bugs{
      bug("drops-last-term", "the last term of every sum is left out", Defect::drops_last_term),
      bug("sums-off-diagonal", "a letter twice in a term is two letters", Defect::sums_off_diagonal),
      bug("keeps-order-of-letters", "an output that is not stated is not sorted", Defect::keeps_order_of_letters),
      bug("ignores-order-of-output", "the output has the order of the terms", Defect::ignores_order_of_output),
      bug("folds-case", "A and a are one letter", Defect::folds_case),
      bug("puts-ellipsis-last", "an output that is not stated ends with the ellipsis", Defect::puts_ellipsis_last),
      bug("leaves-out-third-operand", "the third operand is not multiplied", Defect::leaves_out_third),
      bug("takes-first-of-lonely", "a letter of one term alone is not summed over", Defect::takes_first_of_lonely),
      bug("sums-in-double", "integers are computed in float64", Defect::sums_in_double)};
  bugs.back().mutant.types = {DType::i64, DType::u64};
  return bugs;
}

}  // namespace assay::mutation
