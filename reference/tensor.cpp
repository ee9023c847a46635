// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace assay {
namespace {

struct Row {
  DType dtype;
  std::string_view name, onnx_name, numpy_name;
  std::size_t size;
  int width;
  bool is_float, is_integer, is_small;
};

template <class T>
constexpr Row row_of(std::string_view name, std::string_view onnx_name, std::string_view numpy_name) {
  constexpr bool is_integer = std::is_integral_v<T> || SmallWhole<T>;
  constexpr bool is_float = !is_integer && !std::is_same_v<T, Bool> && !std::is_same_v<T, std::string>;
  int width = 8 * static_cast<int>(sizeof(T));
  if constexpr (Small<T>) width = T::width;
  return {dtype_of<T>(), name, onnx_name, numpy_name, sizeof(T), width, is_float, is_integer, Small<T>};
}

// Written as in ONNX where that is a keyword of C++.
constexpr std::string_view written(std::string_view name) { return name == "boolean" ? "bool" : name; }

constexpr std::array table{
#define DTYPE(name, number, type, onnx, numpy) row_of<type>(written(#name), "tensor(" onnx ")", numpy),
#include "reference/dtypes.def"
#undef DTYPE
};

const Row& row(DType dtype) {
  const auto found = std::ranges::find(table, dtype, &Row::dtype);
  expects(found != table.end(), "a data type outside the table");
  return *found;
}

}  // namespace

std::string_view name(DType dtype) { return row(dtype).name; }
std::string_view onnx_name(DType dtype) { return row(dtype).onnx_name; }
std::string_view numpy_name(DType dtype) { return row(dtype).numpy_name; }

std::string enum_name(DType dtype) {
  std::string word(onnx_name(dtype).substr(std::strlen("tensor(")));
  word.pop_back();
  std::ranges::transform(word, word.begin(), [](unsigned char letter) { return std::toupper(letter); });
  return word;
}

std::size_t size_of(DType dtype) { return row(dtype).size; }
int width_of(DType dtype) { return row(dtype).width; }
bool is_float(DType dtype) { return row(dtype).is_float; }
bool is_integer(DType dtype) { return row(dtype).is_integer; }
bool is_small(DType dtype) { return row(dtype).is_small; }

std::optional<DType> dtype_named(std::string_view name) {
  const auto found = std::ranges::find(table, name, &Row::name);
  if (found == table.end()) return std::nullopt;
  return found->dtype;
}

std::optional<DType> dtype_numbered(std::int32_t number) {
  for (const DType dtype : all_dtypes)
    if (static_cast<std::int32_t>(dtype) == number) return dtype;
  return std::nullopt;
}

Int volume(std::span<const Int> shape) {
  Int product = 1;
  for (const Int extent : shape) {
    if (extent < 0) throw InputError("a shape has a negative extent: " + text(shape));
    if (__builtin_mul_overflow(product, extent, &product)) throw InputError("a shape is too large: " + text(shape));
  }
  return product;
}

std::string text(std::span<const Int> shape) {
  std::string out = "[";
  for (const Int extent : shape) out += (out.size() > 1 ? "," : "") + std::to_string(extent);
  return out + "]";
}

namespace {

// Asks for large pages where there are many small ones, as numpy does: finding them takes a fifth of a copy's time.
void request_large_pages([[maybe_unused]] std::byte* begin, [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::size_t page = 4096, many = 4 << 20;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % page;
  if (bytes >= many) madvise(begin + before, bytes - before, MADV_HUGEPAGE);
#endif
}

// Not set; large ones begin with a cache line, which vectors of a whole line then cross less often.
template <class Block>
std::shared_ptr<Block[]> room(std::size_t bytes) {
  constexpr std::align_val_t line{64};
  constexpr std::size_t large = 4096;
  const std::size_t blocks = (bytes + sizeof(Block) - 1) / sizeof(Block);
  if (bytes < large) return std::make_shared_for_overwrite<Block[]>(blocks);
  auto* const at = static_cast<Block*>(::operator new(blocks * sizeof(Block), line));
  request_large_pages(reinterpret_cast<std::byte*>(at), bytes);
  return {at, [](Block* begin) { ::operator delete(begin, line); }};
}

}  // namespace

Tensor::Tensor() = default;
Tensor::Tensor(const Tensor&) = default;
Tensor::Tensor(Tensor&&) noexcept = default;
Tensor& Tensor::operator=(const Tensor&) = default;
Tensor& Tensor::operator=(Tensor&&) noexcept = default;
Tensor::~Tensor() = default;

Tensor::Tensor(TensorType type) : Tensor(to_be_written(std::move(type))) {
  if (size_ != 0) std::memset(blocks_.get(), 0, size_);
}

Tensor Tensor::to_be_written(TensorType type) {
  Tensor out;
  const auto count = static_cast<std::size_t>(volume(type.shape));
  out.type_ = std::move(type);
  if (out.dtype() == DType::string) {
    out.strings_ = std::make_shared<std::vector<std::string>>(count);
    return out;
  }
  out.size_ = count * size_of(out.dtype());
  if (out.size_ != 0) out.blocks_ = room<Block>(out.size_);
  return out;
}

bool Tensor::operator==(const Tensor& other) const {
  if (strings_ && other.strings_) return type_ == other.type_ && *strings_ == *other.strings_;
  return type_ == other.type_ && size() == other.size() &&
         (blocks_ == other.blocks_ || std::memcmp(shared(), other.shared(), size_) == 0);
}

std::span<std::string> Tensor::own_strings() {
  if (!strings_) return {};
  if (strings_.use_count() > 1) strings_ = std::make_shared<std::vector<std::string>>(*strings_);
  std::atomic_thread_fence(std::memory_order_acquire);
  return *strings_;
}

bool is_packed(DType dtype) { return dtype == DType::string || width_of(dtype) < 8; }

std::size_t message_size(const TensorType& type) {
  return (static_cast<std::size_t>(volume(type.shape)) * static_cast<std::size_t>(width_of(type.dtype)) + 7) / 8;
}

namespace {

std::string strings_packed(const Tensor& strings) {
  std::string out;
  for (const std::string& each : strings.as<std::string>()) {
    for (int byte = 0; byte < 4; ++byte) out += static_cast<char>(each.size() >> (8 * byte) & 0xff);
    out += each;
  }
  return out;
}

std::optional<Tensor> strings_unpacked(TensorType type, std::string_view bytes) {
  if (std::cmp_greater(volume(type.shape), bytes.size() / 4)) return std::nullopt;
  Tensor out(std::move(type));
  for (std::string& each : out.as<std::string>()) {
    if (bytes.size() < 4) return std::nullopt;
    std::size_t length = 0;
    for (std::size_t byte = 0; byte < 4; ++byte)
      length |= std::size_t{static_cast<unsigned char>(bytes[byte])} << (8 * byte);
    bytes.remove_prefix(4);
    if (bytes.size() < length) return std::nullopt;
    each = bytes.substr(0, length);
    bytes.remove_prefix(length);
  }
  return bytes.empty() ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

std::string packed(const Tensor& tensor) {
  if (tensor.dtype() == DType::string) return strings_packed(tensor);
  std::string out(message_size(tensor.type()), '\0');
  const auto width = static_cast<std::size_t>(width_of(tensor.dtype()));
  for (std::size_t at = 0; const std::byte element : tensor.bytes())
    for (std::size_t bit = 0; bit < width; ++bit, ++at)
      out[at / 8] = static_cast<char>(out[at / 8] | (std::to_integer<int>(element) >> bit & 1) << at % 8);
  return out;
}

std::optional<Tensor> unpacked(TensorType type, std::string_view bytes) {
  if (type.dtype == DType::string) return strings_unpacked(std::move(type), bytes);
  if (bytes.size() != message_size(type)) return std::nullopt;
  Tensor out(std::move(type));
  const auto width = static_cast<std::size_t>(width_of(out.dtype()));
  for (std::size_t at = 0; std::byte & element : out.bytes())
    for (std::size_t bit = 0; bit < width; ++bit, ++at)
      element |= static_cast<std::byte>((static_cast<unsigned char>(bytes[at / 8]) >> at % 8 & 1) << bit);
  return out;
}

Tensor Tensor::over(TensorType type, std::shared_ptr<std::byte> bytes) {
  expects(type.dtype != DType::string && reinterpret_cast<std::uintptr_t>(bytes.get()) % alignof(Block) == 0,
          "numbers that lie where a tensor's may");
  Tensor tensor;
  tensor.size_ = static_cast<std::size_t>(volume(type.shape)) * size_of(type.dtype);
  tensor.type_ = std::move(type);
  Block* const blocks = reinterpret_cast<Block*>(bytes.get());
  tensor.blocks_ = std::shared_ptr<Block[]>(std::move(bytes), blocks);
  return tensor;
}

void Tensor::unshare() {
  const std::size_t blocks = (size_ + sizeof(Block) - 1) / sizeof(Block);
  std::shared_ptr<Block[]> copy = room<Block>(size_);
  std::memcpy(copy.get(), blocks_.get(), blocks * sizeof(Block));
  blocks_ = std::move(copy);
}

}  // namespace assay
