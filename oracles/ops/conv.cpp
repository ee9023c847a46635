// SPDX-License-Identifier: Apache-2.0
// The exact answer of Conv from the formula of spec 1.2:
//
//   Y[n,m,o] = B[m] + sum over c, kappa of  X[n, g*C + c, o*s - pb + kappa*d] * W[m,c,kappa],   g = floor(m /
//   (M/group))
#include "oracles/rules/convolution.h"

namespace assay::oracles {
namespace {

std::unique_ptr<Answer> answer(const Call& call, const Operands& in, const Readings& readings,
                               const Arithmetic& declared) {
  const std::optional<Tensor> bias = in.size() > 2 ? in[2] : std::nullopt;
  return convolution({*in.at(0), *in.at(1), bias, call.integer("group")}, *tracks(call, sliding(call), readings),
                     declared);
}

std::optional<Shape> shape(const Call& call, const Readings& readings) {
  return windowed(call, call.dim("X", 0), call.dim("W", 0), readings);
}

std::vector<std::string> touched(const Call& call, const Operands*, Int) {
  return touched_by_geometry(call, sliding(call));
}

}  // namespace

Oracle conv() { return {answer, shape, touched, false, {"X", "W"}}; }

}  // namespace assay::oracles
