// SPDX-License-Identifier: Apache-2.0
// LRN (ai.onnx 1, 13) - https://onnx.ai/onnx/operators/onnx__LRN.html
//
//   Y[n,c,…] = X[n,c,…] / (bias + alpha / size * sum over k of X[n,k,…]^2)^beta
//
// over the channels k from c - floor((size - 1) / 2) to c + ceil((size - 1) / 2) that there are.
#include "reference/families/elementwise.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

Values normalized(const Call& call, Inputs in) {
  const Tensor& x = *in[0];
  const Int size = call.integer("size"), channels = call.dim("X", 1), area = volume(std::span(x.shape()).subspan(2));
  const double scale = static_cast<double>(call.real("alpha")) / static_cast<double>(size);
  Values y = outputs_of(call);
  for (Int i = 0; i < x.elements(); ++i) {
    const Int c = i / area % channels, last = std::min(channels - 1, c + size / 2);
    double squares = 0;
    for (Int k = std::max<Int>(0, c - (size - 1) / 2); k <= last; ++k) {
      const double each = number_at(x, i + (k - c) * area);
      squares += each * each;
    }
    const double base = static_cast<double>(call.real("bias")) + scale * squares;
    put_number(*y[0], i, number_at(x, i) / power(base, static_cast<double>(call.real("beta"))));
  }
  return y;
}

}  // namespace

Operator lrn() {
  // clang-format off
  return Operator("LRN")
      .input("X", "T").output("Y", "T")
      .attribute("alpha", 1e-4F).attribute("beta", 0.75F).attribute("bias", 1.0F).required_integer("size")
      .rulings({"A29", "W50", "W51"})
      .require("LR1", "size >= 1", [](auto& c) { return c.integer("size") >= 1; })
      .require("LR2", "rank(X) >= 2", [](auto& c) { return c.rank("X") >= 2; })
      .since(1).type("T", types::all_float_types())
      .since(13, "T admits bfloat16").type("T", types::all_float_types_ir4())
      .shaping(Shaping::normalized).shape(same_as("X")).kernel(normalized);
  // clang-format on
}

}  // namespace assay
