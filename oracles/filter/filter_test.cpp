// SPDX-License-Identifier: Apache-2.0
// The filter against the definition, element by element, on dots made to mislead it: next to ties, cancelling, exact,
// at the edges of the range. It may leave any of them undecided; it may not decide one wrongly.
#include "oracles/filter/filter.h"

#include "oracles/exact/dot.h"
#include "oracles/filter/operand_range.h"
#include "oracles/filter/pair.h"
#include "oracles/judging/environment.h"
#include "oracles/judging/finding.h"
#include "oracles/judging/judge.h"
#include "reference/operator.h"
#include "reference/recipe.h"
#include "reference/testing/run_size.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <type_traits>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

using namespace assay;
using namespace assay::oracles;

namespace {

Scalar value_of(const Tensor& tensor, Int index) { return scalar(tensor, index); }

template <class T>
void set(Tensor& tensor, Int index, double value) {
  tensor.as<T>()[static_cast<std::size_t>(index)] = static_cast<T>(value);
}

// Dots of `length` products each, as a convolution of one output per row and map: x[rows, length, 1], or with the rows
// side by side x[1, length, rows], and w[maps, length, 1]; or of as many cells, averaged.
struct Batch {
  DType dtype;
  Int rows, maps, length;
  bool averaged, abreast;
  Tensor x, w, got;
  std::vector<Element> right;  // as the output has them

  Int x_at(Int row, Int i) const { return abreast ? i * rows + row : row * length + i; }
  Int got_at(Int row, Int map) const { return abreast ? map * rows + row : row * maps + map; }
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

// The last product of one map cancels most of the sum, or carries it next to a midpoint of two neighbours.
template <class T>
void aim(Batch& batch, Int row, Int map, std::mt19937_64& random) {
  const Int length = batch.length;
  double sum = 0;
  const T *x = batch.x.as<T>().data(), *w = batch.w.as<T>().data() + map * length;
  for (Int i = 0; i + 1 < length; ++i) sum += static_cast<double>(x[batch.x_at(row, i)]) * static_cast<double>(w[i]);
  const auto last = static_cast<double>(w[length - 1]);
  if (last == 0 || sum == 0) return;
  const double rounded = static_cast<double>(static_cast<T>(sum));
  const int exponent = std::ilogb(rounded == 0 ? sum : rounded) - format_of(dtype_of<T>()).precision;
  const double half = std::ldexp(random() % 2 ? 1.0 : -1.0, exponent);
  set<T>(batch.x, batch.x_at(row, length - 1), random() % 2 ? (rounded + half - sum) / last : -sum / last);
}

template <class T>
Dot dot_of(const Batch& batch, Int row, Int map) {
  Dot dot;
  dot.averaged = batch.averaged;
  dot.divisor = batch.averaged ? batch.length : 1;
  for (Int i = 0; i < batch.length; ++i) {
    dot.terms.push_back({value_of(batch.x, batch.x_at(row, i)), std::nullopt, 0, 0});
    if (!batch.averaged) dot.terms.back().b = value_of(batch.w, map * batch.length + i);
  }
  return dot;
}

// As its type accumulates, in order.
template <class T>
double accumulated(const Batch& batch, Int row, Int map) {
  using Accumulator = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const T *x = batch.x.as<T>().data(), *w = batch.w.as<T>().data() + map * batch.length;
  Accumulator sum = 0;
  for (Int i = 0; i < batch.length; ++i)
    sum += static_cast<Accumulator>(static_cast<double>(x[batch.x_at(row, i)])) *
           static_cast<Accumulator>(static_cast<double>(w[i]));
  return static_cast<double>(batch.averaged ? sum / static_cast<Accumulator>(batch.length) : sum);
}

template <class T>
Batch batch_of(std::mt19937_64& random, Int length) {
  const DType dtype = dtype_of<T>();
  const int kinds[] = {static_cast<int>(random() % 8), static_cast<int>(random() % 8)};
  const bool averaged = random() % 4 == 0;
  const bool abreast = !averaged && random() % 2;
  const Int maps = averaged || random() % 2 ? 1 : 5, rows = maps == 1 ? 8 : 2;  // four side by side, and one
  Batch out{dtype,
            rows,
            maps,
            length,
            averaged,
            abreast,
            Tensor({dtype, {abreast ? 1 : rows, length, abreast ? rows : 1}}),
            Tensor({dtype, {maps, length, 1}}),
            Tensor({dtype, {abreast ? 1 : rows, maps, abreast ? rows : 1}}),
            std::vector<Element>(static_cast<std::size_t>(rows * maps))};
  for (Int i = 0; i < maps * length; ++i) set<T>(out.w, i, averaged ? 1 : operand<T>(random, kinds[0]));
  for (Int i = 0; i < rows * length; ++i) set<T>(out.x, i, operand<T>(random, kinds[1]));
  for (Int row = 0; row < rows; ++row)
    if (random() % 2) aim<T>(out, row, static_cast<Int>(random() % static_cast<std::uint64_t>(maps)), random);
  for (Int row = 0, map = 0; row < rows; map + 1 < maps ? ++map : (++row, map = 0)) {
    const Int at = out.got_at(row, map);
    const Element& element = out.right[static_cast<std::size_t>(at)] =
        enclose(dot_of<T>(out, row, map), dtype, Summing::definition);
    // What f32 accumulation gives, the right answer, or a neighbour of one of them.
    const Scalar nearest = rounded(element.value, format_of(dtype));
    const bool right = random() % 2 && element.kind == Kind::finite && nearest.is_finite();
    set<T>(out.got, at, right ? nearest.as_double() : accumulated<T>(out, row, map));
    if (random() % 4 == 0) {
      std::byte& low = out.got.bytes()[static_cast<std::size_t>(at) * sizeof(T)];
      low = static_cast<std::byte>(std::to_integer<int>(low) + (random() % 2 ? 1 : -1));
    }
  }
  return out;
}

Sums sums_of(const Batch& batch) {
  Sums sums;
  sums.sweep.tracks = {{.in = 1, .windows = 1}};
  if (batch.abreast) sums.sweep.tracks = {{.in = batch.rows, .windows = batch.rows}};
  if (batch.averaged) sums.sweep.tracks = {{.in = batch.length, .taps = batch.length, .windows = 1}};
  sums.averaged = batch.averaged;
  sums.sweep.batch = batch.abreast ? 1 : batch.rows;
  sums.sweep.maps = batch.maps;
  sums.sweep.depth = batch.averaged ? 1 : batch.length;
  sums.sweep.x = &batch.x;
  sums.sweep.from = channels_first(batch.averaged ? 1 : batch.length, Shape{batch.averaged  ? batch.length
                                                                            : batch.abreast ? batch.rows
                                                                                            : 1});
  sums.sweep.pairs = batch.dtype == DType::f64;
  for_float(batch.dtype, [&]<class T>() {
    std::vector<double> weights;
    for (const T weight : batch.w.as<T>()) weights.push_back(static_cast<double>(weight));
    sums.sweep.weights = Weights(std::move(weights));
  });
  sums.to = channels_first(batch.maps, Shape{batch.abreast ? batch.rows : 1});
  return sums;
}

struct Count {
  Int decided = 0, wrong = 0;
};

// The largest errors of elements that are not RN_T(y).
struct Extremes {
  double q = 0, ulp = 0;

  void see(const Element& element, const Scalar& got, DType dtype) {
    if (element.kind != Kind::finite || !got.is_finite()) return;
    const double error = approximate(abs(Ratio{got.value(), 1} - element.value));
    q = std::max(q, error / approximate(element.magnitude));
    ulp = std::max(ulp, ulps(element, got, dtype));
  }
};

// Does the definition say of every decided element what the filter says of it, and is the worst of them among those the
// filter names?
void hold(const FilterResult& screening, const std::vector<Element>& right, const Tensor& got, Count& count) {
  std::vector<bool> undecided(right.size());
  for (const Int i : screening.undecided) undecided[static_cast<std::size_t>(i)] = true;
  const DType dtype = got.dtype();
  const Format& format = format_of(dtype);
  Int nearest = 0, decided = 0;
  std::optional<Level> weakest;
  Extremes all, named;
  for (const Int i : screening.worst) named.see(right[static_cast<std::size_t>(i)], value_of(got, i), dtype);
  for (Int i = 0; i < got.elements(); ++i) {
    if (undecided[static_cast<std::size_t>(i)]) continue;
    ++decided;
    const Element& element = right[static_cast<std::size_t>(i)];
    const Scalar value = value_of(got, i);
    const auto is = [&](const Scalar& s) { return s.is_finite() && value.is_finite() && s.value() == value.value(); };
    if (element.kind != Kind::finite || !element.nan_admitted.empty()) {
      ++count.wrong;
      continue;
    }
    if (is(rounded(element.value, format))) {
      ++nearest;
      weakest = std::max(weakest.value_or(Level::L0), Level::L0);
      continue;
    }
    all.see(element, value, dtype);
    const Interval range = interval(element, element.required, dtype);
    const bool admitted = value.is_finite() && (!range.lower.is_finite() || range.lower.value() <= value.value()) &&
                          (!range.upper.is_finite() || value.value() <= range.upper.value());
    count.wrong += admitted ? 0 : 1;
    const bool faithful =
        is(rounded(element.value, format, Rounding::down)) || is(rounded(element.value, format, Rounding::up));
    weakest = std::max(weakest.value_or(Level::L0), faithful ? Level::L1 : Level::L2);
  }
  count.decided += decided;
  count.wrong += all.q == named.q && all.ulp == named.ulp ? 0 : 1;
  count.wrong += screening.right == decided && screening.nearest == nearest && screening.weakest == weakest ? 0 : 1;
  for (const Sampled& sampled : screening.sampled) count.wrong += sampled.index < got.elements() ? 0 : 1;
}

// A deformable convolution of random extents and data: offsets on the grid, between, next to it, at the border, far
// out.
struct Deformation {
  Call call;
  Operands in;
  Tensor got;
  std::vector<Element> right;
};

template <class T>
double offset_of(std::mt19937_64& random, int kind) {
  const double unit = std::ldexp(static_cast<double>(random() >> 11), -53) * 2 - 1;
  const auto whole = static_cast<double>(static_cast<int>(random() % 7) - 3);
  switch (kind) {
    case 0: return whole;
    case 1: return whole / 4;
    case 2: return whole + unit;
    case 3: return whole + std::ldexp(unit, -format_of(dtype_of<T>()).precision + static_cast<int>(random() % 4));
    case 4: return random() % 2 ? whole : std::ldexp(unit, -40);
    case 5: return std::ldexp(unit, static_cast<int>(random() % 30) - 15);
    default: return unit;
  }
}

template <class T>
Deformation deformation_of(std::mt19937_64& random) {
  const DType dtype = dtype_of<T>();
  const std::size_t axes = 1 + random() % 3;
  const Int group = 1 + static_cast<Int>(random() % 2), channels = 2 * group, maps = 3 * group,
            offsets = random() % 2 ? channels : 1;
  Shape x{1, channels}, w{maps, 2}, offset{1, 0}, mask{1, 0};
  Int taps = 1;
  for (std::size_t a = 0; a < axes; ++a) {
    const Int in = 2 + static_cast<Int>(random() % 4), kernel = 1 + static_cast<Int>(random() % 2);
    x.push_back(in);
    w.push_back(kernel);
    offset.push_back(in - kernel + 1);
    mask.push_back(in - kernel + 1);
    taps *= kernel;
  }
  offset[1] = offsets * taps * static_cast<Int>(axes);
  mask[1] = offsets * taps;
  Node node = Node().input("X", {dtype, x}).input("W", {dtype, w}).input("offset", {dtype, offset});
  const bool has_bias = random() % 2, has_mask = random() % 2;
  if (has_bias) node.input("B", {dtype, {maps}});
  if (has_mask) node.input("mask", {dtype, mask});
  node.attribute("group", group).attribute("offset_group", offsets);
  const auto filled = [&](const Shape& shape, auto&& draw) {
    Tensor tensor({dtype, shape});
    for (Int i = 0; i < tensor.elements(); ++i) set<T>(tensor, i, draw());
    return tensor;
  };
  const auto any_kind = [&] { return static_cast<int>(random() % 8); };
  const int kx = any_kind(), kw = any_kind(), ko = any_kind();
  Deformation out{find_operator("", "DeformConv")->call(dtype == DType::bf16 ? 22 : 19, node),
                  {filled(x, [&] { return operand<T>(random, kx); }), filled(w, [&] { return operand<T>(random, kw); }),
                   filled(offset, [&] { return offset_of<T>(random, ko); }),
                   has_bias ? std::optional(filled({maps}, [&] { return operand<T>(random, kx); })) : std::nullopt,
                   has_mask ? std::optional(filled(mask, [&] { return operand<T>(random, 0); })) : std::nullopt},
                  Tensor({dtype, {}}),
                  {}};
  return out;
}

// What comes back: right, one step off, or off by a share of the budget.
template <class T>
void answer(Deformation& d, const Answer& answer, std::mt19937_64& random) {
  d.got = Tensor({answer.dtype(), answer.shape()});
  for (Int i = 0; i < d.got.elements(); ++i) {
    d.right.push_back(answer.defined(i));
    const Element& element = d.right.back();
    const double value = approximate(element.value), budget = approximate(element.required.budget);
    const Scalar nearest = rounded(element.value, format_of(answer.dtype()));
    const double right = nearest.is_finite() ? nearest.as_double() : 0;
    const double off = std::ldexp(static_cast<double>(random() >> 11), -53) * 2.2 - 1.1;
    set<T>(d.got, i, random() % 2 ? right : value + off * budget);
    if (random() % 4 == 0) {
      std::byte& low = d.got.bytes()[static_cast<std::size_t>(i) * sizeof(T)];
      low = static_cast<std::byte>(std::to_integer<int>(low) + (random() % 2 ? 1 : -1));
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("The filter decides no adversarial dot wrongly", "[filter]", Float16, BFloat16, float, double) {
  std::mt19937_64 random(20 + static_cast<unsigned>(dtype_of<TestType>()));
  Count count;
  const Int wanted = is_full_run() ? 3'400'000 : 20'000;
  for (Int done = 0; done < wanted;) {
    const auto batch = batch_of<TestType>(random, 1 + static_cast<Int>(random() % (random() % 4 ? 12 : 90)));
    done += batch.got.elements();
    if (const auto screening = screen(sums_of(batch), batch.got, {})) hold(*screening, batch.right, batch.got, count);
  }
  INFO(count.decided << " of " << wanted << " decided");
  CHECK(count.wrong == 0);
  CHECK(2 * count.decided > wanted);
}

TEMPLATE_TEST_CASE("The filter decides no deformed sample wrongly", "[filter]", Float16, BFloat16, float, double) {
  std::mt19937_64 random(40 + static_cast<unsigned>(dtype_of<TestType>()));
  Count count;
  Int elements = 0;
  for (Int left = is_full_run() ? 20'000 : 150; left-- > 0;) {
    Deformation d = deformation_of<TestType>(random);
    const auto answering = std::move(oracle_of(d.call.definition().version).answer(d.call, d.in, {}, {}).front());
    answer<TestType>(d, *answering, random);
    elements += d.got.elements();
    if (const auto screening = answering->screen(d.got, {})) hold(*screening, d.right, d.got, count);
  }
  INFO(count.decided << " of " << elements << " decided");
  CHECK(count.wrong == 0);
  CHECK(3 * count.decided > elements);
}

TEST_CASE("A product and a sum of pairs hold 100 bits", "[filter]") {
  std::mt19937_64 random(5);
  const auto drawn = [&] { return std::ldexp(static_cast<double>(random() >> 11), -53) - 0.5; };
  const auto value = [](Pair p) { return scalar_of(p.high).value() + scalar_of(p.low).value(); };
  const auto near = [](const Dyadic& got, const Dyadic& want, const Dyadic& size) {
    return abs(got - want) <= size * Dyadic::power_of_two(-103);
  };
  for (int trial = 0; trial < 2000; ++trial) {
    const Pair a = exact_product(drawn(), drawn()), b = exact_product(drawn(), drawn());
    const double c = drawn();
    REQUIRE(near(value(a * b), value(a) * value(b), abs(value(a) * value(b))));
    REQUIRE(near(value(a * c), value(a) * scalar_of(c).value(), abs(value(a) * scalar_of(c).value())));
    REQUIRE(near(value(a + b), value(a) + value(b), abs(value(a)) + abs(value(b))));
    REQUIRE(near(value(a + c), value(a) + scalar_of(c).value(), abs(value(a)) + abs(scalar_of(c).value())));
  }
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
