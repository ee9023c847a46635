// SPDX-License-Identifier: Apache-2.0
// Keeps tensors that a case line names by what they hold (`stored:HASH`): constants of a model, and what arrives at its
// nodes. A name is a hash of type and elements, so the line still says what the data are; whoever runs it brings them.
#pragma once

#include "reference/tensor.h"

#include <optional>
#include <string>
#include <string_view>

namespace assay {

// Keeps a tensor of numbers for as long as the process lives, and returns its name: 16 hexadecimal digits.
std::string store(const Tensor& tensor);
// Returns what bears that name; none where it was not stored.
std::optional<Tensor> stored_as(std::string_view name);
bool is_store_name(std::string_view word);

}  // namespace assay
