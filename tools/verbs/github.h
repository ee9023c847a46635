// SPDX-License-Identifier: Apache-2.0
// What certify --github tells the job it runs in.
#pragma once

#include "reports/report.h"

#include <string>

namespace assay::tools {

// Annotations to stdout, and the report as Markdown behind what the job's summary holds already, where
// GITHUB_STEP_SUMMARY names its file. Throws InputError where that cannot be written.
void tell_github(const reports::Report& report, const std::string& file);

}  // namespace assay::tools
