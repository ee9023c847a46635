// SPDX-License-Identifier: Apache-2.0
// Publish: a report of either kind, to its file and to the terminal.
#pragma once

#include "reports/draft.h"
#include "reports/fuzz_report.h"
#include "reports/report.h"
#include "tools/verbs/progress.h"

#include <iostream>
#include <string>
#include <type_traits>
#include <unistd.h>

namespace assay::tools {

enum class Detail { all, conclusion };

// What was found is printed in any case: a full disk must not cost it.
template <class Report>
void publish(const Report& report, reports::Draft* draft, const std::string& file, Detail detail = Detail::all) {
  const auto colour = is_coloured(STDOUT_FILENO) ? reports::Colour::terminal : reports::Colour::none;
  try {
    if (draft) {
      reports::write_json(report, draft->out());
      draft->finish();
    }
  } catch (const InputError&) {
    reports::write_session(report, "", colour, std::cout);
    throw;
  }
  if (detail == Detail::all)
    reports::write_session(report, file, colour, std::cout);
  else if constexpr (std::is_same_v<Report, reports::Report>)
    reports::write_conclusion(report, file, std::cout);
}

}  // namespace assay::tools
