// SPDX-License-Identifier: Apache-2.0
// Positional: what a word on the command line is that stands behind no option (decisions 1).
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace assay::tools {

// backend: the name of one, or exec:COMMAND; model: it ends in .onnx; report: in .json; folder: it is one; line: a
// case, it contains a blank; tensor: it ends in .npy or .pb; number: digits alone; backend again: anything else.
enum class Positional { model, report, tensor, folder, line, number, backend };
Positional kind_of(const std::string& word);
std::string_view name(Positional kind);  // "a model (.onnx)"

// Has a verb take words of these kinds, each put where it is wanted; --help calls them `name`. Two of a kind, or one of
// another kind, throw InputError; --backend is a word as well.
void take_words(CLI::App& command, const std::string& name, std::map<Positional, std::string*> wanted,
                const std::string& description);

}  // namespace assay::tools
