// SPDX-License-Identifier: Apache-2.0
// Script: a finding as a Python program that needs onnx, numpy and the runtime, and nothing of assay. It prints what
// the runtime gives and what the standard says, and ends with 1 while the defect stands and with 0 once it is mended.
//
// How a runtime is asked stands in tools/backends/scripts/NAME.py, which the catalogue names: lines before `def run` go
// to the top of a script. In them THREADS, OPTIMIZATION, MODULE, CLASS and options of the worker in capitals
// (PRECISION) stand for what was asked for; `# if X` and `# unless X` at the end of a line keep or drop it: X is a
// configuration other than the default (threads, optimization, an option), `class`, or `bfloat16`, an element type of
// the case; several are joined by `or`.
#pragma once

#include "suites/provenance.h"
#include "suites/signature.h"

#include <map>
#include <optional>
#include <string>

namespace assay::suites {

struct Script {
  std::string text;
  // Of its folder (finding_folder.h) it reads model.onnx or tensors, because they are too long to be written out; those
  // that only a script needs are here, by path.
  bool reads_files = false;
  std::map<std::string, std::string> files = {};
};

// Of a finding: what `outcome` was judged as. The error is why there is none, in words that follow "because".
// `outcome`: null where what came back was not kept.
Result<Script> script_of(const Case& c, const oracles::Verdict& verdict, const oracles::Outcome* outcome,
                         const Provenance& provenance);

// The data set that shows a wrong answer: the first that is not admitted.
int telling_set(const Case& c, const oracles::Verdict& verdict, const oracles::Outcome* outcome,
                const Provenance& provenance);

}  // namespace assay::suites
