// SPDX-License-Identifier: Apache-2.0
// Spawn: a program that does the work of a verb, with the terminal of the verb.
#pragma once

#include <string>
#include <vector>

namespace assay::tools {

// Waits for it; its exit code, or 128 and the signal that ended it. Throws InputError where it cannot be started.
int exit_code_of(const std::vector<std::string>& command);

}  // namespace assay::tools
