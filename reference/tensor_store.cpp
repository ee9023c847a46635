// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_store.h"

#include "reference/case.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace assay {
namespace {

constexpr std::size_t digits = 16;

struct Store {
  std::mutex mutex;
  std::map<std::string, Tensor, std::less<>> tensors;
};

Store& the_store() {
  static Store store;
  return store;
}

// Opens a file that nobody can name, and that ends with the process; -1 where there is none.
int nameless_file() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "assay-XXXXXX").string();
  const int file = error ? -1 : ::mkstemp(name.data());
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

bool is_written(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

// Moves a large tensor into a file; returns it as it is where that cannot be done.
Tensor put_aside(const Tensor& tensor) {
  constexpr std::size_t least = std::size_t{1} << 20;
  if (tensor.bytes().size() < least) return tensor;
  const int file = nameless_file();
  if (file < 0) return tensor;
  const std::shared_ptr<std::byte> bytes =
      is_written(file, tensor.bytes()) ? mapped_file(file, 0, tensor.bytes().size()) : nullptr;
  ::close(file);
  return bytes ? Tensor::over(tensor.type(), bytes) : tensor;
}

}  // namespace

std::shared_ptr<std::byte> mapped_file(int file, Int offset, std::size_t length) {
  void* const start = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, offset);
  if (start == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(start), [length](std::byte* bytes) { ::munmap(bytes, length); }};
}

std::string store(const Tensor& tensor, StoredIn where) {
  const auto bytes = tensor.bytes();
  const std::string_view elements(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::string name = sha256(std::string(assay::name(tensor.dtype())) + sha256(elements)).substr(0, digits);
  Store& store = the_store();
  const std::scoped_lock lock(store.mutex);
  if (!store.tensors.contains(name)) store.tensors[name] = where == StoredIn::file ? put_aside(tensor) : tensor;
  return name;
}

std::optional<Tensor> stored_as(std::string_view name) {
  Store& store = the_store();
  const std::scoped_lock lock(store.mutex);
  const auto found = store.tensors.find(name);
  return found == store.tensors.end() ? std::nullopt : std::optional(found->second);
}

bool is_store_name(std::string_view word) {
  return word.size() == digits && word.find_first_not_of("0123456789abcdef") == word.npos;
}

}  // namespace assay
