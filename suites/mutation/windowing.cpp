// SPDX-License-Identifier: Apache-2.0
// HannWindow, HammingWindow and BlackmanWindow by a third hand: squares of sines for cosines, and slips.
// MelWeightMatrix: columns are filled from the left to the right.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace assay::mutation {
namespace {

struct Windowing {
  bool by_sines = false, in_double = false, by_decimals = false;
  // Slips.
  bool is_centred = false, forgets_second = false, rounds = false, takes_half_turn = false;
};

struct Parts {
  double a, b, c;
};

Parts parts_of(const Windowing& how, const std::string& name) {
  if (name == "BlackmanWindow") return {0.42, 0.5, how.forgets_second ? 0 : 0.08};
  if (name == "HannWindow") return {0.5, 0.5, 0};
  return how.by_decimals ? Parts{0.54, 0.46, 0} : Parts{25.0 / 46, 21.0 / 46, 0};
}

template <class S>
Values weigh(const Windowing& how, const Call& call, Inputs in) {
  Values y = outputs_of(call);
  const auto size = static_cast<S>(number_at(*in[0], 0));
  const S steps = call.integer("periodic") == 1 ? size : size - 1;
  const auto [a, b, c] = parts_of(how, call.definition().version.name);
  for (Int i = 0; i < y[0]->elements(); ++i) {
    const S turn = (static_cast<S>(i) + S(how.is_centred ? 0.5 : 0)) / steps * S(how.takes_half_turn ? 1 : 2);
    const S angle = turn * std::numbers::pi_v<S>, sine = std::sin(angle / 2), other = std::sin(angle);
    const S first = how.by_sines ? 1 - 2 * sine * sine : std::cos(angle);
    const S second = how.by_sines ? 1 - 2 * other * other : std::cos(2 * angle);
    const S sum = steps == 0 ? S(1) : static_cast<S>(a) - static_cast<S>(b) * first + static_cast<S>(c) * second;
    const bool is_whole = !is_float(y[0]->dtype());
    put_number(*y[0], i, static_cast<double>(how.rounds && is_whole ? std::round(sum) : sum));
  }
  return y;
}

Kernel weighing(Windowing how) {
  return [how](const Call& call, Inputs in) {
    return how.in_double ? weigh<double>(how, call, in) : weigh<float>(how, call, in);
  };
}

struct Melling {
  bool in_double = false, steps_of_one_more = false;
  // Slips.
  bool is_linear = false, rounds_up = false, forgets_one_more = false, falls_late = false, takes_natural = false;
};

template <class S>
Values mel(const Melling& how, const Call& call, Inputs in) {
  Values y = outputs_of(call);
  const auto given = [&](std::size_t input) { return static_cast<S>(number_at(*in[input], 0)); };
  const auto bins = static_cast<Int>(given(0));
  const S scale = how.takes_natural ? S(1127) : S(2595);
  const auto to_mel = [&](S hertz) { return how.is_linear ? hertz : scale * std::log10(1 + hertz / 700); };
  const auto to_hertz = [&](S of) { return how.is_linear ? of : 700 * (std::pow(S(10), of / 2595) - 1); };
  const S low = to_mel(given(3)), high = to_mel(given(4));
  const S step = (high - low) / static_cast<S>(bins + (how.steps_of_one_more ? 1 : 2));
  std::vector<Int> places;
  for (Int i = 0; i < bins + 2; ++i) {
    const S place = (given(1) + S(how.forgets_one_more ? 0 : 1)) * to_hertz(low + step * static_cast<S>(i)) / given(2);
    places.push_back(static_cast<Int>(how.rounds_up ? std::ceil(place) : std::floor(place)));
  }
  const Int rows = y[0]->shape()[0];
  const auto put = [&](Int row, Int column, S value) {
    if (row >= 0 && row < rows) put_number(*y[0], row * bins + column, static_cast<double>(value));
  };
  for (Int i = 0; i < bins; ++i) {
    for (Int row = 0; row < rows; ++row) put(row, i, 0);
    const Int from = places[static_cast<std::size_t>(i)], top = places[static_cast<std::size_t>(i + 1)],
              to = places[static_cast<std::size_t>(i + 2)];
    for (Int row = from; row < top; ++row) put(row, i, static_cast<S>(row - from) / static_cast<S>(top - from));
    put(top, i, 1);
    const Int reach = to - top + (how.falls_late ? 1 : 0);
    for (Int row = top + 1; row < top + reach; ++row)
      put(row, i, static_cast<S>(top + reach - row) / static_cast<S>(reach));
  }
  return y;
}

Kernel melling(Melling how) {
  return [how](const Call& call, Inputs in) {
    const DType type = call.definition().type_of(call, call.definition().outputs.front());
    return how.in_double || type == DType::f64 ? mel<double>(how, call, in) : mel<float>(how, call, in);
  };
}

bool is_window(const std::string& op) { return op == "HannWindow" || op == "HammingWindow" || op == "BlackmanWindow"; }

}  // namespace

std::vector<VariantKernel> windowing_variants(const std::string& op) {
  using oracles::Level;
  if (op == "MelWeightMatrix")
    return {variant_of("sequential", "everything in double", melling({.in_double = true})),
            variant_of("in-f32", "everything in float32 but f64", melling({})),
            {{"steps-of-one-more", Level::L2, "steps are of bins + 1", "N24", "plus-one"},
             melling({.in_double = true, .steps_of_one_more = true})}};
  if (!is_window(op)) return {};
  std::vector<VariantKernel> variants{
      variant_of("sequential", "cosines in float32", weighing({})),
      variant_of("by-sines", "1 - 2 sin^2 of half the angle", weighing({.by_sines = true})),
      variant_of("in-double", "everything in double", weighing({.in_double = true}))};
  if (op == "HammingWindow")
    variants.push_back({{"by-decimals", Level::L2, "0.54 and 0.46", "N22", "0.54"}, weighing({.by_decimals = true})});
  return variants;
}

static std::vector<Bug> mel_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Melling how) {
    how.in_double = true;
    return bug_of(op, name, what, melling(how));
  };
  return {bug("is-linear", "steps are equal in hertz", {.is_linear = true}),
          bug("rounds-up", "a place is rounded up", {.rounds_up = true}),
          bug("forgets-one-more", "a place is that of dft_length", {.forgets_one_more = true}),
          bug("falls-late", "a triangle falls to 0 behind its end", {.falls_late = true}),
          bug("takes-natural", "1127 with the logarithm of base 10", {.takes_natural = true})};
}

std::vector<Bug> windowing_bugs(const std::string& op) {
  if (op == "MelWeightMatrix") return mel_bugs(op);
  if (!is_window(op)) return {};
  const auto bug = [&](const char* name, const char* what, Windowing how) {
    return bug_of(op, name, what, weighing(how));
  };
  std::vector<Bug> bugs{bug("is-centred", "every place half a step further", {.is_centred = true}),
                        bug("takes-half-turn", "half a turn along the window", {.takes_half_turn = true}),
                        bug("rounds", "integers are rounded", {.rounds = true})};
  if (op == "BlackmanWindow") bugs.push_back(bug("forgets-second", "the second cosine", {.forgets_second = true}));
  return bugs;
}

}  // namespace assay::mutation
