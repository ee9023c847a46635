// SPDX-License-Identifier: Apache-2.0
// A stranger's JSON may nest a million levels deep. It is read without harm, but to copy, compare or print such a value
// recurses, and the stack ends. So every reader checks here first.
#pragma once

#include <string_view>

namespace assay::suites {

inline constexpr int deepest_json = 64;  // what assay writes nests a tenth of it

// Tells whether what is read as JSON nests deeper than that.
bool nests_too_deep(std::string_view json);
// The same of CBOR, which recurses while it is read. What cannot be read to its end nests as deep as it got.
bool cbor_nests_too_deep(std::string_view cbor);

}  // namespace assay::suites
