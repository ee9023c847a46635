// SPDX-License-Identifier: Apache-2.0
// AffineGrid (ai.onnx 20) - https://onnx.ai/onnx/operators/onnx__AffineGrid.html
//
//   grid[n, o, a] = sum over j of theta[n, a, j] * b_j(o), and theta[n, a, r]
//
// for r axes, x, the last one of size, first. Of L points along an axis the i-th has b = (2i + 1) / L - 1 or, with
// align_corners = 1, 2i / (L - 1) - 1; of a single one that is 0 (M42).
#include "reference/families/elementwise.h"
#include "reference/families/moved.h"
#include "reference/window.h"

namespace assay {
namespace {

bool is_affine(const Call& call) {
  return call.rank("theta") == 3 && (call.dim("theta", 1) == 2 || call.dim("theta", 1) == 3) &&
         call.dim("theta", 2) == call.dim("theta", 1) + 1;
}

Shape of_points(const Call& call) {
  Shape shape = call.ints("size");
  shape.erase(shape.begin() + 1);
  shape.push_back(std::ssize(shape) - 1);
  return shape;
}

double along(const Call& call, Int i, Int points) {
  if (call.integer("align_corners") == 0) return static_cast<double>(2 * i + 1 - points) / static_cast<double>(points);
  return points == 1 ? 0 : static_cast<double>(2 * i + 1 - points) / static_cast<double>(points - 1);
}

Values place(const Call& call, Inputs in) {
  Values y = outputs_of(call);
  const Shape shape = y[0]->shape();
  const Int axes = shape.back();
  for_each_position(shape, [&](const Shape& at, Int to) {
    const Int row = (at.front() * axes + at.back()) * (axes + 1);
    double sum = number_at(*in[0], row + axes);
    for (Int j = 0; j < axes; ++j) {
      const auto axis = static_cast<std::size_t>(axes - j);
      sum += number_at(*in[0], row + j) * along(call, at[axis], shape[axis]);
    }
    put_number(*y[0], to, sum);
  });
  return y;
}

}  // namespace

// clang-format off
Operator affine_grid() {
  using enum DType;
  return Operator("AffineGrid")
      .input("theta", "T1").parameter("size", "T2", "size").output("grid", "T1").attribute("align_corners", 0)
      .rulings({"A29", "M42", "M69"})
      .require("C1", "shape(theta) is [N,2,3] or [N,3,4]", is_affine)
      .require("C2", "size begins with N and has no entry below 1", [](auto& c) {
        const Ints size = c.ints("size");
        return !is_affine(c) || size.empty() || (size.front() == c.dim("theta", 0) && all_at_least(size, 1)); })
      .require("C3", "size is a list of N, channels and an extent for each axis", [](auto& c) {
        return c.rank("size") == 1 && (!is_affine(c) || c.dim("size", 0) == c.dim("theta", 1) + 2); })
      .require("C4", "align_corners is 0 or 1", [](auto& c) {
        return c.integer("align_corners") == 0 || c.integer("align_corners") == 1; })
      .since(20).type("T1", {bf16, f16, f32, f64}).type("T2", {i64})
      .shaping(Shaping::reduced).infer(moved_to(of_points)).kernel(place);
}
// clang-format on

}  // namespace assay
