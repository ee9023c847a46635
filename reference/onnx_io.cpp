// SPDX-License-Identifier: Apache-2.0
// Messages as bytes, and tensors in messages.
#include "reference/onnx_io.h"

#include "reference/onnx_io_message.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstring>
#include <utility>

namespace assay {
namespace messages {

TensorType type_of(const onnx::TensorProto& proto) {
  TensorType type{admitted_dtype(proto.data_type()), {}};
  if (proto.dims_size() > most_dimensions) reject("a tensor of " + std::to_string(proto.dims_size()) + " dimensions");
  type.shape.assign(proto.dims().begin(), proto.dims().end());
  Int bytes;
  if (__builtin_mul_overflow(volume(type.shape), static_cast<Int>(size_of(type.dtype)), &bytes))
    reject("a shape is too large: " + text(type.shape));
  return type;
}

namespace {

[[noreturn]] void too_large() { reject("a model or tensor above 2 GiB does not fit a protobuf message"); }

// raw_data is little-endian on every machine (onnx.proto, TensorProto).
template <class Bytes>
void swap_where_big_endian(Bytes&& elements, std::size_t size) {
  if constexpr (std::endian::native == std::endian::big)
    for (std::size_t at = 0; at < elements.size(); at += size)
      std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(at),
                   elements.begin() + static_cast<std::ptrdiff_t>(at + size));
}

std::string text(const TensorType& type) { return std::string(name(type.dtype)) + assay::text(type.shape); }

// The fields of TensorProto that may hold elements, by the types they hold (onnx.proto, TensorProto).
const char* typed_field(DType dtype) {
  switch (dtype) {
    case DType::f32: return "float_data";
    case DType::f64: return "double_data";
    case DType::i64: return "int64_data";
    case DType::u32:
    case DType::u64: return "uint64_data";
    case DType::string: return "string_data";
    default: return "int32_data";  // the bits of f16 and bf16, the value of bool and the smaller integers
  }
}

void expect_no_other_field(const onnx::TensorProto& proto, const std::string& allowed, const TensorType& type) {
  const std::array<std::pair<const char*, int>, 6> fields{{{"float_data", proto.float_data_size()},
                                                           {"double_data", proto.double_data_size()},
                                                           {"int32_data", proto.int32_data_size()},
                                                           {"int64_data", proto.int64_data_size()},
                                                           {"uint64_data", proto.uint64_data_size()},
                                                           {"string_data", proto.string_data_size()}}};
  for (const auto& [name, size] : fields)
    if (size > 0 && name != allowed) reject(text(type) + " has its data in " + name + ", expected " + allowed);
}

void expect_count(const TensorType& type, int elements) {
  if (elements != volume(type.shape))
    reject(text(type) + " with " + std::to_string(elements) + " elements in " + typed_field(type.dtype));
}

template <class Carrier, class Field>
Tensor from_field(TensorType type, const Field& field) {
  expect_count(type, field.size());
  Tensor tensor(std::move(type));
  std::byte* out = tensor.bytes().data();
  for (const auto element : field) {
    if constexpr (std::is_integral_v<Carrier>)
      if (!std::in_range<Carrier>(element))
        reject(text(tensor.type()) + " with the element " + std::to_string(element) + ", which does not fit");
    const auto carried = static_cast<Carrier>(element);
    std::memcpy(out, &carried, sizeof carried);
    out += sizeof carried;
  }
  return tensor;
}

template <class Field>
Tensor from_strings(TensorType type, const Field& field) {
  expect_count(type, field.size());
  Tensor tensor(std::move(type));
  std::ranges::copy(field, tensor.as<std::string>().begin());
  return tensor;
}

Tensor from_packed(TensorType type, const std::string& bytes) {
  std::optional<Tensor> tensor = unpacked(type, bytes);
  if (!tensor) reject(text(type) + " with " + std::to_string(bytes.size()) + " bytes");
  return *std::move(tensor);
}

Tensor from_typed_field(const onnx::TensorProto& proto, TensorType type) {
  // Elements of 4 and 2 bits lie packed there as well.
  if (width_of(type.dtype) < 6)
    return from_packed(std::move(type), {proto.int32_data().begin(), proto.int32_data().end()});
  return for_type(type.dtype, [&]<class T>() {
    // The bits of what is no integer of C++ (f16, bf16, bool).
    using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;
    if constexpr (std::is_same_v<T, std::string>)
      return from_strings(std::move(type), proto.string_data());
    else if constexpr (std::is_same_v<T, float>)
      return from_field<float>(std::move(type), proto.float_data());
    else if constexpr (std::is_same_v<T, double>)
      return from_field<double>(std::move(type), proto.double_data());
    else if constexpr (std::is_same_v<T, std::int64_t>)
      return from_field<T>(std::move(type), proto.int64_data());
    else if constexpr (std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t>)
      return from_field<T>(std::move(type), proto.uint64_data());
    else if constexpr (std::is_integral_v<T>)
      return from_field<T>(std::move(type), proto.int32_data());
    else
      return from_field<Bits>(std::move(type), proto.int32_data());
  });
}

void expect_size(std::string_view raw, const TensorType& type) {
  if (raw.size() / size_of(type.dtype) != static_cast<std::size_t>(volume(type.shape)) ||
      raw.size() % size_of(type.dtype) != 0)
    reject(text(type) + " with " + std::to_string(raw.size()) + " bytes of raw_data");
}

Tensor from_raw_data(const std::string& raw, TensorType type) {
  if (is_packed(type.dtype)) return from_packed(std::move(type), raw);
  expect_size(raw, type);
  Tensor tensor = Tensor::to_be_written(std::move(type));
  std::ranges::copy(std::as_bytes(std::span(raw)), tensor.bytes().begin());
  swap_where_big_endian(tensor.bytes(), size_of(tensor.dtype()));
  return tensor;
}

// Takes over large data that lie as a tensor has them: there are not two copies.
Tensor taken_over(std::string&& raw, TensorType type) {
  constexpr std::size_t least = std::size_t{1} << 20, line = 16;
  const bool lie_so = raw.size() >= least && raw.size() % line == 0 && !is_packed(type.dtype) &&
                      reinterpret_cast<std::uintptr_t>(raw.data()) % line == 0 &&
                      std::endian::native == std::endian::little;
  if (!lie_so) return from_raw_data(raw, std::move(type));
  expect_size(raw, type);
  const auto held = std::make_shared<std::string>(std::move(raw));
  return Tensor::over(std::move(type), {held, reinterpret_cast<std::byte*>(held->data())});
}

// All but its elements.
onnx::TensorProto head_of(const Tensor& tensor, std::string_view name) {
  onnx::TensorProto proto;
  for (const Int extent : tensor.shape()) proto.add_dims(extent);
  proto.set_data_type(static_cast<std::int32_t>(tensor.dtype()));
  proto.set_name(std::string(name));
  return proto;
}

// raw_data is the last of the fields that are set, so it is appended: a message would hold a copy of all elements.
std::string encoded(const Tensor& tensor, std::string_view name) {
  constexpr int length_delimited = 2;
  if (is_packed(tensor.dtype())) return bytes_of(proto_of(tensor, name));
  const std::span<const std::byte> elements = tensor.bytes();
  std::string bytes = bytes_of(head_of(tensor, name));
  std::array<std::uint8_t, 6> prefix{onnx::TensorProto::kRawDataFieldNumber << 3 | length_delimited};
  if (bytes.size() + prefix.size() + elements.size() > INT_MAX) too_large();
  std::uint8_t* const end = google::protobuf::io::CodedOutputStream::WriteVarint32ToArray(
      static_cast<std::uint32_t>(elements.size()), prefix.data() + 1);
  bytes.reserve(bytes.size() + prefix.size() + elements.size());
  bytes.append(prefix.begin(), end);
  const std::size_t head = bytes.size();
  bytes.append(reinterpret_cast<const char*>(elements.data()), elements.size());
  swap_where_big_endian(std::span(bytes).subspan(head), size_of(tensor.dtype()));
  return bytes;
}

}  // namespace

// Protobuf writes fields in order, but promises the same bytes for the same message only when told to.
std::string bytes_of(const google::protobuf::MessageLite& message) {
  const std::size_t size = message.ByteSizeLong();
  if (size > INT_MAX) too_large();
  std::string bytes;
  bytes.reserve(size);  // else it doubles, to twice what is needed
  {
    google::protobuf::io::StringOutputStream sink(&bytes);
    google::protobuf::io::CodedOutputStream stream(&sink);
    stream.SetSerializationDeterministic(true);
    expects(message.SerializeToCodedStream(&stream), "a message of known size serialises");
  }
  return bytes;
}

void parse(std::string_view bytes, const char* what, google::protobuf::MessageLite& into) {
  if (bytes.size() > INT_MAX) reject(std::string(what) + " is above 2 GiB");
  const google::protobuf::LogSilencer
      quiet;  // Protobuf 3.21 would grumble about names on stderr; we answer in one line
  if (!into.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    reject("these " + std::to_string(bytes.size()) + " bytes are no " + what);
}

std::string quoted(const std::string& text) {
  constexpr std::size_t longest = 60;
  std::string out = "\"";
  for (const char c : text.substr(0, longest)) out += (c >= ' ' && c <= '~' && c != '"') ? c : '?';
  return out + (text.size() > longest ? "…\"" : "\"");
}

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

DType admitted_dtype(std::int32_t number) {
  if (const auto dtype = dtype_numbered(number)) return *dtype;
  const std::string name = onnx::TensorProto_DataType_IsValid(number)
                               ? onnx::TensorProto_DataType_Name(static_cast<onnx::TensorProto_DataType>(number))
                               : "unknown";
  reject("data type " + std::to_string(number) + " (" + name + ") is not admitted");
}

onnx::TensorProto proto_of(const Tensor& tensor, std::string_view name) {
  onnx::TensorProto proto = head_of(tensor, name);
  if (tensor.dtype() == DType::string) {
    for (const std::string& each : tensor.as<std::string>()) proto.add_string_data(each);
    return proto;
  }
  if (is_packed(tensor.dtype())) {
    proto.set_raw_data(packed(tensor));
    return proto;
  }
  proto.set_raw_data(tensor.bytes().data(), tensor.bytes().size());
  swap_where_big_endian(*proto.mutable_raw_data(), size_of(tensor.dtype()));
  return proto;
}

namespace {

bool has_raw_data(const onnx::TensorProto& proto, const TensorType& type) {
  return type.dtype != DType::string && proto.has_raw_data() && (!proto.raw_data().empty() || volume(type.shape) == 0);
}

TensorType checked_type(const onnx::TensorProto& proto) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0)
    reject("a tensor whose data are in another file");
  if (proto.has_segment()) reject("a tensor in segments");
  TensorType type = type_of(proto);
  if (type.dtype == DType::string && !proto.raw_data().empty()) reject("strings in raw_data");
  expect_no_other_field(proto, has_raw_data(proto, type) ? "raw_data" : typed_field(type.dtype), type);
  return type;
}

}  // namespace

// Sizes are compared before anything is allocated, so a tensor takes at most eight times the memory of its message, one
// of strings sixteen.
Tensor tensor_of(const onnx::TensorProto& proto) {
  TensorType type = checked_type(proto);
  return has_raw_data(proto, type) ? from_raw_data(proto.raw_data(), std::move(type))
                                   : from_typed_field(proto, std::move(type));
}

Tensor tensor_of(onnx::TensorProto&& proto) {
  TensorType type = checked_type(proto);
  if (!has_raw_data(proto, type)) return from_typed_field(proto, std::move(type));
  return taken_over(std::move(*proto.mutable_raw_data()), std::move(type));
}

}  // namespace messages

std::string encode_tensor(const Tensor& tensor, std::string_view name) { return messages::encoded(tensor, name); }

Result<TensorType> decode_type(std::string_view bytes) {
  return messages::as_result([&] {
    const auto proto = messages::message_of<onnx::TensorProto>(bytes, "TensorProto");
    return TensorType{messages::admitted_dtype(proto.data_type()), {proto.dims().begin(), proto.dims().end()}};
  });
}

Result<Tensor> decode_tensor(std::string_view bytes) {
  return messages::as_result(
      [&] { return messages::tensor_of(messages::message_of<onnx::TensorProto>(bytes, "TensorProto")); });
}

}  // namespace assay
