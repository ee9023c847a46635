// SPDX-License-Identifier: Apache-2.0
// Shape (ai.onnx 1, 13, 15, 19, 21, 23, 24, 25) - https://onnx.ai/onnx/operators/onnx__Shape.html
// Size (ai.onnx 1, 13, 19, 21, 23, 24, 25) - https://onnx.ai/onnx/operators/onnx__Size.html
//
//   shape holds the extents of data, those of the axes from `start` on and before `end`, which count from the end where
//   they are negative and stand for the nearer end where they are outside; size is the number of elements.
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

Ints extents(const Call& call) {
  const Shape& data = call.shape("data");
  const auto bound = [&](const char* name, Int otherwise) {
    return std::clamp<Int>(call.states(name) ? from_front(call.integer(name), std::ssize(data)) : otherwise, 0,
                           std::ssize(data));
  };
  const Int start = bound("start", 0), end = std::max(start, bound("end", std::ssize(data)));
  return Ints(data.begin() + start, data.begin() + end);
}

Kernel told(Ints (*numbers)(const Call&)) {
  return [numbers](const Call& call, Inputs) {
    Tensor y(*call.definition().infer(call).front());
    std::ranges::copy(numbers(call), y.as<Int>().begin());
    return y;
  };
}

// What Shape and Size have in common, up to version 13.
Operator of_any_type(const char* name, const char* output) {
  return std::move(Operator(name)
                       .input("data", "T")
                       .output(output, "T1")
                       .type("T1", {DType::i64})
                       .since(1)
                       .type("T", types::all_tensor_types())
                       .since(13, "T admits bfloat16")
                       .type("T", types::all_tensor_types_ir4()));
}

}  // namespace

// clang-format off
Operator shape() {
  return of_any_type("Shape", "shape")
      .since(15, "start and end").attribute("start", 0).optional_int("end")
      .since(19, "T admits float8").type("T", types::all_tensor_types_ir9())
      .with(small_types)
      .shaping(Shaping::moved).kernel(told(extents))
      .infer(moved_to([](const Call& c) { return Shape{std::ssize(extents(c))}; }));
}

Operator size() {
  return of_any_type("Size", "size")
      .since(19, "T admits float8").type("T", types::all_tensor_types_ir9())
      .with(small_types)
      .shaping(Shaping::moved).kernel(told([](const Call& c) { return Ints{volume(c.shape("data"))}; }))
      .infer(moved_to([](const Call&) { return Shape(); }));
}
// clang-format on

}  // namespace assay
