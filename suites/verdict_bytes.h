// SPDX-License-Identifier: Apache-2.0
// A Verdict as bytes (CBOR) and back, nothing lost: a report made from what was kept is the report of the run.
#pragma once

#include "oracles/verdict.h"
#include "reference/result.h"

#include <string>
#include <string_view>

namespace assay::suites {

std::string bytes_of(const oracles::Verdict& verdict);
// An error where the bytes are not of this version of assay.
Result<oracles::Verdict> verdict_of(std::string_view bytes);

}  // namespace assay::suites
