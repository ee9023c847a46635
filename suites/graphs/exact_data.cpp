// SPDX-License-Identifier: Apache-2.0
#include "suites/graphs/exact_data.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace assay::suites {
namespace {

std::string decimal(float value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

// The products that a weight has a part in, for one element of the output.
Int terms_of(const std::string& op, const Shape& weight, bool is_first) {
  if (op == "MatMul" || op == "Gemm") return weight[weight.size() - (is_first || weight.size() < 2 ? 1 : 2)];
  Int all = op == "ConvTranspose" ? weight[0] : weight[1];
  for (std::size_t axis = 2; axis < weight.size(); ++axis) all *= weight[axis];
  return all;
}

bool is_weight(const std::string& op, std::size_t i) {
  return (i == 1 && (op == "Conv" || op == "ConvTranspose")) || (i < 2 && (op == "MatMul" || op == "Gemm"));
}

// Draws weights of which about three are 1 or -1 in a sum of so many terms, the others 0.
Recipe sparse(Int terms, const std::string& seed) {
  return {"sparse" + std::to_string(std::clamp<Int>(terms / 3, 1, Int{1} << 20)), seed};
}

}  // namespace

bool is_quantizer(const Case& c) { return c.version.name == "QuantizeLinear" || c.version.name == "DequantizeLinear"; }

Recipe exact_bytes(const TensorType& type, Int zero, bool is_constant, const std::string& seed) {
  if (!is_constant || type.dtype == DType::i32) return {"around" + std::to_string(zero), seed};
  if (zero == 0 && type.shape.size() < 2) return sparse(1, seed);
  if (zero == 0) return sparse(terms_of(type.shape.size() == 2 ? "MatMul" : "Conv", type.shape, false), seed);
  std::string list;  // of a prime length, so that it falls otherwise in every row
  for (const Int off : {0, 1, 0, 0, -1, 0, 0, 0, 1, 0, -1, 0, 0})
    list += (list.empty() ? "" : ",") + std::to_string(zero + off);
  return {"hold", list};
}

Recipe exact_constant(const Case& c, std::size_t i, const Shape& shape, const std::string& seed) {
  const std::string& op = c.version.name;
  if (is_quantizer(c) && i == 1) return {"hold", "1"};
  if (is_weight(op, i) && shape.size() > 1) return sparse(terms_of(op, shape, i == 0), seed);
  if (op == "BatchNormalization" && i == 1) return {"hold", "1,-2,0.5,2,-1"};
  if (op == "BatchNormalization" && i == 4)  // with epsilon it is 1
    return {"hold", decimal(1 - c.call().real("epsilon"))};
  if (op == "Div" && i == 1) return {"hold", "2,-4,0.5,1"};
  if (op == "Mul") return {"hold", "2,-1,0.5,3"};
  if (op == "PRelu") return {"hold", "0.5,-0.25,2"};
  return {"small", seed};
}

void round_slope(Case& c) {
  if (c.version.name != "LeakyRelu" && c.version.name != "Gemm") return;
  const auto slope = c.node.attributes.find("alpha");
  if (slope == c.node.attributes.end()) return;
  if (float* const value = std::get_if<float>(&slope->second); value && *value > 0)
    *value = std::exp2(std::round(std::log2(*value)));
}

bool is_bound(const Case& c, std::size_t input) { return c.version.name == "Clip" && input > 0; }

}  // namespace assay::suites
