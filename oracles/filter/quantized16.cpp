// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/quantized16.h"

#include "oracles/filter/clones.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {
namespace {

constexpr double off = 0.5 + 0x1p-8;  // h

[[gnu::always_inline]] inline std::int32_t level(float size, float scale) {
  return static_cast<std::int32_t>(size * scale + 0.5f);  // NOLINT(bugprone-incorrect-roundings): h has room for it
}

ASSAY_WIDE void pack_two(const float* a, const float* b, Int count, float scale, std::int32_t* to) {
  for (Int i = 0; i < count; ++i) to[i] = level(a[i], scale) | level(b[i], scale) << 16;
}

ASSAY_WIDE void pack_one(const float* a, Int count, float scale, std::int32_t* to) {
  for (Int i = 0; i < count; ++i) to[i] = level(a[i], scale);
}

ASSAY_WIDE void pack_two_signed(const double* a, const double* b, Int count, float scale, std::int32_t* to) {
  for (Int i = 0; i < count; ++i)
    to[i] = level(std::fabs(static_cast<float>(a[i])), scale) | level(std::fabs(static_cast<float>(b[i])), scale) << 16;
}

ASSAY_WIDE void pack_one_signed(const double* a, Int count, float scale, std::int32_t* to) {
  for (Int i = 0; i < count; ++i) to[i] = level(std::fabs(static_cast<float>(a[i])), scale);
}

ASSAY_WIDE void pack_two_whole(const double* a, const double* b, Int count, std::int32_t* to) {
  for (Int i = 0; i < count; ++i)
    to[i] = (static_cast<std::int32_t>(a[i]) & 0xffff) | static_cast<std::int32_t>(b[i]) * 65536;
}

ASSAY_WIDE void pack_one_whole(const double* a, Int count, std::int32_t* to) {
  for (Int i = 0; i < count; ++i) to[i] = static_cast<std::int32_t>(a[i]) & 0xffff;
}

ASSAY_WIDE std::int32_t sum_of_some(const std::int32_t* words, Int count) {
  std::int32_t sum = 0;
  for (Int i = 0; i < count; ++i) sum += (words[i] & 0xffff) + (words[i] >> 16);
  return sum;
}

ASSAY_WIDE void bound_lanes(const std::int32_t* sums, const std::int32_t* cells, Int count, double unit, double rest,
                            double start, double* most, double* least) {
  for (Int i = 0; i < count; ++i) {
    const double sum = static_cast<double>(sums[i]), blur = off * static_cast<double>(cells[i]) + rest;
    most[i] = unit * (sum + blur) + start;
    least[i] = unit * (sum - blur) + start;
  }
}

ASSAY_WIDE void widen_lanes(const std::int32_t* sums, Int count, double start, double* to) {
  for (Int i = 0; i < count; ++i) to[i] = static_cast<double>(sums[i]) + start;
}

}  // namespace

std::optional<Quantized16> Quantized16::of(double largest_cell, double largest_weight, Int terms) {
  const double most =
      std::min(std::floor(std::sqrt(0x1.fffffep30 / static_cast<double>(std::max<Int>(terms, 1)))), 32767.0);
  const auto is_moderate = [](double size) { return 0x1p-60 <= size && size <= 0x1p60; };
  if (most < 256 || !is_moderate(largest_cell) || !is_moderate(largest_weight)) return std::nullopt;
  // Rounded towards 0, so that no magnitude comes to lie above the highest level.
  const auto scale = [&](double largest) { return std::nextafter(static_cast<float>(most / largest), 0.0f); };
  return Quantized16{scale(largest_cell), scale(largest_weight)};
}

void pack_levels(const float* a, const float* b, Int count, float scale, std::int32_t* to) {
  b ? pack_two(a, b, count, scale, to) : pack_one(a, count, scale, to);
}

void pack_levels(const double* a, const double* b, Int count, float scale, std::int32_t* to) {
  b ? pack_two_signed(a, b, count, scale, to) : pack_one_signed(a, count, scale, to);
}

void pack_whole(const double* a, const double* b, Int count, std::int32_t* to) {
  b ? pack_two_whole(a, b, count, to) : pack_one_whole(a, count, to);
}

Int sum_of_levels(const std::int32_t* words, Int count) {
  constexpr Int some = 16384;  // which stay within 31 bits
  Int sum = 0;
  for (Int done = 0; done < count; done += some) sum += sum_of_some(words + done, std::min(some, count - done));
  return sum;
}

void bound(const std::int32_t* sums, const std::int32_t* cells, Int count, const Leveled& of, double* most,
           double* least) {
  bound_lanes(sums, cells, count, of.unit, off * of.weights + off * off * of.terms, of.start, most, least);
}

void widen_whole(const std::int32_t* sums, Int count, double start, double* to) { widen_lanes(sums, count, start, to); }

}  // namespace assay::oracles
