// SPDX-License-Identifier: Apache-2.0
// com.microsoft FusedMatMul (1) - https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
// TransposeMatMul (1), its older name, without transBatchA and transBatchB
//
//   Y = alpha * (A' * B')
//
// as MatMul multiplies. A' is A, its first axis moved to the place before the last where transBatchA says so, then the
// last two exchanged where transA does; a vector stays as it is. B' is B likewise.
#include "reference/families/moved.h"
#include "reference/families/products.h"
#include "reference/window.h"

namespace assay {
namespace {

// Returns what is multiplied: where the axes of an operand, "A" or "B", come to stand.
std::vector<std::size_t> axes_of(const Call& c, const std::string& operand) {
  const auto rank = static_cast<std::size_t>(c.rank(operand));
  std::vector<std::size_t> axes(rank);
  for (std::size_t i = 0; i < rank; ++i) axes[i] = i;
  if (rank > 2 && is_flagged(c, "transBatch" + operand)) std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1);
  if (rank > 1 && is_flagged(c, "trans" + operand)) std::swap(axes[rank - 1], axes[rank - 2]);
  return axes;
}
Shape shape_of(const Call& c, const std::string& operand) {
  Shape shape;
  for (const std::size_t axis : axes_of(c, operand)) shape.push_back(c.shape(operand)[axis]);
  return shape;
}
Matrices matrices_of(const Call& c) { return Matrices::of(shape_of(c, "A"), shape_of(c, "B")); }

// Finds where in an operand the elements stand that are multiplied, in their order.
Ints places_in(const Call& c, const std::string& operand) {
  const Ints steps = steps_of(c.shape(operand));
  const std::vector<std::size_t> axes = axes_of(c, operand);
  Ints places;
  for_each_position(shape_of(c, operand), [&](const Shape& at, Int) {
    Int place = 0;
    for (std::size_t i = 0; i < axes.size(); ++i) place += at[i] * steps[axes[i]];
    places.push_back(place);
  });
  return places;
}

Tensor compute(const Call& call, Inputs in) {
  const Matrices meet = matrices_of(call);
  Tensor y = Tensor::to_be_written({in[0]->dtype(), meet.shape});
  for_float(y.dtype(), [&]<class T>() {
    using A = product_t<T>;
    const auto reads = [](std::span<const T> from, Ints places) {
      return [from, places = std::move(places)](Int at) {
        return static_cast<A>(from[static_cast<std::size_t>(places[static_cast<std::size_t>(at)])]);
      };
    };
    const A alpha = static_cast<A>(call.real("alpha"));
    T* const to = y.as<T>().data();
    multiply<A>(meet, reads(in[0]->as<T>(), places_in(call, "A")), reads(in[1]->as<T>(), places_in(call, "B")),
                [&](Int first, std::span<const A> sums) {
                  std::ranges::transform(sums, to + first, [alpha](A sum) { return finished<T>(alpha * sum); });
                });
  });
  return y;
}

bool has_matrices(const Call& c) { return c.rank("A") > 0 && c.rank("B") > 0; }

void parameters(Operator& op) {
  op.input("A", "T")
      .input("B", "T")
      .output("Y", "T")
      .attribute("alpha", 1.0F)
      .attribute("transA", 0)
      .attribute("transB", 0)
      .require("C1", "neither A nor B is a scalar", has_matrices)
      .require("C2", "the columns of A' are as many as the rows of B'",
               [](auto& c) {
                 return !has_matrices(c) || inner_extent_of_a(shape_of(c, "A")) == inner_extent_of_b(shape_of(c, "B"));
               })
      .require("C3", "the axes of A' and B' before the last two can be broadcast",
               [](auto& c) { return batches_meet(shape_of(c, "A"), shape_of(c, "B")); })
      .rulings({"A26", "A29", "W21", "W22"});
}

}  // namespace

// clang-format off
Operator fused_matmul() {
  using enum DType;
  return Operator("FusedMatMul", "com.microsoft")
      .with(parameters)
      .attribute("transBatchA", 0).attribute("transBatchB", 0)
      .require("C4", "an operand whose first axis moves has more than two",
               [](auto& c) { return (!is_flagged(c, "transBatchA") || c.rank("A") > 2) && (!is_flagged(c, "transBatchB") || c.rank("B") > 2); })
      .since(1)
          .type("T", {bf16, f16, f32, f64})
      .shaping(Shaping::product).infer(moved_to([](const Call& c) { return matrices_of(c).shape; })).kernel(compute);
}

Operator transpose_matmul() {
  using enum DType;
  return Operator("TransposeMatMul", "com.microsoft")
      .with(parameters)
      .since(1)
          .type("T", {bf16, f16, f32, f64})
      .shaping(Shaping::product).infer(moved_to([](const Call& c) { return matrices_of(c).shape; })).kernel(compute);
}
// clang-format on

}  // namespace assay
