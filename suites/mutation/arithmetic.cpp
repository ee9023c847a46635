// SPDX-License-Identifier: Apache-2.0
// Arithmetic, shifts and extremes by a third hand: integers of twice as many bits, bit by bit, from the last operand to
// the first.
#include "reference/sequence.h"
#include "suites/mutation/pairing.h"

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <functional>
#include <limits>

namespace assay::mutation {
namespace {

using oracles::Level;

template <class T>
using Double = std::conditional_t<std::is_unsigned_v<T>, unsigned __int128, __int128>;

// An operation on integers of twice as many bits, on f16 and bf16 in f32, on other floats as they are.
template <class F>
auto widely(F f) {
  return [f]<Number T>(T a, T b) -> T {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(f(Double<T>(a), Double<T>(b)));
    else if constexpr (is_narrow<T>)
      return T(static_cast<double>(
          f(static_cast<float>(static_cast<double>(a)), static_cast<float>(static_cast<double>(b)))));
    else
      return f(a, b);
  };
}

// The same, an integer that does not fit as the nearest that does.
template <class F>
auto saturating(F f) {
  return [f]<Number T>(T a, T b) -> T {
    if constexpr (std::is_integral_v<T>) {
      using Wide = boost::multiprecision::int256_t;
      const Wide least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
      return static_cast<T>(std::clamp<Wide>(f(Wide(a), Wide(b)), least, most));
    } else {
      return widely(f)(a, b);
    }
  };
}

// An operation on integers alone.
template <class F>
auto on_bits(F f) {
  return [f]<std::integral T>(T a, T b) -> T { return static_cast<T>(f(a, b)); };
}

// Another way for integers; floats as they are.
template <class F, class G>
auto on_integers(F f, G otherwise) {
  return [=]<Number T>(T a, T b) -> T {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
    else
      return widely(otherwise)(a, b);
  };
}

// A quotient by the bits of the magnitudes.
template <Number T>
T long_division(T a, T b) {
  if constexpr (!std::is_integral_v<T>) {
    return widely(std::divides())(a, b);
  } else {
    const bool negates = (a < T(0)) != (b < T(0));
    const auto magnitude = [](T x) {
      return x < T(0) ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
    };
    const std::uint64_t divisor = magnitude(b);
    std::uint64_t rest = 0, quotient = 0;
    for (int bit = 63; divisor != 0 && bit >= 0; --bit) {
      const bool carries = rest >> 63;
      rest = rest << 1 | (magnitude(a) >> bit & 1);
      const bool fits = carries || rest >= divisor;
      if (fits) rest -= divisor;
      quotient = quotient << 1 | std::uint64_t{fits};
    }
    return static_cast<T>(negates ? 0 - quotient : quotient);
  }
}

const auto division = []<class T>(const T& a, const T& b) -> T {
  if constexpr (std::is_floating_point_v<T>)
    return a / b;
  else
    return b == 0 ? T(0) : a / b;
};

// Rounded down instead of towards zero.
const auto floored = widely([](auto a, auto b) {
  if constexpr (std::is_floating_point_v<decltype(a)>)
    return a / b;
  else
    return b == 0 ? decltype(a)(0) : a / b - (a % b != 0 && (a < 0) != (b < 0));
});

const auto by_reciprocal = []<Number T>(T a, T b) -> T {
  if constexpr (std::is_floating_point_v<T>)
    return a * (T(1) / b);
  else
    return long_division(a, b);
};

const auto sloped = []<class T>(const T& x, const T& slope) -> T { return x < 0 ? slope * x : x; };

const std::vector<Pairing>& arithmetic() {
  const auto backwards = [](auto f) { return [f](auto a, auto b) { return f(b, a); }; };
  const std::plus<> plus;
  const std::minus<> minus;
  const std::multiplies<> times;
  static const std::vector<Pairing> all{
      {.op = "Add",
       .direct = pairing(widely(plus)),
       .roundabout = pairing(on_integers([](auto a, auto b) { return (a ^ b) + 2 * (a & b); }, backwards(plus))),
       .saturating = pairing(saturating(plus)),
       .overflow = "E17"},
      {.op = "Sub",
       .direct = pairing(widely(minus)),
       .roundabout =
           pairing(on_integers([](auto a, auto b) { return a + ~b + 1; }, [](auto a, auto b) { return a + -b; })),
       .saturating = pairing(saturating(minus)),
       .overflow = "E17",
       .is_ordered = true},
      {.op = "Mul",
       .direct = pairing(widely(times)),
       .roundabout = pairing(widely(backwards(times))),
       .saturating = pairing(saturating(times)),
       .overflow = "E17"},
      {.op = "Div",
       .direct = pairing(widely(division)),
       .roundabout = pairing([]<Number T>(T a, T b) { return long_division(a, b); }),
       .saturating = pairing(saturating(division)),
       .overflow = "E16",
       .is_ordered = true},
      {.op = "PRelu",
       .direct = pairing(widely(sloped)),
       .roundabout = pairing([]<Number T>(T a, T b) { return a < T(0) ? widely(std::multiplies())(a, b) : a; }),
       .saturating = pairing(saturating(sloped)),
       .overflow = "E17",
       .is_ordered = true},
      {"BitwiseAnd", pairing(on_bits(std::bit_and())), pairing(on_bits([](auto a, auto b) { return ~(~a | ~b); }))},
      {"BitwiseOr", pairing(on_bits(std::bit_or())), pairing(on_bits([](auto a, auto b) { return ~(~a & ~b); }))},
      {"BitwiseXor", pairing(on_bits(std::bit_xor())),
       pairing(on_bits([](auto a, auto b) { return (a | b) & ~(a & b); }))}};
  return all;
}

// -- as many operands as there are

enum class Order { forwards, backwards, in_pairs };

template <class F>
Kernel folding(F f, Order order = Order::forwards) {
  return [=](const Call& call, Inputs in) {
    std::vector<Tensor> all = all_written_out(call, in, Laying::right);
    if (order == Order::backwards) std::ranges::reverse(all);
    const auto meet = [&](Tensor& a, const Tensor& b) {
      for_number(a.dtype(), [&]<class T>() {
        if constexpr (Number<T>) std::ranges::transform(a.as<T>(), b.as<T>(), a.as<T>().begin(), f);
      });
    };
    for (std::size_t step = order == Order::in_pairs ? 1 : all.size(); step < all.size(); step *= 2)
      for (std::size_t i = 0; i + step < all.size(); i += 2 * step) meet(all[i], all[i + step]);
    for (std::size_t i = 1; order != Order::in_pairs && i < all.size(); ++i) meet(all.front(), all[i]);
    return Values(std::move(all.front()));
  };
}

// Keeps NaN, else what is not beaten.
template <class F>
auto spreading_nan(F is_beaten) {
  return [=](auto a, auto b) { return a != a ? a : b != b || is_beaten(a, b) ? b : a; };
}

template <class F>
std::vector<VariantKernel> extreme_variants(F is_beaten) {
  const auto spreading = spreading_nan(is_beaten);
  const auto dropping = [=](auto a, auto b) { return a != a || is_beaten(a, b) ? b : a; };
  const auto second = [=](auto a, auto b) { return is_beaten(b, a) ? a : b; };
  const auto first = [=](auto a, auto b) { return is_beaten(a, b) ? b : a; };
  return {{{"sequential", Level::L2, "inputs written out, then taken one after the other"}, folding(spreading)},
          {{"from-the-last", Level::L2, "from the last input to the first"}, folding(spreading, Order::backwards)},
          {{"in-pairs", Level::L2, "two and two, as a tree"}, folding(spreading, Order::in_pairs)},
          {{"drops-nan", Level::L2, "NaN loses against any number", "E3", "number"}, folding(dropping)},
          {{"keeps-second", Level::L2, "where a comparison fails the second operand", "E3", "second"}, folding(second)},
          {{"keeps-first", Level::L2, "where a comparison fails the first operand", "E3", "first"}, folding(first)}};
}

const auto is_smaller = [](auto a, auto b) { return a < b; };
const auto is_larger = [](auto a, auto b) { return b < a; };

// Compares 64-bit integers half by half, the lower ones as signed numbers too, as some vector units are made to.
template <class F>
auto by_signed_halves(F is_beaten) {
  return [=]<Number T>(T a, T b) {
    if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) {
      const auto halves = [](T x) { return std::pair(x >> 32, static_cast<std::int32_t>(x)); };
      return is_beaten(halves(a), halves(b));
    } else {
      return is_beaten(a, b);
    }
  };
}

// Bugs of an operator with any number of inputs.
std::vector<Bug> variadic_bugs(const Operator& op) {
  const auto reading = [&](const char* name, const char* description, std::size_t most) {
    return Bug{{lower(op.name()) + "-" + name, op.name(), description}, [most](const Call& call, Inputs in) {
                 std::vector<Tensor> all = all_written_out(call, in, Laying::right);
                 std::vector<const Tensor*> read;
                 Node node = call.node();
                 for (std::size_t i = 0; i < all.size(); ++i) {
                   const std::string& input = call.definition().inputs[i].name;
                   if (read.size() < most)
                     read.push_back(&all[i]), node.inputs.at(input).type.shape = all[i].shape();
                   else
                     node.inputs.erase(input);
                 }
                 return call.definition().kernel(Call(call.definition(), std::move(node)), read);
               }};
  };
  Bug halves{{lower(op.name()) + "-signs-halves", op.name(), "the lower halves of integers are compared as signed"},
             op.name() == "Max" ? folding(spreading_nan(by_signed_halves(is_smaller)))
                                : folding(spreading_nan(by_signed_halves(is_larger)))};
  halves.mutant.types = {DType::i64, DType::u64};
  std::vector<Bug> bugs{reading("reads-one", "only the first input is read", 1),
                        reading("reads-two", "only two inputs are read", 2),
                        reading("reads-seven", "only seven inputs are read", 7)};
  if (op.versions().back().ruling("E3")) bugs.push_back(std::move(halves));
  return bugs;
}

// By a division or a multiplication with a power of two, as long as there is one.
Tensor by_powers(const Tensor& x, const Tensor& by, bool to_the_left) {
  Tensor z(x.type());
  for_type(x.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      for (std::size_t i = 0; i < z.as<T>().size(); ++i) {
        const T value = x.as<T>()[i], bits = by.as<T>()[i];
        T shifted = value;
        for (unsigned step = 0; step < 64 && (bits < T(0) || step < static_cast<std::uint64_t>(bits)); ++step)
          shifted = to_the_left ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(shifted) * 2U)
                                : static_cast<T>((shifted - T(shifted & 1)) / T(2));
        z.as<T>()[i] = shifted;
      }
  });
  return z;
}

Kernel shifting(bool masks) {
  return [masks](const Call& call, Inputs in) {
    std::vector<Tensor> all = all_written_out(call, in, Laying::right);
    if (masks && call.definition().ruling("E35"))  // where the text is silent
      for_type(all[1].dtype(), [&]<class T>() {
        if constexpr (std::is_integral_v<T>)
          for (T& bits : all[1].as<T>()) bits = static_cast<T>(bits & T(8 * sizeof(T) - 1));
      });
    return Values(by_powers(all[0], all[1], call.text("direction") == "LEFT"));
  };
}

}  // namespace

const Pairing* arithmetic_of(const std::string& op) { return find_in(arithmetic(), op, &Pairing::op); }

std::vector<Bug> arithmetic_bugs(const Operator& op) {
  if (op.versions().back().is_variadic()) return variadic_bugs(op);
  if (op.name() != "Div") return {};
  std::vector<Bug> bugs{{{"div-floors", op.name(), "quotients of integers are rounded down"}, pairing(floored)},
                        {{"div-takes-reciprocal", op.name(), "a product with the reciprocal", oracles::State::below},
                         pairing(by_reciprocal)}};
  bugs.front().mutant.types = {DType::i8, DType::i16, DType::i32, DType::i64};
  return bugs;
}

std::vector<VariantKernel> arithmetic_variants(const std::string& op) {
  if (op == "Max") return extreme_variants(is_smaller);
  if (op == "Min") return extreme_variants(is_larger);
  if (op != "BitShift") return {};
  return {{{"sequential", Level::L2, "by one bit after the other"}, shifting(false)},
          {{"masks-shifts", Level::L2, "shifts are taken modulo the width", "E35", "modulo"}, shifting(true)}};
}

}  // namespace assay::mutation
