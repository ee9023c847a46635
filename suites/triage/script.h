// SPDX-License-Identifier: Apache-2.0
// Script: a finding as a Python program that needs onnx, numpy and the runtime, and nothing of assay. It prints what
// the runtime gives and what the standard says, and ends with 1 while the defect stands and with 0 once it is mended.
// How the runtime is run stands in snippet.h.
#pragma once

#include "suites/campaign/confirmation.h"
#include "suites/campaign/provenance.h"
#include "suites/campaign/signature.h"

#include <map>
#include <span>
#include <string>

namespace assay::suites {

struct Script {
  std::string text;
  // Of its folder (finding_folder.h) it reads model.onnx or tensors, because they are too long to be written out; those
  // that only a script needs are here, by path.
  bool reads_files = false;
  std::map<std::string, std::string> files = {};
};

// Makes the script of a finding. `outcome` is null where what came back was not kept. `before`: what runs first in the
// same process, whatever comes of it, where the finding comes only after that. The error says why there is no script,
// in words that follow "because". What does not come again whenever it is run, `comes_again` false, may be memory that
// nobody wrote: the script has the C library fill what it hands out.
Result<Script> script_of(const Case& c, const oracles::Verdict& verdict, const oracles::Outcome* outcome,
                         const Provenance& provenance, std::span<const Step> before = {}, bool comes_again = true);

}  // namespace assay::suites
