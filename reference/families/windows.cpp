// SPDX-License-Identifier: Apache-2.0
#include "reference/families/windows.h"

namespace assay {

Types pooled(const Call& call) {
  Shape shape = Window::of(call).output();
  shape.insert(shape.begin(), {call.dim("X", 0), call.dim("X", 1)});
  Types types;
  for (const Parameter& output : call.definition().outputs)
    types.push_back(call.asks(output.name) ? std::optional(TensorType{call.definition().type_of(call, output), shape})
                                           : std::nullopt);
  return types;
}

}  // namespace assay
