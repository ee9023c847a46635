// SPDX-License-Identifier: Apache-2.0
// What the operators of the Conv family share: the sums of a convolution over its taps, and the constraints of Conv
// checked on the Conv call an operator stands for.
#pragma once

#include "reference/operator.h"
#include "reference/window.h"

#include <initializer_list>
#include <string_view>

namespace assay {

// The index space of a Conv call, channels first: N x C x I…, weights M x C/group x k…, outputs N x M x O….
struct Convolution {
  explicit Convolution(const Call& conv);

  Window window;
  Int batch, channels, maps, depth, group;

  Shape output_shape() const;
  Int first_channel(Int map) const { return map / (maps / group) * depth; }

  // Calls f(n, m, o, at) for every output element in row-major order; o is the window, `at` the flat index.
  template <class F>
  void for_each_output(F&& f) const {
    const Shape out = window.output();
    Int at = 0;
    for (Int n = 0; n < batch; ++n)
      for (Int m = 0; m < maps; ++m) for_each_position(out, [&](const Shape& o, Int) { f(n, m, o, at++); });
  }

  // Calls f(x, w) with the flat indices of the cell and the weight of every tap that falls inside X, in (c, k) order.
  template <class F>
  void for_each_tap(Int n, Int m, const Shape& o, F&& f) const {
    const Shape kernel = window.kernel();
    const Int x_plane = volume(window.input()), taps = window.taps();
    for (Int c = 0; c < depth; ++c)
      for_each_position(kernel, [&](const Shape& k, Int tap) {
        if (const std::optional<Int> cell = window.cell(o, k))
          f((n * channels + first_channel(m) + c) * x_plane + *cell, (m * depth + c) * taps + tap);
      });
  }
};

// Conv-11: what the operators of the family mean by their shapes and attributes.
const Definition& conv_definition();

// The Conv call an operator stands for: inputs X, W and B by the given names, the attributes Conv has.
Call as_conv(const Call& call, const char* x, const char* w, const char* b);

// Conv's constraints, checked on the Conv call; the ids in `without` are left out.
using AsConv = Call (*)(const Call&);
void convolution_constraints(Operator& op, AsConv as_conv, std::initializer_list<std::string_view> without = {});

}  // namespace assay
