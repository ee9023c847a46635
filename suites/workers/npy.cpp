// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/npy.h"

#include "suites/text/printable.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

namespace assay::suites {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view magic = "\x93NUMPY"sv;
constexpr std::size_t most_dimensions = 32;  // of numpy itself

// What a header says.
struct Header {
  std::string_view descr;
  bool is_fortran = false;
  Shape shape;
};

// The header is the literal of a Python dictionary with three keys; nothing else is read.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  bool take(char c) {
    skip_blanks();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool take(std::string_view word) {
    skip_blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string_view> quoted() {
    skip_blanks();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const std::size_t end = text_.find(text_.front(), 1);
    if (end == text_.npos) return std::nullopt;
    const std::string_view inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inside;
  }

  std::optional<Int> extent() {
    skip_blanks();
    Int value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }

  // "(2, 3)", "(2,)" or "()".
  std::optional<Shape> tuple() {
    if (!take('(')) return std::nullopt;
    Shape shape;
    while (!take(')')) {
      const std::optional<Int> value = extent();
      if (!value || shape.size() == most_dimensions) return std::nullopt;
      shape.push_back(*value);
      if (take(',')) continue;
      if (!take(')')) return std::nullopt;
      if (shape.size() == 1) return std::nullopt;  // "(2)" is a number
      break;
    }
    return shape;
  }

  bool is_over() {
    skip_blanks();
    return text_.empty();
  }

 private:
  void skip_blanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
  }
  std::string_view text_;
};

std::optional<Header> header_of(std::string_view text) {
  Literal literal(text);
  std::optional<std::string_view> descr;
  std::string_view order;
  std::optional<Shape> shape;
  if (!literal.take('{')) return std::nullopt;
  while (!literal.take('}')) {
    const std::optional<std::string_view> key = literal.quoted();
    if (!key || !literal.take(':')) return std::nullopt;
    if (*key == "descr" && !descr)
      descr = literal.quoted();
    else if (*key == "fortran_order" && order.empty())
      order = literal.take("True") ? "True" : literal.take("False") ? "False" : "";
    else if (*key == "shape" && !shape)
      shape = literal.tuple();
    else
      return std::nullopt;
    const bool was_read = *key == "descr" ? descr.has_value() : *key == "shape" ? shape.has_value() : !order.empty();
    if (!was_read) return std::nullopt;
    if (literal.take(',')) continue;
    if (!literal.take('}')) return std::nullopt;
    break;
  }
  if (!literal.is_over() || !descr || order.empty() || !shape) return std::nullopt;
  return Header{*descr, order == "True", *std::move(shape)};
}

std::optional<DType> dtype_of_descr(std::string_view descr, std::optional<DType> wanted) {
  if (descr.size() != 3) return std::nullopt;
  const std::string_view kind = descr.substr(1);
  if (descr[0] != '<' && descr[0] != '>' && !(descr[0] == '|' && (kind[1] == '1' || kind == "V2"))) return std::nullopt;
  const bool is_wanted_small = wanted && is_small(*wanted);
  if ((kind == "V1" || kind == "u1") && is_wanted_small) return wanted;
  if (kind == "V2" || (kind == "u2" && wanted == DType::bf16)) return DType::bf16;
  if (kind == "f2") return DType::f16;
  if (kind == "f4") return DType::f32;
  if (kind == "f8") return DType::f64;
  if (kind == "i1") return DType::i8;
  if (kind == "u1") return DType::u8;
  if (kind == "b1") return DType::boolean;
  if (kind == "i2") return DType::i16;
  if (kind == "u2") return DType::u16;
  if (kind == "u4") return DType::u32;
  if (kind == "u8") return DType::u64;
  if (kind == "i4") return DType::i32;
  if (kind == "i8") return DType::i64;
  return std::nullopt;
}

// Elements of the file in the order of a tensor and of this machine.
void arrange(std::string_view data, const Header& header, Tensor& tensor) {
  const std::size_t size = size_of(tensor.dtype());
  const bool swaps = size > 1 && (header.descr[0] == '>') != (std::endian::native == std::endian::big);
  const Shape& shape = header.shape;
  Shape at(shape.size(), 0);  // the place in the tensor, row-major
  for (Int i = 0; i < tensor.elements(); ++i) {
    Int from = i;
    if (header.is_fortran) {
      from = 0;
      for (std::size_t axis = shape.size(); axis-- > 0;) from = from * shape[axis] + at[axis];
    }
    auto* to = reinterpret_cast<char*>(tensor.bytes().data()) + static_cast<std::size_t>(i) * size;
    std::ranges::copy(data.substr(static_cast<std::size_t>(from) * size, size), to);
    if (swaps) std::reverse(to, to + size);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Finds a byte that is no code of a type of less than eight bits.
std::optional<int> stray_code(const Tensor& tensor) {
  for (const std::byte each : tensor.bytes())
    if (std::to_integer<int>(each) >> width_of(tensor.dtype()) != 0) return std::to_integer<int>(each);
  return std::nullopt;
}

}  // namespace

Result<Tensor> decode_npy(std::string_view bytes, std::optional<DType> wanted) {
  const auto refuse = [](const std::string& why) { return Error{why + "; numpy.save writes what is read here"}; };
  if (bytes.size() < magic.size() + 4 || !bytes.starts_with(magic)) return refuse("it does not begin as numpy's files");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3 || bytes[7] != 0) return refuse("another version of numpy's format");
  const std::size_t width = version == 1 ? 2 : 4, start = magic.size() + 2 + width;
  if (bytes.size() < start) return refuse("it ends in the header");
  const std::size_t length = little_endian(bytes.substr(8, width));
  if (length > bytes.size() - start) return refuse("it ends in the header");
  std::string_view data = bytes.substr(start + length);
  const std::optional<Header> header = header_of(bytes.substr(start, length));
  if (!header) return refuse("the header is not descr, fortran_order and shape");
  const std::optional<DType> dtype = dtype_of_descr(header->descr, wanted);
  if (!dtype) return refuse("elements of the type " + printable(header->descr, 40) + " are not admitted");
  try {
    const auto elements = static_cast<std::size_t>(volume(header->shape));
    if (data.size() % size_of(*dtype) != 0 || data.size() / size_of(*dtype) != elements)
      return refuse(std::to_string(data.size()) + " bytes for " + std::string(name(*dtype)) + text(header->shape));
  } catch (const InputError&) {
    return refuse("a shape is too large: " + text(header->shape));
  }
  Tensor tensor({*dtype, header->shape});
  arrange(data, *header, tensor);
  if (is_small(*dtype))
    if (const std::optional<int> stray = stray_code(tensor))
      return refuse("a byte " + std::to_string(*stray) + " is no code of " + std::string(name(*dtype)));
  return tensor;
}

}  // namespace assay::suites
