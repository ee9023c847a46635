// SPDX-License-Identifier: Apache-2.0
// Exact laws of operators without windows, family by family: no right answer is consulted, both sides have to agree in
// every element. The reference kernels and every correct variant keep them, and planted bugs break each.
#include "generators/generators.h"
#include "oracles/exact/enclosure.h"
#include "reference/flat_index.h"
#include "reference/testing/run_size.h"
#include "reference/window.h"
#include "suites/mutation/family.h"
#include "suites/mutation/kernel_trial.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <set>

namespace assay::mutation {
namespace {

constexpr std::uint64_t seed = 12;

// -- Data, moved about

using From = std::function<Shape(Shape)>;  // where in the source the element of a place stands

Tensor gathered(const Tensor& in, const Shape& shape, const From& from) {
  Tensor out({in.dtype(), shape});
  for_type(in.dtype(), [&]<class T>() {
    const std::span<const T> read = in.as<T>();
    const std::span<T> write = out.as<T>();
    for_each_position(shape, [&](const Shape& at, Int flat) {
      write[static_cast<std::size_t>(flat)] = read[static_cast<std::size_t>(flat_index(in.shape(), from(at)))];
    });
  });
  return out;
}

// Backwards along the axes that `turns` picks.
template <class F>
Tensor reversed(const Tensor& in, F&& turns) {
  return gathered(in, in.shape(), [&](Shape at) {
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      if (turns(axis)) at[axis] = in.shape()[axis] - 1 - at[axis];
    return at;
  });
}

bool every_axis(std::size_t) { return true; }

// As it is where a bug left another number of elements.
Tensor reshaped(const Tensor& in, const Shape& shape) {
  if (volume(shape) != in.elements()) return in;
  Tensor out({in.dtype(), shape});
  for_type(in.dtype(), [&]<class T>() { std::ranges::copy(in.as<T>(), out.as<T>().begin()); });
  return out;
}

// The first `extent` places along an axis.
Tensor cut(const Tensor& in, std::size_t axis, Int extent) {
  Shape shape = in.shape();
  shape[axis] = std::max<Int>(extent, 0);
  return gathered(in, shape, [](Shape at) { return at; });
}

template <class F>
Tensor mapped(Tensor tensor, F&& f) {
  for_number(tensor.dtype(), [&]<class T>() {
    for (T& value : tensor.as<T>()) value = f(value);
  });
  return tensor;
}

bool has_nan(const Tensor& tensor) {
  return is_float(tensor.dtype()) && for_value(tensor.dtype(), [&]<class T>() {
           return std::ranges::any_of(tensor.as<T>(), [](T value) { return value != value; });
         });
}

// NaN is NaN, and zeros of either sign are one.
bool agree(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return false;
  return for_type(a.dtype(), [&]<class T>() {
    return std::ranges::equal(a.as<T>(), b.as<T>(),
                              [](const T& x, const T& y) { return x == y || (x != x && y != y); });
  });
}

// -- OperatorGenerator and laws

// Some operators are run with a bug or in another way.
using Hands = std::function<Kernel(const Definition&)>;
Kernel own_hand(const Definition& definition) { return definition.kernel; }

// The inputs of a node in schema order, and its outputs.
using Given = std::vector<std::optional<Tensor>>;
using Made = std::vector<Tensor>;

// A legal case with its first set of data, and what evaluates the cases beside it.
class Hearing {
 public:
  Hearing(const Case& c, const Hands& hands) : c_(c), given_(operands(c, 0)), hands_(hands) {}

  const Case& tested_case() const { return c_; }
  const Definition& definition() const { return c_.definition(); }
  const Given& given() const { return given_; }
  const Tensor& first() const { return *given_.front(); }
  const Tensor& second() const { return *given_.at(1); }
  // The axis that the attribute names, counted from the front.
  std::size_t axis() const {
    const Int stated = c_.call().integer("axis");
    return static_cast<std::size_t>(stated < 0 ? stated + static_cast<Int>(first().shape().size()) : stated);
  }

  // The outputs of the node with other data; nothing where that is no legal call.
  std::optional<Made> evaluated(Given given) const { return evaluated(definition(), c_.node, std::move(given)); }
  std::optional<Made> evaluated() const { return evaluated(given_); }
  // The one output of another operator of the same opset.
  std::optional<Tensor> evaluated(const char* op, Given given, Node node = {}) const {
    const Definition* const other = find_operator("", op)->at(c_.opset);
    if (!other) return std::nullopt;
    auto made = evaluated(*other, std::move(node), std::move(given));
    return made ? std::optional(std::move(made->front())) : std::nullopt;
  }

 private:
  std::optional<Made> evaluated(const Definition& definition, Node node, Given given) const {
    node.inputs.clear();
    given.resize(definition.inputs.size());
    std::vector<const Tensor*> inputs;
    for (std::size_t i = 0; i < given.size(); ++i) {
      inputs.push_back(given[i] ? &*given[i] : nullptr);
      if (given[i]) node.value(definition.inputs[i], *given[i]);
    }
    const Call call(definition, std::move(node));
    if (!definition.violated(call).empty()) return std::nullopt;
    return hands_(definition)(call, inputs).requested();
  }

  const Case& c_;
  Given given_;
  const Hands& hands_;
};

// The two sides; nothing where the law does not speak of the case.
using Sides = std::optional<std::pair<Made, Made>>;
Sides sides(std::optional<Made> a, std::optional<Made> b) {
  if (!a || !b) return std::nullopt;
  return std::pair(*std::move(a), *std::move(b));
}
Sides sides(std::optional<Tensor> a, std::optional<Tensor> b) {
  if (!a || !b) return std::nullopt;
  return std::pair(Made{*std::move(a)}, Made{*std::move(b)});
}

struct FamilyRelation {
  const char *id, *formula;
  std::vector<const char*> ops;  // none: every one of the family
  Shaping shaping;
  Sides (*of)(const Hearing&);
};

bool applies(const FamilyRelation& law, const Operator& op) {
  if (!law.ops.empty()) return std::ranges::any_of(law.ops, [&](const char* name) { return op.name() == name; });
  return op.versions().back().shaping == law.shaping;
}

template <class F>
std::optional<Made> each_of(std::optional<Made> made, F&& f) {
  if (made)
    for (Tensor& each : *made) each = f(each);
  return made;
}

// -- One input, element by element

// What a range with NaN among the data is depends on where it stands (W49).
Sides elements_reversed(const Hearing& h) {
  if (h.definition().ruling("W49") && has_nan(h.first())) return std::nullopt;
  return sides(h.evaluated({reversed(h.first(), every_axis)}),
               each_of(h.evaluated(), [](const Tensor& y) { return reversed(y, every_axis); }));
}

// What is told of all elements together (the scale of DynamicQuantizeLinear) stays as it is; beside a scalar it is not
// told apart.
Sides elements_in_a_row(const Hearing& h) {
  const Shape& shape = h.first().shape();
  const Shape row{h.first().elements()};
  const std::optional<Made> made = h.evaluated();
  if (made && made->size() > 1 && shape.empty()) return std::nullopt;
  return sides(h.evaluated({reshaped(h.first(), row)}),
               each_of(made, [&](const Tensor& y) { return y.shape() == shape ? reshaped(y, row) : y; }));
}

Sides done_twice(const Hearing& h) {
  const auto once = h.evaluated();
  return once ? sides(h.evaluated({once->front()}), once) : std::nullopt;
}

Sides undone(const Hearing& h) {
  const auto once = h.evaluated();
  return once ? sides(h.evaluated({once->front()}), Made{h.first()}) : std::nullopt;
}

// x = f(x) - f(-x): one of them is 0. Of the least integer there is no opposite.
Sides split_by_sign(const Hearing& h) {
  bool has_opposites = true;
  const Tensor opposite = mapped(h.first(), [&]<class T>(T x) -> T {
    if constexpr (std::is_integral_v<T>) {
      has_opposites &= x != std::numeric_limits<T>::min();
      return static_cast<T>(0 - static_cast<std::uint64_t>(x));
    } else {
      return T(-static_cast<double>(x));
    }
  });
  const auto above = h.evaluated(), below = h.evaluated({opposite});
  if (!above || !below || !has_opposites) return std::nullopt;
  Tensor sum = above->front();
  for_number(sum.dtype(), [&]<class T>() {
    const std::span<T> a = sum.as<T>();
    const std::span<const T> b = below->front().as<T>();
    for (std::size_t i = 0; i < a.size(); ++i)
      if (b[i] != T(0)) a[i] = T(-static_cast<double>(b[i]));
  });
  if (sum.dtype() == DType::i64) return std::nullopt;  // double does not hold it
  return sides(Made{sum}, Made{h.first()});
}

// -- Several inputs, broadcast

// Versions before 7 say by attributes where the second input lies, or lay it along the channels; there only equal
// shapes are looked at.
bool is_laid_by_attributes(const Hearing& h) {
  const bool is_laid = h.definition().attribute("broadcast") || h.definition().constraint("chan");
  return is_laid && h.first().shape() != h.second().shape();
}

Sides written_out(const Hearing& h) {
  if (is_laid_by_attributes(h)) return std::nullopt;
  const Shape shape = h.definition().shape(h.tested_case().call());
  Given whole;
  for (const std::optional<Tensor>& each : h.given())
    whole.push_back(!each ? each : gathered(*each, shape, [&](Shape at) {
      at.erase(at.begin(), at.end() - std::ssize(each->shape()));
      for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] %= each->shape()[axis];
      return at;
    }));
  return sides(h.evaluated(whole), h.evaluated());
}

Sides axes_reversed(const Hearing& h) {
  Given turned;
  for (const std::optional<Tensor>& each : h.given())
    turned.push_back(each ? std::optional(reversed(*each, every_axis)) : std::nullopt);
  return sides(h.evaluated(turned), each_of(h.evaluated(), [](const Tensor& y) { return reversed(y, every_axis); }));
}

Sides exchanged(const Hearing& h) {
  if (is_laid_by_attributes(h)) return std::nullopt;
  return sides(h.evaluated({h.second(), h.first()}), h.evaluated());
}

// Which NaN comes of two is the machine's.
Sides commuted(const Hearing& h) { return has_nan(h.first()) || has_nan(h.second()) ? std::nullopt : exchanged(h); }

std::optional<Tensor> negation(const Hearing& h, std::optional<Tensor> x) {
  return x ? h.evaluated("Not", {std::move(x)}) : std::nullopt;
}

// What stands for "a op b" when the operands are exchanged, and what its opposite is away from NaN.
struct Kin {
  const char *op, *exchanged, *opposite;
};
constexpr Kin kin[] = {{"Greater", "Less", "LessOrEqual"},
                       {"Less", "Greater", "GreaterOrEqual"},
                       {"GreaterOrEqual", "LessOrEqual", "Less"},
                       {"LessOrEqual", "GreaterOrEqual", "Greater"}};
const Kin& kin_of(const Hearing& h) { return *std::ranges::find(kin, h.definition().version.name, &Kin::op); }

std::optional<Tensor> answer(const Hearing& h) {
  auto made = h.evaluated();
  return made ? std::optional(std::move(made->front())) : std::nullopt;
}

Sides seen_from_the_other_side(const Hearing& h) {
  if (is_laid_by_attributes(h)) return std::nullopt;
  return sides(h.evaluated(kin_of(h).exchanged, {h.second(), h.first()}), answer(h));
}

Sides complementary(const Hearing& h) {
  if (has_nan(h.first()) || has_nan(h.second()) || is_laid_by_attributes(h)) return std::nullopt;
  return sides(negation(h, h.evaluated(kin_of(h).opposite, h.given())), answer(h));
}

// a = b where neither a > b nor a < b, away from NaN.
Sides trichotomy(const Hearing& h) {
  if (has_nan(h.first()) || has_nan(h.second()) || is_laid_by_attributes(h)) return std::nullopt;
  const auto above = h.evaluated("Greater", h.given()), below = h.evaluated("Less", h.given());
  if (!above || !below) return std::nullopt;
  return sides(negation(h, h.evaluated("Or", {above, below})), answer(h));
}

Sides de_morgan(const Hearing& h) {
  if (is_laid_by_attributes(h)) return std::nullopt;
  const char* const other = h.definition().version.name == "And" ? "Or" : "And";
  return sides(negation(h, h.evaluated(other, {negation(h, h.first()), negation(h, h.second())})), answer(h));
}

Sides unlike(const Hearing& h) {
  if (is_laid_by_attributes(h)) return std::nullopt;
  return sides(negation(h, h.evaluated("Equal", h.given())), answer(h));
}

// -- Lines along an axis

// The axes that lie across the lines, turned around.
Sides lines_reversed(const Hearing& h) {
  const std::size_t axis = h.axis();
  const bool flattens = h.definition().flattens;
  const auto turns = [&](std::size_t i) { return i < axis || (i > axis && !flattens); };
  Given turned = h.given();
  turned.front() = reversed(h.first(), turns);
  return sides(h.evaluated(turned), each_of(h.evaluated(), [&](const Tensor& y) { return reversed(y, turns); }));
}

// The last line by itself: the others have nothing to do with it. Only axes before the named one.
Sides last_lines_alone(const Hearing& h) {
  if (h.axis() == 0 || h.first().shape().front() < 2) return std::nullopt;
  const auto last = [](const Tensor& x) {
    Shape shape = x.shape();
    shape.front() = 1;
    return gathered(x, shape, [&](Shape at) {
      at.front() = x.shape().front() - 1;
      return at;
    });
  };
  Given alone = h.given();
  alone.front() = last(h.first());
  return sides(h.evaluated(alone), each_of(h.evaluated(), last));
}

// Small integers, and the same with 3 added to each: differences are exact in every type.
Sides shifted(const Hearing& h) {
  std::uint64_t at = 0;
  const auto small = [&]<class T>(T) -> T { return T(static_cast<double>(at++ * 7 % 11) - 5.0); };
  const Tensor x = mapped(h.first(), small);
  const Tensor above = mapped(x, []<class T>(T value) -> T {
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, Bool>)
      return value;
    else
      return T(static_cast<double>(value) + 3.0);
  });
  return sides(h.evaluated({above}), h.evaluated({x}));
}

// All axes from the named one on as one, and those before it.
Sides flattened(const Hearing& h) {
  if (!h.definition().flattens || h.axis() == 0) return std::nullopt;
  const Shape& shape = h.first().shape();
  const auto middle = shape.begin() + static_cast<std::ptrdiff_t>(h.axis());
  const Shape flat{volume(Shape(shape.begin(), middle)), volume(Shape(middle, shape.end()))};
  Node node;
  node.attribute("axis", 1);
  const auto as_matrix = h.evaluated("Softmax", {reshaped(h.first(), flat)}, node);
  const auto whole = answer(h);
  return whole && as_matrix ? sides(as_matrix, reshaped(*whole, flat)) : std::nullopt;
}

// -- Elements moved

Tensor as_parameter(const Shape& shape) {
  Tensor tensor({DType::i64, {std::ssize(shape)}});
  std::ranges::copy(shape, tensor.as<Int>().begin());
  return tensor;
}

// Into another shape, by an input or by an attribute as the version has it.
std::optional<Tensor> into(const Hearing& h, Tensor x, const Shape& shape) {
  Node node;
  if (h.definition().inputs.size() > 1) return h.evaluated("Reshape", {std::move(x), as_parameter(shape)});
  node.attribute("shape", shape);
  return h.evaluated("Reshape", {std::move(x)}, node);
}

bool has_no_elements(const Hearing& h) { return h.first().elements() == 0; }  // 0 in a shape copies an extent

Sides there_and_back(const Hearing& h) {
  const auto there = answer(h);
  if (!there || has_no_elements(h)) return std::nullopt;
  return sides(into(h, *there, h.first().shape()), std::optional(h.first()));
}

Sides by_way_of_a_row(const Hearing& h) {
  const auto direct = answer(h), row = into(h, h.first(), {-1});
  if (!direct || !row || has_no_elements(h)) return std::nullopt;
  return sides(into(h, *row, direct->shape()), direct);
}

bool is_sorted(const Hearing& h) {
  return !h.definition().attribute("sorted") || h.tested_case().call().integer("sorted");
}

// One fewer is the beginning of them all.
Sides one_fewer(const Hearing& h) {
  const Int k = h.tested_case().call().integer("k");
  if (k < 2 || h.given().size() < 2 || !is_sorted(h)) return std::nullopt;
  Given fewer = h.given();
  fewer[1] = mapped(h.second(), []<class T>(T value) -> T { return T(static_cast<double>(value) - 1.0); });
  return sides(h.evaluated(fewer),
               each_of(h.evaluated(), [&](const Tensor& y) { return cut(y, h.axis(), y.shape()[h.axis()] - 1); }));
}

// A value is the element that its index names.
Sides found_where_told(const Hearing& h) {
  const auto made = h.evaluated();
  if (!made || made->size() < 2) return std::nullopt;
  const Tensor& places = made->at(1);
  const Int extent = h.first().shape()[h.axis()];
  const auto inside = [&](Int place) { return 0 <= place && place < extent; };
  if (!std::ranges::all_of(places.as<Int>(), inside)) return sides(Made{places}, Made{});
  const Tensor found = gathered(h.first(), places.shape(), [&](Shape at) {
    at[h.axis()] = places.as<Int>()[static_cast<std::size_t>(flat_index(places.shape(), at))];
    return at;
  });
  return sides(Made{made->front()}, Made{found});
}

const std::vector<FamilyRelation>& laws() {
  using enum Shaping;
  static const std::vector<FamilyRelation> all{
      {"elements reversed", "f(x reversed) = f(x) reversed", {}, one, elements_reversed},
      {"elements in a row", "f(x in a row) = f(x) in a row", {}, one, elements_in_a_row},
      {"done twice", "f(f(x)) = f(x)", {"Relu"}, one, done_twice},
      {"undone", "f(f(x)) = x", {"Not"}, one, undone},
      {"split by sign", "f(x) - f(-x) = x", {"Relu"}, one, split_by_sign},
      {"written out", "f(a, b) = f(a written out, b written out)", {}, broadcast, written_out},
      {"axes reversed", "f(a reversed, b reversed) = f(a, b) reversed", {}, broadcast, axes_reversed},
      {"exchanged", "f(b, a) = f(a, b)", {"Equal", "And", "Or", "Xor"}, broadcast, exchanged},
      {"commuted", "f(b, a) = f(a, b)", {"Add", "Mul", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}, broadcast, commuted},
      {"seen from the other side",
       "a > b = b < a",
       {"Greater", "Less", "GreaterOrEqual", "LessOrEqual"},
       broadcast,
       seen_from_the_other_side},
      {"complementary",
       "a > b = not (a <= b), away from NaN",
       {"Greater", "Less", "GreaterOrEqual", "LessOrEqual"},
       broadcast,
       complementary},
      {"trichotomy", "a = b = not (a > b or a < b), away from NaN", {"Equal"}, broadcast, trichotomy},
      {"De Morgan", "a and b = not (not a or not b)", {"And", "Or"}, broadcast, de_morgan},
      {"unlike", "a xor b = not (a = b)", {"Xor"}, broadcast, unlike},
      {"lines reversed",
       "f(lines in the opposite order) = f(x) in that order",
       {"Softmax", "TopK"},
       axis,
       lines_reversed},
      {"last lines alone", "f(x[N-1]) = f(x)[N-1]", {"Softmax", "TopK"}, axis, last_lines_alone},
      {"shifted", "f(x + 3) = f(x), x small integers", {"Softmax"}, axis, shifted},
      {"flattened", "f(x, axis) = f(x as a matrix, 1)", {"Softmax"}, axis, flattened},
      {"there and back", "f(f(x, s), shape of x) = x", {"Reshape"}, moved, there_and_back},
      {"by way of a row", "f(f(x, -1), s) = f(x, s)", {"Reshape"}, moved, by_way_of_a_row},
      {"one fewer", "f(x, k - 1) = the first k - 1 of f(x, k)", {"TopK"}, moved, one_fewer},
      {"found where told", "values = x[indices]", {"TopK"}, moved, found_where_told},
  };
  return all;
}

// Tells whether the law is kept; nothing where it does not speak of the case.
std::optional<bool> is_kept(const FamilyRelation& law, const Case& c, const Hands& hands) {
  const Hearing hearing(c, hands);
  const Sides both = law.of(hearing);
  if (!both) return std::nullopt;
  return std::ranges::equal(both->first, both->second, agree);
}

// Calls f(law, case) for the operators that a law applies to, where chance has no part in the answer.
template <class F>
void for_each_case(std::size_t cases, F&& f) {
  for (const FamilyRelation& law : laws())
    for (const Operator* op : operators())
      if (applies(law, *op))
        for (const auto& [subject, index] : sampled_versions(op->name(), cases)) {
          const Case c = generators::legal(*subject.definition, subject.type, seed, index);
          if (!oracles::is_random(c.call())) f(law, c);
        }
}

TEST_CASE("Families: the reference kernels keep every exact law", "[family-laws]") {
  std::map<std::string, std::size_t> kept;
  for_each_case(count(200, 2'000), [&](const FamilyRelation& law, const Case& c) {
    const std::optional<bool> outcome = is_kept(law, c, own_hand);
    if (!outcome) return;
    INFO(law.formula << " of " << line(c));
    CHECK(*outcome);
    ++kept[law.id];
  });
  for (const FamilyRelation& law : laws()) {
    INFO(law.id);
    CHECK(kept[law.id] >= 20);
    std::cout << "  " << law.id << ": " << kept[law.id] << '\n';
  }
}

TEST_CASE("Families: every correct variant keeps every exact law", "[family-laws]") {
  for_each_case(count(60, 1'000), [&](const FamilyRelation& law, const Case& c) {
    for (const VariantKernel& way : variants_of(c.version)) {
      if (!way.variant.reading.empty()) continue;
      const Hands hands = [&](const Definition& each) {
        return each.version.name == c.version.name ? way.kernel : each.kernel;
      };
      INFO(way.variant.name << ": " << law.formula << " of " << line(c));
      CHECK(is_kept(law, c, hands).value_or(true));
    }
  });
}

TEST_CASE("Families: every exact law is broken by planted bugs, with no right answer consulted", "[family-laws]") {
  std::map<std::string, std::set<std::string>> broken;
  for_each_case(count(60, 200), [&](const FamilyRelation& law, const Case& c) {
    for (const Bug& bug : bugs_of(c.version)) {
      if (broken[law.id].contains(bug.mutant.id) || bug.keeps_last) continue;
      INFO(bug.mutant.id << ": " << law.formula << " of " << line(c));
      const Hands hands = [&](const Definition& each) {
        return each.version.name == c.version.name ? bug.kernel : each.kernel;
      };
      if (!is_kept(law, c, hands).value_or(true)) broken[law.id].insert(bug.mutant.id);
    }
  });
  for (const FamilyRelation& law : laws()) {
    INFO(law.id);
    CHECK_FALSE(broken[law.id].empty());
    std::cout << "  " << law.id << ": " << broken[law.id].size() << " bugs\n";
  }
}

}  // namespace
}  // namespace assay::mutation
