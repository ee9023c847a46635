// SPDX-License-Identifier: Apache-2.0
// ConvTranspose a third time: every cell of X is spread over the outputs that its taps reach.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::mutation {
namespace {

using oracles::Level;

enum class Order { forwards, backwards, bias_last, column_buffer, in_double };
enum class Defect {
  none,
  flips_kernel,
  mixes_groups,
  takes_bias_of_group,
  drops_bias,
  counts_padding_as_output,
  pads_by_begin_alone,
  odd_cell_at_begin,
  odd_cell_at_end,
  exchanges_axes,
  lays_w_as_conv,
  skips_zeros
};

struct Manner {
  Order order = Order::forwards;
  Defect defect = Defect::none;
};

struct Side {
  Int in = 0, kernel = 1, stride = 1, dilation = 1, begin = 0, out = 0;
};

bool odd_cell_is_last(const Call& call, Defect defect) {
  if (defect == Defect::odd_cell_at_begin) return false;
  return defect == Defect::odd_cell_at_end || call.text("auto_pad") == "SAME_UPPER";
}

Side side_of(const Call& call, std::size_t i, Defect defect) {
  const Ints kernel = call.ints("kernel_shape"), pads = call.ints("pads");
  const Int extra = call.ints("output_padding")[i];
  const bool is_same = call.text("auto_pad").starts_with("SAME"), is_valid = call.text("auto_pad") == "VALID";
  Side side{call.shape("X")[i + 2], kernel[i], call.ints("strides")[i], call.ints("dilations")[i]};
  const Int whole = (side.in - 1) * side.stride + side.dilation * (side.kernel - 1) + 1 + extra;
  if (!is_same && !call.states("output_shape")) {
    const Int begin = is_valid ? 0 : pads[i], end = is_valid ? 0 : pads[i + kernel.size()];
    side.begin = begin;
    side.out = whole - begin - (defect == Defect::pads_by_begin_alone ? begin : end);
    if (side.out < 1) side.out = whole - begin - end;
    return side;
  }
  side.out = call.states("output_shape") ? call.ints("output_shape")[i] : std::min(side.in * side.stride, whole);
  const Int left = whole - (defect == Defect::counts_padding_as_output ? extra : 0) - side.out;
  if (left > 0) side.begin = odd_cell_is_last(call, defect) ? left / 2 : (left + 1) / 2;
  return side;
}

// Calls f(cell, tap, output), places in planes of X, W and Y, of every product.
template <class F>
void each_product(const std::vector<Side>& sides, Defect defect, F&& f) {
  Int cells = 1, taps = 1;
  for (const Side& side : sides) {
    cells *= side.in;
    taps *= side.kernel;
  }
  for (Int cell = 0; cell < cells; ++cell)
    for (Int tap = 0; tap < taps; ++tap) {
      Int rest_of_cell = cell, rest_of_tap = tap, to = 0, step = 1;
      bool is_inside = true;
      for (std::size_t i = sides.size(); i-- > 0;) {
        const Side& side = sides[i];
        Int k = rest_of_tap % side.kernel;
        if (defect == Defect::flips_kernel) k = side.kernel - 1 - k;
        const Int o = rest_of_cell % side.in * side.stride + k * side.dilation - side.begin;
        is_inside = is_inside && o >= 0 && o < side.out;
        to += o * step;
        step *= side.out;
        rest_of_cell /= side.in;
        rest_of_tap /= side.kernel;
      }
      if (is_inside) f(cell, tap, to);
    }
}

struct Sizes {
  Int cells = 1, taps = 1, plane = 1, channels, maps, group, depth;
};

Sizes sizes_of(const Call& call, const std::vector<Side>& sides) {
  Sizes sizes{.channels = call.dim("X", 1), .maps = call.dim("W", 1), .group = call.integer("group"), .depth = 0};
  sizes.depth = sizes.channels / sizes.group;
  for (const Side& side : sides) {
    sizes.cells *= side.in;
    sizes.taps *= side.kernel;
    sizes.plane *= side.out;
  }
  return sizes;
}

// The sums of one plane of the output, in A.
template <class A>
std::vector<A> plane_of(const Call& call, Inputs in, const Manner& how, const std::vector<Side>& sides,
                        const Sizes& size, Int n, Int m) {
  const Int own = m % size.maps, part = how.defect == Defect::mixes_groups ? m % size.group : m / size.maps;
  std::vector<A> sums(static_cast<std::size_t>(size.plane), A{});
  const bool has_bias = call.has("B") && how.defect != Defect::drops_bias;
  const A bias = has_bias ? A(number_at(*in[2], how.defect == Defect::takes_bias_of_group ? own : m)) : A{};
  if (how.order != Order::bias_last) std::ranges::fill(sums, bias);
  for (Int i = 0; i < size.depth; ++i) {
    const Int c = part * size.depth + (how.order == Order::backwards ? size.depth - 1 - i : i);
    Int of_w = c * size.maps + own;
    if (how.defect == Defect::lays_w_as_conv) of_w = own * size.channels + c;
    std::vector<A> column(sums.size(), A{});
    std::vector<A>& to = how.order == Order::column_buffer ? column : sums;
    each_product(sides, how.defect, [&](Int cell, Int tap, Int at) {
      const A x = A(number_at(*in[0], (n * size.channels + c) * size.cells + cell)),
              w = A(number_at(*in[1], of_w * size.taps + tap));
      if (how.defect == Defect::skips_zeros && (x == 0 || w == 0)) return;
      to[static_cast<std::size_t>(at)] += x * w;
    });
    if (how.order == Order::column_buffer)
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += column[k];
  }
  if (how.order == Order::bias_last)
    for (A& sum : sums) sum += bias;
  return sums;
}

template <class A>
Values transposed_in(const Call& call, Inputs in, const Manner& how) {
  std::vector<Side> sides;
  for (std::size_t i = 0; i + 2 < call.shape("X").size(); ++i) sides.push_back(side_of(call, i, how.defect));
  if (how.defect == Defect::exchanges_axes && sides.size() > 1) std::swap(sides[0].begin, sides[1].begin);
  const Sizes size = sizes_of(call, sides);
  Shape shape{call.dim("X", 0), size.maps * size.group};
  for (const Side& side : sides) shape.push_back(side.out);
  Tensor y({in[0]->dtype(), shape});
  Int at = 0;
  for (Int n = 0; n < shape[0]; ++n)
    for (Int m = 0; m < shape[1]; ++m)
      for (const A sum : plane_of<A>(call, in, how, sides, size, n, m)) put_number(y, at++, static_cast<double>(sum));
  return y;
}

Kernel transposing(Manner how) {
  return [how](const Call& call, Inputs in) -> Values {
    const bool is_wide = how.order == Order::in_double || in[0]->dtype() == DType::f64;
    return is_wide ? transposed_in<double>(call, in, how) : transposed_in<float>(call, in, how);
  };
}

}  // namespace

std::vector<VariantKernel> transposing_variants(const std::string& op) {
  if (op != "ConvTranspose") return {};
  return {
      variant_of("sequential", "cells are spread from the first channel on", transposing({})),
      variant_of("reversed", "cells are spread from the last channel on", transposing({Order::backwards})),
      variant_of("bias-last", "the bias is added to the sum", transposing({Order::bias_last})),
      variant_of("column-buffer", "each channel is spread by itself, and added", transposing({Order::column_buffer})),
      variant_of("in-double", "every float is computed in double", transposing({Order::in_double}))};
}

std::vector<Bug> transposing_bugs(const std::string& op) {
  if (op != "ConvTranspose") return {};
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, transposing({Order::forwards, defect}));
  };
  return {bug("flips-kernel", "the kernel is read from its end", Defect::flips_kernel),
          bug("mixes-groups", "maps take turns with the groups", Defect::mixes_groups),
          bug("takes-bias-of-group", "the bias of a map is that of the first group", Defect::takes_bias_of_group),
          bug("drops-bias", "the bias is not added", Defect::drops_bias),
          bug("pads-without-output-padding", "output_padding takes no part in what is left over",
              Defect::counts_padding_as_output),
          bug("pads-by-begin", "the end is padded as the beginning", Defect::pads_by_begin_alone),
          bug("odd-cell-at-begin", "the odd cell is always at the beginning", Defect::odd_cell_at_begin),
          bug("odd-cell-at-end", "the odd cell is always at the end", Defect::odd_cell_at_end),
          bug("exchanges-pads", "the first two axes exchange their pads", Defect::exchanges_axes),
          bug("lays-w-as-conv", "W is read as M x C", Defect::lays_w_as_conv),
          bug("skips-zeros", "products with zero are left out, and 0 times infinity with them", Defect::skips_zeros)};
}

}  // namespace assay::mutation
