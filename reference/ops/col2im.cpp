// SPDX-License-Identifier: Apache-2.0
// Col2Im (ai.onnx 18) - https://onnx.ai/onnx/operators/onnx__Col2Im.html
//
//   output[n,c,y] = sum of input[n, c K + k, l] over taps k of a block and blocks l with y + pad = l stride + k
//   dilation
//
// per axis, K being the elements of a block, k and l counted row by row. There are as many blocks as windows of that
// kernel over an image of image_shape. Sums of integers wrap; of bool they are "or" (M27).
#include "reference/convolution.h"
#include "reference/families/moved.h"
#include "reference/families/windows.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

Int axes_of(const Call& call) { return std::ssize(call.ints("image_shape")); }
Ints one_each(const Call& call) { return Ints(static_cast<std::size_t>(axes_of(call)), 1); }
Ints two_zeros_each(const Call& call) { return Ints(static_cast<std::size_t>(2 * axes_of(call)), 0); }

// The blocks as the windows over the image that they are.
Window blocks(const Call& call) {
  const Ints image = call.ints("image_shape"), block = call.ints("block_shape"), pads = call.ints("pads");
  const Ints strides = call.ints("strides"), dilations = call.ints("dilations");
  Window window;
  for (std::size_t i = 0; i < image.size(); ++i) {
    Axis axis{image[i], block[i], strides[i], dilations[i], pads[i], pads[i + image.size()]};
    const Int covered = bounded_product(axis.kernel - 1, axis.dilation) + 1;
    const Int room = bounded_product(axis.in, 1) + bounded_product(axis.begin, 1) + bounded_product(axis.end, 1);
    axis.out = floor_div(room - covered, bounded_product(axis.stride, 1)) + 1;
    window.axes.push_back(axis);
  }
  return window;
}

bool are_lists(const Call& c) {
  const Int axes = axes_of(c);
  const auto has = [&](const char* list, Int entries, Int least) {
    const Ints values = c.ints(list);
    return std::ssize(values) == entries && std::ranges::all_of(values, [=](Int value) { return value >= least; });
  };
  return c.shape("image_shape") == Shape{axes} && c.shape("block_shape") == Shape{axes} && axes >= 1 &&
         has("image_shape", axes, 1) && has("block_shape", axes, 1) && has("strides", axes, 1) &&
         has("dilations", axes, 1) && has("pads", 2 * axes, 0);
}

bool has_a_block(const Call& c) {
  return !are_lists(c) || std::ranges::all_of(blocks(c).axes, [](const Axis& axis) { return axis.out >= 1; });
}

bool has_rows(const Call& c) {
  if (!are_lists(c) || c.rank("input") != 3) return true;
  const Int rows = c.dim("input", 1), taps = bounded_volume(c.ints("block_shape"));
  return rows > 0 && rows % taps == 0;
}

bool has_columns(const Call& c) {
  return !are_lists(c) || c.rank("input") != 3 || !has_a_block(c) ||
         c.dim("input", 2) == bounded_volume(blocks(c).output());
}

Shape image_shape(const Call& call) {
  Shape shape = call.ints("image_shape");
  shape.insert(shape.begin(), {call.dim("input", 0), call.dim("input", 1) / volume(call.ints("block_shape"))});
  return shape;
}

// What the terms of an element are kept in: of floats as they are computed in, of integers modulo 2^64.
template <class T>
auto kept(const T& x) {
  if constexpr (!Number<T>)
    return x;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<std::uint64_t>(x);
  else
    return static_cast<accumulator_t<T>>(x);
}

// Of bool one that holds; of strings what comes last.
template <class Sum>
void add(Sum& sum, const Sum& x) {
  if constexpr (Number<Sum>)
    sum += x;
  else if (!std::is_same_v<Sum, Bool> || x != Sum())
    sum = x;
}

Values fold(const Call& call, Inputs in) {
  const Window window = blocks(call);
  const Shape taps = window.kernel(), columns = window.output();
  Tensor y({in[0]->dtype(), image_shape(call)});
  for_type(y.dtype(), [&]<class T>() {
    auto next = in[0]->as<T>().begin();
    auto to = y.as<T>().begin();
    while (to != y.as<T>().end()) {
      std::vector<decltype(kept(T()))> sums(static_cast<std::size_t>(volume(window.input())));
      for_each_position(taps, [&](const Shape& k, Int) {
        for_each_position(columns, [&](const Shape& l, Int) {
          const auto x = kept(*next++);
          if (const std::optional<Int> cell = window.cell(l, k)) add(sums[static_cast<std::size_t>(*cell)], x);
        });
      });
      for (const auto& sum : sums) {
        if constexpr (Number<T> && !std::is_integral_v<T>)
          *to++ = written<T>(sum);
        else
          *to++ = static_cast<T>(sum);
      }
    }
  });
  return y;
}

}  // namespace

// clang-format off
Operator col2im() {
  return Operator("Col2Im")
      .input("input", "T").parameter("image_shape", "i64", "image_shape").parameter("block_shape", "i64", "block_shape")
      .output("output", "T")
      .attribute("dilations", one_each).attribute("pads", two_zeros_each).attribute("strides", one_each)
      .require("CL1", "rank(input) = 3: a batch, rows and columns", [](auto& c) { return c.rank("input") == 3; })
      .require("CL2", "dim(input,1) is a multiple of the elements of a block, and not 0", has_rows)
      .require("CL3", "dim(input,2) is the number of blocks", has_columns)
      .require("CL4", "at least one block on every axis", has_a_block)
      .require("CL5", "lists have an entry per axis of the image, pads two; pads are at least 0, others 1", are_lists)
      .require("CL6", "the image has two axes at least", [](auto& c) { return axes_of(c) != 1; }, "W19")
      .since(18)
          .type("T", types::all_tensor_types_ir4()).rulings({"A29", "E17", "M27", "W19"})
      .shaping(Shaping::transposed).infer(moved_to(image_shape)).kernel(fold);
}
// clang-format on

}  // namespace assay
