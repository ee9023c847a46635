// SPDX-License-Identifier: Apache-2.0
// Sequence: lists and texts made of each element of a range.
#pragma once

#include <algorithm>
#include <functional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Lists what f makes of each element. f may be a member.
template <class T, std::ranges::range Range, class F>
std::vector<T> transformed(Range&& range, F f) {
  std::vector<T> all;
  if constexpr (std::ranges::sized_range<Range>) all.reserve(std::ranges::size(range));
  for (auto&& each : range) all.push_back(std::invoke(f, each));
  return all;
}

// Lists the elements that the predicate holds for.
template <std::ranges::range Range, class Predicate>
auto filtered(Range&& range, Predicate holds) {
  std::vector<std::ranges::range_value_t<Range>> all;
  for (auto&& each : range)
    if (std::invoke(holds, each)) all.push_back(each);
  return all;
}

// Writes what f makes of each element, with `between` in between.
template <std::ranges::range Range, class F = std::identity>
std::string joined(Range&& range, std::string_view between, F f = {}) {
  std::string all;
  bool is_first = true;
  for (auto&& each : range) {
    if (!is_first) all += between;
    all += std::invoke(f, each);
    is_first = false;
  }
  return all;
}

// Tells whether no element stands twice.
template <class List>
bool are_different(List list) {
  std::ranges::sort(list);
  return std::ranges::adjacent_find(list) == list.end();
}

// Finds the first element whose projection is the value; null where there is none.
template <std::ranges::range Range, class Value, class Projection = std::identity>
auto find_in(Range& range, const Value& value, Projection projection = {}) {
  for (auto& each : range)
    if (std::invoke(projection, each) == value) return &each;
  return static_cast<decltype(&*std::ranges::begin(range))>(nullptr);
}

}  // namespace assay
