// SPDX-License-Identifier: Apache-2.0
// A case or a graph told word by word, for who has only its line.
#pragma once

#include "reference/case.h"
#include "reference/graph_case.h"

#include <string>

namespace assay::suites {

// Says what each word of the line is, what is not written and so has its default, what the case breaks or rests on, the
// model as ONNX's text, and the first data set.
std::string in_words(const Case& c);
// Says what each word of a graph line is: what goes in, and of each step its operator version, operands and results.
std::string in_words(const GraphCase& graph);

// "default 1 per spatial axis", "required".
std::string default_of(const AttributeSpec& attribute);

}  // namespace assay::suites
