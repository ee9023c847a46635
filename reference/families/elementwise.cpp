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
  const Definition& definition = call.definition();
  const std::optional<DType> named = type_named_by(call, output.typed_by);
  if (!named && call.states(output.typed_by)) return false;
  const DType type = named.value_or(definition.type_of(call, output));
  return std::ranges::count(definition.types_of(output.type), type) == 1;
}

namespace {

struct Stated {
  Tensor operator()(const Tensor& value) const { return value; }
  template <class T>
  Tensor operator()(const std::vector<T>& values) const {
    Tensor y({dtype_of<T>(), {std::ssize(values)}});
    std::ranges::copy(values, y.as<T>().begin());
    return y;
  }
  template <class T>
  Tensor operator()(const T& value) const {
    Tensor y({dtype_of<T>(), {}});
    y.as<T>()[0] = value;
    return y;
  }
};

}  // namespace

Tensor tensor_of(const Attribute& value) { return std::visit(Stated{}, value); }

}  // namespace assay
