// SPDX-License-Identifier: Apache-2.0
// Kernels of operators that read what lies under a sliding window, each channel by itself.
#pragma once

#include "reference/operator.h"
#include "reference/window.h"

#include <vector>

namespace assay {

// A tap that falls inside X: its value, and where in X it stands.
template <class T>
struct Tapped {
  T value;
  Int at;
};

// Numbers the cells of a tensor plane by plane, a plane being one channel of one item of the batch.
struct Planes {
  Int batch, channels, cells;
  bool is_channel_last;

  // Numbers the planes of X, or of a tensor like it with so many cells in a plane.
  static Planes of(const Call& call, Int cells);
  Int count() const { return batch * channels; }
  // Returns where a cell of a plane stands, row-major.
  Int at(Int plane, Int cell) const {
    return is_channel_last ? (plane / channels * cells + cell) * channels + plane % channels : plane * cells + cell;
  }
};

// Returns a product of counts; throws InputError where sums of such could overflow.
Int bounded_product(Int a, Int b);

// One spatial axis of a transposed convolution, whose windows slide over the output.
struct Spread {
  Int in = 0, kernel = 1, stride = 1, dilation = 1, begin = 0, out = 0;

  // The cell of X whose product with a tap falls on an output; none where there is none.
  std::optional<Int> cell(Int output, Int tap) const {
    const Int from = output + begin - tap * dilation;
    return from >= 0 && from % stride == 0 && from / stride < in ? std::optional(from / stride) : std::nullopt;
  }
};

// Returns the axes that X, W and the attributes of a ConvTranspose make.
std::vector<Spread> spread(const Call& call);

// Gives an operator what every pool takes and demands: X, kernel_shape, strides, pads and auto_pad, and Y.
void pool_parameters(Operator& op);

// Gives an operator what every pool over whole planes takes and demands: X, and Y of one element per channel (W16).
void global_pool_parameters(Operator& op);

// Returns the shape of Y, one element per window and channel, with the channels where X has them.
Shape pooled_shape(const Call& call);
// Returns the types of a pool's outputs, all of that shape, of the type of X or of their own.
Types pooled(const Call& call);

// Returns the kernel of Y[n,c,o] = f(call, taps of o inside X in the order of a scan, index): what f writes to `index`
// is the element of a second output, if that is asked for.
template <class F>
Kernel over_windows(F f) {
  return [f](const Call& call, Inputs in) {
    Values out;
    for (const std::optional<TensorType>& type : pooled(call))
      out.push_back(type ? std::optional(Tensor(*type)) : std::nullopt);
    const std::span<Int> indices = out.size() > 1 && out[1] ? out[1]->as<Int>() : std::span<Int>();
    const Window window = Window::of(call);
    const Shape kernel = window.kernel(), windows = window.output();
    const Planes from = Planes::of(call, volume(window.input())), to = Planes::of(call, volume(windows));
    for_number(in[0]->dtype(), [&]<class T>() {
      const std::span<const T> x = in[0]->as<T>();
      const std::span<T> y = out[0]->as<T>();
      std::vector<Tapped<T>> taps;
      for (Int plane = 0; plane < to.count(); ++plane)
        for_each_position(windows, [&](const Shape& o, Int place) {
          taps.clear();
          for_each_position(kernel, [&](const Shape& k, Int) {
            if (const std::optional<Int> cell = window.cell(o, k)) {
              const Int at = from.at(plane, *cell);
              taps.push_back({x[static_cast<std::size_t>(at)], at});
            }
          });
          Int index = -1;
          const auto at = static_cast<std::size_t>(to.at(plane, place));
          y[at] = f(call, std::span<const Tapped<T>>(taps), index);
          if (!indices.empty()) indices[at] = index;
        });
    });
    return out;
  };
}

}  // namespace assay
