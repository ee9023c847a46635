// SPDX-License-Identifier: Apache-2.0
// Operators whose inputs are broadcast: each input is first written out at every element of the output, by a hand of
// its own, and the operator is computed on the written-out inputs. A bug writes one of them out wrongly.
#include "suites/mutation/pairing.h"

#include <algorithm>
#include <cstring>

namespace assay::mutation {
namespace {

using oracles::Level;

bool is_limited(const Call& call) { return call.definition().attribute("broadcast") != nullptr; }

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

bool is_beside(const std::string& input) { return input.ends_with("_scale") || input.ends_with("_zero_point"); }

// The inputs whose elements meet, up to one that is left out: not those that say what another one consists of.
std::vector<std::size_t> operands_of(const Call& call, Inputs in) {
  std::vector<std::size_t> operands;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::string& name = call.definition().inputs[i].name;
    if (is_beside(name)) continue;
    if (!in[i]) break;
    operands.push_back(i);
  }
  return operands;
}

// The right answer to operands that are written out, which the newest version admits of any operator.
Kernel laid(Laying laying, bool swaps = false) {
  return [=](const Call& call, Inputs in) {
    const std::vector<std::size_t> operands = operands_of(call, in);
    std::vector<Tensor> all;
    for (const std::size_t each : operands)
      all.push_back(written_out(call, each, *in[each], each == operands.back() ? laying : Laying::right));
    if (swaps) std::swap(all.front(), all.back());
    Node node = call.node();
    for (const char* where : {"axis", "broadcast"}) node.attributes.erase(where);
    std::vector<const Tensor*> inputs(in.begin(), in.end());
    if (!is_beside(call.definition().inputs.back().name)) inputs.resize(operands.size());  // none behind a gap
    for (std::size_t i = 0; i < all.size(); ++i) {
      node.inputs.at(call.definition().inputs[operands[i]].name).type.shape = all[i].shape();
      inputs[operands[i]] = &all[i];
    }
    const OpVersion& version = call.definition().version;
    const Definition& newest = find_operator(version.domain, version.name)->versions().back();
    return newest.kernel(Call(newest, std::move(node)), inputs);
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

template <class F>
Pairing with_widths(Pairing comparison, F f) {
  comparison.in_f32 = pairing(widened(f));
  comparison.by_halves = pairing(halved(f));
  comparison.is_ordered = bool(comparison.but_for_equal);
  return comparison;
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
  const auto found = std::ranges::find(comparisons(), op, &Pairing::op);
  return found == comparisons().end() ? arithmetic_of(op) : &*found;
}

}  // namespace

Shape output_of(const Call& call) { return call.definition().shape(call); }

std::vector<Tensor> all_written_out(const Call& call, Inputs in, Laying laying) {
  std::vector<Tensor> all;
  const auto count = static_cast<std::size_t>(std::ranges::find(in, nullptr) - in.begin());
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(written_out(call, i, *in[i], i + 1 == count ? laying : Laying::right));
  return all;
}

std::vector<Bug> broadcast_bugs(const Operator& op) {
  const auto bug = [&](const char* name, const char* description, Kernel kernel) {
    return bug_of(op.name(), name, description, std::move(kernel));
  };
  std::vector<Bug> bugs;
  if (!op.versions().back().constraint("same"))  // else no input is read twice
    bugs = {bug("reads-by-flat-index", "the last input is read as one long row, over and over",
                laid(Laying::by_flat_index)),
            bug("repeats-first-operand", "the last input is read as its first element", laid(Laying::first_everywhere)),
            bug("aligns-left", "the axes of the last input are matched from the left", laid(Laying::from_the_left))};
  std::ranges::move(arithmetic_bugs(op), std::back_inserter(bugs));
  const Pairing* const known = pairing_of(op.name());
  if (known && known->is_ordered)
    bugs.push_back(bug("swaps-operands", "the inputs are exchanged", laid(Laying::right, true)));
  if (known && known->but_for_equal)
    bugs.push_back(bug("mistakes-equal", "what is equal compares the other way", known->but_for_equal));
  return bugs;
}

std::vector<VariantKernel> broadcast_variants(const std::string& op) {
  if (std::vector<VariantKernel> own = arithmetic_variants(op); !own.empty()) return own;
  const Pairing* const known = pairing_of(op);
  if (!known) return {};
  std::vector<VariantKernel> variants{
      {{"sequential", Level::L2, "inputs written out, then taken one by one"}, known->direct},
      {{"roundabout", Level::L2, "by the opposite comparison, by bits or by arithmetic"}, known->roundabout}};
  if (known->in_f32) variants.push_back({{"in-f32", Level::L2, "f16 and bf16 are computed in f32"}, known->in_f32});
  if (known->by_halves)
    variants.push_back({{"by-halves", Level::L2, "integers are compared half by half"}, known->by_halves});
  if (known->saturating)
    variants.push_back({{op == "Div" ? "saturates-quotients" : "saturates", Level::L2,
                         "what does not fit is the nearest that does", known->overflow, "saturate"},
                        known->saturating});
  return variants;
}

}  // namespace assay::mutation
