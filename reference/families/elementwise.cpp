// SPDX-License-Identifier: Apache-2.0
#include "reference/families/elementwise.h"

namespace assay {

ShapeFunction same_as(std::string input) {
  return [input = std::move(input)](const Call& call) { return call.shape(input); };
}

}  // namespace assay
