// SPDX-License-Identifier: Apache-2.0
// Verb: one subcommand of the tool. Declaring it fills its options in; running it is another step, so that what it
// throws is caught once, in main.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace assay::tools {

// Exit codes of every verb (decisions 1).
inline constexpr int conforms = 0, not_conforming = 1, bad_input = 2, broken = 3;

struct Verb {
  CLI::App* command;
  std::function<int()> run;
};

Verb certify_verb(CLI::App& app);
Verb verify_verb(CLI::App& app);
Verb replay_verb(CLI::App& app);
Verb report_verb(CLI::App& app);
Verb diff_verb(CLI::App& app);
Verb matrix_verb(CLI::App& app);
Verb bisect_verb(CLI::App& app);
Verb fuzz_verb(CLI::App& app);
Verb merge_verb(CLI::App& app);
Verb list_verb(CLI::App& app);
Verb backends_verb(CLI::App& app);
Verb explain_verb(CLI::App& app);
Verb doctor_verb(CLI::App& app);
Verb vet_verb(CLI::App& app);
Verb locate_verb(CLI::App& app);
Verb waive_verb(CLI::App& app);
Verb exhaust_verb(CLI::App& app);
Verb mutate_verb(CLI::App& app);
Verb golden_verb(CLI::App& app);
Verb man_verb(CLI::App& app);
Verb completion_verb(CLI::App& app);
Verb complete_verb(CLI::App& app);
Verb audit_verb(CLI::App& golden);  // a subcommand of it
Verb judge_verb(CLI::App& app);

}  // namespace assay::tools
