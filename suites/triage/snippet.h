// SPDX-License-Identifier: Apache-2.0
// Snippet: how a script runs a runtime. It stands in tools/backends/scripts/NAME.py, which the catalogue names: a line
// `version = …` and the function `run(model, *sets)`, which gives the outputs for each dictionary of inputs, all in one
// session. What stands before its first function goes to the top of the script. `run` ends in its only `return`, in one
// line, so that a script that calls it once can do without it.
//
// THREADS, OPTIMIZATION, MODULE, CLASS and options of the worker in capitals (PRECISION) stand for what was asked for.
// `# if X` and `# unless X` at the end of a line keep or drop it: X is a configuration other than the default (threads,
// optimization, an option), `class`, `ml_dtypes`, which has element types of the case that numpy lacks, or `near_miss`,
// a model that may be turned away; several are joined by `or`.
#pragma once

#include "suites/campaign/provenance.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

struct Snippet {
  std::vector<std::string> head, functions;  // lines

  // The same in parts: what is imported and made ready, the expression behind `version = `, the functions before `run`.
  std::vector<std::string> imports() const;
  std::string version() const;
  std::vector<std::string> helpers() const;
  // The lines of `run` as they stand outside of a function; `result` replaces its `return`: "[[got]] = ".
  std::vector<std::string> inlined(const std::string& result) const;
};

// Reads the snippet of a backend and fills it in. The error says why there is none.
Result<Snippet> snippet_of(const Provenance& provenance, bool needs_ml_dtypes, bool is_near_miss = false);

// Writes words as a comment may have them: one line of printable ASCII.
std::string one_line(std::string_view words);

}  // namespace assay::suites
