// SPDX-License-Identifier: Apache-2.0
// StringConcat (ai.onnx 20) - https://onnx.ai/onnx/operators/onnx__StringConcat.html
// StringSplit (ai.onnx 20) - https://onnx.ai/onnx/operators/onnx__StringSplit.html
//
//   Z[i] = X[i] followed by Y[i], broadcast
//   Y[i] = the pieces of X[i] between delimiters, and empty strings after them; Z[i] = how many pieces there are
//
// Without a delimiter runs of whitespace delimit, and no piece is empty. After maxsplit delimiters the rest is a piece.
#include "reference/families/broadcast.h"
#include "reference/families/picked.h"

#include <string_view>

namespace assay {
namespace {

using Pieces = std::vector<std::string_view>;

constexpr std::string_view whitespace = " \t\n\v\f\r";

Pieces between_delimiters(std::string_view text, std::string_view delimiter, Int most) {
  Pieces pieces;
  for (std::size_t end; most-- > 0 && (end = text.find(delimiter)) != text.npos;) {
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  pieces.push_back(text);
  return pieces;
}

Pieces between_whitespace(std::string_view text, Int most) {
  Pieces pieces;
  const auto skip = [&] { text.remove_prefix(std::min(text.find_first_not_of(whitespace), text.size())); };
  for (skip(); !text.empty() && most-- > 0; skip()) {
    pieces.push_back(text.substr(0, text.find_first_of(whitespace)));
    text.remove_prefix(pieces.back().size());
  }
  if (!text.empty()) pieces.push_back(text.substr(0, text.find_last_not_of(whitespace) + 1));
  return pieces;
}

Pieces split(const Call& call, std::string_view text) {
  const std::string delimiter = call.states("delimiter") ? call.text("delimiter") : "";
  const Int most = call.states("maxsplit") ? call.integer("maxsplit") : std::numeric_limits<Int>::max();
  return delimiter.empty() ? between_whitespace(text, most) : between_delimiters(text, delimiter, most);
}

Types split_types(const Call& call) {
  std::size_t most = 0;
  for (const std::string& text : data_of(call, "X").as<std::string>()) most = std::max(most, split(call, text).size());
  Shape shape = call.shape("X");
  shape.push_back(static_cast<Int>(most));
  return {TensorType{DType::string, shape}, TensorType{DType::i64, call.shape("X")}};
}

Values split_strings(const Call& call, Inputs in) {
  Values out = outputs_of(call);
  const std::size_t columns = static_cast<std::size_t>(out[0]->shape().back());
  for (std::size_t i = 0; const std::string& text : in[0]->as<std::string>()) {
    const Pieces pieces = split(call, text);
    std::ranges::copy(pieces, out[0]->as<std::string>().subspan(i * columns).begin());
    out[1]->as<Int>()[i++] = std::ssize(pieces);
  }
  return out;
}

}  // namespace

// clang-format off
Operator string_concat() {
  return Operator("StringConcat")
      .input("X", "T").input("Y", "T").output("Z", "T").type("T", {DType::string})
      .since(20)
      .with(multidirectional_broadcast)
      .shaping(Shaping::broadcast).infer(broadcast_types)
      .kernel(pairwise([](const std::string& x, const std::string& y) { return x + y; }));
}

Operator string_split() {
  using enum AttributeSpec::Kind;
  return Operator("StringSplit")
      .parameter("X", "T1", "X").output("Y", "T2").output("Z", "T3")
      .type("T1", {DType::string}).type("T2", {DType::string}).type("T3", {DType::i64})
      .optional_attribute("delimiter", text).optional_int("maxsplit").rulings({"G13", "G14", "G15"})
      .require("S1", "maxsplit, where present, is not negative",
               [](auto& c) { return !c.states("maxsplit") || c.integer("maxsplit") >= 0; })
      .since(20)
      .shaping(Shaping::moved).infer(split_types).kernel(split_strings);
}
// clang-format on

}  // namespace assay
