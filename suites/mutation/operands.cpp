// SPDX-License-Identifier: Apache-2.0
// Operators whose operands differ in type or in role, by a third hand: Where, Clip, Mod, Pow, Sum, Mean, SwiGLU,
// Shrink, and what tells NaN and infinities.
#include "suites/mutation/long.h"
#include "suites/mutation/pairing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace assay::mutation {
namespace {

using oracles::Level;
using oracles::State;

std::vector<Tensor> laid_out(const Call& call, Inputs in) { return all_written_out(call, in, Laying::right); }

// y[i] = f(x[i]), of the type that f returns or, where that is bool, of bool.
template <class F>
Kernel each_of(F f) {
  return [f](const Call& call, Inputs in) {
    return for_type(in[0]->dtype(), [&]<class T>() -> Values {
      if constexpr (Small<T> && std::is_same_v<std::invoke_result_t<F, const Call&, double>, bool>) {
        Tensor y({DType::boolean, in[0]->shape()});
        std::ranges::transform(in[0]->as<T>(), y.as<Bool>().begin(),
                               [&](T x) { return Bool(f(call, static_cast<double>(x)) ? 1.0 : 0.0); });
        return y;
      } else if constexpr (!Number<T>) {
        return *in[0];
      } else {
        using Made = std::conditional_t<std::is_same_v<std::invoke_result_t<F, const Call&, T>, bool>, Bool, T>;
        Tensor y({dtype_of<Made>(), in[0]->shape()});
        for (std::size_t i = 0; i < y.as<Made>().size(); ++i) y.as<Made>()[i] = Made(f(call, in[0]->as<T>()[i]));
        return y;
      }
    });
  };
}

// -- Where

// Y, and X over it where the condition says so.
Kernel choosing(bool negates) {
  return [negates](const Call& call, Inputs in) {
    std::vector<Tensor> all = laid_out(call, in);
    const std::span<const Bool> condition = std::as_const(all[0]).as<Bool>();
    for_type(all[1].dtype(), [&]<class T>() {
      for (std::size_t i = 0; i < condition.size(); ++i)
        if (condition[i] != negates) all[2].as<T>()[i] = all[1].as<T>()[i];
    });
    return Values(std::move(all[2]));
  };
}

Values masked(const Call& call, Inputs in) {
  if (in[1]->dtype() == DType::string) return call.definition().kernel(call, in);
  std::vector<Tensor> all = laid_out(call, in);
  for_number(all[1].dtype(), [&]<class T>() {
    for (std::size_t i = 0; i < all[1].as<T>().size(); ++i) {
      const double mask = all[0].as<Bool>()[i] ? 1 : 0;
      T& x = all[1].as<T>()[i];
      const T y = all[2].as<T>()[i];
      if constexpr (std::is_integral_v<T> || std::is_same_v<T, Bool>)
        x = mask != 0 ? x : y;
      else
        x = T(mask * static_cast<double>(x) + (1 - mask) * static_cast<double>(y));
    }
  });
  return std::move(all[1]);
}

// -- Clip

template <class T>
T lowest() {
  if constexpr (std::is_same_v<T, Float16>)
    return T(-65504.0);
  else
    return T(std::is_same_v<T, double>  ? std::numeric_limits<double>::lowest()
             : std::is_same_v<T, float> ? -0x1.fffffep127
                                        : -0x1.fep127);
}

enum class Clipping { ruled, drops_nan, min_wins };

template <class T>
T bounded(T x, const T* least, const T* most, Clipping how) {
  if constexpr (!std::is_integral_v<T>) {
    const bool is_nan = x != x;
    if (is_nan && how != Clipping::drops_nan) return x;
    if (is_nan) x = least ? *least : lowest<T>();
  }
  const auto raised = [&](T value) { return least && *least > value ? *least : value; };
  const auto lowered = [&](T value) { return most && value > *most ? *most : value; };
  return how == Clipping::min_wins ? raised(lowered(x)) : lowered(raised(x));
}

Kernel clipping(Clipping how, bool reads_min = true, bool reads_max = true) {
  return [=](const Call& call, Inputs in) {
    const bool lowers_last = how != Clipping::min_wins || !call.definition().ruling("E6");
    Tensor y = *in[0];
    for_number(y.dtype(), [&]<class T>() {
      if constexpr (Number<T>) {
        const auto bound = [&](const char* name, std::size_t input) -> std::optional<T> {
          if (call.states(name)) return T(static_cast<double>(call.real(name)));
          if (input >= in.size() || !in[input]) return std::nullopt;
          return in[input]->as<T>()[0];
        };
        const std::optional<T> least = reads_min ? bound("min", 1) : std::nullopt,
                               most = reads_max ? bound("max", 2) : std::nullopt;
        for (T& x : y.as<T>())
          x = bounded(x, least ? &*least : nullptr, most ? &*most : nullptr,
                      lowers_last && how == Clipping::min_wins ? Clipping::ruled : how);
      }
    });
    return Values(std::move(y));
  };
}

// -- Mod

template <Number T>
T rest_of(T a, T b, bool truncates) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    const __int128 wide = a, by = b, quotient = wide / by, rest = wide - quotient * by;
    return static_cast<T>(!truncates && rest != 0 && (rest < 0) != (by < 0) ? rest + by : rest);
  } else {
    const double x{a}, y{b}, nearest = std::remainder(x, y);  // exact, of no more than half of y
    const double like = truncates ? x : y;
    if (std::isinf(y) && !std::isinf(x)) return truncates || x == 0 || (x < 0) == (y < 0) ? a : b;
    return T(nearest != 0 && (nearest < 0) != (like < 0) ? nearest + std::copysign(y, like) : nearest);
  }
}

// Pairs of one type, with the call.
template <class F>
Kernel pairs(F f) {
  return [f](const Call& call, Inputs in) {
    std::vector<Tensor> all = laid_out(call, in);
    for_number(all[0].dtype(), [&]<class T>() {
      if constexpr (Number<T>)
        for (std::size_t i = 0; i < all[0].as<T>().size(); ++i)
          all[0].as<T>()[i] = f(call, all[0].as<T>()[i], all[1].as<T>()[i]);
    });
    return Values(std::move(all[0]));
  };
}

// -- Pow

// From the leading bit of the exponent on.
template <std::integral T>
T multiplied(T x, std::uint64_t times) {
  std::uint64_t power = 1;
  for (int bit = 63; bit >= 0; --bit) {
    power *= power;
    if (times >> bit & 1) power *= static_cast<std::uint64_t>(x);
  }
  return static_cast<T>(power);
}

// Returns x without its sign; the least integer stays as it is.
template <Number T>
T magnitude(T x) {
  if constexpr (std::is_integral_v<T>)
    return x < 0 ? static_cast<T>(0U - static_cast<std::make_unsigned_t<T>>(x)) : x;
  else
    return x < T(0) ? T(T(0) - x) : x;
}

template <Number T, Number E>
T powered(T x, E y) {
  if constexpr (!std::is_integral_v<T>)
    return T(std::pow(static_cast<double>(x), static_cast<double>(y)));
  else if constexpr (!std::is_integral_v<E>)
    return lower_bits<T>(Long(std::pow(static_cast<double>(x), static_cast<double>(y))));
  else if (y < E(0))
    return static_cast<T>(x == 0 ? 0.0 : std::pow(static_cast<double>(x), static_cast<double>(y)));
  else
    return multiplied(x, static_cast<std::uint64_t>(y));
}

template <class F>
Kernel powering(F f) {
  return [f](const Call& call, Inputs in) {
    std::vector<Tensor> all = laid_out(call, in);
    for_number(all[1].dtype(), [&]<class E>() {
      for_number(all[0].dtype(), [&]<class T>() {
        if constexpr (Number<T> && Number<E>)
          for (std::size_t i = 0; i < all[0].as<T>().size(); ++i)
            all[0].as<T>()[i] = f(all[0].as<T>()[i], all[1].as<E>()[i]);
      });
    });
    return Values(std::move(all[0]));
  };
}

// -- Sum and Mean

enum class Adding { forwards, backwards, in_type };

Kernel adding(Adding how, bool divides_by_two = false) {
  return [=](const Call& call, Inputs in) {
    std::vector<Tensor> all = laid_out(call, in);
    if (how == Adding::backwards) std::ranges::reverse(all);
    const auto count = static_cast<double>(divides_by_two ? 2 : all.size());
    const bool averages = call.definition().outputs.front().name == "mean";
    Tensor y = all.front();
    for_float(y.dtype(), [&]<class T>() {
      using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const auto stored = [&](double value) {
        return how == Adding::in_type ? static_cast<Sum>(static_cast<double>(T(value))) : static_cast<Sum>(value);
      };
      for (std::size_t i = 0; i < y.as<T>().size(); ++i) {
        Sum total = static_cast<Sum>(static_cast<double>(all.front().as<T>()[i]));
        for (std::size_t input = 1; input < all.size(); ++input)
          total = stored(static_cast<double>(total + static_cast<Sum>(static_cast<double>(all[input].as<T>()[i]))));
        y.as<T>()[i] = T(static_cast<double>(averages ? total / static_cast<Sum>(count) : total));
      }
    });
    return Values(std::move(y));
  };
}

// -- Shrink

template <Number T>
T shrunk(const Call& call, T x) {
  const Long bias = call.real("bias"), lambd = call.real("lambd"), value = as_long(x);
  if (x != x) return T(0);
  if (abs(value) == std::numeric_limits<Long>::infinity()) return x;
  const Long sum = value < -lambd ? Long(value + bias) : value > lambd ? Long(value - bias) : Long(0);
  if constexpr (!std::is_integral_v<T>)
    return T(sum.convert_to<double>());
  else
    return lower_bits<T>(sum);
}

// -- BitCast

// The bits of the elements one by one, the lowest first; of NaN with another bit set where `quiet` is one.
Kernel bit_by_bit(int quiet) {
  return [quiet](const Call& call, Inputs in) {
    Tensor y({call.definition().type_of(call, call.definition().outputs.front()), in[0]->shape()});
    const auto from = in[0]->bytes();
    const auto to = y.bytes();
    for (std::size_t at = 0; at < 8 * from.size(); ++at)
      to[at / 8] |= from[at / 8] & static_cast<std::byte>(1 << at % 8);
    if (quiet)
      for (Int i = 0; y.dtype() == DType::f32 && i < y.elements(); ++i) {
        float& value = y.as<float>()[static_cast<std::size_t>(i)];
        if (std::isnan(value)) value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | 0x400000);
      }
    return Values(std::move(y));
  };
}

// The value converted, not its bits.
Kernel by_value() {
  return [](const Call& call, Inputs in) {
    const DType type = call.definition().type_of(call, call.definition().outputs.front());
    Tensor y({type, in[0]->shape()});
    for_value(in[0]->dtype(), [&]<class From>() {
      for_value(type, [&]<class To>() {
        if constexpr (Number<From> && Number<To>)
          std::ranges::transform(in[0]->as<From>(), y.as<To>().begin(), [](From x) {
            const double value = static_cast<double>(x);
            return To(std::abs(value) < 100 ? value : 0);
          });
      });
    });
    return Values(std::move(y));
  };
}

const auto gate = [](const Call& call, auto a) {
  using S = std::conditional_t<std::is_same_v<decltype(a), double>, double, float>;
  const S x = static_cast<S>(static_cast<double>(a));
  return x / (1 + std::exp(-static_cast<S>(call.real("alpha")) * x));
};

}  // namespace

std::vector<VariantKernel> operand_variants(const std::string& op) {
  if (op == "Where") return {variant_of("sequential", "Y, and X over it", choosing(false))};
  if (op == "Identity") return {variant_of("sequential", "a copy", each_of([](const Call&, auto x) { return x; }))};
  if (op == "BitCast") return {variant_of("sequential", "bit by bit", bit_by_bit(0))};
  if (op == "IsNaN")
    return {variant_of("sequential", "what is not itself", each_of([](const Call&, auto x) { return x != x; }))};
  if (op == "IsInf")
    return {variant_of("sequential", "what is beyond every number", each_of([](const Call& call, auto x) {
                         const double size{static_cast<double>(x)}, most = std::numeric_limits<double>::max();
                         return (size > most && call.integer("detect_positive") != 0) ||
                                (size < -most && call.integer("detect_negative") != 0);
                       }))};
  if (op == "Shrink")
    return {variant_of("sequential", "by numbers of 333 bits",
                       each_of([](const Call& c, auto x) { return shrunk(c, x); }))};
  if (op == "Clip")
    return {variant_of("sequential", "raised, then lowered", clipping(Clipping::ruled)),
            {{"bounds-nan", Level::L2, "NaN loses against a bound", "E4", "number"}, clipping(Clipping::drops_nan)},
            {{"min-wins", Level::L2, "lowered, then raised", "E6", "min"}, clipping(Clipping::min_wins)}};
  if (op == "Mod")
    return {variant_of("sequential", "by the nearest quotient", pairs([](const Call& call, auto a, auto b) {
                         return rest_of(a, b, call.integer("fmod") == 1);
                       }))};
  if (op == "Pow")
    return {variant_of("sequential", "the library's pow, integers from the leading bit on",
                       powering([](auto x, auto y) { return powered(x, y); }))};
  if (op == "Sum" || op == "Mean")
    return {
        variant_of("sequential", "from the first input to the last, in f32 (f64 for f64)", adding(Adding::forwards)),
        variant_of("from-the-last", "from the last input to the first", adding(Adding::backwards)),
        variant_of("in-type", "every sum is rounded to the type", adding(Adding::in_type), Level::L3)};
  if (op == "SwiGLU")
    return {variant_of("sequential", "in f32 (f64 for f64)", pairs([](const Call& call, auto a, auto b) {
                         const auto open = gate(call, a);
                         return decltype(a)(
                             static_cast<double>(open * static_cast<decltype(open)>(static_cast<double>(b))));
                       }))};
  if (op == "Dropout") return dropout_variants();
  return op == "Cast" || op == "CastLike" ? cast_variants() : std::vector<VariantKernel>{};
}

std::vector<Bug> operand_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Kernel kernel) {
    return bug_of(op, name, what, std::move(kernel));
  };
  if (op == "Where")
    return {bug("negates-condition", "X where the condition does not hold", choosing(true)),
            bug("adds-masked", "the condition times X, plus the rest of Y", masked)};
  if (op == "Clip")
    return {bug("ignores-lower-bound", "min is not read", clipping(Clipping::ruled, false)),
            bug("ignores-upper-bound", "max is not read", clipping(Clipping::ruled, true, false))};
  if (op == "Pow")
    return {bug("takes-magnitude", "the base without its sign",
                powering([]<class T>(T x, auto y) { return powered(magnitude(x), y); })),
            bug("multiplies", "x y",
                powering([]<class T>(T x, auto y) { return T(static_cast<double>(x) * static_cast<double>(y)); }))};
  if (op == "BitCast") {
    std::vector<Bug> bugs{bug("quiets-nan", "a signalling NaN becomes a quiet one", bit_by_bit(1)),
                          bug("converts", "the value is converted, not its bits", by_value())};
    bugs[0].mutant.types = {DType::f32, DType::i32, DType::u32};
    return bugs;
  }
  if (op == "Mean") return {bug("divides-by-two", "the sum of the inputs over two", adding(Adding::forwards, true))};
  if (op == "SwiGLU")
    return {bug("swaps-roles", "B is the gate", pairs([](const Call& call, auto a, auto b) {
                  const auto open = gate(call, b);
                  return decltype(a)(static_cast<double>(open * static_cast<decltype(open)>(static_cast<double>(a))));
                }))};
  if (op == "Dropout") return dropout_bugs();
  return op == "Cast" || op == "CastLike" ? cast_bugs(op) : std::vector<Bug>{};
}

}  // namespace assay::mutation
