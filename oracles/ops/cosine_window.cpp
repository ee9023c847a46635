// SPDX-License-Identifier: Apache-2.0
// The exact answers of HannWindow, HammingWindow and BlackmanWindow (reductions 9). The bodies compute in float32
// whatever the type: angles, cosines and sums err by 20 u of that together (N23). The cosine of a fraction of a circle
// is a fraction at multiples of 60 and 90 degrees alone (Niven), and so is the sum of both then: it has to be told from
// what is never an end.
#include "oracles/exact/composite.h"
#include "oracles/exact/functions.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::oracles {
namespace {

struct Shares {
  Ratio a, b, c;
};

constexpr Int hundred = 100;

Shares hann(const Readings&) { return {{{1, -1}, 1}, {{1, -1}, 1}, {}}; }
Shares hamming(const Readings& readings) {
  if (readings.of("N22") == "0.54") return {{{54, 0}, hundred}, {{46, 0}, hundred}, {}};
  return {{{25, 0}, 46}, {{21, 0}, 46}, {}};
}
Shares blackman(const Readings&) { return {{{42, 0}, hundred}, {{1, -1}, 1}, {{8, 0}, hundred}}; }

// cos(2 pi n / of) where that is a fraction.
std::optional<Dyadic> exact_cosine(Int n, Int of) {
  static const Dyadic sixths[] = {{1, 0}, {1, -1}, {-1, -1}, {-1, 0}, {-1, -1}, {1, -1}};
  static const Dyadic quarters[] = {{1, 0}, {0, 0}, {-1, 0}, {0, 0}};
  if (6 * n % of == 0) return sixths[6 * n / of % 6];
  if (4 * n % of == 0) return quarters[4 * n / of % 4];
  return std::nullopt;
}

Real cosine(Int n, Int of, int bits) {
  if (const auto exact = exact_cosine(n, of)) return Real(Ratio{*exact, 1}, bits);
  const Real pi = enclosed(Function::acos, std::array{Real(Int{-1}, bits)});
  return enclosed(Function::cos, std::array{pi * Real(Ratio{{2 * (n % of), 0}, of}, bits)});
}

class PointOfWindow final : public Expression {
 public:
  PointOfWindow(Shares shares, Int n, Int of) : shares_(std::move(shares)), n_(n), of_(of) {}

  Real value(int bits) const override {
    const auto once = exact_cosine(n_, of_), twice = exact_cosine(2 * n_, of_);
    if (once && (twice || shares_.c.is_zero())) {
      const Ratio sum = shares_.a - shares_.b * *once + (twice ? shares_.c * *twice : Ratio{});
      return Real(sum, bits);
    }
    return Real(shares_.a, bits) - Real(shares_.b, bits) * cosine(n_, of_, bits) +
           Real(shares_.c, bits) * cosine(2 * n_, of_, bits);
  }
  double error(const Policy& p) const override { return 20 * std::max(0x1p-24, p.sum_unit()) + p.imprecision; }
  bool breaks_down(const Policy&) const override { return false; }

 private:
  Shares shares_;
  Int n_, of_;
};

using SharesOf = Shares (*)(const Readings&);

class WindowAnswer final : public TreeAnswer {
 public:
  WindowAnswer(std::size_t, const Call& call, SharesOf of, const Readings& readings, const Arithmetic& declared)
      : TreeAnswer(call.definition().type_of(call, call.definition().outputs.front()), declared),
        shares_(of(readings)),
        size_(call.integer("size")) {
    const Int flag = call.integer("periodic");
    const bool is_periodic = readings.of("N42") == "only-one" ? flag == 1 : flag != 0;
    steps_ = is_periodic ? size_ : size_ - 1;
  }

  Shape shape() const override { return {size_}; }
  std::vector<ProofTerm> taps(Int index) const override {
    return {{{std::to_string(index), std::to_string(steps_)}, "the place, and what makes a whole turn"}};
  }

 private:
  Int terms() const override { return 3; }

  TreeValue value_at(Int index) const override {
    if (steps_ == 0) return unscored("0 / 0");
    auto point = std::make_unique<PointOfWindow>(shares_, index, steps_);
    if (is_float(dtype())) return leaf(std::move(point));
    const Real value = point->value(192);
    const Ratio off{{20, -24}, 1}, least{value.lower(), 1}, most{value.upper(), 1};
    Element out = exactly(integer(truncated(least)), dtype());
    out.required.range = Interval{integer(truncated(least - off)), integer(truncated(most + off))};
    return out;
  }

  Shares shares_;
  Int size_, steps_ = 0;
};

template <SharesOf of>
Oracle window() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands&, const Readings& readings, const Arithmetic& declared) {
    return answers_of<WindowAnswer>(call, of, readings, declared);
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(Shape{call.integer("size")}); };
  return with_touched(std::move(oracle));
}

}  // namespace

Oracle hann_window() { return window<hann>(); }
Oracle hamming_window() { return window<hamming>(); }
Oracle blackman_window() { return window<blackman>(); }

}  // namespace assay::oracles
