// SPDX-License-Identifier: Apache-2.0
// The filter against the definition, element by element, on dots made to mislead it: next to ties, cancelling, exact,
// at the edges of the range. It may leave any of them undecided; it may not decide one wrongly.
#include "oracles/filter.h"

#include "oracles/dot.h"
#include "oracles/environment.h"
#include "oracles/judge.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <random>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

using namespace assay;
using namespace assay::oracles;

namespace {

Int count_of(Int few, Int full) { return std::getenv("ASSAY_FULL") ? full : few; }

Scalar value_of(const Tensor& tensor, Int index) { return scalar(tensor, index); }

template <class T>
void set(Tensor& tensor, Int index, double value) {
  tensor.as<T>()[static_cast<std::size_t>(index)] = static_cast<T>(value);
}

// `dots` rows of `length` products each, as a convolution of one output per row: x[dots, length, 1], w[1, length, 1].
struct Batch {
  DType dtype;
  Int dots, length;
  Tensor x, w, got;
  std::vector<Element> right;
};

template <class T>
double operand(std::mt19937_64& random, int kind) {
  const double unit = std::ldexp(static_cast<double>(random() >> 11), -53) * 2 - 1;
  const Format& format = format_of(dtype_of<T>());
  const int spread = format.max_exponent < 20 ? 6 : 40;
  switch (kind) {
    case 0: return unit;
    case 1: return static_cast<double>(static_cast<int>(random() % 33) - 16);
    case 2: return std::ldexp(unit, static_cast<int>(random() % static_cast<unsigned>(2 * spread)) - spread);
    case 3: return std::ldexp(std::trunc(unit * 16), format.smallest_exponent() + static_cast<int>(random() % 4));
    case 4: return std::ldexp(unit < 0 ? -1.0 : 1.0, static_cast<int>(random() % 30) - 15);
    case 5: return std::ldexp(unit, format.max_exponent / 2 - static_cast<int>(random() % 3));
    case 6: return random() % 3 ? 0.0 : unit;
    default: return 1 + std::ldexp(unit, -format.precision + 2);
  }
}

// The last products cancel most of the sum, or carry it next to a midpoint of two neighbours.
template <class T>
void aim(Tensor& x, const Tensor& w, Int row, Int length, std::mt19937_64& random) {
  double sum = 0;
  for (Int i = 0; i + 1 < length; ++i)
    sum += static_cast<double>(x.as<T>()[static_cast<std::size_t>(row * length + i)]) *
           static_cast<double>(w.as<T>()[static_cast<std::size_t>(i)]);
  const auto last = static_cast<double>(w.as<T>()[static_cast<std::size_t>(length - 1)]);
  if (last == 0 || sum == 0) return;
  const double rounded = static_cast<double>(static_cast<T>(sum));
  const int exponent = std::ilogb(rounded == 0 ? sum : rounded) - format_of(dtype_of<T>()).precision;
  const double half = std::ldexp(random() % 2 ? 1.0 : -1.0, exponent);
  set<T>(x, row * length + length - 1, random() % 2 ? (rounded + half - sum) / last : -sum / last);
}

template <class T>
Batch batch_of(std::mt19937_64& random, Int dots, Int length) {
  const DType dtype = dtype_of<T>();
  const int kinds[] = {static_cast<int>(random() % 8), static_cast<int>(random() % 8)};
  Batch out{dtype,
            dots,
            length,
            Tensor({dtype, {dots, length, 1}}),
            Tensor({dtype, {1, length, 1}}),
            Tensor({dtype, {dots, 1, 1}}),
            {}};
  for (Int i = 0; i < length; ++i) set<T>(out.w, i, operand<T>(random, kinds[0]));
  for (Int i = 0; i < dots * length; ++i) set<T>(out.x, i, operand<T>(random, kinds[1]));
  for (Int row = 0; row < dots; ++row) {
    if (random() % 2) aim<T>(out.x, out.w, row, length, random);
    Dot dot;
    float sum = 0;
    for (Int i = 0; i < length; ++i) {
      dot.terms.push_back({value_of(out.x, row * length + i), value_of(out.w, i), 0, 0});
      sum += static_cast<float>(static_cast<double>(out.x.as<T>()[static_cast<std::size_t>(row * length + i)])) *
             static_cast<float>(static_cast<double>(out.w.as<T>()[static_cast<std::size_t>(i)]));
    }
    out.right.push_back(enclose(dot, dtype, Summing::definition));
    // What f32 accumulation gives, the right answer, or a neighbour of one of them.
    const Scalar nearest = rounded(out.right.back().value, format_of(dtype));
    const bool right = random() % 2 && out.right.back().kind == Kind::finite && nearest.is_finite();
    set<T>(out.got, row,
           right ? std::ldexp(static_cast<double>(nearest.mantissa), nearest.exponent) : static_cast<double>(sum));
    if (random() % 4 == 0) {
      std::byte& low = out.got.bytes()[static_cast<std::size_t>(row) * sizeof(T)];
      low = static_cast<std::byte>(std::to_integer<int>(low) + (random() % 2 ? 1 : -1));
    }
  }
  return out;
}

Sums sums_of(const Batch& batch) {
  Sums sums;
  sums.sweep.tracks = {{.in = 1, .windows = 1}};
  sums.sweep.batch = batch.dots;
  sums.sweep.depth = batch.length;
  sums.sweep.x = &batch.x;
  sums.sweep.from = channels_first(batch.length, Shape{1});
  for (Int i = 0; i < batch.length; ++i) sums.sweep.weights.push_back(approximate({value_of(batch.w, i).value(), 1}));
  sums.to = channels_first(1, Shape{1});
  return sums;
}

struct Count {
  Int decided = 0, wrong = 0;
};

// Does the definition say of every decided element what the filter says of it?
void hold(const Batch& batch, Count& count) {
  const std::optional<Screening> screening = screen(sums_of(batch), batch.got, {});
  if (!screening) return;
  std::vector<bool> undecided(static_cast<std::size_t>(batch.dots));
  for (const Int i : screening->undecided) undecided[static_cast<std::size_t>(i)] = true;
  Int nearest = 0;
  Level weakest = Level::L0;
  for (Int i = 0; i < batch.dots; ++i) {
    if (undecided[static_cast<std::size_t>(i)]) continue;
    ++count.decided;
    const Element& element = batch.right[static_cast<std::size_t>(i)];
    const Scalar got = value_of(batch.got, i);
    const Format& format = format_of(batch.dtype);
    const auto is = [&](const Scalar& s) { return s.is_finite() && got.is_finite() && s.value() == got.value(); };
    if (element.kind != Kind::finite) {
      ++count.wrong;
      continue;
    }
    if (is(rounded(element.value, format))) {
      ++nearest;
      continue;
    }
    const Interval range = interval(element, element.asked, batch.dtype);
    const bool admitted = got.is_finite() && (!range.lower.is_finite() || range.lower.value() <= got.value()) &&
                          (!range.upper.is_finite() || got.value() <= range.upper.value());
    count.wrong += admitted ? 0 : 1;
    const bool faithful =
        is(rounded(element.value, format, Rounding::down)) || is(rounded(element.value, format, Rounding::up));
    weakest = std::max(weakest, faithful ? Level::L1 : Level::L2);
  }
  count.wrong += screening->nearest == nearest ? 0 : 1;
  if (screening->weakest && *screening->weakest != weakest) ++count.wrong;
  for (const Sampled& sampled : screening->sampled) count.wrong += sampled.index < batch.dots ? 0 : 1;
}

}  // namespace

TEMPLATE_TEST_CASE("The filter decides no adversarial dot wrongly", "[filter]", Float16, BFloat16, float) {
  std::mt19937_64 random(20 + static_cast<unsigned>(dtype_of<TestType>()));
  Count count;
  const Int wanted = count_of(20'000, 3'400'000);
  for (Int done = 0; done < wanted; done += 8)
    hold(batch_of<TestType>(random, 8, 1 + static_cast<Int>(random() % (random() % 4 ? 12 : 90))), count);
  INFO(count.decided << " of " << wanted << " decided");
  CHECK(count.wrong == 0);
  CHECK(2 * count.decided > wanted);
}

TEST_CASE("The lowest bit of a number", "[filter]") {
  CHECK(lowest_bit(12) == 4);
  CHECK(lowest_bit(-0.375) == 0.125);
  CHECK(lowest_bit(1024) == 1024);
  CHECK(lowest_bit(0x1p-149) == 0x1p-149);
  CHECK(lowest_bit(0x1.8p-1073) == 0x1p-1074);
  CHECK(std::isinf(lowest_bit(0)));
}

TEST_CASE("This machine's environment is sound", "[environment]") { CHECK(unsound_environment().empty()); }

#if defined(__SSE2__)
TEST_CASE("Flushed subnormals and another rounding mode are noticed before anything is judged", "[environment]") {
  const unsigned before = _mm_getcsr();
  const auto seen_under = [&](unsigned bits) {
    _mm_setcsr(before | bits);
    std::string seen = unsound_environment();
    _mm_setcsr(before);
    return seen;
  };
  CHECK(seen_under(0x8000).find("FTZ") != std::string::npos);
  CHECK(seen_under(0x0040).find("DAZ") != std::string::npos);
  for (const unsigned mode : {0x2000u, 0x4000u, 0x6000u})
    CHECK(seen_under(mode).find("rounding mode") != std::string::npos);
  const Case c = *parse_case("Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,3]~const:1");
  _mm_setcsr(before | 0x8040);
  CHECK_THROWS_AS(judge(c, Outcome::failure(Outcome::Kind::refused, "no")), BrokenPromise);
  _mm_setcsr(before);
}
#endif
