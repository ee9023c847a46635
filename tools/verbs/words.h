// SPDX-License-Identifier: Apache-2.0
// Words a person types, as what they name. Each throws InputError with the nearest word there is.
#pragma once

#include "oracles/exact/accuracy.h"
#include "suites/planning/suite.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tools {

oracles::Level level_of(const std::string& word);           // L0, L1, L2, L2t, L3
std::string optimization_of(const std::string& word);       // all, extended, basic, none
std::chrono::seconds duration_of(const std::string& word);  // 90s, 10m, 8h
// 10, 0.5, 500ms, 10s, 2m or 1h, from a millisecond to a day; else nothing.
std::optional<double> seconds_of(const std::string& word);
int threads_of(const std::string& word);                      // 1 to 4096
const Profile& profile_of(const std::string& word);           // sonnx
const Definition& definition_of(const std::string& word);     // "Conv-11"; "Conv" is the newest
const Definition* definition_named(const std::string& word);  // the same; null where there is none
// "; at opset 12 Conv-11 is in force", of a version that is none; else empty.
std::string in_force(const std::string& word);
// "; did you mean certify?", or the choices where none is near: the end of an error message.
std::string suggestion(std::string_view word, const std::vector<std::string>& choices);
// All there are.
std::vector<std::string> level_names();
std::vector<std::string> type_names();
std::vector<std::string> version_names();
std::vector<std::string> operator_and_version_names();

suites::Selection selection_of(const std::vector<std::string>& operators, const std::vector<std::string>& types);

}  // namespace assay::tools
