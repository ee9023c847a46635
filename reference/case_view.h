// SPDX-License-Identifier: Apache-2.0
// A case as a kernel takes it: the case that a line has to be, and its operands uncopied.
#pragma once

#include "reference/case.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// Reads a line that has to be a case; throws InputError where it is none.
inline Case case_of(std::string_view line) {
  Result<Case> c = parse_case(line);
  if (!c) throw InputError(std::string(line) + ": " + c.error());
  return *std::move(c);
}

// Points at each operand; null stands for one that is left out.
inline std::vector<const Tensor*> views(const Operands& operands) {
  std::vector<const Tensor*> pointers;
  for (const auto& operand : operands) pointers.push_back(operand ? &*operand : nullptr);
  return pointers;
}

}  // namespace assay
