// SPDX-License-Identifier: Apache-2.0
// Operators whose inputs are broadcast: each input is first written out at every element of the output, by a hand of
// its own, and the operator is asked about the written-out inputs. A bug writes one of them out wrongly.
#include "suites/crosscheck/family.h"

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

namespace assay::crosscheck {
namespace {

using oracles::Level;

// How an input is laid along the output.
enum class Laying { right, by_flat_index, first_everywhere, from_the_left };

bool is_limited(const Call& call) { return call.definition().attribute("broadcast") != nullptr; }

Shape output_of(const Call& call) { return call.definition().shape(call); }

// The axis of the output at which the input begins.
Int first_axis(const Call& call, std::size_t input, std::size_t axes, std::size_t rank, Laying laying) {
  if (laying == Laying::from_the_left) return 0;
  if (input == 1 && rank == 1 && call.definition().constraint("chan")) return axes > 1 ? 1 : 0;
  const auto last = static_cast<Int>(axes) - static_cast<Int>(rank);
  const bool is_named = is_limited(call) && input == 1 && call.integer("broadcast") == 1 && call.states("axis");
  if (!is_named) return last;
  const Int axis = call.integer("axis");
  return axis < 0 ? axis + static_cast<Int>(axes) : axis;
}

// Which element of the input stands at an element of the output.
Int source(const Call& call, std::size_t input, const Shape& from, const Shape& to, Int flat, Laying laying) {
  const Int count = volume(from);
  if (count == 1 || laying == Laying::first_everywhere) return 0;
  if (laying == Laying::by_flat_index) return flat % count;
  const Int first = first_axis(call, input, to.size(), from.size(), laying);
  Int at = 0, stride = 1;
  for (std::size_t axis = to.size(); axis-- > 0; flat /= to[axis]) {
    const Int own = static_cast<Int>(axis) - first;
    if (own < 0 || own >= static_cast<Int>(from.size())) continue;
    const Int extent = from[static_cast<std::size_t>(own)];
    at += flat % to[axis] % extent * stride;
    stride *= extent;
  }
  return at;
}

Tensor written_out(const Call& call, std::size_t input, const Tensor& from, Laying laying) {
  Tensor to({from.dtype(), output_of(call)});
  for_type(from.dtype(), [&]<class T>() {
    const std::span<const T> read = from.as<T>();
    const std::span<T> write = to.as<T>();
    for (std::size_t i = 0; i < write.size(); ++i)
      write[i] =
          read[static_cast<std::size_t>(source(call, input, from.shape(), to.shape(), static_cast<Int>(i), laying))];
  });
  return to;
}

// The inputs written out, the last one as `laying` says.
std::vector<Tensor> all_written_out(const Call& call, Inputs in, Laying laying) {
  std::vector<Tensor> all;
  const auto count = static_cast<std::size_t>(std::ranges::find(in, nullptr) - in.begin());
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(written_out(call, i, *in[i], i + 1 == count ? laying : Laying::right));
  return all;
}

// The right answer to inputs that are written out, which the newest version admits of any operator.
Kernel laid(Laying laying, bool swaps = false) {
  return [=](const Call& call, Inputs in) {
    std::vector<Tensor> all = all_written_out(call, in, laying);
    if (swaps) std::swap(all.front(), all.back());
    Node node = call.node();
    for (const char* where : {"axis", "broadcast"}) node.attributes.erase(where);
    std::vector<const Tensor*> inputs;
    for (const Tensor& each : all) {
      node.inputs.at(call.definition().inputs[inputs.size()].name).type.shape = each.shape();
      inputs.push_back(&each);
    }
    const OpVersion& version = call.definition().version;
    const Definition& newest = find_operator(version.domain, version.name)->versions().back();
    return newest.kernel(Call(newest, std::move(node)), inputs);
  };
}

// C[i] = f(A[i], B[i]), of the type of C.
template <class F>
Kernel pairing(F f) {
  return [f](const Call& call, Inputs in) {
    const std::vector<Tensor> all = all_written_out(call, in, Laying::right);
    Tensor c({call.definition().type_of(call, call.definition().outputs.front()), output_of(call)});
    for_type(all[0].dtype(), [&]<class T>() {
      if constexpr (std::is_invocable_v<F, T, T>) {
        using Made = std::conditional_t<Number<T> && std::is_same_v<std::invoke_result_t<F, T, T>, T>, T, Bool>;
        for (std::size_t i = 0; i < c.as<Made>().size(); ++i)
          c.as<Made>()[i] = Made(f(all[0].as<T>()[i], all[1].as<T>()[i]));
      }
    });
    return Values(std::move(c));
  };
}

const auto have_same_bits = []<class T>(T a, T b) {
  if constexpr (std::is_same_v<T, std::string>)
    return a.compare(b) == 0;
  else if constexpr (std::is_same_v<T, Bool> || std::is_integral_v<T>)
    return (a ^ b) == 0;
  else
    return a == T(0.0) ? b == T(0.0) : a == a && std::memcmp(&a, &b, sizeof(T)) == 0;
};

const auto is_same = [](auto a, auto b) { return a == b; };
const auto is_above = [](auto a, auto b) { return a > b; };
const auto is_below = [](auto a, auto b) { return a < b; };
const auto is_no_less = [](auto a, auto b) { return a > b || a == b; };
const auto is_no_more = [](auto a, auto b) { return a < b || a == b; };

// A comparison of f16 and bf16 in f32.
template <class F>
auto widened(F f) {
  return [f]<class T>(T a, T b) {
    if constexpr (is_narrow<T>)
      return f(static_cast<float>(static_cast<double>(a)), static_cast<float>(static_cast<double>(b)));
    else
      return f(a, b);
  };
}

// A comparison of integers by their upper and lower halves.
template <class F>
auto halved(F f) {
  return [f]<class T>(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      constexpr int half = 4 * sizeof(T);
      constexpr T lower_half = static_cast<T>((std::uint64_t{1} << half) - 1);
      const auto halves = [](T x) { return std::pair<Int, Int>(static_cast<Int>(x >> half), x & lower_half); };
      return f(halves(a), halves(b));
    } else {
      return f(a, b);
    }
  };
}

struct Pairing {
  const char* op;
  Kernel direct, roundabout;
  Kernel but_for_equal = {};  // wrong where both are equal
  Kernel in_f32 = {}, by_halves = {};
  Kernel saturating = {};
  const char* overflow = "";  // the ruling that lets it
  bool is_ordered = false;    // the operands may not be exchanged
};

template <class F>
Pairing with_widths(Pairing comparison, F f) {
  comparison.in_f32 = pairing(widened(f));
  comparison.by_halves = pairing(halved(f));
  comparison.is_ordered = bool(comparison.but_for_equal);
  return comparison;
}

// -- arithmetic

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

const auto division = [](auto a, auto b) {
  if constexpr (std::is_floating_point_v<decltype(a)>)
    return a / b;
  else
    return b == 0 ? decltype(a)(0) : a / b;
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

const auto sloped = [](auto x, auto slope) { return x < 0 ? slope * x : x; };

const std::vector<Pairing>& arithmetic() {
  const auto backwards = [](auto f) { return [f](auto a, auto b) { return f(b, a); }; };
  const std::plus<> plus;
  const std::minus<> minus;
  const std::multiplies<> times;
  static const std::vector<Pairing> all{
      {"Add",
       pairing(widely(plus)),
       pairing(on_integers([](auto a, auto b) { return (a ^ b) + 2 * (a & b); }, backwards(plus))),
       {},
       {},
       {},
       pairing(saturating(plus)),
       "E17"},
      {"Sub",
       pairing(widely(minus)),
       pairing(on_integers([](auto a, auto b) { return a + ~b + 1; }, [](auto a, auto b) { return a + -b; })),
       {},
       {},
       {},
       pairing(saturating(minus)),
       "E17",
       true},
      {"Mul", pairing(widely(times)), pairing(widely(backwards(times))), {}, {}, {}, pairing(saturating(times)), "E17"},
      {"Div",
       pairing(widely(division)),
       pairing([]<Number T>(T a, T b) { return long_division(a, b); }),
       {},
       {},
       {},
       pairing(saturating(division)),
       "E16",
       true},
      {"PRelu",
       pairing(widely(sloped)),
       pairing([]<Number T>(T a, T b) { return a < T(0) ? widely(std::multiplies())(a, b) : a; }),
       {},
       {},
       {},
       pairing(saturating(sloped)),
       "E17",
       true},
      {"BitwiseAnd", pairing(on_bits(std::bit_and())), pairing(on_bits([](auto a, auto b) { return ~(~a | ~b); }))},
      {"BitwiseOr", pairing(on_bits(std::bit_or())), pairing(on_bits([](auto a, auto b) { return ~(~a & ~b); }))},
      {"BitwiseXor", pairing(on_bits(std::bit_xor())),
       pairing(on_bits([](auto a, auto b) { return (a | b) & ~(a & b); }))}};
  return all;
}

// -- as many operands as there are

enum class Order { forwards, backwards, in_pairs };

template <class F>
Kernel folding(F f, Order order, std::size_t most = 8) {
  return [=](const Call& call, Inputs in) {
    std::vector<Tensor> all = all_written_out(call, in, Laying::right);
    all.resize(std::min(all.size(), most));
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

template <class F>
std::vector<Way> extreme_ways(F is_beaten) {
  const auto spreading = [=](auto a, auto b) { return a != a ? a : b != b || is_beaten(a, b) ? b : a; };
  const auto dropping = [=](auto a, auto b) { return a != a || is_beaten(a, b) ? b : a; };
  const auto second = [=](auto a, auto b) { return is_beaten(b, a) ? a : b; };
  const auto first = [=](auto a, auto b) { return is_beaten(a, b) ? b : a; };
  return {
      {{"sequential", Level::L2, "inputs written out, then taken one after the other"},
       folding(spreading, Order::forwards)},
      {{"from-the-last", Level::L2, "from the last input to the first"}, folding(spreading, Order::backwards)},
      {{"in-pairs", Level::L2, "two and two, as a tree"}, folding(spreading, Order::in_pairs)},
      {{"drops-nan", Level::L2, "NaN loses against any number", "E3", "number"}, folding(dropping, Order::forwards)},
      {{"keeps-second", Level::L2, "where a comparison fails the second operand", "E3", "second"},
       folding(second, Order::forwards)},
      {{"keeps-first", Level::L2, "where a comparison fails the first operand", "E3", "first"},
       folding(first, Order::forwards)}};
}

const auto is_smaller = [](auto a, auto b) { return a < b; };
const auto is_larger = [](auto a, auto b) { return b < a; };

// As processors without 64-bit comparisons do it that take the lower halves for signed numbers as well.
template <class F>
auto by_signed_halves(F is_beaten) {
  return [=]<Number T>(T a, T b) -> T {
    const auto key = [](T x) {
      if constexpr (sizeof(T) == 8 && std::is_integral_v<T>)
        return std::pair(x >> 32, static_cast<std::int32_t>(x));
      else
        return x;
    };
    return a != a ? a : b != b || is_beaten(key(a), key(b)) ? b : a;
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
             op.name() == "Max" ? folding(by_signed_halves(is_smaller), Order::forwards)
                                : folding(by_signed_halves(is_larger), Order::forwards)};
  halves.mutant.types = {DType::i64, DType::u64};
  return {std::move(halves), reading("reads-one", "only the first input is read", 1),
          reading("reads-two", "only two inputs are read", 2), reading("reads-seven", "only seven inputs are read", 7)};
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
          shifted = to_the_left ? static_cast<T>(shifted * T(2)) : static_cast<T>((shifted - T(shifted & 1)) / T(2));
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

const std::vector<Pairing>& comparisons() {
  static const std::vector<Pairing> all{
      with_widths({"Equal", pairing(is_same), pairing(have_same_bits)}, is_same),
      with_widths({"Greater", pairing(is_above), pairing([](auto a, auto b) { return !(a <= b) && a == a && b == b; }),
                   pairing(is_no_less)},
                  is_above),
      with_widths({"Less", pairing(is_below), pairing([](auto a, auto b) { return !(a >= b) && a == a && b == b; }),
                   pairing(is_no_more)},
                  is_below),
      with_widths({"GreaterOrEqual", pairing(is_no_less),
                   pairing([](auto a, auto b) { return !(a < b) && a == a && b == b; }), pairing(is_above)},
                  is_no_less),
      with_widths({"LessOrEqual", pairing(is_no_more),
                   pairing([](auto a, auto b) { return !(a > b) && a == a && b == b; }), pairing(is_below)},
                  is_no_more),
      {"And", pairing([](Bool a, Bool b) { return a && b; }), pairing([](Bool a, Bool b) { return a.byte * b.byte; })},
      {"Or", pairing([](Bool a, Bool b) { return a || b; }), pairing([](Bool a, Bool b) { return !(!a && !b); })},
      {"Xor", pairing([](Bool a, Bool b) { return a ? !b : bool(b); }),
       pairing([](Bool a, Bool b) { return (a.byte + b.byte) % 2; })}};
  return all;
}

const Pairing* pairing_of(const std::string& op) {
  for (const std::vector<Pairing>* const all : {&comparisons(), &arithmetic()})
    if (const auto found = std::ranges::find(*all, op, &Pairing::op); found != all->end()) return &*found;
  return nullptr;
}

}  // namespace

std::vector<Bug> broadcast_bugs(const Operator& op) {
  const auto bug = [&](const char* name, const char* description, Kernel kernel) {
    return Bug{{lower(op.name()) + "-" + name, op.name(), description}, std::move(kernel)};
  };
  std::vector<Bug> bugs{
      bug("reads-by-flat-index", "the last input is read as one long row, over and over", laid(Laying::by_flat_index)),
      bug("repeats-first-operand", "the last input is read as its first element", laid(Laying::first_everywhere)),
      bug("aligns-left", "the axes of the last input are matched from the left", laid(Laying::from_the_left))};
  if (op.versions().back().is_variadic()) std::ranges::move(variadic_bugs(op), std::back_inserter(bugs));
  const Pairing* const known = pairing_of(op.name());
  if (known && known->is_ordered)
    bugs.push_back(bug("swaps-operands", "the inputs are exchanged", laid(Laying::right, true)));
  if (known && known->but_for_equal)
    bugs.push_back(bug("mistakes-equal", "what is equal compares the other way", known->but_for_equal));
  if (op.name() == "Div") {
    bugs.push_back(bug("floors", "quotients of integers are rounded down", pairing(floored)));
    bugs.back().mutant.types = {DType::i8, DType::i16, DType::i32, DType::i64};
    bugs.push_back(bug("takes-reciprocal", "a product with the reciprocal", pairing(by_reciprocal)));
    bugs.back().mutant.expected = oracles::State::below;
  }
  return bugs;
}

std::vector<Way> broadcast_ways(const std::string& op) {
  if (op == "Max") return extreme_ways(is_smaller);
  if (op == "Min") return extreme_ways(is_larger);
  if (op == "BitShift")
    return {{{"sequential", Level::L2, "by one bit after the other"}, shifting(false)},
            {{"masks-shifts", Level::L2, "shifts are taken modulo the width", "E35", "modulo"}, shifting(true)}};
  const Pairing* const known = pairing_of(op);
  if (!known) return {};
  std::vector<Way> ways{
      {{"sequential", Level::L2, "inputs written out, then taken one by one"}, known->direct},
      {{"roundabout", Level::L2, "by the opposite comparison, by bits or by arithmetic"}, known->roundabout}};
  if (known->in_f32) ways.push_back({{"in-f32", Level::L2, "f16 and bf16 are computed in f32"}, known->in_f32});
  if (known->by_halves)
    ways.push_back({{"by-halves", Level::L2, "integers are compared half by half"}, known->by_halves});
  if (known->saturating)
    ways.push_back({{op == "Div" ? "saturates-quotients" : "saturates", Level::L2,
                     "what does not fit is the nearest that does", known->overflow, "saturate"},
                    known->saturating});
  return ways;
}

}  // namespace assay::crosscheck
