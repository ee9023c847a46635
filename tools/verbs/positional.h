// SPDX-License-Identifier: Apache-2.0
// Positional: what a word on the command line is that stands behind no option (decisions 1).
#pragma once

#include <string>
#include <string_view>

namespace assay::tools {

// model: it ends in .onnx; report: in .json; tensor: in .npy or .pb; folder: it is one; line: a case, it contains a
// blank; number: digits alone; backend: anything else.
enum class Positional { model, report, tensor, folder, line, number, backend };
Positional kind_of(const std::string& word);
std::string_view name(Positional kind);  // "a model (.onnx)"

}  // namespace assay::tools
