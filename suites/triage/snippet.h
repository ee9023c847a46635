// SPDX-License-Identifier: Apache-2.0
// Snippet: how a script runs a runtime. It stands in tools/backends/scripts/NAME.py, which the catalogue names: a line
// `version = …` and the function `run(model, *sets)`, which gives the outputs for each dictionary of inputs, all in one
// session. What stands before its first function goes to the top of the script.
//
// THREADS, OPTIMIZATION, MODULE, CLASS and options of the worker in capitals (PRECISION) stand for what was asked for.
// `# if X` and `# unless X` at the end of a line keep or drop it: X is a configuration other than the default (threads,
// optimization, an option), `class`, or `ml_dtypes`, which has element types of the case that numpy lacks; several are
// joined by `or`.
#pragma once

#include "suites/campaign/provenance.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

struct Snippet {
  std::vector<std::string> head, functions;  // lines
};

// Reads the snippet of a backend and fills it in. The error says why there is none.
Result<Snippet> snippet_of(const Provenance& provenance, bool needs_ml_dtypes);

// Writes words as a comment may have them: one line of printable ASCII.
std::string one_line(std::string_view words);

}  // namespace assay::suites
