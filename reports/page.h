// SPDX-License-Identifier: Apache-2.0
// The parts of the page, as they stand in reports/page; embedded when the build is configured.
#pragma once

#include <string_view>

namespace assay::reports::page {

extern const std::string_view html, css, js;

}  // namespace assay::reports::page
