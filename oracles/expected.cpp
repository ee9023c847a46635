// SPDX-License-Identifier: Apache-2.0
#include "oracles/expected.h"

#include "oracles/exact.h"

#include <cmath>
#include <limits>

namespace assay::oracles {
namespace {

// What decisions 5 writes for a kind that is no number.
double special(Kind kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (kind == Kind::positive_infinity) return infinity;
  return kind == Kind::negative_infinity ? -infinity : std::numeric_limits<double>::quiet_NaN();
}

double number(const Scalar& value) {
  if (value.is == Scalar::Class::infinite)
    return value.negative ? -special(Kind::positive_infinity) : special(Kind::positive_infinity);
  return std::ldexp(static_cast<double>(value.mantissa), value.exponent);  // at most 53 bits: exact
}

void store(Tensor& tensor, Int index, double value) {
  const auto at = static_cast<std::size_t>(index);
  switch (tensor.dtype()) {
    case DType::u8: tensor.as<std::uint8_t>()[at] = static_cast<std::uint8_t>(value); break;
    case DType::i8: tensor.as<std::int8_t>()[at] = static_cast<std::int8_t>(value); break;
    case DType::i32: tensor.as<std::int32_t>()[at] = static_cast<std::int32_t>(value); break;
    case DType::i64: tensor.as<std::int64_t>()[at] = static_cast<std::int64_t>(value); break;
    default: for_float(tensor.dtype(), [&]<class T>() { tensor.as<T>()[at] = static_cast<T>(value); });
  }
}

}  // namespace

std::optional<Tensor> expected(const Case& c, int set) {
  const Call call = c.call();
  if (!c.definition().violated(call).empty()) return std::nullopt;
  const std::unique_ptr<Answer> answer = oracle_of(c.version).answer(call, operands(c, set), {}, {});
  Tensor tensor({answer->dtype(), answer->shape()});
  for (Int i = 0; i < tensor.elements(); ++i) {
    const Element element = answer->element(i);
    if (element.kind == Kind::unscored) return std::nullopt;
    if (element.kind != Kind::finite)
      store(tensor, i, special(element.kind));
    else
      store(tensor, i, number(element.nearest ? *element.nearest : rounded(element.value, format_of(tensor.dtype()))));
  }
  return tensor;
}

}  // namespace assay::oracles
