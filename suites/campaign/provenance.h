// SPDX-License-Identifier: Apache-2.0
// Provenance: which backend was run, and how.
#pragma once

#include "suites/campaign/campaign.h"
#include "suites/workers/backend.h"

#include <string>
#include <string_view>

namespace assay::suites {

struct Provenance {
  std::string tool_version, backend;  // the backend as named on the command line
  Description description;
  RunOptions run_options;
  std::string limits = {};  // that were not as by default: "--timeout 2"
};

// Write a word for a POSIX shell: in quotes always, and where they are needed.
std::string in_quotes(std::string_view word);
std::string shell_word(std::string_view word);

// Gives the command that runs the same again; `what` is a case line or a folder.
std::string replay_command(const Provenance& provenance, std::string_view what);

// "threads=1 optimization=all precision=f32"
std::string configuration(const RunOptions& run_options);

}  // namespace assay::suites
