// SPDX-License-Identifier: Apache-2.0
// DType, Shape, Tensor: the data of one ONNX tensor, dense, row-major, in the byte order of the machine.
#pragma once

#include "reference/number.h"
#include "reference/result.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Numbered as TensorProto.DataType (onnx.proto). Types that dtypes.def does not list are not yet admitted.
enum class DType : std::uint8_t {
#define DTYPE(name, number, type, onnx, numpy) name = number,
#include "reference/dtypes.def"
#undef DTYPE
};
inline constexpr DType all_dtypes[] = {
#define DTYPE(name, number, type, onnx, numpy) DType::name,
#include "reference/dtypes.def"
#undef DTYPE
};

std::string_view name(DType dtype);        // "f32", "bool"
std::string_view onnx_name(DType dtype);   // "tensor(float)"
std::string enum_name(DType dtype);        // "FLOAT", in TensorProto.DataType
std::string_view numpy_name(DType dtype);  // "np.float32"
std::optional<DType> dtype_named(std::string_view name);
std::optional<DType> dtype_numbered(std::int32_t number);
std::size_t size_of(DType dtype);  // bytes per element in memory
int width_of(DType dtype);         // bits per element in a message
bool is_float(DType dtype);
bool is_integer(DType dtype);  // signed or not; bool is none
bool is_small(DType dtype);    // eight bits or less, and no type of C++

using Shape = std::vector<Int>;

// Product of the extents. Throws InputError when it does not fit: checked here, once.
Int volume(std::span<const Int> shape);
std::string text(std::span<const Int> shape);  // "[1,3,5]"

template <class T>
constexpr DType dtype_of() {
#define DTYPE(name, number, type, onnx, numpy) \
  if constexpr (std::is_same_v<T, type>) return DType::name;
#include "reference/dtypes.def"
#undef DTYPE
}

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};

// A value: copies share their elements until one of them is to be changed, so that a copy costs nothing. Whoever asks
// for the elements of a tensor that is not const may change them: take the view after the copies are made.
class Tensor {
 public:
  Tensor();
  Tensor(const Tensor&);
  Tensor(Tensor&&) noexcept;
  Tensor& operator=(const Tensor&);
  Tensor& operator=(Tensor&&) noexcept;
  ~Tensor();
  // All elements zero.
  explicit Tensor(TensorType type);
  // Elements of any value: for who writes every one of them before one is read.
  static Tensor to_be_written(TensorType type);
  // Numbers that lie somewhere else, at a multiple of 16, as long as somebody holds `bytes`: a file in memory.
  static Tensor over(TensorType type, std::shared_ptr<std::byte> bytes);

  const TensorType& type() const { return type_; }
  DType dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  Int elements() const { return strings_ ? std::ssize(*strings_) : static_cast<Int>(size() / size_of(type_.dtype)); }

  // Of numbers; strings have no bytes that lie side by side.
  std::span<std::byte> bytes() {
    expects(!strings_, "the bytes of strings");
    return {own(), size()};
  }
  std::span<const std::byte> bytes() const {
    expects(!strings_, "the bytes of strings");
    return {shared(), size()};
  }

  // Typed view; T must be the element type.
  template <class T>
  std::span<T> as() {
    expects(dtype_of<T>() == type_.dtype, "typed view of another element type");
    if constexpr (std::is_same_v<T, std::string>)
      return own_strings();
    else
      return {reinterpret_cast<T*>(own()), size() / sizeof(T)};
  }
  template <class T>
  std::span<const T> as() const {
    expects(dtype_of<T>() == type_.dtype, "typed view of another element type");
    if constexpr (std::is_same_v<T, std::string>)
      return strings_ ? std::span<const T>(*strings_) : std::span<const T>();
    else
      return {reinterpret_cast<const T*>(shared()), size() / sizeof(T)};
  }

  // Same type and same bits.
  bool operator==(const Tensor& other) const;

 private:
  // As far apart as any element type wants to lie.
  struct alignas(16) Block {
    std::byte bytes[16];
  };
  std::size_t size() const { return blocks_ ? size_ : 0; }
  const std::byte* shared() const { return reinterpret_cast<const std::byte*>(blocks_.get()); }
  std::byte* own() {
    if (blocks_.use_count() > 1) unshare();
    // What another thread read of a copy that it has given up, it read before anything is written here.
    std::atomic_thread_fence(std::memory_order_acquire);
    return reinterpret_cast<std::byte*>(blocks_.get());
  }
  void unshare();
  std::span<std::string> own_strings();

  TensorType type_;
  std::size_t size_ = 0;  // in bytes, while there are any
  std::shared_ptr<Block[]> blocks_;
  std::shared_ptr<std::vector<std::string>> strings_;  // of strings, instead
};

// Tells whether elements lie otherwise in memory than in a message: strings, and elements of less than eight bits.
bool is_packed(DType dtype);
// Such a tensor as the C interface has it: strings one after the other, of each its length in four bytes,
// little-endian, then its bytes; smaller elements as raw_data has them, from the lowest bit of a byte on.
std::string packed(const Tensor& tensor);
// Returns what was packed; none where the bytes do not add up.
std::optional<Tensor> unpacked(TensorType type, std::string_view bytes);
// Returns how many bytes a tensor of numbers takes in a message.
std::size_t message_size(const TensorType& type);

// The inputs of a call in schema order, absent ones empty.
using Operands = std::vector<std::optional<Tensor>>;

// Calls f.template operator()<T>() with the element type of any dtype.
template <class F>
decltype(auto) for_type(DType dtype, F&& f) {
  switch (dtype) {
#define DTYPE(name, number, type, onnx, numpy) \
  case DType::name:                            \
    return f.template operator()<type>();
#include "reference/dtypes.def"
#undef DTYPE
  }
  throw BrokenPromise("a data type outside the table");
}

// An element type that is computed in: neither text nor a truth value nor one of eight bits or less that C++ lacks.
template <class T>
concept Number = !std::is_same_v<T, std::string> && !std::is_same_v<T, Bool> && !Small<T>;

// The same for every type but strings, which are our own bug.
#define DTYPE(name, number, type, onnx, numpy)       \
  case DType::name:                                  \
    if constexpr (std::is_same_v<type, std::string>) \
      break;                                         \
    else                                             \
      return f.template operator()<type>();
template <class F>
decltype(auto) for_value(DType dtype, F&& f) {
  switch (dtype) {
#include "reference/dtypes.def"
  }
  throw BrokenPromise("strings where numbers are wanted");
}

// The same for bool and numbers that kernels compute in.
template <class F>
decltype(auto) for_number(DType dtype, F&& f) {
  switch (dtype) {
#define SMALL_DTYPE(name, number, type, onnx, numpy) case DType::name:
#include "reference/dtypes.def"
    break;
  }
  throw BrokenPromise("strings or small types where numbers are computed");
}
#undef DTYPE

// Calls f.template operator()<T>() with the element type of a float dtype.
template <class F>
auto for_float(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f16: return f.template operator()<Float16>();
    case DType::bf16: return f.template operator()<BFloat16>();
    case DType::f64: return f.template operator()<double>();
    default: expects(dtype == DType::f32, "not a float type"); return f.template operator()<float>();
  }
}

}  // namespace assay
