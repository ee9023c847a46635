// SPDX-License-Identifier: Apache-2.0
// ReplayRun: what `assay replay` runs, wherever it comes from: a case line, a finding of a report, a folder, a model.
#pragma once

#include "reference/graph_case.h"
#include "suites/campaign/campaign.h"
#include "suites/campaign/confirmation.h"
#include "tools/verbs/subject.h"

#include <optional>
#include <string>
#include <vector>

namespace assay::tools {

struct ReplayRun {
  std::string title;                         // the case line, or the file of the model
  std::optional<suites::SuiteCase> planned;  // none of a model that no case line says
  Call call;
  std::vector<Operands> sets;  // in the order of the schema
  // Of a model that somebody else wrote: its bytes, and the parts of each data set.
  std::string model = {};
  std::vector<std::vector<std::string>> parts = {};
  suites::Steps before = {};       // what runs first in the same process
  suites::Settings settings = {};  // as its line says

  bool is_session() const { return !before.empty(); }
  suites::Request submit(const suites::RunOptions& run_options) const;
  oracles::Verdict judged(const oracles::Outcome& outcome, const suites::Description& backend,
                          oracles::Level level) const;
};

// What is said on the command line: words behind no option, and the recipe that fills what no file holds.
struct Said {
  std::vector<std::string> words;
  std::string recipe = "small:1";
};

// Reads a graph, and the backend that another word names, where a graph line or a report of graphs stands there.
std::optional<GraphCase> graph_of(const Said& said, Subject& subject,
                                  const std::function<bool(const std::string&)>& is_given);

// Sorts the words and reads what they name. A backend among them, or the one that a report or a finding is about,
// goes into `subject`, where none is named there; so does how it was run, but for what `is_given` says was said.
// Throws InputError, in one line that says what to do.
ReplayRun run_of(const Said& said, Subject& subject, const std::function<bool(const std::string&)>& is_given);

}  // namespace assay::tools
