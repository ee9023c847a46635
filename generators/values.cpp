// SPDX-License-Identifier: Apache-2.0
#include "generators/values.h"

#include "generators/draw.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <set>
#include <sstream>

namespace assay::generators {
namespace {

Recipe odd(int bits) { return seeded("odd" + std::to_string(bits)); }

int bits_for(Int count) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<Int>(1, count) - 1)));
}

// The largest binade of the output bounds what exact sums may reach; only binary16 is narrow enough to matter.
int range_of(DType type) { return type == DType::f16 ? 15 : 1000; }

enum class Fill {
  small,
  sign,
  wide,
  narrow,
  counted,
  normal,
  uniform,
  cancelling,
  logu,
  subnormal,
  huge,
  probe,
  special
};

// Odd integers that are exact at `precision`; small integers where the budget is used up by the number of terms.
ConvolutionFill odd_integers(const SumOfProducts& sum, int precision) {
  const int budget = std::min(precision, range_of(sum.type));
  const std::optional<Widths> widths = exact_widths(budget, precision_of(sum.type), sum.terms);
  if (!widths) return {seeded("sign"), seeded("sign"), seeded("sign")};
  return {odd(widths->x), odd(widths->w), odd(widths->b)};
}

// Values that name their place; the weights 1, 10, 100 show in the digits which of them met which.
ConvolutionFill counted() { return {{"iota", "1"}, {"lit", "1,10,100"}, {"iota", "1000"}}; }

// A mean of `over` values, or a sum where it is 1, that comes to 1 + 2^-p and almost nothing is a tie once it is
// rounded to float (numerics 3.3): those three values, zeros, and one apart.
Recipe near_ties(DType type, Int over, Int zeros) {
  std::ostringstream values;
  values << over << ",0x" << std::hex << over << "p-" << std::dec << precision_of(type);
  values << (type == DType::f16 ? ",0x1p-24" : ",0x1p-30");
  for (Int i = 0; i < zeros; ++i) values << ",0";
  values << "," << over + 1;
  return {"lit", values.str()};
}

Fill draw_fill(const SumOfProducts& sum) {
  using enum Fill;
  const bool is_f16 = sum.type == DType::f16, one_term = sum.terms == 1, narrow_type = precision_of(sum.type) < 24;
  return weighted<Fill>({{16, small},
                         {narrow_type ? 10 : 6, sign},
                         {16, wide},
                         {narrow_type ? 10 : 0, narrow},
                         {sum.type == DType::f64 || sum.type == DType::f32 ? 3 : 0, counted},
                         {16, normal},
                         {9, uniform},
                         {9, cancelling},
                         {7, logu},
                         {6, subnormal},
                         {one_term ? 3
                          : is_f16 ? 2
                                   : 1,
                          huge},
                         {4, probe},
                         {4, special}});
}

std::uint64_t seed_of(const Recipe& recipe) {
  std::uint64_t seed = 0;
  std::from_chars(recipe.argument.data(), recipe.argument.data() + recipe.argument.size(), seed);
  return seed;
}

bool is_seeded(const Recipe& recipe) {
  constexpr std::array<std::string_view, 8> stated{"iota", "bits", "lit", "hold", "values", "const", "onehot", "text"};
  return std::ranges::find(stated, recipe.family) == stated.end();
}

bool is_constant(const Tensor& tensor) {
  if (tensor.dtype() == DType::string)
    return std::ranges::adjacent_find(tensor.as<std::string>(), std::not_equal_to()) == tensor.as<std::string>().end();
  const std::size_t size = size_of(tensor.dtype());
  const std::span<const std::byte> bytes = tensor.bytes();
  for (std::size_t at = size; at < bytes.size(); at += size)
    if (!std::ranges::equal(bytes.first(size), bytes.subspan(at, size))) return false;
  return true;
}

// Seeded recipes fill in order, so the first few values nearly always tell.
bool is_vacuous(const Recipe& recipe, const TensorType& type) {
  const Int count = volume(type.shape), few = std::min<Int>(count, 4);
  if (count < 2) return false;
  for (int set = 0; set < data_sets; ++set)
    if (is_constant(fill(recipe, {type.dtype, {few}}, set)) && (few == count || is_constant(fill(recipe, type, set))))
      return true;
  return false;
}

}  // namespace

template <class T>
static std::string shortest(T value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string decimal(double value) { return shortest(value); }
std::string decimal(float value) { return shortest(value); }

Recipe seeded(std::string family) { return {std::move(family), std::to_string(between(0, 9999))}; }

int precision_of(DType type) {
  switch (type) {
    case DType::f16: return 11;
    case DType::bf16: return 8;
    case DType::f64: return 53;
    default: return 24;
  }
}

int accumulator_precision_of(DType type) { return type == DType::f64 ? 53 : 24; }

std::optional<Widths> exact_widths(int precision, int storage, Int terms) {
  storage = std::min(storage, 52);  // the widest family of odd integers
  const int budget = precision - bits_for(terms);
  if (budget < 2) return std::nullopt;
  const int x = std::min(storage, (budget + 1) / 2);
  const int w = std::min(storage, budget - x);
  return Widths{x, w, std::min(storage, x + w)};
}

ConvolutionFill draw_convolution_fill(const SumOfProducts& sum) {
  const auto same = [](const char* family) { return ConvolutionFill{seeded(family), seeded(family), seeded(family)}; };
  switch (draw_fill(sum)) {
    case Fill::small: return same("small");
    case Fill::sign: return same("sign");
    case Fill::wide: return odd_integers(sum, accumulator_precision_of(sum.type));
    case Fill::narrow: return odd_integers(sum, precision_of(sum.type));
    case Fill::counted: return counted();
    case Fill::normal: return same("normal");
    case Fill::uniform: return {seeded("uniform"), seeded(pick({"uniform", "normal"})), seeded("uniform")};
    case Fill::cancelling: return {seeded("cancel"), seeded("zerosum"), seeded("normal")};
    case Fill::logu: return {seeded("logu"), seeded(sum.type == DType::f16 ? "normal" : "logu"), seeded("logu")};
    case Fill::subnormal: return {seeded("subnormal"), seeded(pick({"pow2", "sign", "normal"})), seeded("subnormal")};
    case Fill::huge: return {seeded("huge"), seeded(pick({"sign", "pow2"})), seeded("huge")};
    case Fill::probe:
      if (precision_of(sum.type) < 24 && chance(50))
        return {near_ties(sum.type, 1, 1), seeded("sign"), seeded("small")};
      return {seeded("probe"), seeded("sign"), seeded("probe")};
    case Fill::special:
      return chance(60) ? ConvolutionFill{seeded("special"), seeded("small"), seeded("small")}
                        : ConvolutionFill{seeded("small"), seeded("special"), seeded("special")};
  }
  throw BrokenPromise("a fill without recipes");
}

// A pool multiplies nothing, so all the bits of the budget go into X.
Recipe draw_average_fill(const SumOfProducts& sum) {
  const auto wide = [&](int precision) {
    const int bits = std::min({precision_of(sum.type), precision - bits_for(sum.terms), 52});
    return bits < 2 ? seeded("small") : odd(bits);
  };
  switch (draw_fill(sum)) {
    case Fill::small: return seeded("small");
    case Fill::sign: return seeded("pow2");
    case Fill::wide:
      return wide(std::min(accumulator_precision_of(sum.type), range_of(sum.type) + bits_for(sum.terms)));
    case Fill::narrow: return wide(precision_of(sum.type));
    case Fill::counted: return {"iota", "1"};
    case Fill::normal: return seeded("normal");
    case Fill::uniform: return seeded("uniform");
    case Fill::cancelling:  // windows of even size would see whole pairs v, -v: nothing but zeros
      return seeded(sum.terms % 2 == 1 && sum.terms > 1 ? pick({"cancel", "zerosum"}) : "cancel");
    case Fill::logu: return seeded("logu");
    case Fill::subnormal: return seeded("subnormal");
    case Fill::huge: return seeded("huge");
    case Fill::probe:
      if (precision_of(sum.type) < 24 && sum.terms > 2 && sum.terms < 10)
        return near_ties(sum.type, sum.terms, sum.terms - 3);
      return seeded("probe");
    case Fill::special: return seeded("special");
  }
  throw BrokenPromise("a fill without recipes");
}

Recipe draw_selection_fill(DType type) {
  if (type == DType::boolean || type == DType::string) return seeded("full");
  if (is_small(type))  // from codes on that stand for NaN and infinities in some format, or any
    return chance(45) ? Recipe{"bits", pick({"0", "120", "124", "128", "248", "252", "64"})}
                      : seeded(pick({"full", "pattern", "pattern", "small", "ends"}));
  if (chance(15)) return {"lit", pick({"0,1,2,1,0,2,2", "1,1,2,3,3", "5,4,3,2,1,0"})};
  if (!is_float(type)) return seeded(pick({"small", "full", "full", "ends"}));
  return seeded(weighted<const char*>(
      {{20, "small"}, {20, "normal"}, {15, "pattern"}, {12, "subnormal"}, {8, "huge"}, {8, "logu"}, {17, "special"}}));
}

Recipe draw_function_fill(DType type) {
  return chance(50) ? draw_selection_fill(type)
                    : seeded(pick({"normal", "normal", "uniform", "quarter", "brink", "logu", "astray"}));
}

void refuse_constant_data(Case& c) {
  std::set<std::uint64_t> taken;
  for (auto& [name, source] : c.sources) {
    const TensorType& of = c.node.inputs.at(name).type;
    if (source.recipe.family == "lit" && is_vacuous(source.recipe, of)) source.recipe = {"iota", "1"};
    // Replaces counts in unsigned types: negated, as the second set has them, nothing but 0 is left of them.
    if (source.recipe.family == "iota" && is_vacuous(source.recipe, of)) source.recipe = {"around12", "1"};
    if (!is_seeded(source.recipe)) continue;
    std::uint64_t seed = seed_of(source.recipe);
    const auto is_taken = [&] { return taken.contains(seed) || taken.contains(seed + 1) || taken.contains(seed - 1); };
    const TensorType& type = c.node.inputs.at(name).type;
    for (int tries = 0; is_taken() || is_vacuous({source.recipe.family, std::to_string(seed)}, type); ++seed)
      expects(++tries < 10'000, "a recipe of which every seed gives the same element everywhere");
    taken.insert(seed);
    source.recipe.argument = std::to_string(seed);
  }
}

}  // namespace assay::generators
