// SPDX-License-Identifier: Apache-2.0
// The exact answer of ConvInteger (windows-and-products 3.2): a whole number of 32 bits, W7 where it does not fit.
#include "oracles/families/products.h"
#include "oracles/rules/convolution.h"
#include "oracles/rules/rules.h"

namespace assay::oracles {
namespace {

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
  const auto gathering = std::make_shared<const Gathering>(call.shape("x"), call.shape("w"), call.integer("group"),
                                                           *tracks(call, sliding(call), readings));
  const auto terms = [gathering](Int index, const auto& f) {
    const Gathering::Output y = gathering->output(index);
    gathering->each_tap(
        y,
        [&](Int x, Int w) {
          f({x, w, 0, y.m});
        },
        [](Int) {});
  };
  return integer_sums(gathering->shape(), {"x", *in.at(0), given(in, 2)}, {"w", *in.at(1), given(in, 3)}, terms,
                      readings);
}

std::optional<Shape> shape(const Call& call, const Readings& readings) {
  return windowed(call, call.dim("x", 0), call.dim("w", 0), readings);
}

}  // namespace

Oracle conv_integer() { return without_rounding({answer, shape, {}}); }

}  // namespace assay::oracles
