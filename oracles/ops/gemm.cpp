// SPDX-License-Identifier: Apache-2.0
// The exact answer of Gemm: a product of two matrices, scaled, and a third one, scaled (windows-and-products 3.9).
#include "oracles/families/products.h"

namespace assay::oracles {
namespace {

MatrixMeeting meeting_of(const Call& call) {
  return {call.shape("A"), call.shape("B"), call.integer("transA") != 0, call.integer("transB") != 0};
}
std::optional<Shape> shape(const Call& call, const Readings&) { return meeting_of(call).shape(); }

Answers answer(const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
  const auto factor = [&](const char* name) { return scalar_of(static_cast<double>(call.real(name))); };
  return product(
      {*in.at(0), *in.at(1), meeting_of(call), in.size() > 2 ? in[2] : std::nullopt, factor("alpha"), factor("beta")},
      readings, declared);
}

}  // namespace

Oracle gemm() { return of_products({answer, shape, {}}); }

}  // namespace assay::oracles
