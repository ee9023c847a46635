// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax by a third hand: its correct ways, less accurate ones, and planted bugs (reductions 3.4, 3.8).
#include "suites/mutation/family.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace assay::mutation {
namespace {

using oracles::Level;
using oracles::State;

// A line, computed in S (float or double), every node rounded by `node`.
template <class S>
using Line = std::vector<S>;

// How one line is computed.
struct Softmax {
  enum class Sum { forward, backward, pairwise, online, blocks };
  Sum sum = Sum::forward;
  enum class Exponential { library, power_of_two, off, to_f16 };
  Exponential exponential = Exponential::library;
  double off = 0;             // relative; of `off`
  bool rounds_nodes = false;  // to the type of the tensor
  bool sums_in_type = false;
  bool multiplies_reciprocal = false;
  bool is_wide = false;        // f64 for every type
  bool masks_nothing = false;  // a line of nothing but -inf is one of zeros
  bool is_unshifted = false;
  bool skips_nan = false;
  bool misses_last = false;                              // in the sum
  enum class Logarithm { none, outside, inside, last };  // (x - M) - log S, x - (M + log S), log of the share
  Logarithm logarithm = Logarithm::none;
  // Which elements make a line.
  bool takes_other_lines = false, takes_next_axis = false;
};

// A share of `limit` that changes with the argument and takes both signs.
double shaken(double argument, double limit) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(argument) * 0x9e3779b97f4a7c15u;
  return limit * (static_cast<double>(bits >> 11) * 0x1p-52 - 1);
}

// exp(x) = 2^(x log2 e), with what the product rounds off: that alone is up to |x| ulp, more than the row of exp
// admits.
template <class S>
S by_power_of_two(S x) {
  constexpr long double log2_e = 1.44269504088896340735992468100189214L;
  constexpr S upper = static_cast<S>(log2_e), lower = static_cast<S>(log2_e - static_cast<long double>(upper));
  const S product = x * upper;
  if (!std::isfinite(product)) return std::exp2(product);
  const S rest = std::fma(x, upper, -product) + x * lower;
  return std::exp2(product) * (1 + rest * S(0.693147180559945309417));
}

template <class S>
S exponential(const Softmax& how, S x) {
  constexpr double unit = std::numeric_limits<S>::epsilon() / 2;
  switch (how.exponential) {
    case Softmax::Exponential::library: return std::exp(x);
    case Softmax::Exponential::power_of_two: return by_power_of_two(x);
    case Softmax::Exponential::to_f16:
      return static_cast<S>(static_cast<double>(Float16(std::exp(static_cast<double>(x)))));
    case Softmax::Exponential::off: {
      if (!std::isfinite(x)) return std::exp(x);
      const double limit = how.off > 0 ? how.off : (4 + std::abs(static_cast<double>(x)) / 8) * unit * 0.999;
      return static_cast<S>(std::exp(static_cast<double>(x)) * (1 + shaken(static_cast<double>(x), limit)));
    }
  }
  return x;
}

template <class S>
S pairwise(std::span<const S> terms) {
  if (terms.size() < 3) return std::accumulate(terms.begin(), terms.end(), S(0));
  return pairwise<S>(terms.first(terms.size() / 2)) + pairwise<S>(terms.subspan(terms.size() / 2));
}

// The running maximum over blocks of `block`, and a sum that is rescaled wherever it rises.
template <class S>
S online(const Softmax& how, const Line<S>& x, std::size_t block, S& most) {
  most = -std::numeric_limits<S>::infinity();
  S sum = 0;
  for (std::size_t at = 0; at < x.size(); at += block) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = x.begin() + static_cast<std::ptrdiff_t>(std::min(at + block, x.size()));
    const S now = std::max(most, *std::max_element(first, last));
    if (std::isinf(now)) continue;
    sum *= std::isinf(most) ? S(0) : exponential(how, most - now);
    for (auto each = first; each != last; ++each) sum += exponential(how, *each - now);
    most = now;
  }
  return sum;
}

template <class S, class F>
Line<S> shares(const Softmax& how, const Line<S>& x, F&& node) {
  const bool is_special =
      std::ranges::any_of(x, [](S each) { return each != each || each > std::numeric_limits<S>::max(); });
  const auto sum_of = [&](const Line<S>& terms) {
    if (how.sum == Softmax::Sum::pairwise) return pairwise<S>(terms);
    S sum = 0;
    for (const S each : terms) sum = how.sums_in_type ? node(sum + each) : sum + each;
    return sum;
  };
  Line<S> y(x.size());
  const auto is_lower = [&](S a, S b) { return a < b || (how.skips_nan && a != a); };
  S most = how.is_unshifted ? S(0) : *std::ranges::max_element(x, is_lower), sum = 0;
  const bool is_online = how.sum == Softmax::Sum::online || how.sum == Softmax::Sum::blocks;
  if (is_online && !is_special) sum = online(how, x, how.sum == Softmax::Sum::online ? 1 : 8, most);
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = node(exponential(how, node(x[i] - most)));
    if (how.skips_nan && x[i] != x[i]) y[i] = x[i];
  }
  if (!is_online || is_special) {
    Line<S> terms = y;
    if (how.skips_nan && is_special)
      std::ranges::replace_if(
          terms, [](S each) { return each != each; }, std::numeric_limits<S>::infinity());
    if (how.misses_last && terms.size() > 1) terms.pop_back();
    if (how.sum == Softmax::Sum::backward) std::ranges::reverse(terms);
    sum = node(sum_of(terms));
  }
  const S reciprocal = node(1 / sum);
  using Logarithm = Softmax::Logarithm;
  if (how.logarithm == Logarithm::outside || how.logarithm == Logarithm::inside) {
    const S log_sum = node(std::log(sum));
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] = node(how.logarithm == Logarithm::outside ? node(x[i] - most) - log_sum : x[i] - node(most + log_sum));
    return y;
  }
  if (how.masks_nothing && !how.is_unshifted && std::isinf(most) && most < 0) return Line<S>(x.size(), S(0));
  for (S& each : y) {
    each = node(how.multiplies_reciprocal ? each * reciprocal : each / sum);
    if (how.logarithm == Logarithm::last) each = node(std::log(each));
  }
  return y;
}

// The places of one element and of its line: `length` of them, `step` apart.
struct Places {
  Int length = 1, step = 1, count = 0;
};

Places places_of(const Softmax& how, const Call& call) {
  const Shape& shape = call.shape("input");
  const auto rank = static_cast<Int>(shape.size());
  Int axis = call.integer("axis");
  axis = (axis % rank + rank + (how.takes_next_axis ? 1 : 0)) % rank;
  const bool flattens = (call.definition().version.since_version < 13) != how.takes_other_lines;
  Places places;
  for (Int i = axis; i < rank; ++i)
    (i == axis || flattens ? places.length : places.step) *= shape[static_cast<std::size_t>(i)];
  places.count = places.length == 0 ? 0 : volume(shape) / places.length;
  return places;
}

template <class S, class T>
void compute(const Softmax& how, const Places& places, std::span<const T> x, std::span<T> y) {
  const auto rounded = [&](S value) {
    return how.rounds_nodes ? static_cast<S>(static_cast<double>(T(static_cast<double>(value)))) : value;
  };
  for (Int line = 0; line < places.count; ++line) {
    const auto at = [&](std::size_t i) {
      const Int before = line / places.step * places.length + static_cast<Int>(i);
      return static_cast<std::size_t>(before * places.step + line % places.step);
    };
    Line<S> logits(static_cast<std::size_t>(places.length));
    for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<S>(static_cast<double>(x[at(i)]));
    const Line<S> out = shares<S>(how, logits, rounded);
    for (std::size_t i = 0; i < out.size(); ++i) y[at(i)] = T(static_cast<double>(out[i]));
  }
}

Kernel softmax(Softmax how) {
  return [how](const Call& call, Inputs in) {
    Tensor y(in[0]->type());
    const Places places = places_of(how, call);
    for_float(y.dtype(), [&]<class T>() {
      if (sizeof(T) == 8 || how.is_wide)
        compute<double, T>(how, places, in[0]->as<T>(), y.as<T>());
      else
        compute<float, T>(how, places, in[0]->as<T>(), y.as<T>());
    });
    return y;
  };
}

}  // namespace

std::vector<VariantKernel> log_softmax_variants() {
  using Logarithm = Softmax::Logarithm;
  using Sum = Softmax::Sum;
  const auto variant = [](const char* name, const char* what, Softmax how, Level level = Level::L2) {
    if (how.logarithm == Logarithm::none) how.logarithm = Logarithm::outside;
    return VariantKernel{{name, level, what}, softmax(how)};
  };
  return {variant("sequential", "f32 (f64 for f64), one term after the other", {}),
          variant("pairwise", "sums by halves", {.sum = Sum::pairwise}),
          variant("online-blocks", "the maximum and the sum over blocks of eight in one pass", {.sum = Sum::blocks}),
          variant("rounds-nodes", "every node of the body is rounded to the type", {.rounds_nodes = true}),
          variant("in-double", "every float is computed in double", {.is_wide = true}),
          variant("loose-exp", "exp errs as far as it may",
                  {.sum = Sum::pairwise, .exponential = Softmax::Exponential::off}),
          variant("log-sum-first", "x - (M + log S)", {.logarithm = Logarithm::inside}),
          variant("in-type", "every operation in the type", {.rounds_nodes = true, .sums_in_type = true}, Level::L3)};
}

std::vector<Bug> log_softmax_bugs() {
  using Logarithm = Softmax::Logarithm;
  const auto bug = [](const char* id, const char* what, Softmax how, State expected = State::fail,
                      bool is_named = false) {
    if (how.logarithm == Logarithm::none) how.logarithm = Logarithm::outside;
    return Bug{{id, "LogSoftmax", what, expected, is_named}, softmax(how)};
  };
  return {bug("log-softmax-misses-last", "the last term is missing in the sum", {.misses_last = true}),
          bug("log-softmax-takes-other-lines", "lines along one axis before 13, of all axes from 13 on",
              {.takes_other_lines = true}),
          bug("log-softmax-takes-next-axis", "the axis behind the one that is named", {.takes_next_axis = true}),
          bug("log-softmax-unshifted", "no maximum is subtracted", {.is_unshifted = true}, State::below, true),
          bug("log-softmax-of-share", "the logarithm of the rounded share", {.logarithm = Logarithm::last},
              State::below, true)};
}

std::vector<VariantKernel> softmax_variants() {
  using Sum = Softmax::Sum;
  using Exponential = Softmax::Exponential;
  const auto variant = [](const char* name, const char* what, Softmax how) {
    return VariantKernel{{name, Level::L2, what}, softmax(how)};
  };
  return {
      variant("sequential", "f32 (f64 for f64), one term after the other", {}),
      variant("backwards", "the last term first", {.sum = Sum::backward}),
      variant("pairwise", "sums by halves", {.sum = Sum::pairwise}),
      variant("online", "the maximum and the sum in one pass", {.sum = Sum::online}),
      variant("online-blocks", "the same over blocks of eight", {.sum = Sum::blocks}),
      variant("rounds-nodes", "every node of the body is rounded to the type", {.rounds_nodes = true}),
      variant("by-reciprocal", "a product with 1 / sum", {.multiplies_reciprocal = true}),
      variant("in-double", "every float is computed in double", {.is_wide = true}),
      variant("masks-nothing", "a line of nothing but -inf is one of zeros", {.masks_nothing = true}),
      variant("power-of-two", "exp is a power of 2", {.exponential = Exponential::power_of_two}),
      variant("loose-exp", "exp errs as far as it may", {.sum = Sum::pairwise, .exponential = Exponential::off}),
      {{"in-type", Level::L3, "every operation in the type"}, softmax({.rounds_nodes = true, .sums_in_type = true})},
      {{"skips-nan", Level::L2, "only a NaN is NaN", "N25", "skip"}, softmax({.skips_nan = true})}};
}

std::vector<Bug> softmax_bugs() {
  using Exponential = Softmax::Exponential;
  const auto bug = [](const char* id, const char* what, Softmax how, State expected = State::fail,
                      bool is_named = false) {
    return Bug{{id, "Softmax", what, expected, is_named}, softmax(how)};
  };
  return {bug("softmax-misses-last", "the last term is missing in the sum", {.misses_last = true}),
          bug("softmax-takes-other-lines", "lines along one axis before 13, of all axes from 13 on",
              {.takes_other_lines = true}),
          bug("softmax-takes-next-axis", "the axis behind the one that is named", {.takes_next_axis = true}),
          bug("softmax-exp-to-f16", "exp is rounded to f16", {.exponential = Exponential::to_f16}, State::below),
          bug("softmax-exp-off", "exp errs by 2^-12", {.exponential = Exponential::off, .off = 0x1p-12}, State::below),
          bug("softmax-unshifted", "no maximum is subtracted", {.is_unshifted = true}, State::below, true)};
}

}  // namespace assay::mutation
