// SPDX-License-Identifier: Apache-2.0
// Worker names: what may stand after --backend, and the command each name stands for.
//
//   NAME              an entry of tools/backends/catalogue.json (catalogue.h): onnxruntime, openvino, …
//   reference, reference:fast, reference:naive   assay-worker-reference: the first two are the same
//   reference:inprocess        the same kernels as reference, inside assay (own_kernels.h)
//   python:MODULE     tools/backends/onnx_backend.py      exec:COMMAND                 any program
//   ./LIBRARY.so, ./LIBRARY.so.1   assay-worker-host, for what exports tools/backends/assay_backend.h
//   variant:NAME, mutant:ID    assay-worker-reference: correct variants and planted bugs, for tests of ourselves
//
// places.h says where scripts, programs and installed backends lie.
#pragma once

#include "reference/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

// As written in messages: "onnxruntime", "python:MODULE", …
const std::vector<std::string>& worker_names();

// False of reference:inprocess alone.
bool is_worker(const std::string& name);

// Program and arguments. Throws InputError for an unknown name, where the program is not there, or where there is none.
std::vector<std::string> command_of(const std::string& name);

// Splits as a shell does without expanding anything: blanks separate, '…' and "…" join, \ escapes.
Result<std::vector<std::string>> split_command(std::string_view command);

}  // namespace assay::suites
