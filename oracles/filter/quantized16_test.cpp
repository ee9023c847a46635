// SPDX-License-Identifier: Apache-2.0
// Bounds by levels against the exact sum of magnitudes, and whole numbers against plain arithmetic, in every width of
// the loops that add them.
#include "oracles/filter/quantized16.h"

#include "oracles/exact/exact.h"
#include "oracles/filter/multiply.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <vector>

using namespace assay;
using namespace assay::oracles;

namespace {

// One output of `maps` maps, of terms x_t w_mt: words of two terms each, and their sums.
struct Words {
  std::vector<std::int32_t> cells, weights, sums;  // weights: [maps][words]

  Words(Int words, Int maps) : cells(at(words + slack)), weights(at(words * maps)), sums(at(4 * slack)) {}
  static std::size_t at(Int index) { return static_cast<std::size_t>(index); }

  void run(Int maps) {
    std::vector<Int> offsets;
    for (std::size_t t = 0; t < weights.size() / at(maps); ++t) offsets.push_back(static_cast<Int>(t));
    const std::int32_t start[4] = {0, 0, 0, 0};
    oracles::run(Multiply<std::int32_t>{cells.data(), offsets.data(), weights.data(), static_cast<Int>(offsets.size()),
                                        start, sums.data(), slack, 1},
                 maps);
  }
};

Dyadic exact_magnitude(const std::vector<float>& x, const std::vector<double>& w, Int terms, Int m) {
  Dyadic sum;
  for (Int t = 0; t < terms; ++t)
    sum += abs(scalar_of(x[Words::at(t)]).value() * scalar_of(w[Words::at(m * terms + t)]).value());
  return sum;
}

double drawn(std::mt19937_64& random, int kind) {
  const double unit = std::ldexp(static_cast<double>(random() >> 11), -53);
  switch (kind) {
    case 0: return unit;
    case 1: return 1;
    case 2: return std::ldexp(unit, -static_cast<int>(random() % 30));
    case 3: return random() % 3 ? 0 : unit;
    default: return std::floor(unit * 7);
  }
}

}  // namespace

TEST_CASE("Bounds by levels hold the sum of magnitudes", "[filter]") {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 3000; ++trial) {
    const Int maps = random() % 2 ? 4 : 1, terms = 1 + static_cast<Int>(random() % 70), words = (terms + 1) / 2;
    const int kinds[] = {static_cast<int>(random() % 5), static_cast<int>(random() % 5)};
    const int exponent = static_cast<int>(random() % 40) - 20;
    std::vector<float> x;
    std::vector<double> w;
    double largest_x = 0, largest_w = 0;
    for (Int t = 0; t < terms; ++t) {
      x.push_back(static_cast<float>(std::ldexp(drawn(random, kinds[0]), exponent)));
      largest_x = std::max(largest_x, static_cast<double>(x.back()));
    }
    for (Int i = 0; i < terms * maps; ++i) {
      const auto size = static_cast<float>(std::ldexp(drawn(random, kinds[1]), -exponent / 2));
      w.push_back(static_cast<double>(random() % 2 ? size : -size));
      largest_w = std::max(largest_w, static_cast<double>(size));
    }
    const auto levels = Quantized16::of(largest_x, largest_w, terms);
    REQUIRE(levels.has_value() == (largest_x > 0 && largest_w > 0));
    if (!levels) continue;
    Words of(words, maps);
    for (Int t = 0; t < terms; t += 2) {
      const bool two = t + 1 < terms;
      pack_levels(&x[Words::at(t)], two ? &x[Words::at(t + 1)] : nullptr, 1, levels->of_cell,
                  &of.cells[Words::at(t / 2)]);
      for (Int m = 0; m < maps; ++m)
        pack_levels(&w[Words::at(m * terms + t)], two ? &w[Words::at(m * terms + t + 1)] : nullptr, 1,
                    levels->of_weight, &of.weights[Words::at(m * words + t / 2)]);
    }
    of.run(maps);
    const Int cells = sum_of_levels(of.cells.data(), words);
    for (Int m = 0; m < maps; ++m) {
      const auto sum_of_cells = static_cast<std::int32_t>(cells);
      const Int weights = sum_of_levels(&of.weights[Words::at(m * words)], words);
      double most = 0, least = 0;
      bound(&of.sums[Words::at(m * slack)], &sum_of_cells, 1,
            {levels->unit(), static_cast<double>(weights), static_cast<double>(terms), 0}, &most, &least);
      const Dyadic exact = exact_magnitude(x, w, terms, m), rounding = scalar_of(most * 0x1p-50).value();
      REQUIRE(exact <= scalar_of(most).value() + rounding);
      REQUIRE(scalar_of(least).value() - rounding <= exact);
      const bool tell = Quantized16::tell(cells, terms) && Quantized16::tell(weights, terms);
      if (tell && kinds[0] < 2 && kinds[1] < 2) REQUIRE(most - least <= most / 4);
    }
  }
}

TEST_CASE("Levels need room: not for sums of 32,768 terms, nor of numbers that single may lose", "[filter]") {
  CHECK(Quantized16::of(1, 1, 32767).has_value());
  CHECK_FALSE(Quantized16::of(1, 1, 32768).has_value());
  CHECK_FALSE(Quantized16::of(0x1p61, 1, 9).has_value());
  CHECK_FALSE(Quantized16::of(1, 0x1p-61, 9).has_value());
  CHECK_FALSE(Quantized16::of(0, 1, 9).has_value());
}

TEST_CASE("Whole numbers of 8 bits and their zero points add up exactly, at the largest sum too", "[filter]") {
  std::mt19937_64 random(12);
  for (const Int terms : {1, 2, 9, 575, 33024}) {
    const Int maps = 4, words = (terms + 1) / 2;
    for (const bool extreme : {false, true}) {
      const auto whole = [&] { return extreme ? -255.0 : static_cast<double>(static_cast<int>(random() % 511) - 255); };
      std::vector<double> x, w;
      for (Int t = 0; t < terms; ++t) x.push_back(whole());
      for (Int i = 0; i < terms * maps; ++i) w.push_back(whole());
      Words of(words, maps);
      for (Int t = 0; t < terms; t += 2) {
        const bool two = t + 1 < terms;
        pack_whole(&x[Words::at(t)], two ? &x[Words::at(t + 1)] : nullptr, 1, &of.cells[Words::at(t / 2)]);
        for (Int m = 0; m < maps; ++m)
          pack_whole(&w[Words::at(m * terms + t)], two ? &w[Words::at(m * terms + t + 1)] : nullptr, 1,
                     &of.weights[Words::at(m * words + t / 2)]);
      }
      of.run(maps);
      for (Int m = 0; m < maps; ++m) {
        double sum = 0, got = 0;
        for (Int t = 0; t < terms; ++t) sum += x[Words::at(t)] * w[Words::at(m * terms + t)];
        widen_whole(&of.sums[Words::at(m * slack)], 1, 7, &got);
        REQUIRE(got == sum + 7);
      }
    }
  }
}
