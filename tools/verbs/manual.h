// SPDX-License-Identifier: Apache-2.0
// The manual page and the completion of a command line, both out of the definitions that --help prints.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace assay::tools {

// assay(1) in the man macros of groff.
std::string manual(const CLI::App& app, std::string_view version);

// What a value of an option may be, by the name of the option or of the positional: {"--level", …}.
using Vocabulary = std::map<std::string, std::function<std::vector<std::string>()>, std::less<>>;

// What may follow a command line that was typed as far as the cursor, program name included: verbs, options, values.
// Each begins with the word that is being typed. None where any file will do.
std::vector<std::string> completions(const CLI::App& app, std::string_view line, const Vocabulary& vocabulary);

}  // namespace assay::tools
