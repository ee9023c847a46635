// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/clones.h"

#include <cstdlib>
#include <string_view>

namespace assay::oracles {

Generation generation() {
  static const Generation here = [] {
#if ASSAY_CLONES
    const char* const named = std::getenv("ASSAY_INSTRUCTIONS");
    const std::string_view most = named ? named : "";
    if (most == "portable") return Generation::v1;
    if (__builtin_cpu_supports("x86-64-v4") && most != "avx2") return Generation::v4;
    if (__builtin_cpu_supports("x86-64-v3")) return Generation::v3;
#endif
    return Generation::v1;
  }();
  return here;
}

}  // namespace assay::oracles
