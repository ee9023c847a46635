// SPDX-License-Identifier: Apache-2.0
// The exact answer of a convolution, channels first, from the formula of spec 1.2; what Conv and the operators that
// stand for it share.
#pragma once

#include "oracles/exact/enclosure.h"
#include "oracles/exact/geometry.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace assay::oracles {

// Which cells meet which weights: g = floor(m / (M/group)), channel g * C + c.
class Gathering {
 public:
  Gathering(Shape x, Shape w, Int group, std::vector<WindowAxis> tracks);

  struct Output {
    Int n, m;
    std::vector<Int> window;
  };
  Output output(Int index) const;
  Shape shape() const;
  const std::vector<WindowAxis>& tracks() const { return tracks_; }
  Int depth() const { return w_[1]; }

  // The flat index of cell `at` of channel c of the group of map m, or -1 outside; of tap `tap` of W.
  Int cell(Int n, Int m, Int c, const std::vector<Int>& at) const;
  Int weight(Int m, Int c, const std::vector<Int>& tap) const;

  // Calls in(x, w) for every tap inside X and outside(w) for the others, as flat indices.
  template <class In, class Outside>
  void each_tap(const Output& y, In&& in, Outside&& outside) const {
    const Reach& taps = reach(y.window);
    for (Int c = 0; c < depth(); ++c) {
      const Int x = (y.n * x_[1] + first_channel(y.m) + c) * x_plane_, w = (y.m * depth() + c) * w_plane_;
      for (const auto& [from, with] : taps.in) in(x + from, w + with);
      for (const Int with : taps.outside) outside(w + with);
    }
  }

 private:
  struct Reach {
    std::vector<std::pair<Int, Int>> in;
    std::vector<Int> outside;
  };
  const Reach& reach(const std::vector<Int>& window) const;
  Int first_channel(Int m) const { return m / (w_[0] / group_) * depth(); }
  Int inside(const std::vector<Int>& at) const;  // within one plane, or -1

  Shape x_, w_;
  Int group_, x_plane_, w_plane_;
  std::vector<WindowAxis> tracks_;
  std::vector<Int> taps_;
  mutable std::map<std::vector<Int>, Reach> reach_;  // windows repeat for every n and m: worked out once each
};

// Channels first, W as M x C/group x k….
struct ConvolutionOperands {
  Tensor x, w;
  std::optional<Tensor> b;
  Int group = 1;
  std::optional<Tensor> added = {};  // to each output, of their shape
};
// `channels_last` says how outputs are laid out that are screened; elements are numbered channels first.
std::unique_ptr<Answer> convolution(ConvolutionOperands in, std::vector<WindowAxis> tracks, const Arithmetic& declared,
                                    bool channels_last = false);

}  // namespace assay::oracles
