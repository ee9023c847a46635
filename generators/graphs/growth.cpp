// SPDX-License-Identifier: Apache-2.0
#include "generators/graphs/growth.h"

#include "generators/draw.h"
#include "generators/values.h"
#include "reference/sequence.h"

#include <algorithm>
#include <numeric>

namespace assay::generators {
namespace {

constexpr Int most_elements = Int{1} << 13;

Recipe integers(DType type) {
  switch (is_float(type) ? between(0, 9) : between(4, 9)) {
    case 0: return {"lit", "-3,-1,-6,-2,-8,-5,-4"};
    case 1: return {"lit", "3,1,6,2,8,5,4"};
    case 2: return seeded("sign");
    case 3: return seeded("quarter");
    default: return seeded("small");
  }
}

Shape first_shape() {
  const auto spatial = [] { return weighted<Int>({{1, 1}, {2, 2}, {3, 3}, {4, 4}, {4, 5}, {3, 6}, {2, 8}, {1, 9}}); };
  const Int channels = weighted<Int>({{2, 1}, {3, 2}, {3, 3}, {6, 4}, {2, 5}, {3, 8}, {2, 16}, {1, 17}, {1, 32}});
  const Int batch = weighted<Int>({{5, 1}, {2, 2}, {1, 3}});
  switch (weighted<int>({{3, 2}, {3, 3}, {8, 4}, {1, 5}})) {
    case 2: return {weighted<Int>({{2, 1}, {3, 2}, {4, 5}}), channels};
    case 3: return {batch, channels, spatial()};
    case 4: return {batch, channels, spatial(), spatial()};
    default: return {batch, std::min<Int>(channels, 4), 2, spatial(), 2};
  }
}

}  // namespace

Growth::Growth(int opset) : builder_(opset, opset < 21 ? 8 : 10) {
  last_ = data({weighted<DType>({{20, DType::f32}, {1, DType::f16}, {1, DType::f64}, {1, DType::i32}, {1, DType::i64}}),
                first_shape()});
}

std::string Growth::data(const TensorType& type) {
  const std::string name = builder_.leaf(type, {integers(type.dtype), false});
  values_.push_back(name);
  return name;
}

std::string Growth::constant(const TensorType& type, Recipe recipe) {
  if (chance(10))
    for (const GraphLeaf& leaf : builder_.graph().leaves)
      if (leaf.type == type && leaf.source.initializer && leaf.source.recipe.family == recipe.family)
        return note("constant that is shared"), leaf.name;
  if (chance(12)) {
    note("constant that is given");
    return builder_.leaf(type, {std::move(recipe), false});
  }
  if (chance(10))
    if (const std::string computed = this->computed(type, recipe); !computed.empty())
      return note("constant that is computed"), computed;
  return initializer(type, std::move(recipe));
}

std::string Growth::computed(const TensorType& type, const Recipe& recipe) {
  const auto from = [&](const TensorType& leaf, const char* op, Attributes attributes = {},
                        const std::vector<std::string>& more = {}) -> std::string {
    std::vector<std::string> operands{initializer(leaf, recipe)};
    operands.insert(operands.end(), more.begin(), more.end());
    const auto given = builder_.step(op, operands, std::move(attributes));
    return !given.empty() && this->type(given.front()) == type ? given.front() : "";
  };
  const Shape& shape = type.shape;
  switch (between(0, 5)) {
    case 0: return from(type, "Identity");
    case 1: {
      Ints perm(shape.size());
      std::iota(perm.rbegin(), perm.rend(), 0);
      return from({type.dtype, Shape(shape.rbegin(), shape.rend())}, "Transpose", {{"perm", perm}});
    }
    case 2: return from({type.dtype, {volume(shape)}}, "Reshape", {}, {list(shape)});
    case 3:
      if (!is_float(type.dtype)) return "";
      return from({type.dtype == DType::f32 ? DType::f64 : DType::f32, shape}, "Cast",
                  {{"to", static_cast<Int>(type.dtype)}});
    case 4: {
      const auto unit = std::ranges::find(shape, 1);
      if (unit == shape.end()) return "";
      Shape less = shape;
      less.erase(less.begin() + (unit - shape.begin()));
      const Ints axes{unit - shape.begin()};
      if (definition("Unsqueeze")->attribute("axes")) return from({type.dtype, less}, "Unsqueeze", {{"axes", axes}});
      return from({type.dtype, less}, "Unsqueeze", {}, {list(axes)});
    }
    default: return from(type, "Abs");
  }
}

std::string Growth::list(const Ints& values) {
  // Its own extents come from the tensor itself, or its parts are put together.
  for (const std::string& each : values_)
    if (!values.empty() && type(each).shape == values && chance(25))
      if (const auto extents = builder_.step("Shape", {each}); !extents.empty())
        return note("a list that is computed"), extents.front();
  if (values.size() > 1 && chance(6)) {
    const Ints head(values.begin(), values.begin() + 1), tail(values.begin() + 1, values.end());
    const auto both = builder_.step("Concat", {list(head), list(tail)}, {{"axis", Int{0}}});
    if (!both.empty()) return note("a list that is computed"), both.front();
  }
  return builder_.leaf({DType::i64, {std::ssize(values)}},
                       {{"values", joined(values, ",", [](Int each) { return std::to_string(each); })}, !chance(5)});
}

std::string Growth::weights(const Shape& shape, Int terms) {
  const Recipe sparse = seeded("sparse" + std::to_string(std::clamp<Int>(terms / 3, 1, 1000)));
  if (!is_dequantized_ || chance(25) || !definition("DequantizeLinear")) return constant(shape, sparse);
  note("weights that are dequantised");
  const std::string bytes = initializer({DType::i8, shape}, sparse);
  const std::string scale = initializer({DType::f32, {}}, held(pick({"1", "0.5", "2"})));
  const auto dequantized = builder_.step("DequantizeLinear", {bytes, scale});
  return dequantized.empty() ? constant(shape, sparse) : dequantized.front();
}

std::string Growth::other(const std::string& op) {
  const Shape& x = shape();
  const bool is_factor = op == "Mul" || op == "Div";
  if (op != "Div" && chance(8)) return note("the same operand twice"), last_;
  if (op != "Div" && chance(20)) {
    std::vector<std::string> like;
    for (const std::string& each : values_)
      if (each != last_ && type(each).dtype == type(last_).dtype && type(each).shape == x) like.push_back(each);
    if (!like.empty()) return note("another value as operand"), pick(like);
  }
  if (op != "Div" && chance(8)) return note("another value as operand"), data(type(last_));
  std::vector<Shape> shapes{{}, {}, {1}, x, Shape(x.size(), 1)};
  for (std::size_t axis = 0; axis < x.size(); ++axis) {
    Shape one(x.size(), 1);
    one[axis] = x[axis];
    shapes.push_back(one);
    shapes.emplace_back(one.begin() + static_cast<std::ptrdiff_t>(axis), one.end());  // without the 1 in front
  }
  Shape longer = x;
  longer.insert(longer.begin(), 1);
  if (chance(30)) shapes.push_back(longer);
  // Along the axis of channels it is what optimisers look for; elsewhere it is what they forget.
  const bool is_usual = x.size() > 2 && chance(40);
  const Shape& shape = is_usual ? shapes[7 + (chance(50) ? 1 : 0)] : pick(shapes);
  if (!is_usual && !shape.empty()) note("constant of another shape");
  if (chance(15)) return note("a neutral constant"), constant(shape, held(is_factor ? "1" : "0"));
  return constant(shape, op == "Div"   ? held(pick({"2,-4,0.5,1", "2", "0.25,-1"}))
                         : op == "Mul" ? held(pick({"2,-1,0.5,3", "2", "-1,3", "0.5,-2"}))
                                       : seeded("small"));
}

bool Growth::add(const std::string& op, std::vector<std::string> operands, Attributes attributes, std::size_t results) {
  while (!operands.empty() && operands.back().empty()) operands.pop_back();
  given_ = builder_.step(op, operands, std::move(attributes), results);
  if (given_.empty()) return false;
  if (std::ranges::any_of(given_, [&](const std::string& each) {
        return volume(type(each).shape) > most_elements || volume(type(each).shape) == 0;
      })) {
    builder_.drop_step();
    given_.clear();
    return false;
  }
  values_.insert(values_.end(), given_.begin(), given_.end());
  last_ = given_.front();
  return true;
}

bool Growth::branch(const std::string& op) {
  const std::string x = last_;
  std::vector<std::string> all;
  if (rank() > 0) axis_ = between(0, rank() - 1);
  for (Int count = between(2, 4); count > 0; --count) {
    last_ = x;
    if (!grow(op)) return axis_.reset(), false;
    all.push_back(last_);
  }
  axis_.reset();
  note("branches");
  given_ = std::move(all);
  return true;
}

bool Growth::phases() {
  if (rank() != 4 || !definition("Slice") || definition("Slice")->attribute("starts")) return false;
  const std::string x = last_;
  std::vector<std::string> all;
  Ints order{0, 1, 2, 3};
  if (chance(60)) std::swap(pick(order), pick(order));
  if (chance(20)) pick(order) = between(0, 3);
  const std::string ends = list({1000, 1000}), axes = list({2, 3}), steps = list({2, 2});
  for (const Int phase : order) {
    last_ = x;
    if (!add("Slice", {x, list({phase / 2, phase % 2}), ends, axes, steps})) return false;
    all.push_back(last_);
  }
  given_ = std::move(all);
  return true;
}

void Growth::repeat() {
  const std::vector<GraphStep>& steps = builder_.graph().steps;
  if (steps.empty()) return;
  const GraphStep step = steps[static_cast<std::size_t>(between(0, std::ssize(steps) - 1))];
  Attributes attributes = step.c.node.attributes;
  if (!attributes.empty() && chance(50)) attributes.erase(attributes.begin());
  const auto twin = builder_.step(step.c.version.name, step.operands, attributes, step.results.size());
  if (twin.empty()) return;
  exposed_.insert(twin.begin(), twin.end());
  note("the node twice");
}

void Growth::tap() {
  std::vector<std::string> inner;
  for (const GraphStep& step : builder_.graph().steps)
    for (const std::string& each : step.results)
      if (each != last_ && is_float(type(each).dtype)) inner.push_back(each);
  if (chance(35))
    for (const GraphLeaf& leaf : builder_.graph().leaves)
      if (leaf.source.initializer && is_float(leaf.type.dtype) && !leaf.type.shape.empty()) inner = {leaf.name};
  if (inner.empty()) return;
  const std::string& value = pick(inner);
  const bool is_constant =
      std::ranges::find(builder_.graph().leaves, value, &GraphLeaf::name) != builder_.graph().leaves.end();
  if (!is_constant && chance(50)) {
    exposed_.insert(value);
    note("output in the middle");
  } else if (const auto more = builder_.step(pick<std::string>({"Neg", "Relu", "Identity"}), {value}); !more.empty()) {
    exposed_.insert(more.front());
    note(is_constant ? "constant that is shared" : "second consumer");
  }
}

GraphCase Growth::finish() const {
  GraphCase graph = builder_.graph();
  std::set<std::string> taken;
  for (const GraphStep& step : graph.steps) taken.insert(step.operands.begin(), step.operands.end());
  for (const GraphStep& step : graph.steps)
    for (const std::string& each : step.results)
      if (exposed_.contains(each) || (!taken.contains(each) && std::ranges::find(values_, each) != values_.end()))
        graph.outputs.push_back(each);
  return tidied(graph);
}

}  // namespace assay::generators
