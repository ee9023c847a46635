// SPDX-License-Identifier: Apache-2.0
// DepthToSpace (ai.onnx 1, 11, 13, 28) - https://onnx.ai/onnx/operators/onnx__DepthToSpace.html
// SpaceToDepth (ai.onnx 1, 13, 28) - https://onnx.ai/onnx/operators/onnx__SpaceToDepth.html
//
//   DepthToSpace lays blocksize * blocksize channels out as blocks of the plane; SpaceToDepth is the way back. In mode
//   DCR, the only one in the first versions, the place in a block is the outer index of the channels, in CRD the inner.
#include "reference/families/moved.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

bool is_column_first(const Call& call) { return call.definition().attribute("mode") && call.text("mode") == "CRD"; }
bool is_image(const Call& call) { return call.rank("input") == 4; }
bool has_blocks(const Call& call) { return call.integer("blocksize") >= 1; }

// The axes of a tensor of those extents in another order.
Strides in_order(const Shape& shape, std::initializer_list<std::size_t> axes) {
  const Ints steps = steps_of(shape);
  Strides at;
  for (const std::size_t axis : axes) {
    at.extents.push_back(shape[axis]);
    at.steps.push_back(steps[axis]);
  }
  return at;
}

Shape spread(const Call& call) {
  const Shape& x = call.shape("input");
  const Int block = call.integer("blocksize");
  return {x[0], x[1] / block / block, x[2] * block, x[3] * block};
}

Strides spreading(const Call& call) {
  const Shape &x = call.shape("input"), y = spread(call);
  const Int block = call.integer("blocksize");
  if (is_column_first(call)) return in_order({x[0], y[1], block, block, x[2], x[3]}, {0, 1, 4, 2, 5, 3});
  return in_order({x[0], block, block, y[1], x[2], x[3]}, {0, 3, 4, 1, 5, 2});
}

Shape stacked(const Call& call) {
  const Shape& x = call.shape("input");
  const Int block = call.integer("blocksize");
  return {x[0], x[1] * block * block, x[2] / block, x[3] / block};
}

Strides stacking(const Call& call) {
  const Shape &x = call.shape("input"), y = stacked(call);
  const Int block = call.integer("blocksize");
  const Shape blocks{x[0], x[1], y[2], block, y[3], block};
  return is_column_first(call) ? in_order(blocks, {0, 1, 3, 5, 2, 4}) : in_order(blocks, {0, 3, 5, 1, 2, 4});
}

// What both have in common; `divides` says of which extents, under that constraint.
Operator rearranging(const char* name, const char* what, bool (*divides)(const Call&, Int block)) {
  return std::move(Operator(name)
                       .input("input", "T")
                       .output("output", "T")
                       .required_integer("blocksize")
                       .type("T", types::all_tensor_types())
                       .rulings({"A29", "E1"})
                       .require("C1", "rank(input) = 4", is_image)
                       .require("C2", "blocksize is at least 1", has_blocks)
                       .require("C3", what, [divides](const Call& c) {
                         return !is_image(c) || !has_blocks(c) || divides(c, c.integer("blocksize"));
                       }));
}

}  // namespace

// clang-format off
Operator depth_to_space() {
  return rearranging("DepthToSpace", "blocksize * blocksize divides the channels",
                     [](const Call& c, Int block) { return c.dim("input", 1) % block == 0 && c.dim("input", 1) / block % block == 0; })
      .since(1)
      .since(11, "mode").word("mode", {"DCR", "CRD"}, "C4")
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .since(28, "a function body")
      .shaping(Shaping::moved).infer(moved_to(spread)).kernel(strided(spreading));
}

Operator space_to_depth() {
  return rearranging("SpaceToDepth", "blocksize divides the extents of the plane",
                     [](const Call& c, Int block) { return c.dim("input", 2) % block == 0 && c.dim("input", 3) % block == 0; })
      .since(1)
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .since(28, "mode; a function body").word("mode", {"DCR", "CRD"}, "C4")
      .shaping(Shaping::moved).infer(moved_to(stacked)).kernel(strided(stacking));
}
// clang-format on

}  // namespace assay
