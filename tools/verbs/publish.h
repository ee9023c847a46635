// SPDX-License-Identifier: Apache-2.0
// Publish: a report of either kind, to its file and to the terminal.
#pragma once

#include "reports/atomic_file.h"
#include "reports/fuzz_report.h"
#include "reports/report.h"
#include "tools/verbs/progress.h"

#include <iostream>
#include <string>
#include <type_traits>
#include <unistd.h>

namespace assay::tools {

enum class Detail { all, conclusion };

// "5", or "all"; of causes.
inline std::size_t causes_of(const std::string& word) {
  const bool is_number = !word.empty() && word.size() < 7 && word.find_first_not_of("0123456789") == word.npos;
  if (!is_number && word != "all") throw InputError("--show " + word + ": write a number of causes, or all");
  return is_number ? std::stoul(word) : reports::all_causes;
}

// What was found is printed in any case: a full disk must not cost it.
template <class Report>
void publish(const Report& report, reports::AtomicFile& draft, const std::string& file, Detail detail = Detail::all,
             std::size_t most_causes = reports::few_causes) {
  const auto colour = is_coloured(STDOUT_FILENO) ? reports::Colour::terminal : reports::Colour::none;
  try {
    if (draft.is_named()) reports::write_json(report, draft.out());
    draft.finish();
  } catch (const InputError&) {
    reports::write_session(report, "", colour, std::cout, most_causes);
    throw;
  }
  if (detail == Detail::all)
    reports::write_session(report, file, colour, std::cout, most_causes);
  else if constexpr (std::is_same_v<Report, reports::Report>)
    reports::write_conclusion(report, file, std::cout);
}

}  // namespace assay::tools
