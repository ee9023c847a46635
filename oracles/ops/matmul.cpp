// SPDX-License-Identifier: Apache-2.0
// The exact answers of MatMul and MatMulInteger (windows-and-products 3.9, 3.11).
#include "oracles/families/products.h"
#include "oracles/rules/rules.h"

namespace assay::oracles {
namespace {

MatrixMeeting meeting_of(const Call& call) { return {call.shape("A"), call.shape("B")}; }
std::optional<Shape> shape(const Call& call, const Readings&) { return meeting_of(call).shape(); }

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
  return product({*in.at(0), *in.at(1), meeting_of(call)}, readings, declared);
}

// Zero points are counted as rows of A and columns of B are, one matrix after the other.
Answers answer_of_integers(const Call& call, const Operands& in, const Readings& readings, const Arithmetic&) {
  const MatrixMeeting meeting = meeting_of(call);
  const auto terms = [meeting](Int index, const auto& f) {
    const MatrixLine a = meeting.of_a(index), b = meeting.of_b(index);
    const Int depth = meeting.depth(), columns = meeting.columns();
    for (Int k = 0; k < depth; ++k)
      f({a.at(k), b.at(k), a.at(k) / depth, b.at(k) / (depth * columns) * columns + index % columns});
  };
  return integer_sums(meeting.shape(), {"A", *in.at(0), given(in, 2)}, {"B", *in.at(1), given(in, 3)}, terms, readings);
}

}  // namespace

Oracle matmul() { return of_products({answer, shape, {}}); }
Oracle matmul_integer() { return without_rounding({answer_of_integers, shape, {}}); }

}  // namespace assay::oracles
