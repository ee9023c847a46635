// SPDX-License-Identifier: Apache-2.0
// A finding as a folder in the layout of ONNX's backend tests, which any ONNX tool opens:
//
//   README.md         what is wrong, the clause, what to do with the folder
//   ISSUE.md          a text for an issue tracker; its first line is the title
//   repro.py          the finding without assay, for backends that Python reaches (script.h)
//   model.onnx
//   test_data_set_0/  input_0.pb … output_0.pb   the output is the right one under the rulings, where there is one
//   test_data_set_1/  …
//   bounds_0/ …       tensors that only repro.py reads, where they are too long to be written out in it
//   finding.json      the line, where it came from, the verdict and the interval that was missed
#pragma once

#include "suites/triage/account.h"

#include <filesystem>
#include <string>

namespace assay::suites {

// "AveragePool-19-fail-shape-5f0c3a9b21d4": the same finding has the same name.
std::string folder_name(const Finding& finding);

// The same bytes for the same finding. Throws InputError where the folder cannot be written. finding.json comes last:
// a folder that holds it is whole.
void write_finding(const std::filesystem::path& folder, const Finding& finding, const Provenance& provenance);

// The case of a folder, from a stranger's hands: its line, if model.onnx is the model of that line.
Result<SuiteCase> read_finding(const std::filesystem::path& folder);

}  // namespace assay::suites
