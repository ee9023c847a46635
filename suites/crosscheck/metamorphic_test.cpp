// SPDX-License-Identifier: Apache-2.0
// Laws between operators, run on the reference kernels: each is another road to the same numbers. OperatorGenerator
// are those the generators ask about Conv, carried over.
#include "generators/generators.h"
#include "reference/case_view.h"
#include "reference/flat_index.h"
#include "reference/window.h"
#include "suites/mutation/kernel_trial.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace assay::mutation {
namespace {

constexpr std::uint64_t seed = 4;
constexpr std::size_t draws = 400;

using Operands = oracles::Operands;

Tensor submit(const OpVersion& version, Node node, const Operands& operands) {
  const Definition& definition = *find_definition(version);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i]) node.input(definition.inputs[i].name, operands[i]->type());
  const Call call(definition, std::move(node));
  INFO(text(version));
  REQUIRE(definition.violated(call).empty());
  return definition.kernel(call, views(operands)).only();
}

// The attributes of a node without its inputs.
Node attributes_of(const Case& c) {
  Node node;
  node.attributes = c.node.attributes;
  return node;
}

// Small integers: every sum is exact in every accumulator.
std::vector<Case> conv_generators() {
  std::vector<Case> list;
  for (const auto& [subject, index] : sampled_versions("Conv", draws)) {
    if (subject.definition->version.since_version != 11) continue;
    Case c = generators::legal(*subject.definition, subject.type, seed, index);
    for (auto& [input, source] : c.sources) source.recipe = {"small", std::to_string(index + input.size())};
    list.push_back(std::move(c));
  }
  return list;
}

Tensor moved(const Tensor& in, const std::vector<std::size_t>& from) {
  Shape shape;
  for (const std::size_t axis : from) shape.push_back(in.shape()[axis]);
  Tensor out({in.dtype(), shape});
  const std::size_t size = size_of(in.dtype());
  for_each_position(shape, [&](const Shape& at, Int flat) {
    Shape source(at.size());
    for (std::size_t axis = 0; axis < at.size(); ++axis) source[from[axis]] = at[axis];
    std::ranges::copy(in.bytes().subspan(static_cast<std::size_t>(flat_index(in.shape(), source)) * size, size),
                      out.bytes().subspan(static_cast<std::size_t>(flat) * size, size).begin());
  });
  return out;
}

Tensor channels_last(const Tensor& in) {
  std::vector<std::size_t> from{0};
  for (std::size_t axis = 2; axis < in.shape().size(); ++axis) from.push_back(axis);
  from.push_back(1);
  return moved(in, from);
}

Tensor with_shape(const Tensor& in, Shape shape) {
  Tensor out({in.dtype(), std::move(shape)});
  REQUIRE(out.elements() == in.elements());
  std::ranges::copy(in.bytes(), out.bytes().begin());
  return out;
}

// A DeformConv case on the windows of a Conv case.
struct Deformed {
  Node node;
  Operands operands;  // X, W, offset, B, mask
};

Deformed deformed(const Case& c, Int offset_group, const Recipe& offset, const std::optional<Recipe>& mask) {
  const Operands conv = operands(c, 0);
  Deformed out{attributes_of(c), {conv[0], conv[1], std::nullopt, conv.size() > 2 ? conv[2] : std::nullopt}};
  out.node.attributes.erase("auto_pad");
  out.node.attribute("offset_group", offset_group);
  Shape shape = c.definition().shape(c.call());
  const Shape& w = conv[1]->shape();
  Int taps = 1;
  for (std::size_t axis = 2; axis < w.size(); ++axis) taps *= w[axis];
  shape[1] = offset_group * taps;
  if (mask) out.operands.push_back(fill(*mask, {conv[0]->dtype(), shape}));
  shape[1] *= static_cast<Int>(w.size()) - 2;
  out.operands[2] = fill(offset, {conv[0]->dtype(), shape});
  return out;
}

bool has_explicit_pads(const Case& c) { return c.call().text("auto_pad") == "NOTSET"; }

// The same with a spatial axis of extent 1 before or behind the only one, where nothing is displaced.
enum class Unit { first, last };

Shape with_unit(Shape shape, Unit unit) {
  shape.insert(unit == Unit::first ? shape.begin() + 2 : shape.end(), 1);
  return shape;
}

Node with_unit(const Case& c, Node node, Unit unit) {
  const Call call = c.call();
  const auto both = [&](Int one, Int other) { return unit == Unit::first ? Ints{one, other} : Ints{other, one}; };
  const Ints pads = call.ints("pads");
  Ints all = both(0, pads[0]);
  for (const Int pad : both(0, pads[1])) all.push_back(pad);
  node.attribute("pads", all);
  node.attribute("strides", both(1, call.ints("strides")[0]));
  node.attribute("dilations", both(1, call.ints("dilations")[0]));
  node.attribute("kernel_shape", both(1, call.ints("kernel_shape")[0]));
  return node;
}

// Channels (q*K + k) become (q*K + k)*2 + a, zero on the unit axis.
Tensor offset_with_unit(const Tensor& offset, Unit unit) {
  Shape shape = with_unit(offset.shape(), unit);
  shape[1] *= 2;
  Tensor out({offset.dtype(), shape});
  const std::size_t row = static_cast<std::size_t>(offset.shape()[2]) * size_of(offset.dtype());
  const std::size_t rows = row == 0 ? 0 : offset.bytes().size() / row;
  for (std::size_t i = 0; i < rows; ++i)
    std::ranges::copy(offset.bytes().subspan(i * row, row),
                      out.bytes().subspan((2 * i + (unit == Unit::first ? 1 : 0)) * row, row).begin());
  return out;
}

// -- QLinearConv

template <class T>
Tensor scalar_of(T value) {
  Tensor tensor({dtype_of<T>(), {}});
  tensor.as<T>()[0] = value;
  return tensor;
}

std::vector<Int> integers(const Tensor& tensor) {
  const auto widen = [](auto span) { return std::vector<Int>(span.begin(), span.end()); };
  return tensor.dtype() == DType::u8 ? widen(tensor.as<std::uint8_t>()) : widen(tensor.as<std::int8_t>());
}

Tensor as_double(const Tensor& tensor) {
  Tensor out({DType::f64, tensor.shape()});
  const std::vector<Int> values = integers(tensor);
  std::ranges::transform(values, out.as<double>().begin(), [](Int v) { return static_cast<double>(v); });
  return out;
}

// The bits of u8 with 128 subtracted, as i8: the same numbers once the zero point moves along.
Tensor moved_to_i8(const Tensor& tensor) {
  Tensor out({DType::i8, tensor.shape()});
  std::ranges::transform(tensor.bytes(), out.bytes().begin(), [](std::byte b) { return b ^ std::byte{0x80}; });
  return out;
}

}  // namespace

TEST_CASE("NhwcConv is Conv between transpositions, bit for bit", "[NhwcConv][metamorphic]") {
  for (const Case& c : conv_generators()) {
    Operands in = operands(c, 0);
    const Tensor y = submit({"", "Conv", 11}, attributes_of(c), in);
    in[0] = channels_last(*in[0]);
    in[1] = channels_last(*in[1]);
    INFO(line(c));
    CHECK(submit({"com.microsoft", "NhwcConv", 1}, attributes_of(c), in) == channels_last(y));
  }
}

TEST_CASE("DeformConv that displaces nothing and has no mask is Conv, bit for bit", "[DeformConv][metamorphic]") {
  for (const Case& c : conv_generators()) {
    if (!has_explicit_pads(c)) continue;
    const Deformed d = deformed(c, 1, {"const", "0"}, std::nullopt);
    INFO(line(c));
    CHECK(submit({"", "DeformConv", 19}, d.node, d.operands) ==
          submit({"", "Conv", 11}, attributes_of(c), operands(c, 0)));
  }
}

TEST_CASE("DeformConv that displaces every tap by one cell is Conv with other pads", "[DeformConv][metamorphic]") {
  for (const Case& c : conv_generators()) {
    if (!has_explicit_pads(c)) continue;
    Ints pads = c.call().ints("pads");
    const std::size_t rank = pads.size() / 2;
    if (std::any_of(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank), [](Int p) { return p == 0; }))
      continue;
    const Deformed d = deformed(c, 1, {"const", "1"}, std::nullopt);
    Node shifted = attributes_of(c);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      --pads[axis];
      ++pads[axis + rank];
    }
    shifted.attribute("pads", pads);
    INFO(line(c));
    CHECK(submit({"", "DeformConv", 19}, d.node, d.operands) == submit({"", "Conv", 11}, shifted, operands(c, 0)));
  }
}

TEST_CASE("DeformConv in one dimension is DeformConv in two with a unit axis, bit for bit",
          "[DeformConv][metamorphic]") {
  std::size_t required = 0;
  for (const Case& c : conv_generators()) {
    if (!has_explicit_pads(c) || c.call().rank("X") != 3) continue;
    const Int channels = c.call().dim("X", 1);
    const Deformed d = deformed(c, std::max<Int>(1, channels), {"normal", "3"}, Recipe{"uniform", "5"});
    const Tensor flat = submit({"", "DeformConv", 19}, d.node, d.operands);
    for (const Unit unit : {Unit::first, Unit::last}) {
      Operands in = d.operands;
      for (const std::size_t i : {0u, 1u, 4u}) in[i] = with_shape(*in[i], with_unit(in[i]->shape(), unit));
      in[2] = offset_with_unit(*in[2], unit);
      INFO(line(c));
      CHECK(submit({"", "DeformConv", 19}, with_unit(c, d.node, unit), in) ==
            with_shape(flat, with_unit(flat.shape(), unit)));
      ++required;
    }
  }
  CHECK(required >= 20);
}

TEST_CASE("QLinearConv with unit scales and no zero points is the integer convolution, saturated",
          "[QLinearConv][metamorphic]") {
  for (const Case& c : conv_generators()) {
    const Operands conv = operands(c, 0);
    const Tensor x = fill({"byte", "1"}, {DType::u8, conv[0]->shape()});
    const Tensor w = fill({"around0", "2"}, {DType::i8, conv[1]->shape()});
    const Tensor one = scalar_of(1.0f), zero = scalar_of<std::uint8_t>(0);
    const Tensor y =
        submit({"", "QLinearConv", 10}, attributes_of(c), {x, one, zero, w, one, scalar_of<std::int8_t>(0), one, zero});
    const Tensor sums = submit({"", "Conv", 11}, attributes_of(c), {as_double(x), as_double(w)});
    INFO(line(c));
    REQUIRE(y.shape() == sums.shape());
    const std::vector<Int> got = integers(y);
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(static_cast<double>(got[i]) == std::clamp(sums.as<double>()[i], 0.0, 255.0));
  }
}

TEST_CASE("QLinearConv does not change where a type and its zero point move together", "[QLinearConv][metamorphic]") {
  for (const Case& c : conv_generators()) {
    const Operands conv = operands(c, 0);
    const Tensor x = fill({"byte", "3"}, {DType::u8, conv[0]->shape()});
    const Tensor w = fill({"byte", "4"}, {DType::u8, conv[1]->shape()});
    const Tensor small = scalar_of(0x1.8p-9f), one = scalar_of(1.0f);
    const Tensor x_zero = scalar_of<std::uint8_t>(131), w_zero = scalar_of<std::uint8_t>(97),
                 y_zero = scalar_of<std::uint8_t>(120);
    const Operands in{x, small, x_zero, w, one, w_zero, one, y_zero};
    const Tensor y = submit({"", "QLinearConv", 10}, attributes_of(c), in);
    INFO(line(c));
    for (const auto& [tensor, zero] : {std::pair{0u, 2u}, std::pair{3u, 5u}}) {
      Operands changed = in;
      changed[tensor] = moved_to_i8(*in[tensor]);
      changed[zero] = moved_to_i8(*in[zero]);
      CHECK(submit({"", "QLinearConv", 10}, attributes_of(c), changed) == y);
    }
    Operands changed = in;
    changed[7] = moved_to_i8(y_zero);
    CHECK(submit({"", "QLinearConv", 10}, attributes_of(c), changed) == moved_to_i8(y));
  }
}

}  // namespace assay::mutation
