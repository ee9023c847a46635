// SPDX-License-Identifier: Apache-2.0
// The exact answers of com.microsoft FusedMatMul and TransposeMatMul: a product of matrices, scaled
// (windows-and-products 3.19).
#include "oracles/families/products.h"
#include "reference/flat_index.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

bool says(const Call& call, const std::string& flag) {
  return call.definition().attribute(flag) && call.integer(flag) != 0;
}

// The shape of an operand whose first axis stands before the last.
Shape turned(const Call& call, const std::string& operand) {
  Shape shape = call.shape(operand);
  if (shape.size() > 2 && says(call, "transBatch" + operand)) {
    const Int first = shape.front();
    shape.erase(shape.begin());
    shape.insert(shape.end() - 1, first);
  }
  return shape;
}

// Its elements in that order.
Tensor turned(const Call& call, const std::string& operand, const Tensor& from) {
  const Shape to = turned(call, operand);
  if (!says(call, "transBatch" + operand) || to.size() < 3) return from;
  Tensor out({from.dtype(), to});
  const std::size_t size = size_of(from.dtype());
  for (Int i = 0; i < out.elements(); ++i) {
    Shape at = position(to, i);
    const Int first = at[at.size() - 2];
    at.erase(at.end() - 2);
    at.insert(at.begin(), first);
    const auto source = static_cast<std::size_t>(flat_index(from.shape(), at)) * size;
    std::ranges::copy(from.bytes().subspan(source, size),
                      out.bytes().subspan(static_cast<std::size_t>(i) * size, size).begin());
  }
  return out;
}

MatrixMeeting meeting_of(const Call& call) {
  return {turned(call, "A"), turned(call, "B"), call.rank("A") > 1 && says(call, "transA"),
          call.rank("B") > 1 && says(call, "transB")};
}
std::optional<Shape> shape(const Call& call, const Readings&) { return meeting_of(call).shape(); }

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
  return product({turned(call, "A", *in.at(0)), turned(call, "B", *in.at(1)), meeting_of(call), std::nullopt,
                  scalar_of(static_cast<double>(call.real("alpha")))},
                 readings, declared);
}

}  // namespace

Oracle fused_matmul() { return of_products({answer, shape, {}}); }
Oracle transpose_matmul() { return fused_matmul(); }

}  // namespace assay::oracles
