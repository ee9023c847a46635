// SPDX-License-Identifier: Apache-2.0
// Account: a finding told to somebody who never heard of assay: to the people who can mend it. Everything in it is a
// function of the case, of what came back, of the verdict and of which backend was run.
#pragma once

#include "suites/triage/causes.h"
#include "suites/triage/script.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

// What is told. `outcome` is null where what came back was not kept; `suspicions` say what a kernel would have to do
// wrong to give it ("SAME_* pads for the undilated kernel").
struct Incident {
  const Case& c;
  const oracles::Verdict& verdict;
  const oracles::Outcome* outcome;
  std::vector<std::string> suspicions;
  Steps before = {};        // what ran first in the same process, where it comes only after that
  bool comes_again = true;  // whenever it was run alone
};

struct Account {
  std::string title;    // one line of plain text
  std::string opening;  // Markdown: what is wrong, and where there is no script the model and its inputs
  std::optional<Script> script;
  std::string closing;    // Markdown: expected, actual, clauses, versions
  std::string no_script;  // why there is none
};
Account account_of(const Incident& told, const Provenance& provenance);

Account account_of(const Finding& finding, const Provenance& provenance);

// Writes a text for an issue tracker: a line for the title, a blank line, Markdown: the opening, the script, the
// closing.
std::string issue_text(const Account& account);
// Writes the README.md of its folder.
std::string readme_text(const Account& account, std::string_view line, const Provenance& provenance);

}  // namespace assay::suites
