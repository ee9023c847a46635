// SPDX-License-Identifier: Apache-2.0
// What the files behind onnx_io.h share: messages as bytes, tensors in messages, and how a stranger's mistake is told.
#pragma once

#include "reference/result.h"
#include "reference/tensor.h"

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace google::protobuf {
class MessageLite;
}
namespace onnx {
class GraphProto;
class TensorProto;
}  // namespace onnx

namespace assay::messages {

// No operator takes more; a rank from a stranger is a length we allocate.
inline constexpr int most_dimensions = 64;

[[noreturn]] inline void reject(const std::string& what) { throw InputError(what); }

// Inside these files a stranger's mistake is an exception; at their border it is a value.
template <class F>
auto as_result(F&& read) -> Result<decltype(read())> {
  try {
    return std::forward<F>(read)();
  } catch (const InputError& error) {
    return Error{error.what()};
  } catch (const std::bad_alloc&) {
    return Error{"it claims more elements than fit into memory"};
  } catch (const std::length_error&) {
    return Error{"it claims more elements than fit into memory"};
  }
}

std::string bytes_of(const google::protobuf::MessageLite& message);
// Rejects bytes that are no `what`.
void parse(std::string_view bytes, const char* what, google::protobuf::MessageLite& into);

template <class Message>
Message message_of(std::string_view bytes, const char* what) {
  Message message;
  parse(bytes, what, message);
  return message;
}

// A stranger's text inside our line: printable, and not too long.
std::string quoted(const std::string& text);
// "ai.onnx" and "" are the same domain.
std::string domain_of(const std::string& domain);

DType admitted_dtype(std::int32_t number);
TensorType type_of(const onnx::TensorProto& proto);
onnx::TensorProto proto_of(const Tensor& tensor, std::string_view name);
Tensor tensor_of(const onnx::TensorProto& proto);
Tensor tensor_of(onnx::TensorProto&& proto);  // large data are taken out of it
// Adds a node that gives a value once more.
void add_copy(onnx::GraphProto& graph, const std::string& value, const std::string& copy);

}  // namespace assay::messages
