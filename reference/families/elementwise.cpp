// SPDX-License-Identifier: Apache-2.0
#include "reference/families/elementwise.h"

namespace assay {

void consumed_inputs(Operator& op) { op.optional_ints("consumed_inputs").ruling("E48"); }
void without_consumed_inputs(Operator& op) { op.without("consumed_inputs").settled("E48"); }

ShapeFunction same_as(std::string input) {
  return [input = std::move(input)](const Call& call) { return call.shape(input); };
}

}  // namespace assay
