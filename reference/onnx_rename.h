// SPDX-License-Identifier: Apache-2.0
// A model whose node is of another operator than it was: one that nobody knows, to see what a worker says of it.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// `model` is a ModelProto of ours with one node.
std::string with_operator(std::string_view model, const std::string& op_type);

}  // namespace assay
