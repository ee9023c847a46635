// SPDX-License-Identifier: Apache-2.0
// Reshape and TopK a third time: their correct ways, and planted bugs of their own.
#include "suites/mutation/family.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace assay::mutation {
namespace {

using oracles::Level;
using oracles::State;

// -- Reshape

// How the entries of shape are read otherwise.
struct ShapeReading {
  bool never_copies = false, always_copies = false, counts_minus_one = true, reverses = false;
};

// The shape by one division at the end; 0 where an entry has no axis to copy.
Shape shape_of(const Call& call, const ShapeReading& how) {
  Ints entries = call.ints("shape");
  if (how.reverses) std::ranges::reverse(entries);
  const Shape& data = call.shape("data");
  const bool allows_zero = call.definition().attribute("allowzero") && call.integer("allowzero") == 1;
  const bool copies_extents = how.always_copies || (!allows_zero && !how.never_copies);
  Int all = 1, others = 1, *open = nullptr;
  for (const Int extent : data) all *= extent;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i] == 0 && copies_extents) entries[i] = i < data.size() ? data[i] : 0;
    if (entries[i] == -1)
      open = &entries[i];
    else
      others *= entries[i];
  }
  if (open) *open = !how.counts_minus_one || others == 0 ? 1 : all / others;
  return entries;
}

// As many elements as fit.
template <class F>
Kernel reshaping(ShapeReading how, F change) {
  return [=](const Call& call, Inputs in) {
    Tensor y({in[0]->dtype(), shape_of(call, how)});
    for_type(y.dtype(), [&]<class T>() {
      const auto count = static_cast<std::size_t>(std::min(y.elements(), in[0]->elements()));
      std::ranges::transform(in[0]->as<T>().first(count), y.as<T>().begin(), change);
    });
    return y;
  };
}

// -- TopK

// How a line is ranked otherwise.
struct Ranking {
  bool takes_last = false;           // of equal ones
  bool counts_whole = false;         // indices are those of the flattened tensor
  bool forgets_one = false;          // the last of a line is never looked at
  bool reverses_always = false;      // the last pick first
  bool reverses_unsorted = false;    // the same with sorted = 0
  bool takes_last_unsorted = false;  // of equal ones, with sorted = 0
  bool nan_is_least = false;
  bool sorts_in_f32 = false;  // the whole line, f16 and bf16 in f32
  bool drops_index = false;   // the index of the pick before
};

bool is_off(const Call& call, const char* attribute) { return call.states(attribute) && call.integer(attribute) == 0; }

// Takes the first k of a line, sorted; of equal ones the order stays.
template <class T>
Ints sorted_out(const Call& call, const std::vector<T>& line, Int k) {
  using Key = std::conditional_t<is_narrow<T>, float, T>;
  std::vector<Key> keys;
  for (const T value : line) {
    if constexpr (is_narrow<T>)
      keys.push_back(static_cast<float>(static_cast<double>(value)));
    else
      keys.push_back(value);
  }
  const auto is_more = [](Key a, Key b) { return b == b && (a != a || a > b); };
  const bool smallest = is_off(call, "largest");
  Ints places(line.size());
  std::iota(places.begin(), places.end(), Int{0});
  std::ranges::stable_sort(places, [&](Int a, Int b) {
    const Key x = keys[static_cast<std::size_t>(a)], y = keys[static_cast<std::size_t>(b)];
    return smallest ? is_more(y, x) : is_more(x, y);
  });
  places.resize(static_cast<std::size_t>(k));
  return places;
}

// Takes the best that is left, k times.
template <class T>
Ints picked(const Call& call, const Ranking& how, const std::vector<T>& line, Int k) {
  if (how.sorts_in_f32) return sorted_out(call, line, k);
  const bool smallest = is_off(call, "largest");
  const bool takes_last = how.takes_last || (how.takes_last_unsorted && is_off(call, "sorted"));
  const auto is_more = [&](T a, T b) {
    const bool a_is_nan = a != a, b_is_nan = b != b;
    if (a_is_nan || b_is_nan) return how.nan_is_least ? b_is_nan && !a_is_nan : a_is_nan && !b_is_nan;
    return a > b;
  };
  std::vector<bool> taken(line.size());
  Ints places;
  const Int n = static_cast<Int>(line.size()) - (how.forgets_one && k < static_cast<Int>(line.size()) ? 1 : 0);
  while (static_cast<Int>(places.size()) < k) {
    Int best = -1;
    for (Int i = 0; i < n; ++i) {
      if (taken[static_cast<std::size_t>(i)]) continue;
      const T x = line[static_cast<std::size_t>(i)], y = line[static_cast<std::size_t>(std::max<Int>(best, 0))];
      const bool is_better = smallest ? is_more(y, x) : is_more(x, y),
                 is_worse = smallest ? is_more(x, y) : is_more(y, x);
      if (best < 0 || is_better || (takes_last && !is_worse)) best = i;
    }
    taken[static_cast<std::size_t>(best)] = true;
    places.push_back(best);
  }
  if (how.reverses_always || (how.reverses_unsorted && is_off(call, "sorted"))) std::ranges::reverse(places);
  return places;
}

Kernel ranking(Ranking how) {
  return [how](const Call& call, Inputs in) {
    const Shape& x = call.shape("X");
    const Int rank = call.rank("X"), stated = call.integer("axis"), k = call.integer("k");
    const auto axis = static_cast<std::size_t>(stated < 0 ? stated + rank : stated);
    Shape shape = x;
    shape[axis] = k;
    Values out{Tensor({in[0]->dtype(), shape}), Tensor({DType::i64, shape})};
    Int inner = 1, outer = 1;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i < axis) outer *= x[i];
      if (i > axis) inner *= x[i];
    }
    for_value(in[0]->dtype(), [&]<class T>() {
      const std::span<const T> from = in[0]->as<T>();
      for (Int o = 0; o < outer; ++o)
        for (Int i = 0; i < inner; ++i) {
          const auto at = [&](Int place, Int extent) {
            return static_cast<std::size_t>((o * extent + place) * inner + i);
          };
          std::vector<T> line;
          for (Int j = 0; j < x[axis]; ++j) line.push_back(from[at(j, x[axis])]);
          const Ints places = picked(call, how, line, k);
          for (Int j = 0; j < k; ++j) {
            const Int place = places[static_cast<std::size_t>(j)];
            const Int told = how.drops_index && j > 0 ? places[static_cast<std::size_t>(j - 1)] : place;
            out[0]->as<T>()[at(j, k)] = line[static_cast<std::size_t>(place)];
            out[1]->as<Int>()[at(j, k)] = how.counts_whole ? static_cast<Int>(at(told, x[axis])) : told;
          }
        }
    });
    return out;
  };
}

}  // namespace

std::vector<VariantKernel> reshaping_variants() {
  return {{{"sequential", Level::L2, "one element after the other"}, reshaping({}, [](auto x) { return x; })},
          {{"in-double", Level::L2, "every float goes through double, which loses payloads of NaN"},
           reshaping({}, []<class T>(T x) {
             if constexpr (std::is_integral_v<T> || !Number<T>)
               return x;
             else
               return x != x ? T(std::numeric_limits<double>::quiet_NaN()) : T(static_cast<double>(x));
           })}};
}

std::vector<Bug> reshaping_bugs() {
  const auto as_it_is = [](auto x) { return x; };
  return {{{"reshape-never-copies", "Reshape", "0 is an extent of 0 whatever allowzero says"},
           reshaping({.never_copies = true}, as_it_is)},
          {{"reshape-always-copies", "Reshape", "0 copies an extent whatever allowzero says"},
           reshaping({.always_copies = true}, as_it_is)},
          {{"reshape-takes-minus-one-as-one", "Reshape", "-1 is an extent of 1"},
           reshaping({.counts_minus_one = false}, as_it_is)},
          {{"reshape-reverses-shape", "Reshape", "the entries of shape are read from the end"},
           reshaping({.reverses = true}, as_it_is)}};
}

std::vector<VariantKernel> ranking_variants() {
  return {
      {{"sequential", Level::L2, "the best that is left, k times"}, ranking({})},
      {{"reverses-unsorted", Level::L2, "with sorted = 0 the last comes first"}, ranking({.reverses_unsorted = true})},
      {{"in-f32", Level::L2, "f16 and bf16 are computed in f32"}, ranking({.sorts_in_f32 = true})},
      {{"nan-is-least", Level::L2, "NaN is the least number"}, ranking({.nan_is_least = true})},
      {{"takes-last-unsorted", Level::L2, "with sorted = 0 the last of equal ones", "M53", "tie-any"},
       ranking({.takes_last_unsorted = true})}};
}

std::vector<Bug> ranking_bugs() {
  return {
      {{"topk-takes-last", "TopK", "of equal ones the last is taken"}, ranking({.takes_last = true})},
      {{"topk-counts-whole", "TopK", "indices count the whole tensor"}, ranking({.counts_whole = true})},
      {{"topk-forgets-last", "TopK", "the last element of a line is not looked at"}, ranking({.forgets_one = true})},
      {{"topk-reverses", "TopK", "the last comes first, sorted or not"}, ranking({.reverses_always = true})},
      {{"topk-mixes-pairs", "TopK", "every index but the first is that of the pick before"},
       ranking({.drops_index = true})}};
}

}  // namespace assay::mutation
