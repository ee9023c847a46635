// SPDX-License-Identifier: Apache-2.0
// Keeps tensors that a case line names by what they hold (`stored:HASH`): constants of a model, and what arrives at its
// nodes. A name is a hash of type and elements, so the line still says what the data are; whoever runs it brings them.
#pragma once

#include "reference/tensor.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

// Says where a tensor is kept: in a file it takes no memory while nobody reads it, as long as it has a mebibyte at
// least and the folder for temporary files has room.
enum class StoredIn { memory, file };
// Keeps a tensor of numbers for as long as the process lives, and returns its name: 16 hexadecimal digits.
std::string store(const Tensor& tensor, StoredIn where = StoredIn::memory);
// Returns what bears that name; none where it was not stored.
std::optional<Tensor> stored_as(std::string_view name);
bool is_store_name(std::string_view word);

// Maps a part of an open file into memory, whose pages are its own where they are written; null where it cannot.
std::shared_ptr<std::byte> mapped_file(int file, Int offset, std::size_t length);

}  // namespace assay
