// SPDX-License-Identifier: Apache-2.0
#include "reference/recipe.h"

#include "reference/convert.h"
#include "reference/line_words.h"
#include "reference/nearest.h"
#include "reference/sequence.h"
#include "reference/tensor_store.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <tuple>

namespace assay {
namespace {

// 2^exponent, exact, for the normal range of double.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

// mantissa * 2^exponent, rounded once where it does not fit a double.
double scaled(Int mantissa, int exponent) {
  const double value = static_cast<double>(mantissa);
  if (exponent >= -1022) return value * power_of_two(exponent);
  return value * power_of_two(exponent + 200) * power_of_two(-200);
}

// What a family needs to know of an element type: precision, and the exponents of 1 ulp at the bottom and of the top.
struct ElementFormat {
  int precision, smallest, largest;  // p, log2 η, log2 of the largest binade
  double lowest = -128;              // of an 8-bit integer type
};

ElementFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::f16: return {11, -24, 15};
    case DType::bf16: return {8, -133, 127};
    case DType::f64: return {53, -1074, 1023};
    case DType::u8:
    case DType::u4:
    case DType::u2: return {24, -149, 127, 0};
    case DType::f8e4m3fn: return {4, -9, 8};
    case DType::f8e4m3fnuz: return {4, -10, 7};
    case DType::f8e5m2: return {3, -16, 15};
    case DType::f8e5m2fnuz: return {3, -17, 15};
    case DType::f8e8m0: return {2, -127, 127};
    case DType::f4e2m1: return {2, -1, 2};
    case DType::f6e2m3: return {4, -3, 2};
    case DType::f6e3m2: return {3, -4, 4};
    default: return {24, -149, 127};
  }
}

double signed_by(Generator& generator, double value) { return generator.next() & 1 ? value : -value; }

double small(Generator& g, const ElementFormat&, int) { return signed_by(g, static_cast<double>(1 + g.below(8))); }
double sign(Generator& g, const ElementFormat&, int) { return signed_by(g, 1); }

double sparse(Generator& g, const ElementFormat&, int one_in) {
  return g.below(static_cast<std::uint64_t>(one_in)) == 0 ? signed_by(g, 1) : 0;
}

double odd(Generator& g, const ElementFormat&, int bits) {
  return signed_by(g, static_cast<double>(2 * g.below(std::uint64_t{1} << (bits - 1)) + 1));
}

double pow2(Generator& g, const ElementFormat&, int) {
  return signed_by(g, power_of_two(static_cast<int>(g.below(7)) - 3));
}

// Irwin-Hall: twelve uniform 16-bit integers have variance 2^32; 35 more bits fill the significand.
double normal(Generator& g, const ElementFormat&, int) {
  Int sum = Int{-6} * 65535;
  for (int word = 0; word < 3; ++word)
    for (std::uint64_t bits = g.next(), i = 0; i < 4; ++i, bits >>= 16) sum += static_cast<Int>(bits & 0xffff);
  return scaled(sum * (Int{1} << 35) + static_cast<Int>(g.below(std::uint64_t{1} << 35)), -51);
}

double uniform(Generator& g, const ElementFormat&, int) { return scaled(static_cast<Int>(g.next() >> 11), -53); }

double cancel(Generator& g, const ElementFormat& f, int) {
  return 1 + normal(g, f, 0) * power_of_two(-std::min(8, f.precision - 4));
}

double logu(Generator& g, const ElementFormat& f, int) {
  const int range = f.precision == 11 ? 6 : 12;
  const int exponent = static_cast<int>(g.below(2 * static_cast<std::uint64_t>(range) + 1)) - range;
  const Int significand = static_cast<Int>((g.next() >> 12) | (std::uint64_t{1} << 52));
  return signed_by(g, scaled(significand, exponent - 52));
}

double subnormal(Generator& g, const ElementFormat& f, int) {
  const std::uint64_t count = (std::uint64_t{1} << (f.precision - 1)) - 1;
  return signed_by(g, scaled(static_cast<Int>(1 + g.below(count)), f.smallest));
}

double huge(Generator& g, const ElementFormat& f, int) {
  const int exponent = f.largest - static_cast<int>(g.below(3));
  const Int significand =
      static_cast<Int>((std::uint64_t{1} << (f.precision - 1)) | g.below(std::uint64_t{1} << (f.precision - 1)));
  return signed_by(g, scaled(significand, exponent - f.precision + 1));
}

// Three-tap ties and near ties (numerics 3.3): 1, half an ulp of 1, and what tips the balance.
double probe(Generator& g, const ElementFormat& f, int) {
  const int p = f.precision;
  const std::array<double, 6> values{
      1, power_of_two(-p), 3 * power_of_two(-p), power_of_two(1 - p), 1 + power_of_two(1 - p), power_of_two(-p - 4)};
  return signed_by(g, values[g.below(values.size())]);
}

// Integer types only; floats take the range of i8.
double byte_of(Generator& g, const ElementFormat& f, int) { return static_cast<double>(g.below(256)) + f.lowest; }

double edge(Generator& g, const ElementFormat& f, int) {
  const std::uint64_t draw = g.below(4);
  return f.lowest + static_cast<double>(draw < 2 ? draw : 252 + draw);
}

double around(Generator& g, const ElementFormat&, int centre) {
  return static_cast<double>(centre) + static_cast<double>(g.below(17)) - 8;
}

// Displacements of samples. A coordinate is a cell's integer plus one of these.
double quarter(Generator& g, const ElementFormat&, int) { return (static_cast<double>(g.below(25)) - 12) / 4; }

// An integer, or the representable neighbour of one: 2^(2-p) is an ulp of the widest, 3.
double brink(Generator& g, const ElementFormat& f, int) {
  const double whole = static_cast<double>(g.below(7)) - 3;
  return whole + (static_cast<double>(g.below(3)) - 1) * power_of_two(2 - f.precision);
}

double astray(Generator& g, const ElementFormat& f, int) {
  if (g.below(4) != 0) return quarter(g, f, 0);
  return signed_by(g, power_of_two(static_cast<int>(g.below(12)) + 3));
}

double special(Generator& g, const ElementFormat& f, int) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::array<double, 6> values{std::numeric_limits<double>::quiet_NaN(),
                                     infinity,
                                     -infinity,
                                     -0.0,
                                     scaled(1, f.smallest),
                                     -scaled(1, f.smallest)};
  const std::uint64_t draw = g.below(36);
  return draw < values.size() ? values[draw] : small(g, f, 0);
}

// -- drawn as bits, exact in every type

// Words that are easily taken for each other: by case, length, blanks, or as numbers.
constexpr std::array<std::string_view, 12> look_alikes{
    "", "a", "A", "b", "ab", "a b", "a ", " a", "10", "1e1", "0", "a longer word than fits a short string"};

// Returns the low bits of a word in the type of an element; a float type takes the range of i8.
template <class T>
T from_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, std::string>)
    return T(look_alikes[bits % look_alikes.size()]);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(bits);
  else if constexpr (SmallWhole<T>)
    return T::of(static_cast<Int>(bits));
  else
    return T(static_cast<double>(static_cast<std::int8_t>(bits & (std::is_same_v<T, Bool> ? 1 : 0xff))));
}

template <class T>
T full(Generator& g, int) {
  return from_bits<T>(g.next());
}

template <class T>
constexpr int width_in_bits() {
  if constexpr (SmallWhole<T>) return T::width;
  return std::is_integral_v<T> ? 8 * static_cast<int>(sizeof(T)) : 8;
}
template <class T>
constexpr bool has_no_sign() {
  if constexpr (SmallWhole<T>) return !T::is_signed;
  return std::is_unsigned_v<T>;
}

// min, min + 1, -1, 0, 1, max - 1, max, 2^k - 1, 2^k, 2^k + 1.
template <class T>
T ends(Generator& g, int) {
  constexpr int bits = width_in_bits<T>();
  const std::uint64_t least = has_no_sign<T>() ? 0 : ~std::uint64_t{0} << (bits - 1);
  const std::uint64_t draw = g.below(10), power = std::uint64_t{1} << g.below(static_cast<std::uint64_t>(bits) - 1);
  const std::uint64_t values[] = {least,     least + 1, ~std::uint64_t{0}, 0,     1,
                                  least - 2, least - 1, power - 1,         power, power + 1};
  return from_bits<T>(values[draw]);
}

template <std::size_t bytes>
using BitsOf =
    std::conditional_t<bytes == 2, std::uint16_t, std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>;

template <class T>
constexpr bool is_a_float =
    !std::is_same_v<T, Bool> && !std::is_same_v<T, std::string> && !std::is_integral_v<T> && !SmallWhole<T>;

// Returns what has that bit pattern, or the lower bits of it.
template <class T>
T of_pattern(std::uint64_t pattern) {
  if constexpr (Small<T>) {
    T value;
    value.bits = static_cast<std::uint8_t>(pattern & ((1u << T::width) - 1));
    return value;
  } else if constexpr (is_a_float<T>) {
    return std::bit_cast<T>(static_cast<BitsOf<sizeof(T)>>(pattern));
  } else {
    return from_bits<T>(pattern);
  }
}

// Returns a finite number with that bit pattern. An exponent of all ones makes no number: its lowest bit is cleared.
template <class T>
T finite_of(std::uint64_t pattern) {
  if constexpr (Small<T>) {
    const T value = of_pattern<T>(pattern);
    return std::isfinite(static_cast<double>(value)) ? value : T();
  } else {
    using Bits = BitsOf<sizeof(T)>;
    const int fraction = format_of(dtype_of<T>()).precision - 1;
    auto bits = static_cast<Bits>(pattern);
    const auto exponent = static_cast<Bits>((static_cast<Bits>(~Bits{0}) >> 1) >> fraction << fraction);
    if ((bits & exponent) == exponent) bits = static_cast<Bits>(bits & ~(Bits{1} << fraction));
    return std::bit_cast<T>(bits);
  }
}

template <class T>
T pattern(Generator& g, int) {
  if constexpr (is_a_float<T>)
    return finite_of<T>(g.next());
  else
    return full<T>(g, 0);
}

// One of pattern's numbers or zero, two neighbours in units of the last place, or what differs from it in the upper
// half alone.
template <class T>
T near(Generator& g, int which) {
  Generator chosen(static_cast<std::uint64_t>(which));
  constexpr int upper = sizeof(T) > 8 ? 0 : 5 * static_cast<int>(sizeof(T));
  const std::uint64_t centre = which == 0 ? 0 : chosen.next() & ~std::uint64_t{2}, step = g.below(4);
  const std::uint64_t bits = step < 3 ? centre + step : centre ^ std::uint64_t{1} << upper;
  if constexpr (is_a_float<T>)
    return finite_of<T>(bits);
  else
    return from_bits<T>(bits);
}

struct BitFamily {
  std::string_view name, words;  // # is its parameter
};
constexpr std::array<BitFamily, 4> drawn_as_bits{
    {{"full", "integers of the whole range of the type, or short words"},
     {"ends", "the ends of the range of the type, powers of two and their neighbours, -1, 0 and 1"},
     {"pattern", "finite numbers of any bit pattern"},
     {"near",
      "a number of any bit pattern (number #, 0 is zero), its neighbours and one that differs in the upper half"}}};

const BitFamily* find_bit_family(std::string_view name) { return find_in(drawn_as_bits, name, &BitFamily::name); }

struct Family {
  std::string_view name;
  double (*draw)(Generator&, const ElementFormat&, int bits);
  std::string_view words;  // # is its parameter
};

constexpr std::array<Family, 20> seeded{
    {{"small", small, "integers from -8 to 8 without 0"},
     {"sign", sign, "-1 and 1"},
     {"sparse", sparse, "-1 or 1 at one of # places, 0 elsewhere"},
     {"odd", odd, "odd integers of magnitude below 2^#"},
     {"pow2", pow2, "powers of two from 2^-3 to 2^3 with either sign"},
     {"normal", normal, "normally distributed numbers of mean 0 and variance 1 with full significands"},
     {"uniform", uniform, "numbers between 0 and 1 with full significands"},
     {"cancel", cancel, "numbers close to 1, whose differences cancel"},
     {"zerosum", normal, "normally distributed numbers in pairs v, -v"},
     {"logu", logu, "numbers of either sign from 2^-12 to 2^12 (2^-6 to 2^6 in f16) with full significands"},
     {"subnormal", subnormal, "subnormal numbers"},
     {"huge", huge, "numbers near the largest of the type"},
     {"probe", probe, "1, half an ulp of it and their neighbours: ties and near ties"},
     {"byte", byte_of, "integers of the whole range of an 8-bit type"},
     {"edge", edge, "the two smallest and the two largest integers of an 8-bit type"},
     {"around", around, "integers from # - 8 to # + 8"},
     {"quarter", quarter, "multiples of 1/4 from -3 to 3"},
     {"brink", brink, "integers from -3 to 3 and their neighbours in the type"},
     {"astray", astray, "multiples of 1/4 from -3 to 3, and one in four a power of two from 2^3 to 2^14"},
     {"special", special, "integers from -8 to 8 with NaN, infinities, -0 and subnormal numbers among them"}}};

// "odd12" is the family odd with 12 bits, "around-3" the family around with centre -3.
struct Split {
  std::string_view name;
  int parameter = 0;
};

Split split(std::string_view family) {
  for (const auto& [name, least, most] : {std::tuple{"odd", 1, 52}, std::tuple{"sparse", 1, 1 << 20},
                                          std::tuple{"around", -128, 255}, std::tuple{"near", 0, 255}}) {
    const std::size_t length = std::string_view(name).size();
    if (!family.starts_with(name)) continue;
    const std::optional<int> parameter = whole<int>(family.substr(length));
    return parameter && least <= *parameter && *parameter <= most ? Split{name, *parameter} : Split{"", 0};
  }
  return {family};
}

const Family* find_family(std::string_view name) { return find_in(seeded, name, &Family::name); }

// As they are written, those with a parameter with one.
std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Family& family : seeded)
    names.push_back(std::string(family.name) + (family.name == "odd"      ? "12"
                                                : family.name == "sparse" ? "4"
                                                : family.name == "around" ? "0"
                                                                          : ""));
  for (const BitFamily& family : drawn_as_bits)
    names.push_back(std::string(family.name) + (family.name == "near" ? "0" : ""));
  for (const char* stated : {"onehot", "iota", "bits", "const", "lit", "hold", "values", "text", "stored"})
    names.emplace_back(stated);
  return names;
}

std::optional<std::vector<double>> numbers(std::string_view list) { return list_of<double>(list, real<double>); }

template <class T>
T saturated(double value) {
  if constexpr (std::is_same_v<T, std::string>) {
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
  } else if constexpr (std::is_integral_v<T>) {
    if (std::isnan(value)) return 0;
    constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double high = static_cast<double>(std::numeric_limits<T>::max());
    if (value <= low) return std::numeric_limits<T>::min();
    if (value >= high) return std::numeric_limits<T>::max();
    using Whole = std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, Int>;
    const double floor = std::floor(value), rest = value - floor;
    const auto below = static_cast<Whole>(floor);
    return static_cast<T>(below + (rest > 0.5 || (rest == 0.5 && (below & 1)) ? 1 : 0));
  } else if constexpr (SmallWhole<T>) {
    const auto least = static_cast<double>(T::lowest), most = static_cast<double>(T::highest);
    return T(std::isnan(value) ? 0 : std::rint(std::clamp(value, least, most)));
  } else if constexpr (requires { T::has_infinity; }) {
    return T(value, !std::isinf(value) || !T::has_infinity);
  } else if constexpr (Small<T>) {
    return T(value);
  } else {
    const ElementFormat f = format_of(dtype_of<T>());
    const double most = scaled((Int{1} << f.precision) - 1, f.largest - f.precision + 1);
    return T(std::isinf(value) ? value : std::clamp(value, -most, most));
  }
}

// Elements are drawn so many at a time: a tensor takes no more memory than it has elements. Even, for pairs.
constexpr std::size_t chunk = 4096;

// Calls next(values) for one chunk after the other and stores what it put there.
template <class T, class F>
void write(Tensor& tensor, F&& next) {
  std::array<double, chunk> values;
  std::span<T> left = tensor.as<T>();
  while (!left.empty()) {
    const std::span<double> some(values.data(), std::min(chunk, left.size()));
    next(some);
    std::ranges::transform(some, left.begin(), saturated<T>);
    left = left.subspan(some.size());
  }
}

template <class F>
void store(Tensor& tensor, F&& next) {
  for_type(tensor.dtype(), [&]<class T>() { write<T>(tensor, next); });
}

void draw(const Recipe& recipe, Tensor& tensor, int set) {
  const auto [name, parameter] = split(recipe.family);
  const Family* family = find_family(name);
  const ElementFormat format = format_of(tensor.dtype());
  Generator generator(*whole<std::uint64_t>(recipe.argument) + static_cast<std::uint64_t>(set));
  store(tensor, [&, sums_to_zero = name == "zerosum", bits = parameter](std::span<double> values) {
    for (double& value : values) value = family->draw(generator, format, bits);
    for (std::size_t i = 1; sums_to_zero && i < values.size(); i += 2) values[i] = -values[i - 1];
  });
}

void draw_bits(const Recipe& recipe, Tensor& tensor, int set) {
  Generator generator(*whole<std::uint64_t>(recipe.argument) + static_cast<std::uint64_t>(set));
  const auto [name, parameter] = split(recipe.family);
  for_type(tensor.dtype(), [&, family = name, which = parameter]<class T>() {
    T(*const next)
    (Generator&, int) = family == "full"   ? full<T>
                        : family == "ends" ? ends<T>
                        : family == "near" ? near<T>
                                           : pattern<T>;
    for (T& value : tensor.as<T>()) value = next(generator, which);
  });
}

void mark_one(const Recipe& recipe, Tensor& tensor, int set) {
  const auto count = static_cast<std::uint64_t>(tensor.elements());
  if (count == 0) return;
  const std::uint64_t hot = (*whole<std::uint64_t>(recipe.argument) + static_cast<std::uint64_t>(set)) % count;
  store(tensor, [&, at = std::uint64_t{0}](std::span<double> values) mutable {
    for (double& value : values) value = at++ == hot ? 1 : 0;
  });
}

void count_bits(const Recipe& recipe, Tensor& tensor, int set) {
  const std::uint64_t first = *whole<std::uint64_t>(recipe.argument);
  const auto count = static_cast<std::uint64_t>(tensor.elements());
  for_type(tensor.dtype(), [&]<class T>() {
    std::uint64_t at = 0;
    for (T& value : tensor.as<T>()) value = of_pattern<T>(first + (set % 2 ? count - 1 - at : at)), ++at;
  });
}

void state(const Recipe& recipe, Tensor& tensor, int set) {
  const std::vector<double> given = *numbers(recipe.argument);
  const bool counts = recipe.family == "iota", turns = set % 2 && recipe.family != "hold";
  store(tensor, [&, at = std::size_t{0}](std::span<double> values) mutable {
    for (double& value : values) {
      value = counts ? given[0] + static_cast<double>(at) : given[at % given.size()];
      if (turns) value = -value;
      ++at;
    }
  });
}

std::optional<std::vector<std::string>> stated_texts(std::string_view list) {
  return list_of<std::string>(list, unescaped);
}

void state_texts(const Recipe& recipe, Tensor& tensor) {
  expects(tensor.dtype() == DType::string, "a recipe of strings for a tensor of numbers");
  const std::vector<std::string> given = *stated_texts(recipe.argument);
  for (std::size_t i = 0; std::string & each : tensor.as<std::string>()) each = given[i++ % given.size()];
}

// Reads one value in the element type; none where it is no such value or is written in another way.
template <class T>
std::optional<T> exactly(std::string_view part) {
  if constexpr (std::is_integral_v<T>) {
    const std::optional<T> value = whole<T>(part);
    return value && std::to_string(*value) == part ? value : std::nullopt;
  } else if constexpr (SmallWhole<T>) {
    const std::optional<Int> value = exactly<Int>(part);
    return value && T::lowest <= *value && *value <= T::highest ? std::optional(T::of(*value)) : std::nullopt;
  } else {
    const std::optional<double> value = real<double>(part);
    return value ? std::optional(saturated<T>(*value)) : std::nullopt;
  }
}

void write_out(const Recipe& recipe, Tensor& tensor) {
  if (recipe.argument.empty()) return;
  const std::vector<std::string_view> parts = parts_of(recipe.argument);
  for_value(tensor.dtype(), [&]<class T>() {
    std::size_t at = 0;
    for (T& element : tensor.as<T>()) {
      const std::string_view part = parts[at++ % parts.size()];
      element = exactly<T>(part).value_or(saturated<T>(real<double>(part).value_or(0)));
    }
  });
}

// Returns what is stored, repeated to fill; of another type, its numbers.
Tensor stored(const Recipe& recipe, const TensorType& type) {
  const std::optional<Tensor> found = stored_as(recipe.argument);
  if (!found)
    throw InputError("the data stored:" + recipe.argument +
                     " are those of a model; name it with --model, as the run did");
  if (found->type() == type) return *found;
  Tensor tensor(type);
  const Tensor from = found->dtype() == type.dtype ? *found : converted(*found, type.dtype);
  if (from.elements() == 0) return tensor;
  for_type(tensor.dtype(), [&]<class T>() {
    const std::span<const T> numbers = from.as<T>();
    for (std::size_t at = 0; T & element : tensor.as<T>()) element = numbers[at++ % numbers.size()];
  });
  return tensor;
}

std::string words_of(std::string_view with, int parameter) {
  std::string words(with);
  for (std::size_t at; (at = words.find('#')) != std::string::npos;) words.replace(at, 1, std::to_string(parameter));
  return words;
}

}  // namespace

static bool has_nonfinite(const Tensor& tensor) {
  return for_value(tensor.dtype(), [&]<class T>() {
    return std::ranges::any_of(tensor.as<T>(), [](T value) { return !std::isfinite(static_cast<double>(value)); });
  });
}

bool writes_out(const Recipe& recipe, const TensorType& type) {
  if (recipe.family == "text" && type.dtype == DType::string)
    return std::ssize(parts_of(recipe.argument)) == volume(type.shape) ||
           (recipe.argument.empty() && volume(type.shape) == 0);
  if (recipe.family != "values") return false;
  const auto parts = recipe.argument.empty() ? std::vector<std::string_view>() : parts_of(recipe.argument);
  return static_cast<Int>(parts.size()) == volume(type.shape) && type.dtype != DType::string &&
         for_value(type.dtype, [&]<class T>() {
           return std::ranges::all_of(parts, [](std::string_view part) { return exactly<T>(part).has_value(); });
         });
}

std::uint64_t Generator::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::string text(const Recipe& recipe) { return recipe.family + ":" + recipe.argument; }

Recipe stated(const std::vector<std::string>& strings) { return {"text", joined(strings, ",", escaped)}; }

Recipe stated(const Tensor& tensor) {
  return for_type(tensor.dtype(), [&]<class T>() -> Recipe {
    const std::vector<T> all(tensor.as<T>().begin(), tensor.as<T>().end());
    if constexpr (std::is_same_v<T, std::string>)
      return stated(all);
    else
      return {"values", joined(all, ",", [](T value) {
                if constexpr (std::is_integral_v<T>) return std::to_string(value);
                const double exact = static_cast<double>(value);
                return std::isnan(exact) ? std::string("nan") : saturated<std::string>(exact);
              })};
  });
}

Result<Recipe> parse_recipe(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return Error{"recipe '" + std::string(text) + "' has no ':'; write for example small:7"};
  Recipe recipe{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
  const bool is_seeded =
      find_family(split(recipe.family).name) != nullptr || find_bit_family(split(recipe.family).name);
  if (is_seeded || recipe.family == "onehot" || recipe.family == "bits") {
    if (!whole<std::uint64_t>(recipe.argument))
      return Error{"recipe '" + std::string(text) + "' needs a seed, as in small:7"};
    return recipe;
  }
  if (recipe.family == "stored") {
    if (is_store_name(recipe.argument)) return recipe;
    return Error{"recipe '" + std::string(text) + "' needs 16 hexadecimal digits, as in stored:0123456789abcdef"};
  }
  if (recipe.family == "text") {
    if (stated_texts(recipe.argument)) return recipe;
    return Error{"recipe '" + std::string(text) + "' needs letters, digits, _ and %XX, as in text:a,B,%C3%A9"};
  }
  const bool one = recipe.family == "const" || recipe.family == "iota";
  if (recipe.family == "values" && recipe.argument.empty()) return recipe;
  if (!one && recipe.family != "lit" && recipe.family != "hold" && recipe.family != "values")
    return Error{"no recipe is called '" + recipe.family + "'" + suggestion(recipe.family, family_names()) +
                 "; reference/recipe.h lists them"};
  const auto values = numbers(recipe.argument);
  if (!values || (one && values->size() != 1))
    return Error{"recipe '" + std::string(text) + "' needs numbers, as in lit:1,-0x1.8p+3,nan"};
  return recipe;
}

bool is_nonfinite(const Recipe& recipe, const TensorType& type) {
  if (type.dtype != DType::string && width_of(type.dtype) < 8) return false;
  if (recipe.family == "special") return true;
  if (recipe.family == "bits" || recipe.family == "stored")
    return is_float(type.dtype) && has_nonfinite(fill(recipe, type));
  if (recipe.family != "lit" && recipe.family != "const" && recipe.family != "hold" && recipe.family != "values")
    return false;
  const std::vector<double> values = numbers(recipe.argument).value_or(std::vector<double>());
  return std::ranges::any_of(values, [](double value) { return !std::isfinite(value); });
}

std::string in_words(const Recipe& recipe) {
  const auto [name, parameter] = split(recipe.family);
  const Family* const family = find_family(name);
  const BitFamily* const of_bits = find_bit_family(split(recipe.family).name);
  if (family || of_bits) {
    const std::uint64_t seed = whole<std::uint64_t>(recipe.argument).value_or(0);
    return words_of(family ? family->words : of_bits->words, parameter) + ", seed " + std::to_string(seed) + " (" +
           std::to_string(seed + 1) + " in the second data set)";
  }
  const std::string negated = ", negated in the second data set";
  if (recipe.family == "onehot")
    return "0 but for a 1 at element " + recipe.argument + ", counted row by row; one further in the second data set";
  if (recipe.family == "iota") return "a count from " + recipe.argument + " on" + negated;
  if (recipe.family == "bits")
    return "the bit patterns from " + recipe.argument + " on; from the last to the first in the second data set";
  if (recipe.family == "const") return recipe.argument + " everywhere" + negated;
  if (recipe.family == "stored") return "numbers of the model, the same in every data set";
  if (recipe.family == "hold" || recipe.family == "text")
    return recipe.argument + ", repeated to fill, the same in every data set";
  if (recipe.family == "values")
    return (recipe.argument.empty() ? "nothing" : recipe.argument) + ", the same in every data set";
  return recipe.argument + ", repeated to fill" + negated;
}

std::vector<std::string> recipe_families() { return family_names(); }

Tensor fill(const Recipe& recipe, const TensorType& type, int set) {
  if (recipe.family == "stored") return stored(recipe, type);
  Tensor tensor(type);
  if (find_family(split(recipe.family).name))
    draw(recipe, tensor, set);
  else if (find_bit_family(split(recipe.family).name))
    draw_bits(recipe, tensor, set);
  else if (recipe.family == "onehot")
    mark_one(recipe, tensor, set);
  else if (recipe.family == "bits")
    count_bits(recipe, tensor, set);
  else if (recipe.family == "text")
    state_texts(recipe, tensor);
  else if (recipe.family == "values")
    write_out(recipe, tensor);
  else
    state(recipe, tensor, set);
  return tensor;
}

}  // namespace assay
