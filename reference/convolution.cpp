// SPDX-License-Identifier: Apache-2.0
#include "reference/convolution.h"

#include <algorithm>
#include <utility>

namespace assay {

Operator conv();

Convolution::Convolution(const Call& conv)
    : window(Window::of(conv)),
      batch(conv.dim("X", 0)),
      channels(conv.dim("X", 1)),
      maps(conv.dim("W", 0)),
      depth(conv.dim("W", 1)),
      group(conv.integer("group")) {}

Shape Convolution::output_shape() const {
  Shape y = window.output();
  y.insert(y.begin(), {batch, maps});
  return y;
}

// One of its own: it is asked for while the operators are made.
const Definition& conv_definition() {
  static const Operator op = conv();
  return *op.at(11);
}

Call as_conv(const Call& call, const char* x, const char* w, const char* b) {
  Node node;
  node.input("X", call.shape(x)).input("W", call.shape(w));
  if (call.has(b)) node.input("B", call.shape(b));
  for (const auto& [name, value] : call.node().attributes)
    if (conv_definition().attribute(name)) node.attribute(name, value);
  return Call(conv_definition(), std::move(node));
}

void convolution_constraints(Operator& op, AsConv as_conv, std::initializer_list<std::string_view> without) {
  for (Constraint constraint : conv_definition().constraints) {
    if (std::ranges::find(without, constraint.id) != without.end()) continue;
    constraint.stands_for = as_conv;
    op.require(std::move(constraint));
  }
}

}  // namespace assay
