// SPDX-License-Identifier: Apache-2.0
// Growth: a graph that is being drawn, and what fits behind its last value; `Fits` (fits.cpp) has a function per
// operator.
#pragma once

#include "reference/graph_case.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::generators {

class Growth {
 public:
  // Begins with a tensor of numbers of two to five axes.
  explicit Growth(int opset);

  // Lets a node of the operator take the last value, and other values, constants and attributes that fit. False where
  // it does not take such a value, or the draw is not legal.
  bool grow(const std::string& op);

  // The same two to four times, all from the last value.
  bool branch(const std::string& op);

  // The four slices by 2 of which SpaceToDepth is made.
  bool phases();

  // Repeats a node, or one that differs by an attribute.
  void repeat();

  // Gives a value in the middle to another node besides, or to the outside.
  void tap();

  // Puts the graph together: what no node takes is an output.
  GraphCase finish() const;

  const std::set<std::string_view>& hazards() const { return hazards_; }

 private:
  friend struct Fits;

  const TensorType& type(const std::string& name) const { return builder_.type(name); }
  const Shape& shape() const { return type(last_).shape; }
  Int rank() const { return std::ssize(shape()); }
  Int extent(Int axis) const { return shape()[static_cast<std::size_t>(axis)]; }
  const Definition* definition(const std::string& op) const { return builder_.definition(op); }
  void note(std::string_view hazard) { hazards_.insert(hazard); }
  static Recipe held(const char* values) { return {"hold", values}; }
  std::string initializer(const TensorType& type, Recipe recipe) {
    return builder_.leaf(type, {std::move(recipe), true});
  }

  // Small integers that go in, in one case of four of one sign.
  std::string data(const TensorType& type);
  // A constant; now and then it goes in instead, or is computed from another one.
  std::string constant(const TensorType& type, Recipe recipe);
  std::string constant(const Shape& shape, Recipe recipe) {
    return constant({type(last_).dtype, shape}, std::move(recipe));
  }
  // The same, worked out of another constant; empty where the draw does not fit.
  std::string computed(const TensorType& type, const Recipe& recipe);
  // Gives a node what it reads: axes, lengths, a shape.
  std::string list(const Ints& values);
  // Weights of products of so many terms; of what is dequantised, now and then bytes that are dequantised as well.
  std::string weights(const Shape& shape, Int terms);
  // The other operand of an operation of two: a constant that broadcasts, another value or the same.
  std::string other(const std::string& op);

  // Adds a node and goes on with what it gives first; false where it is not legal.
  bool add(const std::string& op, std::vector<std::string> operands, Attributes attributes = {},
           std::size_t results = 1);

  GraphBuilder builder_;
  std::string last_;
  std::vector<std::string> values_;  // what goes in as data, and what nodes of the chain give
  std::vector<std::string> given_;   // by the last node
  std::set<std::string> exposed_;
  std::optional<Int> axis_;         // of all nodes of a branch
  Ints perm_;                       // of the last Transpose
  std::vector<std::string> scale_;  // scale and zero point of the last QuantizeLinear
  bool is_dequantized_ = false;     // the last value
  std::set<std::string_view> hazards_;
};

}  // namespace assay::generators
