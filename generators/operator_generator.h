// SPDX-License-Identifier: Apache-2.0
// Holds what the generators know of one operator: its family's, or written in generators/ops where it shapes its inputs
// in a way of its own (operators.def).
#pragma once

#include "reference/case.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::generators {

using Cases = std::vector<Case>;

// A change that may break a constraint of a legal case; one that returns false does not apply to this case. Which
// constraints are broken is read from the definition, never assumed.
struct Mutation {
  template <class F>
  Mutation(std::string_view name, F change)
      : what(name), apply([change](Case& c) {
          if constexpr (std::is_void_v<decltype(change(c))>)
            return change(c), true;
          else
            return change(c);
        }) {}
  std::string_view what;
  std::function<bool(Case&)> apply;
};

// A cell of the coverage table that only this operator has (traits.h).
struct CoverageTag {
  std::string name;
  std::function<bool(const Case&)> holds;  // checked on legal cases
};

// A step of shrinking: in how many parts it may be taken, and the simpler cases of one part, the boldest first.
struct ShrinkStep {
  int (*parts)(const Case&);
  Cases (*candidates)(const Case&, int part);
};

// Where an operator of the Conv family keeps what Conv calls X, W and B.
struct Layout {
  const char *x = "X", *w = "W", *b = "B";
};

// The fewest and the most axes of the first input in legal cases.
using Ranks = std::pair<Int, Int> (*)(const Definition&);

struct OperatorGenerator {
  // Draws (draw.h). May turn out illegal or too large, and is then drawn again.
  Case (*draw)(const Definition&, DType, std::uint64_t stratum);
  std::uint64_t strata;
  // Multiply-adds the case costs.
  Int (*cost)(const Case&) = [](const Case&) { return Int{0}; };
  std::vector<Mutation> damages = {};  // besides those of its family
  std::optional<Layout> layout = {};   // of an operator of the Conv family
  std::vector<CoverageTag> traits = {};
  Ranks ranks = [](const Definition&) { return std::pair<Int, Int>{0, 7}; };
  bool describes_output = false;  // the shape that counts is that of the output: the first input has another
  // A case stays small: a certificate is thousands of them, and a finding has to fit on paper.
  Int most_outputs = 600, most_cost = 20'000;
  // Makes the inputs whose shapes follow from others fit again after a change (shrink.h); null where there are none.
  void (*refit)(Case&) = nullptr;
  std::span<const ShrinkStep> steps = {};  // of shrinking, before those of its family
};

const OperatorGenerator& generator_of(const OpVersion& version);

// The shape of an input that is there; of the first one where none is named.
inline const Shape& shape_of(const Case& c, const std::string& input) { return c.node.inputs.at(input).type.shape; }
inline Shape& shape_of(Case& c, const std::string& input) { return c.node.inputs.at(input).type.shape; }
inline const Shape& shape_of(const Case& c) { return shape_of(c, c.definition().inputs.front().name); }
inline Shape& shape_of(Case& c) { return shape_of(c, c.definition().inputs.front().name); }

// Takes an input away, with its data.
void remove_input(Case& c, const std::string& input);

// A case of this version without inputs: opset and IR version drawn, shapes declared fixed or symbolic.
Case blank(const Definition& definition);
// Raises the IR version to the first that has the types of the case (onnx.proto, Version).
void admit_types(Case& c);

// Attributes whose default is sometimes left out and sometimes written out.
void write_default(Node& node, const Definition& definition, const char* attribute, Int value, Int default_value);

}  // namespace assay::generators
