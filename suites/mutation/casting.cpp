// SPDX-License-Identifier: Apache-2.0
// Cast and CastLike by a third hand: numbers of 333 bits and, of the types of eight bits or less, the nearest of all
// the codes there are.
#include "suites/mutation/long.h"
#include "suites/mutation/pairing.h"

#include <array>
#include <cmath>

namespace assay::mutation {
namespace {

using oracles::Level;
using oracles::State;

// An element that is cast.
struct Source {
  Long value;
  DType from, to;
  const std::string* word = nullptr;  // what it says, where it is a string
};

// What goes wrong on the way to a type of eight bits or less.
enum class CastBug { none, never_saturates, cuts, rounds_ties_away, takes_another_bias, ignores_mode };

// -- to wide types

// The nearest of the numbers whose patterns lie beside that of a first guess; of two that are as near the even one.
template <class To>
To nearest(const Long& value) {
  const To guess = To(value.convert_to<double>());
  if (!std::isfinite(static_cast<double>(guess)) || value == 0) return guess;
  To best = guess;
  for (const int step : {-1, 1}) {
    To other = guess;
    other.bits = static_cast<std::uint16_t>(other.bits + step);
    if (!std::isfinite(static_cast<double>(other))) continue;
    const Long off = abs(value - Long(static_cast<double>(other))),
               least = abs(value - Long(static_cast<double>(best)));
    if (off < least || (off == least && other.bits % 2 == 0)) best = other;
  }
  return best;
}

// -- to types of eight bits or less

// The numbers of a type, by their codes; those that are none are infinite or NaN.
template <class To>
std::array<double, 1 << To::width> numbers() {
  std::array<double, 1 << To::width> all;
  for (unsigned code = 0; code < all.size(); ++code) {
    To element;
    element.bits = static_cast<std::uint8_t>(code);
    all[code] = static_cast<double>(element);
  }
  return all;
}

// The first code whose number is as wanted, else 0.
template <class To, class F>
To first_code(F&& is_wanted) {
  To out;
  const auto all = numbers<To>();
  const auto found = std::ranges::find_if(all, is_wanted);
  if (found != all.end()) out.bits = static_cast<std::uint8_t>(found - all.begin());
  return out;
}

template <class To>
To nearest_code(const Long& value, bool saturates, CastBug bug) {
  const auto is_nan = [](double x) { return std::isnan(x); };
  if (isnan(value)) return first_code<To>(is_nan);
  const auto all = numbers<To>();
  double largest = 0, second = 0;
  unsigned last = 0;
  for (unsigned code = 0; code < all.size(); ++code)
    if (std::isfinite(all[code]) && all[code] > largest) second = std::exchange(largest, all[code]), last = code;
  const Long size = abs(value), end = Long(largest) + (Long(largest) - Long(second)) / 2;
  if (bug == CastBug::cuts ? size >= 2 * end - largest : size > end || (size == end && last % 2 == 1)) {
    const double like = value < 0 ? -1 : 1;
    if (saturates) return first_code<To>([&](double x) { return x == like * largest; });
    const To infinite = first_code<To>([&](double x) { return std::isinf(x) && x * like > 0; });
    return std::isinf(static_cast<double>(infinite)) ? infinite : first_code<To>(is_nan);
  }
  To best;
  Long least = std::numeric_limits<Long>::infinity();
  for (unsigned code = 0; code < all.size(); ++code) {
    if (!std::isfinite(all[code]) || (bug == CastBug::cuts && Long(std::abs(all[code])) > size)) continue;
    const Long off = abs(value - Long(all[code]));
    const bool wins_tie =
        bug == CastBug::rounds_ties_away ? std::abs(all[code]) > std::abs(static_cast<double>(best)) : code % 2 == 0;
    if (off > least || (off == least && !wins_tie)) continue;
    least = off;
    best.bits = static_cast<std::uint8_t>(code);
  }
  return best;
}

Float8E8M0 scale_of(const Long& value, bool saturates, const std::string& mode) {
  Float8E8M0 out;
  out.bits = 255;
  const Long least = ldexp(Long(1), -127), most = ldexp(Long(1), 127);
  if (isnan(value) || (!saturates && (value < least || value > most))) return out;
  const Long inside = value < least ? least : value > most ? most : value;
  for (out.bits = 0; ldexp(Long(1), out.bits + 1 - 127) <= inside;) ++out.bits;
  const Long low = ldexp(Long(1), out.bits - 127);
  if (mode == "up" ? inside > low : mode == "nearest" && inside >= low * 3 / 2) ++out.bits;
  return out;
}

template <class To>
To small(const Long& value, const Call& call, CastBug bug) {
  if constexpr (SmallWhole<To>) {
    return To::of(lower_bits<std::int64_t>(value));
  } else {
    const bool saturates = To::width < 8 || (bug != CastBug::never_saturates && call.integer("saturate") != 0);
    if constexpr (std::is_same_v<To, Float8E8M0>) {
      return scale_of(value, saturates, bug == CastBug::ignores_mode ? "nearest" : call.text("round_mode"));
    } else {
      constexpr bool is_uz = std::is_same_v<To, Float8E4M3FNUZ> || std::is_same_v<To, Float8E5M2FNUZ>;
      return nearest_code<To>(is_uz && bug == CastBug::takes_another_bias ? Long(value * 2) : value, saturates, bug);
    }
  }
}

template <class To>
To from_long(const Long& value, const Call& call, CastBug bug) {
  if constexpr (std::is_same_v<To, Bool>)
    return To(value == 0 ? 0.0 : 1.0);
  else if constexpr (std::is_integral_v<To>)
    return lower_bits<To>(value);
  else if constexpr (Small<To>)
    return small<To>(value, call, bug);
  else if constexpr (is_narrow<To>)
    return isfinite(value) ? nearest<To>(value) : To(value.convert_to<double>());
  else
    return value.convert_to<To>();
}

// -- to a string

enum class Spelling { plain, eight_digits, six_digits };

// In as many digits as tell values of the type apart, or in fewer.
std::string spelled(const Long& value, DType from, Spelling spelling) {
  if (from == DType::boolean) return value == 0 ? "False" : "True";
  if (!is_float(from)) return value.str(0, std::ios::fixed);
  if (value != value) return "NaN";
  if (!isfinite(value)) return value < 0 ? "-INF" : "INF";
  const int plain = from == DType::f64 ? 17 : 9;
  const int digits = spelling == Spelling::six_digits ? 6 : spelling == Spelling::eight_digits ? 8 : plain;
  return value.str(digits - 1, std::ios::scientific);
}

bool makes_strings(const Call& call) {
  return call.definition().type_of(call, call.definition().outputs.front()) == DType::string;
}

Values spelled_out(const Tensor& x, Spelling spelling) {
  if (x.dtype() == DType::string) return Values(x);
  Tensor y({DType::string, x.shape()});
  for_value(x.dtype(), [&]<class From>() {
    std::ranges::transform(x.as<From>(), y.as<std::string>().begin(),
                           [&](From each) { return spelled(as_long(each), x.dtype(), spelling); });
  });
  return Values(std::move(y));
}

Kernel spelling_out(Spelling spelling) {
  return [=](const Call& call, Inputs in) {
    return makes_strings(call) ? spelled_out(*in[0], spelling) : call.definition().kernel(call, in);
  };
}

// -- the whole

Long as_it_is(const Source& x) { return x.value; }

// Casts what `change` makes of each value; only where a ruling lets it, if one is named.
Kernel casting(Long (*change)(const Source&), const char* ruling = nullptr, CastBug bug = CastBug::none) {
  return [=](const Call& call, Inputs in) -> Values {
    const bool applies = !ruling || call.definition().ruling(ruling);
    if (makes_strings(call)) return spelled_out(*in[0], Spelling::plain);
    Tensor y({call.definition().type_of(call, call.definition().outputs.front()), in[0]->shape()});
    std::vector<Long> values;
    for_type(in[0]->dtype(), [&]<class From>() {
      for (const From& x : in[0]->as<From>()) {
        Source source{as_long(x), in[0]->dtype(), y.dtype()};
        if constexpr (std::is_same_v<From, std::string>) source.word = &x;
        values.push_back(applies ? change(source) : source.value);
      }
    });
    for_value(y.dtype(), [&]<class To>() {
      std::ranges::transform(values, y.as<To>().begin(),
                             [&](const Long& value) { return from_long<To>(value, call, bug); });
    });
    return Values(std::move(y));
  };
}

bool is_unsigned(DType type) { return is_integer(type) && name(type).starts_with('u'); }

Long saturated(const Source& x) {
  if (!is_integer(x.to) || !is_integer(x.from)) return x.value;
  const int bits = width_of(x.to);
  const Long least = is_unsigned(x.to) ? Long(0) : Long(-ldexp(Long(1), bits - 1)),
             most = ldexp(Long(1), bits) + least - 1;
  return std::clamp(x.value, least, most);
}

Long rounded(const Source& x) {
  return is_integer(x.to) && is_float(x.from) && isfinite(x.value) ? Long(round(x.value)) : x.value;
}

Long without_sign(const Source& x) {
  const int bits = width_of(x.from);
  const bool is_taken_for_negative = is_float(x.to) && is_unsigned(x.from) && x.value >= ldexp(Long(1), bits - 1);
  return is_taken_for_negative ? Long(x.value - ldexp(Long(1), bits)) : x.value;
}

Long low_bit(const Source& x) {
  return x.to == DType::boolean && is_integer(x.from) ? Long(lower_bits<std::uint64_t>(x.value) & 1) : x.value;
}

Long whether_empty(const Source& x) { return x.to == DType::boolean && x.word ? Long(!x.word->empty()) : x.value; }

Long cut_to_bf16(const Source& x) {
  if (x.to != DType::bf16 || x.from != DType::f32 || !isfinite(x.value)) return x.value;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x.value.convert_to<float>()) & 0xffff0000;
  return std::bit_cast<float>(bits);
}

// Of 4 and 2 bits only.
Long saturated_if_small(const Source& x) { return is_small(x.to) ? saturated(x) : x.value; }

}  // namespace

std::vector<VariantKernel> cast_variants() {
  return {variant_of("sequential", "by numbers of 333 bits", casting(as_it_is)),
          {{"saturates-integers", Level::L2, "an integer that does not fit saturates", "E27", "saturate"},
           casting(saturated, "E27")},
          {{"rounds-half-away", Level::L2, "fractions are rounded, ties away from 0", "E23", "nearest-away"},
           casting(rounded)},
          {{"reads-low-bit", Level::L2, "the lowest bit of an integer makes a bool", "E28", "low-bit"},
           casting(low_bit, "E28")},
          {{"reads-any-text", Level::L2, "any text is true", "E32", "non-empty"}, casting(whether_empty)},
          {{"writes-eight-digits", Level::L2, "numbers have eight digits as strings", "E33", "digits-8"},
           spelling_out(Spelling::eight_digits)}};
}

std::vector<Bug> cast_bugs(const std::string& op) {
  std::vector<Bug> bugs{
      bug_of(op, "drops-signs", "unsigned integers become floats as if they were signed", casting(without_sign)),
      bug_of(op, "cuts-bits", "f32 becomes bf16 without rounding", casting(cut_to_bf16))};
  bugs[0].mutant.types = {DType::u8, DType::u16, DType::u32, DType::u64};
  bugs[1].mutant.types = {DType::f32};
  bugs[1].mutant.expected = State::below;
  bugs[1].mutant.severity = Mutant::severity_of(State::below);
  const auto add = [&](const char* name, const char* what, Kernel kernel, const char* attribute) {
    bugs.push_back(bug_of(op, name, what, std::move(kernel)));
    bugs.back().mutant.attribute = attribute;
  };
  const auto slipping = [](CastBug bug) { return casting(as_it_is, nullptr, bug); };
  add("never-saturates", "float8 never saturates", slipping(CastBug::never_saturates), "saturate");
  add("cuts-float8", "float8 is truncated, not rounded", slipping(CastBug::cuts), "saturate");
  add("rounds-ties-away", "ties of float8 are rounded away from 0", slipping(CastBug::rounds_ties_away), "saturate");
  add("mistakes-fnuz", "float8 FNUZ has the bias of the other formats", slipping(CastBug::takes_another_bias),
      "saturate");
  add("saturates-small-integers", "an integer that does not fit 4 bits saturates", casting(saturated_if_small), "");
  bugs.back().mutant.types = {DType::u4, DType::i4};
  add("ignores-round-mode", "float8e8m0 is always rounded to nearest", slipping(CastBug::ignores_mode), "round_mode");
  add("writes-six-digits", "floats have six digits as strings", spelling_out(Spelling::six_digits), "");
  bugs.back().mutant.types = {DType::f32, DType::f64};
  return bugs;
}

}  // namespace assay::mutation
