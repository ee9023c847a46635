// SPDX-License-Identifier: Apache-2.0
#include "reference/families/elementwise.h"

namespace assay {

void consumed_inputs(Operator& op) { op.optional_ints("consumed_inputs").ruling("E48"); }
void without_consumed_inputs(Operator& op) { op.without("consumed_inputs").settled("E48"); }

Values outputs_of(const Call& call) {
  Values y;
  for (const std::optional<TensorType>& type : call.definition().infer(call))
    y.push_back(type ? std::optional(Tensor(*type)) : std::nullopt);
  return y;
}

double number_at(const Tensor& tensor, Int at) {
  return for_value(tensor.dtype(),
                   [&]<class T>() { return static_cast<double>(tensor.as<T>()[static_cast<std::size_t>(at)]); });
}

void put_number(Tensor& tensor, Int at, double value) {
  for_value(tensor.dtype(), [&]<class T>() { tensor.as<T>()[static_cast<std::size_t>(at)] = T(value); });
}

ShapeFunction same_as(std::string input) {
  return [input = std::move(input)](const Call& call) { return call.shape(input); };
}

bool names_a_type(const Call& call) {
  const Parameter& output = call.definition().outputs.front();
  const std::optional<DType> type = type_named_by(call, output.typed_by);
  return type && std::ranges::count(call.definition().types_of(output.type), *type) == 1;
}

}  // namespace assay
