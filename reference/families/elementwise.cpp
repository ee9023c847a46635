// SPDX-License-Identifier: Apache-2.0
#include "reference/families/elementwise.h"

namespace assay {

void consumed_inputs(Operator& op) { op.optional_ints("consumed_inputs").ruling("E48"); }
void without_consumed_inputs(Operator& op) { op.without("consumed_inputs").settled("E48"); }

ShapeFunction same_as(std::string input) {
  return [input = std::move(input)](const Call& call) { return call.shape(input); };
}

bool names_a_type(const Call& call) {
  const Parameter& output = call.definition().outputs.front();
  const std::optional<DType> type = type_named_by(call, output.typed_by);
  return type && std::ranges::count(call.definition().types_of(output.type), *type) == 1;
}

}  // namespace assay
