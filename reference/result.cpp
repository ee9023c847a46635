// SPDX-License-Identifier: Apache-2.0
#include "reference/result.h"

namespace assay {

void break_promise(const char* what, std::source_location where) {
  throw BrokenPromise(std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " + what);
}

}  // namespace assay
