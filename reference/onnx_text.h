// SPDX-License-Identifier: Apache-2.0
// A model as the text that ONNX's own parser reads (onnx/docs/Syntax.md), for people and for scripts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

// Writes the model out; `onnx.parser.parse_model` makes the same model of it again: nodes, attributes, types, shapes,
// initializers, opset imports and IR version. Its name and its producer are not kept.
// None where that text cannot say it (functions, metadata, text that is not ASCII), and where its initializers have
// more than `most_values` elements.
std::optional<std::string> model_text(std::string_view model, std::size_t most_values = 256);

}  // namespace assay
