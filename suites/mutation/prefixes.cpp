// SPDX-License-Identifier: Apache-2.0
// CumSum and CumProd a third time: each line is taken out, turned and shifted as the flags say, and every element is
// joined to the one before it, in floats of 32 bits where the type is no wider.
#include "suites/mutation/family.h"

#include <algorithm>
#include <limits>

namespace assay::mutation {
namespace {

using oracles::Level;

enum Defect { none, takes_own_back, restarts, stays_turned, clamps_axis, carries_over };
enum class Steps { plain, doubling, in_type, saturating };

template <class T>
T saturated(T a, T b, bool multiplies) {
  T both;
  if (multiplies ? !__builtin_mul_overflow(a, b, &both) : !__builtin_add_overflow(a, b, &both)) return both;
  const bool is_negative = multiplies ? (a < 0) != (b < 0) : a < 0;
  return is_negative ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

// Joins two elements of T, which S holds.
template <class T, class S>
S join(S a, S b, bool multiplies, Steps steps) {
  if constexpr (std::is_integral_v<T>)
    if (steps == Steps::saturating) return static_cast<S>(saturated(static_cast<T>(a), static_cast<T>(b), multiplies));
  const S both = multiplies ? a * b : a + b;
  if constexpr (is_narrow<T>)
    if (steps == Steps::in_type) return static_cast<S>(static_cast<double>(T(static_cast<double>(both))));
  return both;
}

template <class T>
using Held = std::conditional_t<std::is_integral_v<T>, std::uint64_t,
                                std::conditional_t<std::is_same_v<T, double>, double, float>>;

template <class T>
void run_along(std::vector<Held<T>>& line, bool multiplies, Steps steps, Defect defect) {
  const auto both = [&](auto a, auto b) { return join<T>(a, b, multiplies, steps); };
  if (steps == Steps::doubling) {
    for (std::size_t by = 1; by < line.size(); by *= 2)
      for (std::size_t i = line.size(); i-- > by;) line[i] = both(line[i - by], line[i]);
    return;
  }
  Held<T> total = multiplies;
  for (std::size_t i = 0; i < line.size(); ++i)
    total = line[i] = defect == restarts && i % 8 == 0 ? line[i] : both(total, line[i]);
}

// How the lines of x lie.
struct Lines {
  Int length, behind = 1;

  Lines(const Call& call, Defect defect) {
    const Shape& shape = call.shape("x");
    Int axis = call.integer("axis");
    if (axis < 0) axis = defect == clamps_axis ? 0 : axis + std::ssize(shape);
    length = shape[static_cast<std::size_t>(axis)];
    for (Int i = axis + 1; i < std::ssize(shape); ++i) behind *= shape[static_cast<std::size_t>(i)];
  }
  std::size_t at(Int line, Int i) const {
    return static_cast<std::size_t>((line / behind * length + i) * behind + line % behind);
  }
};

// A line to be joined: turned, and with what nothing gives before it in place of its last element.
template <class S>
std::vector<S> laid_out(std::vector<S> line, bool turns, std::optional<S> before) {
  if (turns) std::ranges::reverse(line);
  if (before) std::ranges::rotate(line, line.end() - 1), line.front() = *before;
  return line;
}

template <class S>
S without(S all, S own, bool multiplies) {
  if (!multiplies) return all - own;
  return std::is_integral_v<S> && own == 0 ? own : all / own;
}

Kernel prefixes(bool multiplies, Steps steps = Steps::plain, Defect defect = none) {
  return [=](const Call& call, Inputs in) {
    Tensor y(in[0]->type());
    const Lines lines(call, defect);
    const bool skips = call.integer("exclusive") != 0, turns = call.integer("reverse") != 0;
    const bool takes_back = skips && defect == takes_own_back;
    for_number(y.dtype(), [&]<class T>() {
      if constexpr (Number<T>) {
        using S = Held<T>;
        S before = multiplies;
        for (Int line = 0; y.elements() > 0 && line < y.elements() / lines.length; ++line) {
          std::vector<S> x;
          for (Int i = 0; i < lines.length; ++i) x.push_back(static_cast<S>(in[0]->as<T>()[lines.at(line, i)]));
          const std::vector<S> own = laid_out<S>(x, turns, {});
          x = skips && !takes_back ? laid_out<S>(x, turns, before) : own;
          run_along<T>(x, multiplies, steps, defect);
          for (std::size_t i = 0; takes_back && i < x.size(); ++i) x[i] = without(x[i], own[i], multiplies);
          if (defect == carries_over) before = x.back();
          if (turns && defect != stays_turned) std::ranges::reverse(x);
          for (Int i = 0; i < lines.length; ++i) y.as<T>()[lines.at(line, i)] = T(x[static_cast<std::size_t>(i)]);
        }
      }
    });
    return y;
  };
}

}  // namespace

std::vector<VariantKernel> prefix_variants(const std::string& op) {
  const bool multiplies = op == "CumProd";
  if (op != "CumSum" && !multiplies) return {};
  return {
      variant_of("sequential", "one element after the other", prefixes(multiplies)),
      variant_of("doubling", "each pass joins what stands twice as far apart", prefixes(multiplies, Steps::doubling)),
      variant_of("steps-in-type", "every step is rounded to the type", prefixes(multiplies, Steps::in_type), Level::L3),
      {{"saturates-steps", Level::L2, "integers are kept within the type at every step", "E17", "saturate"},
       prefixes(multiplies, Steps::saturating)}};
}

std::vector<Bug> prefix_bugs(const std::string& op) {
  const bool multiplies = op == "CumProd";
  if (op != "CumSum" && !multiplies) return {};
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, prefixes(multiplies, Steps::plain, defect));
  };
  return {bug("takes-own-back", "exclusive takes the own element back out of the sum or the product", takes_own_back),
          bug("restarts", "every eighth element begins anew", restarts),
          bug("stays-turned", "what is joined from the end stands in reverse", stays_turned),
          bug("clamps-axis", "axis is 0 where it is negative", clamps_axis),
          bug("carries-over", "an exclusive line begins with what the one before ended with", carries_over)};
}

}  // namespace assay::mutation
