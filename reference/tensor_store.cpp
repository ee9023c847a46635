// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_store.h"

#include "reference/case.h"

#include <algorithm>
#include <map>
#include <mutex>

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

}  // namespace

std::string store(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  const std::string_view elements(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::string name = sha256(std::string(assay::name(tensor.dtype())) + sha256(elements)).substr(0, digits);
  Store& store = the_store();
  const std::scoped_lock lock(store.mutex);
  store.tensors.try_emplace(name, tensor);
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
