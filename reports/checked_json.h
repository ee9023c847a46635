// SPDX-License-Identifier: Apache-2.0
// A stranger's JSON document, held against one of the schemas in this folder before anything in it is believed.
#pragma once

#include "reference/result.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::reports {

inline constexpr int deepest_nesting = 32;
inline constexpr std::size_t longest_string = 8'192;  // bytes; a regular expression of a schema takes stack for each

// One line with the place where it is no JSON, repeats a member, nests too deep, or holds too long a string.
Result<nlohmann::json> parse_stranger(std::string_view text);

// One line with the first place that the schema does not admit, empty where there is none. `schema` is the name of a
// file in this folder: "certificate.schema.json". Throws InputError where that cannot be read.
std::string breach_of_schema(const nlohmann::json& document, const std::string& schema);

}  // namespace assay::reports
